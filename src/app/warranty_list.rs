//! Imports a list of warranties: reads and checks the file, compares it with the store, and writes it on request.
//!
//! - `rows`: the rows of the file
//! - `upload`: lists that are uploaded in the console

use std::io::{self, Read};

use self::rows::{Row, WarrantyRows};
use super::list_file::{FileError, Refusals, Refused};
use crate::domain::TenantId;
use crate::domain::text::clean;
use crate::domain::warranty::{RowCode, RowError, parse_row};
use crate::store::Store;
use crate::store::warranty_import::{
    Applied, ChangedRow, Comparison, Conflict, ImportError, ImportRow, RowSorter, WarrantyImport,
};

/// Changed rows that are shown.
const CHANGES_SHOWN: u32 = 50;

mod rows;
mod upload;

pub use upload::{Outcome, UploadError, Wish};

/// Rows between two reports of progress.
const PROGRESS_ROWS: u64 = 4_096;

/// A list that was read. Rows are kept in temporary files, so memory use does not grow with their number.
#[derive(Debug)]
pub struct WarrantyList {
    rows: RowSorter,
    refusals: Refusals,
    ignored_columns: Vec<String>,
}

/// Why a list could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("cannot use a temporary file: {0}")]
    Temporary(io::Error),
}

/// The result of comparing a list with the store.
#[derive(Debug)]
pub struct Found {
    pub comparison: Comparison,
    pub refusals: Refusals,
    /// The quoted names of unknown columns.
    pub ignored_columns: Vec<String>,
    /// The first changed rows.
    pub changes: Vec<ChangedRow>,
}

/// A compared list that can be written. Dropping it discards the list.
#[derive(Debug)]
pub struct Compared {
    pub found: Found,
    import: WarrantyImport,
}

impl WarrantyList {
    /// Reads the whole file, blocking. Keeps the first `shown_max` refused rows, and calls `progress` with the number of bytes read.
    ///
    /// # Errors
    /// Fails if the file is not CSV in UTF-8 or its header lacks a column.
    pub fn read(file: impl Read, shown_max: usize, mut progress: impl FnMut(u64)) -> Result<Self, ListError> {
        let mut csv = WarrantyRows::open(file)?;
        let ignored_columns = csv.ignored_columns().to_vec();
        let mut rows = RowSorter::default();
        let mut refusals = Refusals::new(shown_max);
        let mut count = 0;
        while let Some(row) = csv.next_row()? {
            match row {
                Row::Whole { line, serial, product_name, warranty_end_date } => {
                    match parse_row(&clean(serial), &clean(product_name), &clean(warranty_end_date)) {
                        Ok(record) => rows.push(ImportRow { record, line }).map_err(ListError::Temporary)?,
                        Err(errors) => refusals.add(errors.iter().map(|error| refused(line, error)).collect()),
                    }
                }
                Row::Ragged { line, fields, expected, first } => refusals.add_ragged(line, fields, expected, first),
            }
            count += 1;
            if count % PROGRESS_ROWS == 0 {
                progress(csv.bytes_read());
            }
        }
        Ok(Self { rows, refusals, ignored_columns })
    }

    /// Compares the list with the shop's warranties without changing them.
    pub async fn compare(self, store: &Store, tenant: &TenantId) -> Result<Compared, ImportError> {
        let Self { rows, mut refusals, ignored_columns } = self;
        let mut import = WarrantyImport::begin(store, tenant).await?;
        let comparison = import.compare(rows, |conflict| add_conflict(&mut refusals, &conflict)).await?;
        let changes = if comparison.changed > 0 { import.changes(CHANGES_SHOWN).await? } else { Vec::new() };
        Ok(Compared { found: Found { comparison, refusals, ignored_columns, changes }, import })
    }
}

impl Compared {
    /// Returns whether the list may be written: no row was refused, or `skip_refused` is set.
    pub fn may_be_written(&self, skip_refused: bool) -> bool {
        skip_refused || self.found.refusals.count() == 0
    }

    /// Writes the new and changed rows in one transaction.
    pub async fn write(self) -> Result<(Found, Applied), ImportError> {
        let Comparison { new, changed, .. } = self.found.comparison;
        let applied = if new + changed == 0 { Applied::default() } else { self.import.apply().await? };
        Ok((self.found, applied))
    }
}

fn refused(line: u64, error: &RowError) -> Refused {
    let numbers = match error {
        RowError::LongName { length, .. } => vec![*length as u64],
        _ => Vec::new(),
    };
    Refused::new(line, Some(error.column()), error.value(), error.to_string()).with_code(error.code(), numbers)
}

fn add_conflict(refusals: &mut Refusals, Conflict { line, serial, other_line }: &Conflict) {
    let reason = format!("line {other_line} has the same serial with a different name or date; delete the wrong line");
    let refused = Refused::new(*line, Some("serial"), serial.as_str(), reason);
    refusals.add(vec![refused.with_code(RowCode::Conflict, [*other_line])]);
}
