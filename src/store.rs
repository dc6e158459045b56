//! Where everything is kept: SQLite by default, PostgreSQL for larger shops. The only module that knows sea-orm.
//!
//! Rows of a shop are reached through one door, [`Store::tenant`], which takes a [`TenantId`]: a query that forgets
//! whose rows it may see cannot be written. What is not tenant-scoped (the journal, recovery, the server's own
//! settings) takes or gives the tenant with every row.
//!
//! - [`conversations`], [`messages`], [`turns`]: one query file a resource
//! - [`acceptance`]: the transaction that takes a message in; [`handoff`]: a conversation changes hands
//! - [`inbox`], [`figures`]: what the shop's own people look at
//! - [`idempotency`]: requests that are repeated
//! - [`jobs`]: what is to be done after a commit
//! - [`journal`]: events and the rows they speak of, many turns in one commit
//! - [`warranty`]: warranty records; [`warranty_import`]: a whole list of them at once
//! - [`orders`]: orders and customers; [`orders_import`]: a whole list of orders at once; [`policies`]: return policies;
//!   [`sample_shop`]: samples to try things out with
//! - [`returns`]: RMAs with their labels, tickets and escalations, each change in one transaction with its record
//! - [`mails`]: mails to customers; [`audit`]: who changed what; [`order_misses`]: guesses at whose order it is
//! - [`vectors`]: vectors of texts, in collections
//! - [`settings`]: what the server itself keeps; [`persona_versions`]: what the files of personas said
//! - [`revoked_sessions`]: console sessions that were signed out
//! - [`unanswered`]: questions that got no answer
//! - [`retention`]: what is forgotten, and when; [`personal`]: where personal data is, its export and its erasure
//! - [`console_audit`]: what people did at the console
//! - [`lock`]: one serving process a database; `fence`: one that lost the lock writes nothing more
//! - `transaction`: the one way to begin a transaction; `health`: whether the store takes writes
//! - `as_is`: looking at a database without touching it

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sea_orm::sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend, TryInsertResult};

use crate::domain::{ConsoleAct, TenantId};
use fence::Fence;
use health::Health;
use lock::ServingLock;

pub mod acceptance;
mod as_is;
pub mod audit;
mod columns;
pub mod console_audit;
pub mod conversations;
mod entities;
mod error;
mod fence;
pub mod figures;
pub mod handoff;
mod health;
pub mod idempotency;
pub mod inbox;
pub mod jobs;
pub mod journal;
pub mod lock;
pub mod mails;
pub mod messages;
mod migrations;
pub mod order_misses;
pub mod orders;
pub mod orders_import;
pub mod persona_versions;
pub mod personal;
pub mod policies;
pub mod retention;
pub mod returns;
pub mod revoked_sessions;
pub mod sample_shop;
pub mod settings;
mod transaction;
pub mod turns;
pub mod unanswered;
pub mod vectors;
pub mod warranty;
pub mod warranty_import;

pub use as_is::Schema;
pub use error::StoreError;
pub use health::Outage;

/// How the store is opened.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// `sqlite://PATH` or `postgres://…`.
    pub url: String,
    /// How long a statement waits for a connection or for another process's lock.
    pub timeout: Duration,
    /// Connections that read (SQLite), or connections in all (PostgreSQL).
    pub connections: u32,
}

impl StoreOptions {
    /// The file of an SQLite database; `None`: PostgreSQL.
    pub fn sqlite_file(&self) -> Result<Option<PathBuf>, StoreError> {
        sqlite_path(&self.url)
    }

    /// Whether opening would create the database, since its SQLite file is not there yet.
    pub fn would_create(&self) -> Result<bool, StoreError> {
        Ok(sqlite_path(&self.url)?.is_some_and(|path| !path.exists()))
    }
}

/// The database. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    /// The one connection that writes (SQLite), or the pool (PostgreSQL).
    write: DatabaseConnection,
    read: DatabaseConnection,
    url: String,
    /// Whether messages are stored with a job to embed them.
    embeds: bool,
    /// `None`: no server's.
    fence: Option<Fence>,
    health: Arc<Health>,
}

/// What one shop may see and change.
#[derive(Clone, Copy, Debug)]
pub struct TenantStore<'a> {
    store: &'a Store,
    tenant: &'a TenantId,
    /// What somebody does at the console, stored with the change that it makes.
    act: Option<&'a ConsoleAct>,
}

impl Store {
    /// Opens the database for a command: creates a missing SQLite file, and updates an older schema under the serving
    /// lock. Fails if a server runs on an older schema, or if the schema is newer than this version.
    pub async fn open(options: &StoreOptions) -> Result<Self, StoreError> {
        let store = Self::connect(options).await?;
        migrations::upgrade(&store, options, migrations::LOCK_WAIT).await?;
        Ok(store)
    }

    /// Opens the database as [`Store::open`] does, for a process that holds the serving lock.
    pub async fn open_locked(options: &StoreOptions, lock: &ServingLock) -> Result<Self, StoreError> {
        let store = Self::connect(options).await?;
        migrations::upgrade_locked(&store, lock).await?;
        Ok(store)
    }

    async fn connect(options: &StoreOptions) -> Result<Self, StoreError> {
        match sqlite_path(&options.url)? {
            Some(path) => Self::open_sqlite(options, path).await,
            None => Self::open_postgres(options).await,
        }
    }

    async fn open_sqlite(options: &StoreOptions, path: PathBuf) -> Result<Self, StoreError> {
        create_folder_of(&path)?;
        let timeout = options.timeout;
        let connect = |connections: u32, read_only: bool| {
            let mut connect = ConnectOptions::new("sqlite::memory:".to_owned());
            let path = path.clone();
            connect
                .max_connections(connections)
                .min_connections(1)
                .acquire_timeout(timeout)
                .idle_timeout(None::<Duration>)
                .max_lifetime(None::<Duration>)
                .test_before_acquire(false)
                .sqlx_logging(false)
                .map_sqlx_sqlite_before_acquire(transaction::has_no_transaction)
                .map_sqlx_sqlite_opts(move |sqlite| {
                    sqlite
                        .filename(&path)
                        .in_memory(false)
                        .shared_cache(false)
                        .create_if_missing(!read_only)
                        .read_only(read_only)
                        .journal_mode(SqliteJournalMode::Wal)
                        .synchronous(SqliteSynchronous::Normal)
                        // What is erased is overwritten.
                        .pragma("secure_delete", "on")
                        .busy_timeout(timeout)
                });
            Database::connect(connect)
        };
        let write = connect(1, false)
            .await
            .map_err(|error| StoreError::Open(format!("cannot open the database file {}: {error}", path.display())))?;
        // A connection that is opened later must not create a file in place of a deleted one.
        let writer = write.get_sqlite_connection_pool();
        writer.set_connect_options(writer.connect_options().as_ref().clone().create_if_missing(false));
        let read = connect(options.connections, true).await?;
        let health = Health::of_file(&path);
        Ok(Self { write, read, url: options.url.clone(), embeds: false, fence: None, health })
    }

    async fn open_postgres(options: &StoreOptions) -> Result<Self, StoreError> {
        let mut connect = ConnectOptions::new(options.url.clone());
        connect
            .max_connections(options.connections.max(2))
            .acquire_timeout(options.timeout)
            .connect_timeout(options.timeout)
            .set_application_name("frontdesk")
            .sqlx_logging(false);
        let pool = Database::connect(connect).await.map_err(|error| {
            StoreError::Open(format!("cannot reach the PostgreSQL server of DATABASE_URL: {error}"))
        })?;
        let health = Arc::default();
        Ok(Self { write: pool.clone(), read: pool, url: options.url.clone(), embeds: false, fence: None, health })
    }

    /// The same store; each message that comes in by it is stored with a job to embed it, if `on`.
    pub fn embedding(mut self, on: bool) -> Self {
        self.embeds = on;
        self
    }

    /// The door to one shop's rows.
    pub fn tenant<'a>(&'a self, tenant: &'a TenantId) -> TenantStore<'a> {
        TenantStore { store: self, tenant, act: None }
    }

    /// Whether the database answers a read; [`Store::probe`] checks that it takes writes.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.read.execute_unprepared("SELECT 1").await?;
        Ok(())
    }

    /// `SQLite (PATH)` or `PostgreSQL`, for the start-up line: never the password.
    pub fn describe(&self) -> String {
        match sqlite_path(&self.url) {
            Ok(Some(path)) => format!("SQLite ({})", path.display()),
            _ => "PostgreSQL".to_owned(),
        }
    }

    fn is_sqlite(&self) -> bool {
        self.write.get_database_backend() == DbBackend::Sqlite
    }
}

/// Whether every row was new. sea-orm says `Inserted(0)` of a row that was there already.
fn all_inserted(inserted: &TryInsertResult<u64>, rows: usize) -> bool {
    match inserted {
        TryInsertResult::Inserted(count) => usize::try_from(*count) == Ok(rows),
        TryInsertResult::Empty => rows == 0,
        TryInsertResult::Conflicted => false,
    }
}

/// The file of an SQLite URL, `None` for PostgreSQL.
fn sqlite_path(url: &str) -> Result<Option<PathBuf>, StoreError> {
    let unknown = || {
        StoreError::Open(
            "DATABASE_URL must begin with sqlite:// or postgres://, for example sqlite://database/frontdesk.db"
                .to_owned(),
        )
    };
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok(None);
    }
    let path = url.strip_prefix("sqlite://").or_else(|| url.strip_prefix("sqlite:")).ok_or_else(unknown)?;
    let path = path.split('?').next().unwrap_or_default();
    if path.is_empty() || path.starts_with(":memory:") {
        return Err(StoreError::Open(
            "DATABASE_URL must name an SQLite file: an in-memory database would be another one for each connection"
                .to_owned(),
        ));
    }
    Ok(Some(PathBuf::from(path)))
}

fn create_folder_of(path: &Path) -> Result<(), StoreError> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    std::fs::create_dir_all(folder)
        .map_err(|error| StoreError::Open(format!("cannot create the folder {}: {error}", folder.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_url_names_a_file_or_a_server() {
        assert_eq!(sqlite_path("sqlite://database/f.db?mode=rwc").unwrap(), Some("database/f.db".into()));
        assert_eq!(sqlite_path("sqlite:///var/f.db").unwrap(), Some("/var/f.db".into()));
        assert_eq!(sqlite_path("postgres://u:p@h/d").unwrap(), None);
        for bad in ["", "mysql://h/d", "sqlite://", "sqlite::memory:"] {
            assert!(sqlite_path(bad).is_err(), "{bad:?}");
        }
    }
}
