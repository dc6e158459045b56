//! The SQLite file as it lies on the disk, compared with the file that the connections have open.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use tracing::{error, info};

use crate::store::StoreError;

/// The first bytes of every SQLite file.
const HEADER: &[u8; 16] = b"SQLite format 3\0";

/// An SQLite file that is open.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    /// The file and its write-ahead log, each with its identity when it was opened.
    opened: Vec<(PathBuf, Identity)>,
    damaged: AtomicBool,
    /// Whether the problem has been logged.
    reported: AtomicBool,
}

impl DatabaseFile {
    /// Remembers which file lies at this path now.
    pub fn opened(path: &Path) -> Self {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let files = [path.to_owned(), PathBuf::from(log)];
        let opened = files.into_iter().filter_map(|path| identity(&path).ok().map(|found| (path, found))).collect();
        Self { path: path.to_owned(), opened, damaged: AtomicBool::new(false), reported: AtomicBool::new(false) }
    }

    /// Refuses if the file was deleted or replaced, or is damaged. Two `stat` calls.
    pub fn check(&self) -> Result<(), StoreError> {
        let replaced = self.opened.iter().find(|(path, opened)| match identity(path) {
            Ok(found) => found != *opened,
            // Any other error is the disk's, and the statement reports it.
            Err(error) => matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
        });
        let refused = match replaced {
            Some((path, _)) => StoreError::FileReplaced(path.clone()),
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

    pub fn set_damaged(&self, damaged: bool) {
        self.damaged.store(damaged, Ordering::Relaxed);
    }

    /// The file's length in bytes, 0 if it cannot be read.
    pub fn len(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |found| found.len())
    }

    /// Whether the file begins as an SQLite file does.
    pub fn has_header(&self) -> bool {
        let mut start = [0; HEADER.len()];
        match File::open(&self.path).and_then(|mut file| file.read_exact(&mut start)) {
            Ok(()) => start == *HEADER,
            Err(error) => error.kind() != io::ErrorKind::UnexpectedEof,
        }
    }
}

/// What tells a file from another one at the same path.
type Identity = (u64, u64);

fn identity(path: &Path) -> io::Result<Identity> {
    std::fs::metadata(path).map(|found| identity_of(&found))
}

/// Device and inode.
#[cfg(unix)]
fn identity_of(found: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino())
}

/// Only whether there is a file.
#[cfg(not(unix))]
fn identity_of(_: &Metadata) -> Identity {
    (0, 0)
}
