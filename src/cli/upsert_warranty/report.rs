//! What the command found, and how it is printed.

use std::collections::BinaryHeap;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;

use super::{Args, REFUSED};
use crate::domain::warranty::RowError;
use crate::store::warranty_import::{Applied, Comparison, Conflict};

/// A row that cannot be taken. Ordered by its line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Refused {
    /// The line of the file on which the row begins, counted from 1.
    pub line: u64,
    /// The column that the value stands in; `None` when the row as a whole is at fault.
    pub column: Option<&'static str>,
    /// The value, shortened to [`VALUE_SHOWN`] characters.
    pub value: String,
    /// What is wrong with it, and how to mend it.
    pub reason: String,
}

/// How much of a refused value is shown, in characters.
const VALUE_SHOWN: usize = 80;

/// The refused rows: how many there are, and the first ones of the file.
#[derive(Debug)]
pub struct Refusals {
    count: u64,
    shown_max: usize,
    /// The rows with the lowest lines, the highest of them on top.
    first: BinaryHeap<Refused>,
}

impl Refusals {
    /// Keeps at most `shown_max` rows, so that a file without one good row takes no more memory than another.
    pub fn new(shown_max: usize) -> Self {
        Self { count: 0, shown_max, first: BinaryHeap::new() }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn add_bad_value(&mut self, line: u64, error: &RowError) {
        self.add(line, || (Some(error.column()), error.value().to_owned(), error.to_string()));
    }

    pub fn add_ragged(&mut self, line: u64, fields: usize, expected: usize, first: &str) {
        self.add(line, || {
            let reason = format!(
                "the row has {fields} columns and the header {expected}; put a field that holds the delimiter into \
                 double quotes, or add what is missing"
            );
            (None, first.to_owned(), reason)
        });
    }

    pub fn add_conflict(&mut self, conflict: &Conflict) {
        self.add(conflict.line, || {
            let reason = format!(
                "line {} has the same serial with another name or date; delete the wrong one",
                conflict.other_line
            );
            (Some("serial"), conflict.serial.to_string(), reason)
        });
    }

    /// The rows that are kept, in the order of the file, and how many more there are.
    pub fn into_first(self) -> (Vec<Refused>, u64) {
        let first = self.first.into_sorted_vec();
        let more = self.count - first.len() as u64;
        (first, more)
    }

    /// A refused row; `describe` gives its column, value and mend, if it is kept.
    pub fn add(&mut self, line: u64, describe: impl FnOnce() -> (Option<&'static str>, String, String)) {
        self.count += 1;
        let refused = |(column, value, reason): (_, String, _)| Refused {
            line,
            column,
            value: shortened(&value, VALUE_SHOWN),
            reason,
        };
        if self.first.len() < self.shown_max {
            self.first.push(refused(describe()));
        } else if let Some(mut last) = self.first.peek_mut()
            && last.line > line
        {
            *last = refused(describe());
        }
    }
}

/// Everything there is to say about one run; as JSON, what `--json` prints.
#[derive(Clone, Debug, Serialize)]
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
    /// Whether the database now holds the new and the changed rows.
    pub written: bool,
    /// The first refused rows, in the order of the file.
    pub refused_rows: Vec<Refused>,
    /// How many more there are.
    pub refused_rows_not_shown: u64,
    /// Columns of the file that mean nothing to us, as quoted names.
    pub ignored_columns: Vec<String>,
    pub seconds: f64,
    /// Rows of the file, whatever became of them, a second.
    pub rows_per_second: u64,
    /// How long the transaction that writes was open: on SQLite, how long others who write had to wait at most.
    pub locked_seconds: f64,
}

impl Report {
    /// Brings together what was found. `applied` is `None` if nothing was to be written.
    pub fn new(
        args: &Args,
        comparison: Comparison,
        refusals: Refusals,
        ignored_columns: Vec<String>,
        applied: Option<Applied>,
        took: Duration,
    ) -> Self {
        let Comparison { new, changed, unchanged, repeated } = comparison;
        let refused = refusals.count;
        let rows = new + changed + unchanged + repeated + refused;
        let (refused_rows, refused_rows_not_shown) = refusals.into_first();
        Self {
            file: args.file.display().to_string(),
            tenant: args.tenant.to_string(),
            new,
            changed,
            unchanged,
            refused,
            repeated,
            dry_run: args.dry_run,
            written: applied.is_some(),
            refused_rows,
            refused_rows_not_shown,
            ignored_columns,
            seconds: milliseconds(took),
            rows_per_second: (rows as f64 / took.as_secs_f64().max(0.001)) as u64,
            locked_seconds: milliseconds(applied.unwrap_or_default().locked),
        }
    }

    /// 1 if rows were refused and, for their sake, nothing was written or nothing would be.
    pub fn exit_code(&self, skip_invalid: bool) -> ExitCode {
        if self.refused > 0 && !skip_invalid { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS }
    }

    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)
    }

    /// The counts, then the refused rows.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { new, changed, unchanged, refused, .. } = self;
        writeln!(out, "{new} new, {changed} changed, {unchanged} unchanged, {refused} refused")?;
        write_refused(out, "line", &self.refused_rows, self.refused_rows_not_shown)
    }

    /// What one should know beside the result.
    pub fn write_remarks(&self, out: &mut impl Write) -> io::Result<()> {
        if !self.ignored_columns.is_empty() {
            writeln!(out, "ignored columns: {}", self.ignored_columns.join(", "))?;
        }
        if self.repeated > 0 {
            writeln!(out, "repeated lines, counted once: {}", self.repeated)?;
        }
        if self.dry_run {
            writeln!(out, "dry run: nothing was written")
        } else if !self.written {
            writeln!(out, "nothing was written; mend the refused rows, or write the others with --skip-invalid")
        } else {
            writeln!(
                out,
                "written: {} rows; {:.3} s in all ({} rows/s), {:.3} s of it in the transaction that writes",
                self.new + self.changed,
                self.seconds,
                self.rows_per_second,
                self.locked_seconds
            )
        }
    }
}

/// A line for each refused row; `place` is what their numbers count.
pub fn write_refused(out: &mut impl Write, place: &str, rows: &[Refused], not_shown: u64) -> io::Result<()> {
    for Refused { line, column, value, reason } in rows {
        let column = column.unwrap_or("row");
        writeln!(out, "{place} {line}: {column} {}: {reason}", quoted(value, VALUE_SHOWN + 1))?;
    }
    match not_shown {
        0 => Ok(()),
        more => writeln!(out, "… and {more} more refused (--max-refused-shown shows more)"),
    }
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000.0).round() / 1_000.0
}

fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// A value from the file in quotes, on one line, with nothing in it that could move a terminal's cursor.
pub fn quoted(text: &str, max: usize) -> String {
    format!("{:?}", shortened(text, max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_refused_rows_of_the_file_are_kept_whatever_order_they_come_in() {
        let mut refusals = Refusals::new(2);
        for line in [9, 4, 7, 3, 8] {
            refusals.add_ragged(line, 2, 3, "A1");
        }
        let lines: Vec<u64> = refusals.first.into_sorted_vec().iter().map(|row| row.line).collect();
        assert_eq!((refusals.count, lines), (5, vec![3, 4]));
    }

    #[test]
    fn a_long_or_wild_value_is_shown_short_and_tame() {
        assert_eq!(quoted("Chuột\n\u{1b}[2J", 80), r#""Chuột\n\u{1b}[2J""#);
        assert_eq!(quoted("ăâđê", 2), "\"ăâ…\"");
    }
}
