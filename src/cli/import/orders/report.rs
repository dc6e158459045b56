//! What the command found, and how it is printed.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use super::Args;
use crate::app::list_file::{Refusals, Refused};
use crate::cli::lists::write_refused;
use crate::store::orders_import::OrderComparison;

/// Rows were refused, and nothing was written for their sake.
const REFUSED: u8 = 1;

/// Everything there is to say about one run; as JSON, what `--json` prints. Orders are counted, and rows that were refused.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    file: String,
    tenant: String,
    new: u64,
    changed: u64,
    unchanged: u64,
    refused: u64,
    dry_run: bool,
    /// Whether the database now holds the new and the changed orders.
    written: bool,
    /// The first refused rows, in the order of the file.
    refused_rows: Vec<Refused>,
    /// How many more there are.
    refused_rows_not_shown: u64,
    /// Columns of the file that mean nothing to us, as quoted names.
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
            // A return that was made while the list was compared stands in the way of all of it.
            written: written && (comparison.conflicts.is_empty() || args.skip_invalid),
            refused_rows,
            refused_rows_not_shown,
            ignored_columns,
            place,
            skips_invalid: args.skip_invalid,
        }
    }

    /// 1 if rows were refused and, for their sake, nothing was written or nothing would be.
    pub fn exit_code(&self) -> ExitCode {
        let is_refused = self.refused > 0 && !self.skips_invalid;
        if is_refused || (!self.written && !self.dry_run) { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS }
    }

    /// The result goes to standard output; what one should know beside it goes to standard error.
    pub fn print(&self, json: bool) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let printed = if json { self.write_json(&mut out) } else { self.write_text(&mut out) };
        let printed = printed.and_then(|()| out.flush());
        if !json {
            self.write_remarks(&mut io::stderr().lock())?;
        }
        match printed {
            // Whoever read the first lines and went away, as `head` does, has what they wanted.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            printed => printed,
        }
    }

    fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { new, changed, unchanged, refused, .. } = self;
        writeln!(out, "{new} new, {changed} changed, {unchanged} unchanged orders, {refused} refused rows")?;
        write_refused(out, self.place, &self.refused_rows, self.refused_rows_not_shown)
    }

    fn write_remarks(&self, out: &mut impl Write) -> io::Result<()> {
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
