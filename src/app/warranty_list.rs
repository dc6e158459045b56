//! A shop's list of warranties, as a spreadsheet writes it, on its way into the store: read, checked, compared and, if its
//! owner wants that, written.
//!
//! - `rows`: the file's rows
//! - `upload`: a list that comes over the wire

use std::io::{self, Read};

use self::rows::{Row, WarrantyRows};
use super::list_file::{Fault, FileError, Refusals};
use crate::domain::TenantId;
use crate::domain::text::clean;
use crate::domain::warranty::{RowError, parse_row};
use crate::store::Store;
use crate::store::warranty_import::{
    Applied, ChangedRow, Comparison, Conflict, ImportError, ImportRow, RowSorter, WarrantyImport,
};

/// So many changed rows are shown one by one.
const CHANGES_SHOWN: u32 = 50;

mod rows;
mod upload;

pub use upload::{Outcome, UploadError, Wish};

/// Rows between two reports of progress.
const PROGRESS_ROWS: u64 = 4_096;

/// A list that was read. Rows are kept in temporary files, so memory stays flat whatever their number.
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
    #[error("a temporary file: {0}")]
    Temporary(io::Error),
}

/// What is known of a list once it was compared.
#[derive(Debug)]
pub struct Found {
    pub comparison: Comparison,
    pub refusals: Refusals,
    /// Columns of the file that mean nothing to us, as quoted names.
    pub ignored_columns: Vec<String>,
    /// The first of the changed rows.
    pub changes: Vec<ChangedRow>,
}

/// A list that was compared with what the shop has. Dropping it discards it.
#[derive(Debug)]
pub struct Compared {
    pub found: Found,
    import: WarrantyImport,
}

impl WarrantyList {
    /// Reads the whole file, on the calling thread; keeps the first `shown_max` of the rows that cannot be taken.
    /// `progress` hears now and then how many bytes were read.
    ///
    /// # Errors
    /// The file as a whole cannot be read: it is no CSV in UTF-8, or its header lacks a column.
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
                        Err(error) => add_bad_value(&mut refusals, line, &error),
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

    /// Compares it with what the shop has. Writes nothing to the shop's table.
    pub async fn compare(self, store: &Store, tenant: &TenantId) -> Result<Compared, ImportError> {
        let Self { rows, mut refusals, ignored_columns } = self;
        let mut import = WarrantyImport::begin(store, tenant).await?;
        let comparison = import.compare(rows, |conflict| add_conflict(&mut refusals, &conflict)).await?;
        let changes = if comparison.changed > 0 { import.changes(CHANGES_SHOWN).await? } else { Vec::new() };
        Ok(Compared { found: Found { comparison, refusals, ignored_columns, changes }, import })
    }
}

impl Compared {
    /// Whether nothing stands in the way: no row was refused, or the others are wanted all the same.
    pub fn may_be_written(&self, skip_refused: bool) -> bool {
        skip_refused || self.found.refusals.count() == 0
    }

    /// Writes the new and the changed rows, if there are any, in one transaction: all of them, or none.
    pub async fn write(self) -> Result<(Found, Applied), ImportError> {
        let Comparison { new, changed, .. } = self.found.comparison;
        let applied = if new + changed == 0 { Applied::default() } else { self.import.apply().await? };
        Ok((self.found, applied))
    }
}

fn add_bad_value(refusals: &mut Refusals, line: u64, error: &RowError) {
    refusals.add(line, || Fault {
        code: Some(error.code()),
        column: Some(error.column()),
        value: error.value().to_owned(),
        reason: error.to_string(),
    });
}

fn add_conflict(refusals: &mut Refusals, conflict: &Conflict) {
    refusals.add(conflict.line, || {
        let reason =
            format!("line {} has the same serial with another name or date; delete the wrong one", conflict.other_line);
        Fault { code: Some("conflict"), column: Some("serial"), value: conflict.serial.to_string(), reason }
    });
}
