//! The database: SQLite by default, PostgreSQL for larger shops. The only module that uses sea-orm.
//!
//! All queries for a shop's rows start at [`Store::tenant`], so they cannot forget to filter by shop. Calls that serve
//! all shops (the journal, recovery, the server's own settings) are on [`Store`].
//!
//! - [`conversations`], [`messages`], [`turns`], [`unanswered`]: queries by resource; [`inbox`]: the console's list
//! - [`acceptance`]: the transaction that accepts a message, and recognizes repeated requests
//! - [`journal`]: events and the rows that change with them, for many turns in one commit
//! - [`jobs`]: background jobs, stored in the commit that they follow from
//! - [`warranty_import`]: warranty records, and the import of a list of them
//! - [`orders`]: orders and customers; [`orders_import`]: imports a list of them; [`policies`]: return policies
//! - [`returns`]: RMAs with their labels, tickets and escalations
//! - [`accounts`]: telecom accounts with their plans and invoices; [`refund_cases`]: claims for money
//!   back; [`account_snapshot`]: their rows as of one question
//! - [`tenants`]: shops that sell over WhatsApp; [`catalog`]: their goods; [`samples`]: sample data of every desk
//! - [`shoppers`]: their customers with consent; [`sales`]: orders and offers; [`sale_snapshot`]: their rows as of one question; [`payments`]: payment requests; [`sandbox`]: payments
//!   without a provider
//! - [`mails`]: mails to customers; [`attempts`]: failed attempts to prove whose order or account it is
//! - [`audit`], [`console_audit`]: the audit logs of business changes and of the console
//! - [`vectors`]: vectors of texts, in collections
//! - [`settings`]: the server's own settings and revoked sessions; [`persona_versions`]: earlier texts of persona files
//! - [`retention`]: removes old rows; [`personal`]: finds, exports and erases personal data
//! - [`lock`]: one serving process per database; `fence`: refuses writes of a process that has lost the lock
//! - `transaction`: begins and commits; `rows`: statements for many rows
//! - `health`: whether the store accepts writes; `read_only`: opens a database without changing it

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sea_orm::{
    ColumnTrait, ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend, QueryFilter, Select,
    TryInsertResult, Value,
};
use serde_json::{Map, Value as Json};
use tokio::sync::Mutex;

use crate::domain::{ConsoleAct, TenantId};
use entities::TenantEntity;
use fence::Fence;
use health::Health;
use lock::ServingLock;
use transaction::Transaction;

pub mod acceptance;
pub mod account_snapshot;
pub mod accounts;
pub mod attempts;
pub mod audit;
pub mod catalog;
pub mod channels;
pub mod console_audit;
pub mod conversations;
pub mod deliveries;
mod entities;
mod error;
mod fence;
mod health;
pub mod inbox;
pub mod jobs;
pub mod journal;
pub mod lock;
pub mod mails;
pub mod messages;
mod migrations;
pub mod offers;
pub mod orders;
pub mod orders_import;
pub mod payment_callbacks;
pub mod payments;
pub mod persona_versions;
pub mod personal;
pub mod policies;
mod read_only;
pub mod refund_cases;
pub mod retention;
pub mod returns;
mod rows;
pub mod sale_snapshot;
pub mod sales;
pub mod samples;
pub mod sandbox;
pub mod settings;
pub mod shoppers;
pub mod tenants;
mod transaction;
pub mod turns;
pub mod unanswered;
pub mod vectors;
pub mod warranty_import;

pub use error::StoreError;
use error::{Result, unreadable};
pub use health::Outage;
pub use read_only::Schema;

/// How to open the store.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// `sqlite://PATH` or `postgres://…`.
    pub url: String,
    /// How long a statement waits for a connection or for a lock of another process.
    pub timeout: Duration,
    /// The number of reading connections (SQLite) or of all connections (PostgreSQL).
    pub connections: u32,
}

impl StoreOptions {
    /// Returns the file of an SQLite database, or `None` for PostgreSQL.
    pub fn sqlite_file(&self) -> Result<Option<PathBuf>> {
        sqlite_path(&self.url)
    }

    /// Whether opening would create the SQLite file, because it does not exist.
    pub fn would_create(&self) -> Result<bool> {
        Ok(sqlite_path(&self.url)?.is_some_and(|path| !path.exists()))
    }
}

/// The database. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    /// The single writing connection (SQLite) or the pool (PostgreSQL).
    write: DatabaseConnection,
    read: DatabaseConnection,
    url: String,
    timeout: Duration,
    /// Whether each message is stored with a job to embed it.
    embeds: bool,
    /// Whether vectors of messages may be on another server.
    external_vectors: bool,
    /// `None` outside of a server.
    fence: Option<Fence>,
    health: Arc<Health>,
    /// Held while messages are accepted.
    accepting: Arc<Mutex<()>>,
    catalog_words: Arc<catalog::KnownWords>,
}

/// The store as one shop may read and change it.
#[derive(Clone, Copy, Debug)]
pub struct TenantStore<'a> {
    store: &'a Store,
    tenant: &'a TenantId,
    /// The console action to store with the next change.
    act: Option<&'a ConsoleAct>,
}

impl TenantStore<'_> {
    /// The shop.
    pub fn tenant(&self) -> &TenantId {
        self.tenant
    }

    /// Selects the shop's rows of a table.
    fn rows<E: TenantEntity>(&self) -> Select<E> {
        E::of(self.tenant)
    }

    /// Deletes the shop's rows in which the column has one of these values.
    async fn delete_where<E: TenantEntity, V: Into<Value>>(
        &self,
        transaction: &Transaction,
        column: E::Column,
        values: impl IntoIterator<Item = V>,
    ) -> Result<()> {
        E::delete_of(self.tenant).filter(column.is_in(values)).exec(transaction).await?;
        Ok(())
    }
}

impl Store {
    /// Opens the database for a command. Creates a missing SQLite file and migrates an older schema under the serving
    /// lock. Fails if a server runs on an older schema, or if the schema is newer than this version.
    pub async fn open(options: &StoreOptions) -> Result<Self> {
        let store = Self::connect(options).await?;
        migrations::upgrade(&store, options, migrations::LOCK_WAIT).await?;
        Ok(store)
    }

    /// Opens the database as [`Store::open`] does, for a process that holds the serving lock.
    pub async fn open_locked(options: &StoreOptions, lock: &ServingLock) -> Result<Self> {
        let store = Self::connect(options).await?;
        migrations::upgrade_locked(&store, lock).await?;
        Ok(store)
    }

    async fn connect(options: &StoreOptions) -> Result<Self> {
        match sqlite_path(&options.url)? {
            Some(path) => Self::open_sqlite(options, path).await,
            None => Self::open_postgres(options).await,
        }
    }

    async fn open_sqlite(options: &StoreOptions, path: PathBuf) -> Result<Self> {
        create_folder_of(&path)?;
        let timeout = options.timeout;
        let connect = |connections: u32, read_only: bool| {
            let mut connect = sqlite_connection(&path, timeout, connections, move |sqlite| {
                sqlite
                    .create_if_missing(!read_only)
                    .read_only(read_only)
                    .journal_mode(SqliteJournalMode::Wal)
                    .synchronous(SqliteSynchronous::Normal)
                    // Overwrite deleted data.
                    .pragma("secure_delete", "on")
            });
            connect
                .min_connections(1)
                .test_before_acquire(false)
                .map_sqlx_sqlite_before_acquire(transaction::has_no_transaction);
            Database::connect(connect)
        };
        let write = connect(1, false)
            .await
            .map_err(|error| StoreError::Open(format!("cannot open the database file {}: {error}", path.display())))?;
        // A connection that is opened later must not recreate a deleted file.
        let writer = write.get_sqlite_connection_pool();
        writer.set_connect_options(writer.connect_options().as_ref().clone().create_if_missing(false));
        let read = connect(options.connections, true).await?;
        Ok(Self::new(options, write, read, Health::of_file(&path)))
    }

    async fn open_postgres(options: &StoreOptions) -> Result<Self> {
        let mut connect = ConnectOptions::new(options.url.clone());
        connect
            .max_connections(options.connections.max(2))
            .acquire_timeout(options.timeout)
            .connect_timeout(options.timeout)
            .set_application_name("frontdesk")
            .sqlx_logging(false);
        let lock_timeout = format!("{}ms", options.timeout.as_millis());
        connect.map_sqlx_postgres_opts(move |server| server.options([("lock_timeout", &lock_timeout)]));
        let pool = Database::connect(connect).await.map_err(|error| {
            StoreError::Open(format!("cannot reach the PostgreSQL server of DATABASE_URL: {error}"))
        })?;
        Ok(Self::new(options, pool.clone(), pool, Arc::default()))
    }

    fn new(options: &StoreOptions, write: DatabaseConnection, read: DatabaseConnection, health: Arc<Health>) -> Self {
        Self {
            write,
            read,
            url: options.url.clone(),
            timeout: options.timeout,
            embeds: false,
            external_vectors: false,
            fence: None,
            health,
            accepting: Arc::default(),
            catalog_words: Arc::default(),
        }
    }

    /// Sets whether each message is stored with a job to embed it.
    pub fn embedding(mut self, on: bool) -> Self {
        self.embeds = on;
        self
    }

    /// Sets whether vectors of messages may be on another server, even if no message is embedded now.
    pub fn external_vectors(mut self, on: bool) -> Self {
        self.external_vectors = on;
        self
    }

    /// Whether a deletion is stored with jobs that remove vectors from the index.
    fn enqueues_forgetting(&self) -> bool {
        self.embeds || self.external_vectors
    }

    /// Returns the store of one shop.
    pub fn tenant<'a>(&'a self, tenant: &'a TenantId) -> TenantStore<'a> {
        TenantStore { store: self, tenant, act: None }
    }

    /// Checks that the database answers a read. [`Store::probe`] also checks writes.
    pub async fn ping(&self) -> Result<()> {
        self.read.execute_unprepared("SELECT 1").await?;
        Ok(())
    }

    /// Returns `SQLite (PATH)` or `PostgreSQL`, never the password.
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

/// Returns the options of connections to an SQLite file, with further options of sqlx.
fn sqlite_connection(
    path: &Path,
    timeout: Duration,
    connections: u32,
    further: impl Fn(SqliteConnectOptions) -> SqliteConnectOptions + Send + Sync + 'static,
) -> ConnectOptions {
    let path = path.to_owned();
    let mut connect = ConnectOptions::new("sqlite::memory:".to_owned());
    connect
        .max_connections(connections)
        .acquire_timeout(timeout)
        .idle_timeout(None::<Duration>)
        .max_lifetime(None::<Duration>)
        .sqlx_logging(false)
        .map_sqlx_sqlite_opts(move |sqlite| {
            further(sqlite.filename(&path).in_memory(false).shared_cache(false).busy_timeout(timeout))
        });
    connect
}

/// Returns the object in a JSON column.
fn object(value: Json) -> Map<String, Json> {
    match value {
        Json::Object(map) => map,
        _ => Map::new(),
    }
}

/// Turn and event numbers are counted from 0 and stay far below 2³¹.
fn to_db(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

fn from_db(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

/// Whether every row was inserted. sea-orm returns `Inserted(0)` for a row that already exists.
fn all_inserted(inserted: &TryInsertResult<u64>, rows: usize) -> bool {
    match inserted {
        TryInsertResult::Inserted(count) => usize::try_from(*count) == Ok(rows),
        TryInsertResult::Empty => rows == 0,
        TryInsertResult::Conflicted => false,
    }
}

/// Returns the file of an SQLite URL, or `None` for PostgreSQL.
fn sqlite_path(url: &str) -> Result<Option<PathBuf>> {
    let unknown = || {
        StoreError::Open(
            "DATABASE_URL must start with sqlite:// or postgres://, for example sqlite://database/frontdesk.db"
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
            "DATABASE_URL must name an SQLite file: with an in-memory database, each connection would have different data"
                .to_owned(),
        ));
    }
    Ok(Some(PathBuf::from(path)))
}

fn create_folder_of(path: &Path) -> Result<()> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    std::fs::create_dir_all(folder)
        .map_err(|error| StoreError::Open(format!("cannot create the folder {}: {error}", folder.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_url_names_a_file_or_server() {
        assert_eq!(sqlite_path("sqlite://database/f.db?mode=rwc").unwrap(), Some("database/f.db".into()));
        assert_eq!(sqlite_path("sqlite:///var/f.db").unwrap(), Some("/var/f.db".into()));
        assert_eq!(sqlite_path("postgres://u:p@h/d").unwrap(), None);
        for bad in ["", "mysql://h/d", "sqlite://", "sqlite::memory:"] {
            assert!(sqlite_path(bad).is_err(), "{bad:?}");
        }
    }
}
