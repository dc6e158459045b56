//! Warranty records, and the import of a list of them in one transaction, while a server keeps running.
//!
//! There are three steps. Only the last one locks the shop's database:
//! 1. [`RowSorter`] sorts the rows by serial in temporary files, with constant memory.
//! 2. [`WarrantyImport::compare`] copies the sorted rows into a temporary table (on SQLite, in a separate file) and
//!    compares them with the shop's rows. It only reads the shop's table.
//! 3. [`WarrantyImport::apply`] writes the new and the changed rows in one transaction.
//!
//! - `sorter`: sorted runs and their merge
//! - `repeats`: serials that are on more than one line
//! - `sqlite`, `postgres`: the statements

use std::fmt::Debug;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{Datelike, NaiveDate};
use sea_orm::{ColumnTrait, DbErr, PaginatorTrait, QueryFilter, RuntimeErr, sqlx};
use serde::Serialize;
use tokio::sync::mpsc;
use utoipa::ToSchema;

use self::postgres::PostgresStaging;
use self::repeats::{Repeats, Resolved};
use self::sqlite::SqliteStaging;
use super::entities::warranty_records;
use super::{Store, StoreError, TenantStore};
use crate::domain::{Serial, TenantId, WarrantyRecord};

mod postgres;
mod repeats;
mod sorter;
mod sqlite;

pub use repeats::Conflict;
pub use sorter::{ImportRow, RowSorter};

/// Why an import failed. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("a temporary file cannot be written or read (is the disk of the temporary folder full?): {0}")]
    Temporary(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the thread that sorts the rows ended early")]
    SorterDied,
}

impl From<sqlx::Error> for ImportError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(DbErr::Exec(RuntimeErr::SqlxError(Arc::new(error))).into())
    }
}

/// How the list differs from the shop's records. Rows with a conflict are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Serials that the shop does not have.
    pub new: u64,
    /// Serials with another product name or date.
    pub changed: u64,
    pub unchanged: u64,
    /// Lines that repeat an earlier line of the list. The other numbers do not include them.
    pub repeated: u64,
}

impl Comparison {
    /// Makes a comparison from the counts of a database, without repeated lines.
    fn counted((new, changed, all): (i64, i64, i64)) -> Self {
        let count = |n: i64| u64::try_from(n).unwrap_or_default();
        Self { new: count(new), changed: count(changed), unchanged: count(all - new - changed), repeated: 0 }
    }

    /// Whether some staged rows, but not all, need not be written.
    fn is_partly_unchanged(&self) -> bool {
        self.unchanged > 0 && self.new + self.changed > 0
    }
}

/// A row that the list changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChangedRow {
    pub serial: String,
    pub old: RowValues,
    pub new: RowValues,
}

/// The values of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct RowValues {
    pub product_name: String,
    /// `YYYY-MM-DD`.
    pub warranty_end_date: String,
}

/// A changed row as the databases return it: the serial, the old name and date, the new name and date.
type ChangedTexts = (String, String, String, String, String);

impl From<ChangedTexts> for ChangedRow {
    fn from((serial, old_name, old_date, new_name, new_date): ChangedTexts) -> Self {
        let values = |product_name, warranty_end_date| RowValues { product_name, warranty_end_date };
        Self { serial, old: values(old_name, old_date), new: values(new_name, new_date) }
    }
}

/// The result of [`WarrantyImport::apply`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Rows inserted or updated.
    pub written: u64,
    /// How long the transaction was open. On SQLite, all other writers waited that long; on PostgreSQL, only writers of
    /// the same rows.
    pub locked: Duration,
}

/// An import of one list into one shop's table. Dropping it discards changes that were not applied.
#[derive(Debug)]
pub struct WarrantyImport {
    staging: Box<dyn Staging>,
    tenant: TenantId,
}

/// A connection with a temporary table for the rows of the list.
#[async_trait]
trait Staging: Debug + Send {
    /// Begins the transaction in which the rows are staged.
    async fn begin(&mut self) -> Result<(), ImportError>;

    /// Adds rows. They must be sorted by serial, each serial once.
    async fn insert(&mut self, records: Vec<RecordTexts>) -> Result<(), ImportError>;

    /// Ends staging, and keeps only the staged rows that are new or changed.
    async fn compare(&mut self, tenant: &TenantId) -> Result<Comparison, ImportError>;

    /// Returns the first staged rows that differ from the shop's.
    async fn changes(&mut self, tenant: &TenantId, limit: u32) -> Result<Vec<ChangedTexts>, ImportError>;

    /// Writes the staged rows.
    async fn apply(&mut self, tenant: &TenantId) -> Result<Applied, ImportError>;
}

/// The number of rows in a batch from the sorting thread.
const BATCH_ROWS: usize = 2_000;

/// The number of batches that may wait for the database.
const BATCHES_WAITING: usize = 4;

impl WarrantyImport {
    /// Opens a separate connection to the store's database, with an empty staging table.
    pub async fn begin(store: &Store, tenant: &TenantId) -> Result<Self, ImportError> {
        let staging: Box<dyn Staging> = if store.is_sqlite() {
            let options = store.writer()?.get_sqlite_connection_pool().connect_options();
            Box::new(SqliteStaging::open(&options).await?)
        } else {
            let options = store.writer()?.get_postgres_connection_pool().connect_options();
            Box::new(PostgresStaging::open(&options).await?)
        };
        Ok(Self { staging, tenant: tenant.clone() })
    }

    /// Stages the rows and compares them with the shop's. Does not write to the shop's table.
    ///
    /// Calls `on_conflict` for every line whose serial has other values on another line, sorted by serial.
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
            let Resolved { records, conflicts, repeated: more } = batch;
            repeated += more;
            conflicts.into_iter().for_each(&mut on_conflict);
            self.staging.insert(records).await?;
        }
        merging.await.map_err(|_| ImportError::SorterDied)??;
        let comparison = self.staging.compare(&self.tenant).await?;
        Ok(Comparison { repeated, ..comparison })
    }

    /// Returns the first changed rows, after [`compare`](Self::compare).
    pub async fn changes(&mut self, limit: u32) -> Result<Vec<ChangedRow>, ImportError> {
        Ok(self.staging.changes(&self.tenant, limit).await?.into_iter().map(Into::into).collect())
    }

    /// Writes the new and the changed rows in one transaction.
    ///
    /// Overwrites rows that were written since [`compare`](Self::compare). On SQLite it holds the write lock for about
    /// a second per million rows (see `scripts/bench imports`). Other writers wait for it, so this must stay
    /// below the server's `STORE_TIMEOUT_SECONDS`.
    pub async fn apply(mut self) -> Result<Applied, ImportError> {
        self.staging.apply(&self.tenant).await
    }
}

/// A record formatted for the database. The sorting thread does this, so that the database does not wait for it.
#[derive(Debug)]
struct RecordTexts {
    serial: String,
    product_name: String,
    /// `YYYY-MM-DD`
    warranty_end_date: String,
}

impl From<WarrantyRecord> for RecordTexts {
    fn from(record: WarrantyRecord) -> Self {
        let warranty_end_date = iso_date(record.warranty_end_date);
        Self { serial: record.serial.to_string(), product_name: record.product_name, warranty_end_date }
    }
}

/// Formats a date as `YYYY-MM-DD`. Several times faster than chrono.
fn iso_date(date: NaiveDate) -> String {
    let Ok(year @ 0..=9999) = u32::try_from(date.year()) else { return date.to_string() };
    let mut text = String::with_capacity(10);
    for (before, number) in [("", year / 100), ("", year % 100), ("-", date.month()), ("-", date.day())] {
        text.push_str(before);
        text.extend([number / 10, number % 10].into_iter().filter_map(|digit| char::from_digit(digit, 10)));
    }
    text
}

/// Merges the sorted rows and sends them in batches, until the receiver is closed.
fn merge(rows: RowSorter, batches: &mpsc::Sender<Resolved>) -> io::Result<()> {
    let mut repeats = Repeats::default();
    let mut resolved = Resolved::default();
    for row in rows.into_sorted()? {
        repeats.push(row?, &mut resolved);
        if resolved.records.len().max(resolved.conflicts.len()) >= BATCH_ROWS
            && batches.blocking_send(std::mem::take(&mut resolved)).is_err()
        {
            return Ok(());
        }
    }
    repeats.finish(&mut resolved);
    // A closed receiver has already failed.
    let _ = batches.blocking_send(resolved);
    Ok(())
}

impl TenantStore<'_> {
    /// Lists the records of these serials in any order. Unknown serials are left out.
    pub async fn list_warranties(&self, serials: &[Serial]) -> Result<Vec<WarrantyRecord>, StoreError> {
        let rows = self
            .rows::<warranty_records::Entity>()
            .filter(warranty_records::Column::Serial.is_in(serials.iter().map(Serial::as_str)))
            .all(&self.store.read)
            .await?;
        rows.into_iter().map(read_record).collect()
    }

    /// Counts the shop's records.
    pub async fn count_warranties(&self) -> Result<u64, StoreError> {
        let count = self.rows::<warranty_records::Entity>().count(&self.store.read).await?;
        Ok(count)
    }
}

fn read_record(row: warranty_records::Model) -> Result<WarrantyRecord, StoreError> {
    let serial = row
        .serial
        .parse()
        .map_err(|error| StoreError::Unreadable { table: "warranty_records", reason: format!("serial: {error}") })?;
    Ok(WarrantyRecord { serial, product_name: row.product_name, warranty_end_date: row.warranty_end_date })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_formatted_as_chrono_formats_them() {
        let first = NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
        let last = NaiveDate::from_ymd_opt(9999, 12, 31).unwrap();
        for date in first.iter_days().take(2000).chain([last, NaiveDate::MAX]) {
            assert_eq!(iso_date(date), date.to_string());
        }
    }
}
