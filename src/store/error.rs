//! What can go wrong between the store and us.

use sea_orm::sqlx;
use sea_orm::{DbErr, RuntimeErr};

/// A failed call to the store. Its text is for the log, never for a customer.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database does not answer; the same call may succeed later.
    #[error("the store does not answer: {0}")]
    Unavailable(DbErr),
    /// The database refused the statement.
    #[error("the store refused: {0}")]
    Refused(DbErr),
    /// A row holds what this version cannot read.
    #[error("a row of {table} cannot be read: {reason}")]
    Unreadable { table: &'static str, reason: String },
    /// A row is there already, and says something else.
    #[error("{table} holds another row in this place")]
    Conflict { table: &'static str },
    /// Another server has taken the database.
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
        matches!(self, Self::Unavailable(_))
    }
}

impl From<DbErr> for StoreError {
    fn from(error: DbErr) -> Self {
        let unavailable = match &error {
            DbErr::Conn(_) | DbErr::ConnectionAcquire(_) => true,
            DbErr::Exec(RuntimeErr::SqlxError(cause)) | DbErr::Query(RuntimeErr::SqlxError(cause)) => is_passing(cause),
            _ => false,
        };
        if unavailable { Self::Unavailable(error) } else { Self::Refused(error) }
    }
}

fn is_passing(cause: &sqlx::Error) -> bool {
    match cause {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::Protocol(_) => true,
        sqlx::Error::Database(error) => match error.code().as_deref() {
            // PostgreSQL: 08 connection, 53 resources, 57 operator intervention (a shutdown), 40 rolled back.
            Some(code) if code.len() == 5 => ["08", "53", "57", "40"].iter().any(|class| code.starts_with(class)),
            // SQLite: busy and locked, with their extended codes.
            Some("5" | "6" | "261" | "262" | "517" | "518" | "773") => true,
            _ => false,
        },
        _ => false,
    }
}
