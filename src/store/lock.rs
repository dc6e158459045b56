//! The serving lock: at most one process serves a database.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use sea_orm::sqlx::{self, Connection, PgConnection};
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use super::{Result, Store, StoreError, StoreOptions, create_folder_of, sqlite_path};

/// The lock of the process that serves the database. It is released when dropped or when the process dies.
#[derive(Debug)]
pub struct ServingLock {
    held: Held,
}

#[derive(Debug)]
enum Held {
    File { _file: File },
    Session(Session),
}

/// A connection to PostgreSQL that holds the lock as long as it lives.
#[derive(Debug)]
struct Session {
    url: String,
    connection: PgConnection,
    /// The id of PostgreSQL's process for this connection.
    backend: i32,
}

/// The key of the advisory lock in PostgreSQL: "frontdsk" in ASCII.
const ADVISORY_LOCK: i64 = i64::from_be_bytes(*b"frontdsk");

/// The interval between attempts to take a lock that another process holds.
pub(super) const RETRY: Duration = Duration::from_millis(100);

/// The interval between checks of the connection that holds the lock, and the timeout of each check.
const CHECK_EVERY: Duration = Duration::from_secs(2);

impl ServingLock {
    /// Takes the lock. Waits up to `wait` for a process that is shutting down, then returns `None`.
    pub async fn acquire(options: &StoreOptions, wait: Duration) -> Result<Option<Self>> {
        let deadline = Instant::now() + wait;
        loop {
            if let Some(held) = try_once(options).await? {
                return Ok(Some(Self { held }));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            sleep(RETRY).await;
        }
    }

    /// Releases the lock, and returns when another process can take it.
    pub(super) async fn release(self) {
        let Held::Session(mut session) = self.held else { return };
        let unlock = sqlx::query("SELECT pg_advisory_unlock($1)").bind(ADVISORY_LOCK);
        if let Err(error) = unlock.execute(&mut session.connection).await {
            // PostgreSQL releases it with the connection.
            warn!(error = %error, "Could not release the database lock");
        }
    }

    /// Keeps the lock by replacing a lost connection. Returns when another process has taken over the database. A lock
    /// on a file cannot be lost.
    pub async fn lost(&mut self, store: &Store) {
        let Held::Session(session) = &mut self.held else { return std::future::pending().await };
        loop {
            session.dies().await;
            warn!("Lost the connection that holds the database lock: reconnecting");
            if !session.is_taken_again(store).await {
                return;
            }
            info!("Retook the database lock");
        }
    }
}

impl Session {
    /// Opens a session with the lock. Returns `None` if another session holds it.
    async fn open(url: &str) -> Result<Option<Self>, sqlx::Error> {
        let mut connection = PgConnection::connect(url).await?;
        let (taken, backend) = sqlx::query_as("SELECT pg_try_advisory_lock($1), pg_backend_pid()")
            .bind(ADVISORY_LOCK)
            .fetch_one(&mut connection)
            .await?;
        if taken { Ok(Some(Self { url: url.to_owned(), connection, backend })) } else { Ok(None) }
    }

    async fn dies(&mut self) {
        while matches!(timeout(CHECK_EVERY, self.connection.ping()).await, Ok(Ok(()))) {
            sleep(CHECK_EVERY).await;
        }
    }

    /// Reconnects until the database answers. Returns `false` if another process has, or had, the lock.
    async fn is_taken_again(&mut self, store: &Store) -> bool {
        loop {
            match Self::open(&self.url).await {
                Ok(Some(session)) => {
                    *self = session;
                    // Another process may have held the lock for a while.
                    if let Ok(claimed) = store.is_claimed().await {
                        return claimed;
                    }
                    self.dies().await;
                }
                Ok(None) if !self.end_own_backend().await.unwrap_or(true) => return false,
                Ok(None) | Err(_) => {}
            }
            sleep(RETRY).await;
        }
    }

    /// Ends the lost connection if PostgreSQL still holds the lock for it. Returns `false` if another process holds the
    /// lock.
    async fn end_own_backend(&self) -> Result<bool, sqlx::Error> {
        let mut connection = PgConnection::connect(&self.url).await?;
        let holder: Option<i32> = sqlx::query_scalar(sqlx::AssertSqlSafe(format!("SELECT pid {HOLDER}")))
            .bind(ADVISORY_LOCK)
            .fetch_optional(&mut connection)
            .await?;
        match holder {
            None => Ok(true),
            Some(holder) if holder == self.backend => {
                sqlx::query("SELECT pg_terminate_backend($1)").bind(holder).execute(&mut connection).await?;
                Ok(true)
            }
            Some(_) => Ok(false),
        }
    }
}

/// Selects the session that holds the lock. PostgreSQL stores the key in two halves.
const HOLDER: &str = "FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 \
     AND classid::bigint = $1 >> 32 AND objid::bigint = $1 & 4294967295 \
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/// Whether a process serves the database. Creates no file.
pub async fn is_served(options: &StoreOptions) -> Result<bool> {
    match sqlite_path(&options.url)? {
        Some(path) => {
            let name = lock_file(path);
            let file = match File::open(&name) {
                Ok(file) => file,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
                Err(error) => return Err(StoreError::Open(format!("cannot read {}: {error}", name.display()))),
            };
            // A shared lock for an instant: a server that starts at this moment retries.
            Ok(matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)))
        }
        None => {
            let unreachable = |error: sqlx::Error| StoreError::Open(format!("cannot reach the database: {error}"));
            let mut connection = PgConnection::connect(&options.url).await.map_err(unreachable)?;
            sqlx::query_scalar(sqlx::AssertSqlSafe(format!("SELECT EXISTS (SELECT {HOLDER})")))
                .bind(ADVISORY_LOCK)
                .fetch_one(&mut connection)
                .await
                .map_err(unreachable)
        }
    }
}

/// Returns the path of the lock file. The database file itself cannot be locked: closing any handle of it would release
/// SQLite's own locks.
fn lock_file(database: PathBuf) -> PathBuf {
    let mut name = database.into_os_string();
    name.push(".lock");
    name.into()
}

async fn try_once(options: &StoreOptions) -> Result<Option<Held>> {
    match sqlite_path(&options.url)? {
        Some(path) => {
            create_folder_of(&path)?;
            let name = lock_file(path);
            let cannot = |error| StoreError::Open(format!("cannot lock {}: {error}", name.display()));
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&name).map_err(cannot)?;
            match file.try_lock() {
                Ok(()) => Ok(Some(Held::File { _file: file })),
                Err(std::fs::TryLockError::WouldBlock) => Ok(None),
                Err(std::fs::TryLockError::Error(error)) => Err(cannot(error)),
            }
        }
        None => {
            let unreachable = |error: sqlx::Error| StoreError::Open(format!("cannot lock the database: {error}"));
            Ok(Session::open(&options.url).await.map_err(unreachable)?.map(Held::Session))
        }
    }
}
