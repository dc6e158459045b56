//! The result of the command and its output.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use super::Args;
use crate::app::list_file::{Refusals, Refused};
use crate::cli::lists::write_refused;
use crate::cli::output;
use crate::store::orders_import::OrderComparison;

/// The exit code for refused rows.
const REFUSED: u8 = 1;

/// The result of one run, as printed with `--json`. Counts orders, and refused rows.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    file: String,
    tenant: String,
    new: u64,
    changed: u64,
    unchanged: u64,
    refused: u64,
    dry_run: bool,
    /// Whether the new and changed orders were written.
    written: bool,
    /// The first refused rows, in file order.
    refused_rows: Vec<Refused>,
    /// The number of further refused rows.
    refused_rows_not_shown: u64,
    /// The quoted names of unknown columns.
    ignored_columns: Vec<String>,
    #[serde(skip)]
    place: &'static str,
    #[serde(skip)]
    skips_invalid: bool,
}

impl Report {
    pub fn new(
        args: &Args,
        comparison: &OrderComparison,
        refusals: Refusals,
        ignored_columns: Vec<String>,
        place: &'static str,
        written: bool,
    ) -> Self {
        let refused = refusals.count();
        let (refused_rows, refused_rows_not_shown) = refusals.into_first();
        Self {
            file: args.file.display().to_string(),
            tenant: args.destination.tenant.to_string(),
            new: comparison.new,
            changed: comparison.changed,
            unchanged: comparison.unchanged,
            refused,
            dry_run: args.destination.dry_run,
            // A return that was created during the comparison prevents the whole import.
            written: written && (comparison.conflicts.is_empty() || args.skip_invalid),
            refused_rows,
            refused_rows_not_shown,
            ignored_columns,
            place,
            skips_invalid: args.skip_invalid,
        }
    }

    /// Returns 1 if refused rows prevented the import.
    pub fn exit_code(&self) -> ExitCode {
        let is_refused = self.refused > 0 && !self.skips_invalid;
        if is_refused || (!self.written && !self.dry_run) { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS }
    }
}

impl output::Report for Report {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { new, changed, unchanged, refused, .. } = self;
        writeln!(out, "{new} new, {changed} changed, {unchanged} unchanged orders, {refused} refused rows")?;
        write_refused(out, self.place, &self.refused_rows, self.refused_rows_not_shown)
    }

    fn write_remarks(&self, out: &mut dyn Write, json: bool) -> io::Result<()> {
        if json {
            return Ok(());
        }
        if !self.ignored_columns.is_empty() {
            writeln!(out, "ignored columns: {}", self.ignored_columns.join(", "))?;
        }
        if self.dry_run {
            writeln!(out, "dry run: nothing was written")
        } else if !self.written {
            writeln!(out, "nothing was written; fix the refused rows, or write the other orders with --skip-invalid")
        } else {
            writeln!(out, "written: {} orders", self.new + self.changed)
        }
    }
}
