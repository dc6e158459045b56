//! One serving process a database, for now.

use std::fs::{File, OpenOptions};
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

async fn try_once(options: &StoreOptions) -> Result<Option<Held>, StoreError> {
    match sqlite_path(&options.url)? {
        Some(path) => {
            // Beside the database, since SQLite's own locks on the file would be given up by closing another handle.
            create_folder_of(&path)?;
            let mut name = path.into_os_string();
            name.push(".lock");
            let cannot = |error| StoreError::Open(format!("cannot lock {}: {error}", name.to_string_lossy()));
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
