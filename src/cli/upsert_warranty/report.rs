//! What the command found, and how it is printed.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;

use super::{Args, REFUSED};
use crate::app::list_file::Refused;
use crate::app::warranty_list::Found;
use crate::cli::lists::write_refused;
use crate::store::warranty_import::{Applied, Comparison};

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
    pub fn new(args: &Args, found: Found, applied: Option<Applied>, took: Duration) -> Self {
        let Found { comparison, refusals, ignored_columns, .. } = found;
        let Comparison { new, changed, unchanged, repeated } = comparison;
        let refused = refusals.count();
        let rows = new + changed + unchanged + repeated + refused;
        let (refused_rows, refused_rows_not_shown) = refusals.into_first();
        Self {
            file: args.file.display().to_string(),
            tenant: args.destination.tenant.to_string(),
            new,
            changed,
            unchanged,
            refused,
            repeated,
            dry_run: args.destination.dry_run,
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
            writeln!(out, "nothing was written; fix the refused rows, or write the others with --skip-invalid")
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

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000.0).round() / 1_000.0
}
