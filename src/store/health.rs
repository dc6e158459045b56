//! Checks whether the store accepts writes, and if not, why.

mod database_file;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sea_orm::{DatabaseConnection, DbErr};
use serde::Serialize;
use tokio::sync::Mutex;
use tracing::{error, info};
use utoipa::ToSchema;
use uuid::Uuid;

use self::database_file::DatabaseFile;
use super::error::is_unavailable;
use super::settings::{PROBE, set};
use super::{Result, Store, StoreError};

/// The timeout of a probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the result of a probe is reused.
const PROBE_REUSED: Duration = Duration::from_secs(1);
/// How often a probe checks an SQLite file.
const CHECK_FILE_EVERY: Duration = Duration::from_secs(60);

/// Why the store does not accept writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outage {
    /// The database does not answer, or another process holds its lock.
    NoAnswer,
    DiskFull,
    /// The disk is failing, or the database cannot be opened or written.
    DiskError,
    /// The SQLite file was deleted or replaced after it was opened.
    FileReplaced,
    FileDamaged,
    /// Another server has taken over the database.
    TakenOver,
}

impl Outage {
    /// Returns what the operator can do.
    pub(super) fn hint(self) -> &'static str {
        match self {
            Self::NoAnswer => "check that the database runs and that no other process locks it",
            Self::DiskFull => "free some space on the database's disk; the server then continues by itself",
            Self::DiskError => "check the database's disk and permissions; the server then continues by itself",
            Self::FileReplaced => "stop the server, put the file and its -wal file back, and start the server again",
            Self::FileDamaged => "stop the server, restore a backup of the file, and start the server again",
            Self::TakenOver => "stop this server: another one serves the database",
        }
    }
}

/// The number of bytes that a probe writes after a write has failed. It must not be smaller than a message with its
/// turn, because a small row may fit on a disk that is full for anything larger.
const LARGE_PROBE: usize = 64 * 1024;

/// The state of health checks, shared by all clones of a [`Store`].
#[derive(Debug, Default)]
pub(super) struct Health {
    /// `None` for PostgreSQL, and for a store that is opened without changing it.
    file: Option<DatabaseFile>,
    last: Mutex<Last>,
    /// Whether a write has failed since the last probe that succeeded.
    write_failed: AtomicBool,
}

#[derive(Debug, Default)]
struct Last {
    probe: Option<(Instant, Option<Outage>)>,
    file_check: Option<Instant>,
}

impl Health {
    /// Returns the state for an SQLite database whose file has just been opened.
    pub fn of_file(path: &Path) -> Arc<Self> {
        Arc::new(Self { file: Some(DatabaseFile::opened(path)), ..Self::default() })
    }

    /// Remembers a failed write, unless its statement caused the error.
    pub fn note_failure(&self, error: &DbErr) {
        if is_unavailable(error) {
            self.write_failed.store(true, Ordering::Relaxed);
        }
    }

    /// Fails if the SQLite file was deleted or replaced after it was opened, or is damaged.
    pub fn check_file(&self) -> Result<()> {
        self.file.as_ref().map_or(Ok(()), DatabaseFile::check)
    }
}

impl Store {
    /// Returns the writing connection. Fails if its writes would be lost.
    pub(super) fn writer(&self) -> Result<&DatabaseConnection> {
        self.health.check_file()?;
        Ok(&self.write)
    }

    /// Writes a row and reads it back over another connection. Returns why that failed, or `None`. Concurrent callers
    /// share one probe.
    pub async fn probe(&self) -> Option<Outage> {
        let mut last = self.health.last.lock().await;
        if let Some((at, outage)) = last.probe
            && at.elapsed() < PROBE_REUSED
        {
            return outage;
        }
        let checks_file = last.file_check.is_none_or(|at| at.elapsed() >= CHECK_FILE_EVERY);
        let probe = tokio::time::timeout(PROBE_TIMEOUT, self.write_and_read_back(checks_file));
        let failed = match probe.await {
            Ok(Ok(())) => None,
            Ok(Err(cause)) => Some((cause.outage(), cause.to_string())),
            Err(_) => Some((Outage::NoAnswer, format!("no answer within {} s", PROBE_TIMEOUT.as_secs()))),
        };
        if checks_file && failed.is_none() {
            last.file_check = Some(Instant::now());
        }
        let outage = failed.as_ref().map(|(outage, _)| *outage);
        let before = last.probe.replace((Instant::now(), outage)).and_then(|(_, outage)| outage);
        match failed {
            Some((outage, cause)) if before != Some(outage) => {
                error!(?outage, error = cause, "The store does not accept writes: {}", outage.hint());
            }
            None if before.is_some() => info!("The store accepts writes again"),
            _ => {}
        }
        outage
    }

    async fn write_and_read_back(&self, checks_file: bool) -> Result<()> {
        if let Some(file) = self.health.file.as_ref().filter(|file| checks_file && file.replaced().is_none()) {
            file.set_damaged(!file.is_sound().await?);
        }
        let mut value = Uuid::now_v7().to_string();
        if self.health.write_failed.load(Ordering::Relaxed) {
            value.push_str(&"-".repeat(LARGE_PROBE));
        }
        let transaction = self.begin_fenced().await?;
        set(&transaction, PROBE, &value).await?;
        transaction.commit().await?;
        match self.find_setting(PROBE).await? {
            Some(read) if read == value => {
                self.health.write_failed.store(false, Ordering::Relaxed);
                Ok(())
            }
            _ => Err(StoreError::Conflict { table: "settings" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::ConnectionTrait;

    use super::*;
    use crate::store::StoreOptions;

    /// Probes the store, without the last result.
    async fn probe(store: &Store) -> Option<Outage> {
        store.health.last.lock().await.probe = None;
        store.probe().await
    }

    /// Fills the disk for the open connection. A connection that is opened later has space again.
    async fn fill_disk(store: &Store) {
        store.write.execute_unprepared("PRAGMA max_page_count = 1").await.unwrap();
    }

    async fn write(store: &Store, name: &str) -> Result<()> {
        let transaction = store.begin().await?;
        set(&transaction, name, &"x".repeat(4000)).await?;
        transaction.commit().await
    }

    #[tokio::test]
    async fn full_disk_is_reported_until_large_rows_fit() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("shop.db").display());
        let options = StoreOptions { url, timeout: Duration::from_secs(30), connections: 1 };
        let store = Store::open(&options).await.unwrap();
        fill_disk(&store).await;
        assert_eq!(probe(&store).await, None, "a small row fits");
        let mut written = 0;
        while written < 50 && write(&store, &written.to_string()).await.is_ok() {
            written += 1;
        }
        assert!(written < 50, "the disk is full");
        fill_disk(&store).await;
        assert_eq!(probe(&store).await, Some(Outage::DiskFull), "a small row fits, and a message does not");
        assert_eq!(probe(&store).await, None, "the disk has space again");
    }
}
