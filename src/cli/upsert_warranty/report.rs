//! The result of the command and its output.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;

use super::{Args, REFUSED};
use crate::app::list_file::Refused;
use crate::app::warranty_list::Found;
use crate::cli::lists::write_refused;
use crate::cli::output;
use crate::store::warranty_import::{Applied, Comparison};

/// The result of one run, as printed with `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub file: String,
    pub tenant: String,
    pub new: u64,
    pub changed: u64,
    pub unchanged: u64,
    pub refused: u64,
    /// Lines that repeat an earlier one, which the other counts leave out.
    pub repeated: u64,
    pub dry_run: bool,
    /// Whether the new and changed rows were written.
    pub written: bool,
    /// The first refused rows, in file order.
    pub refused_rows: Vec<Refused>,
    /// The number of further refused rows.
    pub refused_rows_not_shown: u64,
    /// The quoted names of unknown columns.
    pub ignored_columns: Vec<String>,
    pub seconds: f64,
    /// Rows read per second.
    pub rows_per_second: u64,
    /// How long the writing transaction was open. On SQLite, other writers wait that long at most.
    pub locked_seconds: f64,
}

impl Report {
    /// Creates the report. `applied` is `None` if nothing was written.
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
            seconds: output::seconds(took),
            rows_per_second: (rows as f64 / took.as_secs_f64().max(0.001)) as u64,
            locked_seconds: output::seconds(applied.unwrap_or_default().locked),
        }
    }

    /// Returns 1 if refused rows prevented the import.
    pub fn exit_code(&self, skip_invalid: bool) -> ExitCode {
        if self.refused > 0 && !skip_invalid { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS }
    }
}

impl output::Report for Report {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { new, changed, unchanged, refused, .. } = self;
        writeln!(out, "{new} new, {changed} changed, {unchanged} unchanged, {refused} refused")?;
        write_refused(out, "line", &self.refused_rows, self.refused_rows_not_shown)
    }

    fn write_remarks(&self, out: &mut dyn Write, json: bool) -> io::Result<()> {
        if json {
            return Ok(());
        }
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
