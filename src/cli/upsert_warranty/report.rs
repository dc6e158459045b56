//! What the command found: the counts, the refused rows, and how both are printed.

use std::collections::BinaryHeap;
use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use crate::store::warranty_import::{Applied, Comparison};

/// A row that cannot be taken. Ordered by its line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Refused {
    /// The line of the file on which the row begins, counted from 1.
    pub line: u64,
    /// The column that the value stands in; `None` when the row as a whole is at fault.
    pub column: Option<&'static str>,
    /// The value, shortened.
    pub value: String,
    pub reason: String,
}

/// The refused rows: how many, and the first ones of the file.
#[derive(Debug)]
pub struct Refusals {
    count: u64,
    shown_max: usize,
    /// The rows with the lowest lines, the highest of them on top.
    first: BinaryHeap<Refused>,
}

impl Refusals {
    /// Keeps at most `shown_max` rows, so that a file without one good row is no heavier than another.
    pub fn new(shown_max: usize) -> Self {
        Self { count: 0, shown_max, first: BinaryHeap::new() }
    }

    /// Counts a refused row; `describe` is called if it may be shown.
    pub fn add(&mut self, line: u64, describe: impl FnOnce() -> Refused) {
        self.count += 1;
        if self.first.len() < self.shown_max {
            self.first.push(describe());
        } else if let Some(mut last) = self.first.peek_mut().filter(|last| last.line > line) {
            *last = describe();
        }
    }
}

/// Everything there is to say about one run.
#[derive(Debug, Serialize)]
pub struct Report {
    pub file: String,
    pub tenant: String,
    pub new: u64,
    pub changed: u64,
    pub unchanged: u64,
    pub refused: u64,
    /// Lines that say the same as an earlier one; they are in none of the other counts.
    pub repeated: u64,
    pub dry_run: bool,
    /// Whether the new and changed rows are in the database now.
    pub written: bool,
    /// The first refused rows, in the order of the file.
    pub refused_rows: Vec<Refused>,
    /// How many more there are.
    pub refused_rows_not_shown: u64,
    pub ignored_columns: Vec<String>,
    pub rows_per_second: u64,
    pub seconds: f64,
    /// How long writing kept other writers waiting.
    pub locked_seconds: f64,
}

impl Report {
    /// Brings together what was found. `applied` is `None` if nothing was to be written.
    pub fn new(refusals: Refusals, comparison: Comparison, applied: Option<Applied>, took: Duration) -> Self {
        let Comparison { new, changed, unchanged, repeated } = comparison;
        let rows = new + changed + unchanged + repeated + refusals.count;
        let refused_rows = refusals.first.into_sorted_vec();
        let seconds = took.as_secs_f64();
        Self {
            file: String::new(),
            tenant: String::new(),
            new,
            changed,
            unchanged,
            refused: refusals.count,
            repeated,
            dry_run: false,
            written: applied.is_some(),
            refused_rows_not_shown: refusals.count.saturating_sub(refused_rows.len() as u64),
            refused_rows,
            ignored_columns: Vec::new(),
            rows_per_second: (rows as f64 / seconds.max(f64::EPSILON)) as u64,
            seconds,
            locked_seconds: applied.map_or(0.0, |applied| applied.locked.as_secs_f64()),
        }
    }
}
