//! Detects that the SQLite file was deleted, replaced or damaged while it is open.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sea_orm::sqlx::sqlite::SqliteConnectOptions;
use sea_orm::sqlx::{self, ConnectOptions, Connection, Row};
use sea_orm::{DbErr, RuntimeErr};
use tracing::{error, info};

use super::Outage;
use crate::store::{Result, StoreError};

/// The largest file, in bytes, whose structure is checked. The check reads the whole file.
const STRUCTURE_CHECK_MAX: u64 = 16 * 1024 * 1024;
/// The size of SQLite's smallest page in bytes. SQLite would treat an empty file as a new database.
const SMALLEST: u64 = 512;

/// An SQLite file that is open.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    /// The file and its write-ahead log, each with its identity at opening.
    opened: Vec<(PathBuf, Identity)>,
    damaged: AtomicBool,
    /// Whether the problem has been logged.
    reported: AtomicBool,
}

impl DatabaseFile {
    /// Remembers which file is at this path now.
    pub fn opened(path: &Path) -> Self {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let files = [path.to_owned(), PathBuf::from(log)];
        let opened = files.into_iter().filter_map(|path| identity(&path).ok().map(|found| (path, found))).collect();
        Self { path: path.to_owned(), opened, damaged: AtomicBool::new(false), reported: AtomicBool::new(false) }
    }

    /// Fails if the file was deleted or replaced, or is damaged. Costs two `stat` calls.
    pub fn check(&self) -> Result<()> {
        let refused = match self.replaced() {
            Some(path) => StoreError::FileReplaced(path.to_owned()),
            None if self.damaged.load(Ordering::Relaxed) => StoreError::FileDamaged(self.path.clone()),
            None => {
                if self.reported.swap(false, Ordering::Relaxed) {
                    info!(path = %self.path.display(), "The database file is usable again");
                }
                return Ok(());
            }
        };
        if !self.reported.swap(true, Ordering::Relaxed) {
            error!(error = %refused, "Refusing writes");
        }
        Err(refused)
    }

    /// Returns the file that was deleted or replaced, if any.
    pub fn replaced(&self) -> Option<&Path> {
        let replaced = self.opened.iter().find(|(path, opened)| match identity(path) {
            Ok(found) => found != *opened,
            // The statement reports any other error of the disk.
            Err(error) => matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
        });
        replaced.map(|(path, _)| path.as_path())
    }

    pub fn set_damaged(&self, damaged: bool) {
        self.damaged.store(damaged, Ordering::Relaxed);
    }

    /// Whether SQLite can read the file, and finds no error in its structure if it is small enough to check.
    ///
    /// Uses a new connection, which has no pages cached. Opening the file directly would release the locks that SQLite
    /// holds on it, because POSIX drops them when a process closes any handle of the file.
    pub async fn is_sound(&self) -> Result<bool> {
        let length = std::fs::metadata(&self.path).map_or(0, |found| found.len());
        if length < SMALLEST {
            return Ok(false);
        }
        let check = if length <= STRUCTURE_CHECK_MAX { "PRAGMA quick_check(1)" } else { "PRAGMA schema_version" };
        let options = SqliteConnectOptions::new().filename(&self.path).read_only(true);
        let checked = async {
            let mut connection = options.connect().await?;
            let row = sqlx::query(check).fetch_optional(&mut connection).await?;
            connection.close().await?;
            Ok::<_, sqlx::Error>(row)
        };
        match checked.await {
            // A number is the schema's version.
            Ok(row) => Ok(row.is_some_and(|row| row.try_get::<String, _>(0).map_or(true, |found| found == "ok"))),
            Err(cause) => match StoreError::from(DbErr::Query(RuntimeErr::SqlxError(Arc::new(cause)))) {
                cause if cause.outage() == Outage::FileDamaged => Ok(false),
                cause => Err(cause),
            },
        }
    }
}

/// Distinguishes a file from another one at the same path.
type Identity = (u64, u64);

fn identity(path: &Path) -> io::Result<Identity> {
    std::fs::metadata(path).map(|found| identity_of(&found))
}

/// Device and inode.
fn identity_of(found: &Metadata) -> Identity {
    (found.dev(), found.ino())
}
