//! One serving process a database, for now.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use sea_orm::sqlx::{self, Connection, PgConnection};

use super::{StoreError, StoreOptions, create_folder_of, sqlite_path};

/// Held while this process serves the database; given back when dropped, or when the process dies.
#[derive(Debug)]
pub struct ServingLock {
    _held: Held,
}

#[derive(Debug)]
enum Held {
    File { _file: File },
    Session { _connection: PgConnection },
}

/// The number of our advisory lock in PostgreSQL: "frontdsk" as eight ASCII letters.
const ADVISORY_LOCK: i64 = i64::from_be_bytes(*b"frontdsk");

/// How often a lock that another process holds is tried again.
const RETRY: Duration = Duration::from_millis(100);

impl ServingLock {
    /// Takes the lock, waiting at most `wait` for a process that is going down. `None`: another one serves.
    pub async fn acquire(options: &StoreOptions, wait: Duration) -> Result<Option<Self>, StoreError> {
        let deadline = Instant::now() + wait;
        loop {
            if let Some(held) = try_once(options).await? {
                return Ok(Some(Self { _held: held }));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            tokio::time::sleep(RETRY).await;
        }
    }
}

/// Whether a process serves the database. Creates nothing.
pub async fn is_served(options: &StoreOptions) -> Result<bool, StoreError> {
    match sqlite_path(&options.url)? {
        Some(path) => {
            let name = lock_file(path);
            let file = match File::open(&name) {
                Ok(file) => file,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
                Err(error) => return Err(StoreError::Open(format!("cannot read {}: {error}", name.display()))),
            };
            // Shared and for an instant: whoever starts just now tries again.
            Ok(matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)))
        }
        None => {
            let unreachable = |error: sqlx::Error| StoreError::Open(format!("cannot reach the database: {error}"));
            let mut connection = PgConnection::connect(&options.url).await.map_err(unreachable)?;
            // PostgreSQL shows the two halves of the number.
            sqlx::query_scalar(
                "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 \
                 AND classid::bigint = $1 >> 32 AND objid::bigint = $1 & 4294967295 \
                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))",
            )
            .bind(ADVISORY_LOCK)
            .fetch_one(&mut connection)
            .await
            .map_err(unreachable)
        }
    }
}

/// Beside the database, since SQLite's own locks on the file would be given up by closing another handle.
fn lock_file(database: PathBuf) -> PathBuf {
    let mut name = database.into_os_string();
    name.push(".lock");
    name.into()
}

async fn try_once(options: &StoreOptions) -> Result<Option<Held>, StoreError> {
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
            let mut connection = PgConnection::connect(&options.url).await.map_err(unreachable)?;
            let taken: bool = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)")
                .bind(ADVISORY_LOCK)
                .fetch_one(&mut connection)
                .await
                .map_err(unreachable)?;
            Ok(taken.then_some(Held::Session { _connection: connection }))
        }
    }
}
