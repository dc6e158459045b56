//! The store's errors, and which of them are outages of the database.

use std::path::PathBuf;

use sea_orm::sqlx::error::DatabaseError;
use sea_orm::sqlx::sqlite::SqliteError;
use sea_orm::{DbErr, RuntimeErr, sqlx};

use super::Outage;

/// PostgreSQL's code for a lock that was not granted within `lock_timeout`.
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// The result of a store call.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// The error of a store call. The text is for the log, never for a customer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The database does not answer, or its disk is full or failing. The same call may succeed later.
    #[error("the store is not available: {0} ({hint})", hint = self.outage().hint())]
    Unavailable(DbErr),
    /// The path no longer leads to the open database file, so writes would be lost.
    #[error("{path} was deleted or replaced while it was open: {hint}", path = .0.display(), hint = Outage::FileReplaced.hint())]
    FileReplaced(PathBuf),
    #[error("{path} is damaged: {hint}", path = .0.display(), hint = Outage::FileDamaged.hint())]
    FileDamaged(PathBuf),
    /// The database refused the statement.
    #[error("the store refused: {0}")]
    Refused(DbErr),
    /// A row contains a value that this version cannot read.
    #[error("a row of {table} cannot be read: {reason}")]
    Unreadable { table: &'static str, reason: String },
    /// A different row already has this key.
    #[error("{table} already has a different row with this key")]
    Conflict { table: &'static str },
    /// Another server has taken over the database.
    #[error("another server serves this database now")]
    Fenced,
    /// A newer version has migrated the database.
    #[error(
        "the database was updated by a newer frontdesk (its migration {migration} is unknown to this version): install \
         that version or a later one, or restore the backup from before the update"
    )]
    NewerSchema { migration: String },
    /// The database cannot be opened.
    #[error("{0}")]
    Open(String),
}

impl StoreError {
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::FileReplaced(_) | Self::FileDamaged(_))
    }

    /// Whether the database is down, so that the next call is likely to fail as well. Rows that other transactions lock
    /// are no outage.
    pub fn is_outage(&self) -> bool {
        let is_locked = matches!(self, Self::Unavailable(error) if database_error(error).is_some_and(is_locked));
        self.is_unavailable() && !is_locked
    }

    /// Returns the outage that this error indicates.
    pub fn outage(&self) -> Outage {
        match self {
            Self::Unavailable(error) => database_error(error).and_then(cause_of).unwrap_or(Outage::NoAnswer),
            Self::FileReplaced(_) => Outage::FileReplaced,
            Self::FileDamaged(_) => Outage::FileDamaged,
            Self::Fenced => Outage::TakenOver,
            _ => Outage::NoAnswer,
        }
    }
}

impl From<DbErr> for StoreError {
    fn from(error: DbErr) -> Self {
        if is_unavailable(&error) { Self::Unavailable(error) } else { Self::Refused(error) }
    }
}

/// Returns the error for a value that this version cannot read.
pub(super) fn unreadable(table: &'static str, reason: impl ToString) -> StoreError {
    StoreError::Unreadable { table, reason: reason.to_string() }
}

/// Whether the database caused the error, not the statement.
pub(super) fn is_unavailable(error: &DbErr) -> bool {
    match error {
        DbErr::Conn(_) | DbErr::ConnectionAcquire(_) => true,
        DbErr::Exec(RuntimeErr::SqlxError(cause)) | DbErr::Query(RuntimeErr::SqlxError(cause)) => is_passing(cause),
        _ => false,
    }
}

fn is_passing(cause: &sqlx::Error) -> bool {
    match cause {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::BeginFailed
        | sqlx::Error::Protocol(_) => true,
        sqlx::Error::Database(error) => cause_of(error.as_ref()).is_some(),
        _ => false,
    }
}

fn database_error(error: &DbErr) -> Option<&dyn DatabaseError> {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(cause))
        | DbErr::Exec(RuntimeErr::SqlxError(cause))
        | DbErr::Query(RuntimeErr::SqlxError(cause)) => cause.as_database_error(),
        _ => None,
    }
}

/// Whether the locks of another PostgreSQL transaction kept this one from running, which also ends a deadlock.
fn is_locked(error: &dyn DatabaseError) -> bool {
    error.code().is_some_and(|code| code == LOCK_NOT_AVAILABLE || code.starts_with("40"))
}

/// Returns the outage that kept the database from running a statement, or `None` if the statement is at fault.
fn cause_of(error: &dyn DatabaseError) -> Option<Outage> {
    let code = error.code()?;
    if error.try_downcast_ref::<SqliteError>().is_some() {
        // The low byte of an extended code is the code itself (https://sqlite.org/rescode.html).
        return match code.parse::<u32>().ok()? & 0xff {
            // Busy, locked, out of memory, interrupted, the log's locking protocol.
            5 | 6 | 7 | 9 | 15 => Some(Outage::NoAnswer),
            // Read-only, input or output error, cannot open.
            8 | 10 | 14 => Some(Outage::DiskError),
            11 | 26 => Some(Outage::FileDamaged),
            13 => Some(Outage::DiskFull),
            _ => None,
        };
    }
    match code.as_ref() {
        "53100" => Some(Outage::DiskFull),
        LOCK_NOT_AVAILABLE => Some(Outage::NoAnswer),
        // A server that has become a standby takes no writes.
        "25006" => Some(Outage::DiskError),
        // PostgreSQL: 08 connection, 53 resources, 57 operator intervention (a shutdown), 40 rolled back, 58 its
        // system.
        code if code.starts_with("58") => Some(Outage::DiskError),
        code if ["08", "53", "57", "40"].iter().any(|class| code.starts_with(class)) => Some(Outage::NoAnswer),
        _ => None,
    }
}
