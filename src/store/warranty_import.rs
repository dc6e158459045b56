//! Bringing a whole list of warranties into the store, all or nothing, while a server goes on serving.
//!
//! Three steps, so that the shop's database is locked for the last one alone:
//! 1. [`RowSorter`]: the rows are sorted by serial in temporary files; memory stays flat whatever their number.
//! 2. [`WarrantyImport::compare`]: the sorted rows go into a temporary table of one connection (in SQLite a database
//!    file of its own, unseen by others) and are compared with what the shop has: reading only.
//! 3. [`WarrantyImport::apply`]: the new and the changed rows, and no others, are written in one transaction.
//!
//! - `sorter`: sorted runs and their merge
//! - `repeats`: serials on more than one line
//! - `sqlite`, `postgres`: the statements

use std::io;
use std::sync::Arc;
use std::time::Duration;

use sea_orm::{DbErr, RuntimeErr, sqlx};
use serde::Serialize;
use tokio::sync::mpsc;
use utoipa::ToSchema;

use self::postgres::PostgresStaging;
use self::repeats::{Repeats, Settled};
use self::sqlite::SqliteStaging;
use super::{Store, StoreError};
use crate::domain::TenantId;

mod postgres;
mod repeats;
mod sorter;
mod sqlite;

pub use repeats::Conflict;
pub use sorter::{ImportRow, RowSorter};

/// Why a list could not be brought in. Nothing of it was written.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("a temporary file cannot be written or read (is the disk of the temporary folder full?): {0}")]
    Temporary(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the thread that sorts the rows has ended early")]
    SorterDied,
}

impl From<sqlx::Error> for ImportError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(DbErr::Exec(RuntimeErr::SqlxError(Arc::new(error))).into())
    }
}

/// How the list differs from what the shop has. Rows with a conflict are in none of the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Serials that the shop does not have.
    pub new: u64,
    /// Serials with another product name or date.
    pub changed: u64,
    pub unchanged: u64,
    /// Lines that say the same as an earlier line of the list; they are in none of the other numbers.
    pub repeated: u64,
}

/// A row of the shop's that the list changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChangedRow {
    pub serial: String,
    pub old: RowValues,
    pub new: RowValues,
}

/// What a row says of its serial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct RowValues {
    pub product_name: String,
    /// `YYYY-MM-DD`.
    pub warranty_end_date: String,
}

/// A changed row as the databases give it: the serial, then name and date, old and new.
type ChangedTexts = (String, String, String, String, String);

impl From<ChangedTexts> for ChangedRow {
    fn from((serial, old_name, old_date, new_name, new_date): ChangedTexts) -> Self {
        let values = |product_name, warranty_end_date| RowValues { product_name, warranty_end_date };
        Self { serial, old: values(old_name, old_date), new: values(new_name, new_date) }
    }
}

/// What a list has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Rows inserted or updated.
    pub written: u64,
    /// How long the transaction that wrote them was open. On SQLite others who write wait so long; on PostgreSQL only
    /// those who write the same rows do.
    pub locked: Duration,
}

/// One list on its way into one shop's table. Dropping it discards what was not applied.
#[derive(Debug)]
pub struct WarrantyImport {
    staging: Staging,
    tenant: TenantId,
}

#[derive(Debug)]
enum Staging {
    Sqlite(SqliteStaging),
    Postgres(PostgresStaging),
}

/// How many rows are read between two messages from the sorting thread.
const BATCH_ROWS: usize = 2_000;

/// How many batches may wait for the database.
const BATCHES_WAITING: usize = 4;

impl WarrantyImport {
    /// Opens a connection of its own to the store's database, with an empty staging table.
    pub async fn begin(store: &Store, tenant: &TenantId) -> Result<Self, ImportError> {
        let staging = if store.is_sqlite() {
            let options = store.writer()?.get_sqlite_connection_pool().connect_options();
            Staging::Sqlite(SqliteStaging::open(&options).await?)
        } else {
            let options = store.writer()?.get_postgres_connection_pool().connect_options();
            Staging::Postgres(PostgresStaging::open(&options).await?)
        };
        Ok(Self { staging, tenant: tenant.clone() })
    }

    /// Stages the rows and compares them with the shop's. Writes nothing to the shop's table.
    ///
    /// Every line with a serial that another line gives other values is handed to `on_conflict`, in order of serials.
    pub async fn compare(
        &mut self,
        rows: RowSorter,
        mut on_conflict: impl FnMut(Conflict),
    ) -> Result<Comparison, ImportError> {
        let (sender, mut batches) = mpsc::channel(BATCHES_WAITING);
        let merging = tokio::task::spawn_blocking(move || merge(rows, &sender));
        let mut repeated = 0;
        self.staging.begin().await?;
        while let Some(batch) = batches.recv().await {
            let Batch { records, conflicts, repeated: more } = batch;
            repeated += more;
            conflicts.into_iter().for_each(&mut on_conflict);
            match &mut self.staging {
                Staging::Sqlite(staging) => staging.insert(records).await?,
                Staging::Postgres(staging) => staging.insert(records).await?,
            }
        }
        merging.await.map_err(|_| ImportError::SorterDied)??;
        let comparison = match &mut self.staging {
            Staging::Sqlite(staging) => staging.compare(&self.tenant).await?,
            Staging::Postgres(staging) => staging.compare(&self.tenant).await?,
        };
        Ok(Comparison { repeated, ..comparison })
    }

    /// The first changed rows, after [`compare`](Self::compare).
    pub async fn changes(&mut self, limit: u32) -> Result<Vec<ChangedRow>, ImportError> {
        let rows = match &mut self.staging {
            Staging::Sqlite(staging) => staging.changes(&self.tenant, limit).await?,
            Staging::Postgres(staging) => staging.changes(&self.tenant, limit).await?,
        };
        Ok(rows.into_iter().map(Into::into).collect())
    }

    /// Writes the new and the changed rows in one transaction: all of them, or none.
    ///
    /// A row that somebody else wrote since [`compare`](Self::compare) is overwritten. On SQLite the write lock is
    /// held for about a second a million rows (`scripts/bench-warranty-import` measures it); others wait for it, which
    /// for a server must stay below its `STORE_TIMEOUT_SECONDS`.
    pub async fn apply(mut self) -> Result<Applied, ImportError> {
        match &mut self.staging {
            Staging::Sqlite(staging) => staging.apply(&self.tenant).await,
            Staging::Postgres(staging) => staging.apply(&self.tenant).await,
        }
    }
}

impl Staging {
    async fn begin(&mut self) -> Result<(), ImportError> {
        match self {
            Self::Sqlite(staging) => staging.begin().await,
            Self::Postgres(staging) => staging.begin().await,
        }
    }
}

/// What the sorting thread sends.
#[derive(Debug)]
struct Batch {
    records: Vec<RecordTexts>,
    conflicts: Vec<Conflict>,
    repeated: u64,
}

/// A record as the database takes it. Made on the sorting thread, so that the database need not wait for it.
#[derive(Debug)]
struct RecordTexts {
    serial: String,
    product_name: String,
    /// `YYYY-MM-DD`
    warranty_end_date: String,
}

impl From<Settled> for Batch {
    fn from(settled: Settled) -> Self {
        let records = settled.records.into_iter().map(|record| RecordTexts {
            serial: record.serial.to_string(),
            product_name: record.product_name,
            warranty_end_date: record.warranty_end_date.to_string(),
        });
        Self { records: records.collect(), conflicts: settled.conflicts, repeated: settled.repeated }
    }
}

/// Merges the sorted rows and sends what they settle, batch by batch, until the receiver is gone.
fn merge(rows: RowSorter, batches: &mpsc::Sender<Batch>) -> io::Result<()> {
    let mut repeats = Repeats::default();
    let mut settled = Settled::default();
    for row in rows.into_sorted()? {
        repeats.push(row?, &mut settled);
        if settled.records.len().max(settled.conflicts.len()) >= BATCH_ROWS
            && batches.blocking_send(std::mem::take(&mut settled).into()).is_err()
        {
            return Ok(());
        }
    }
    repeats.finish(&mut settled);
    // A receiver that is gone has failed by itself.
    let _ = batches.blocking_send(settled.into());
    Ok(())
}
