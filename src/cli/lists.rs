//! Shared arguments and output of the commands that import a list.

use std::convert::Infallible;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use serde::Serialize;

use super::output::{REFUSED, Report, open};
use crate::app::list_file::{Refusals, Refused, Table, VALUE_SHOWN, quoted};
use crate::domain::TenantId;
use crate::domain::list::Column;
use crate::store::{Store, StoreOptions};

/// The same default as the server's.
const DEFAULT_DATABASE_URL: &str = "sqlite://database/frontdesk.db";

/// How long to wait for the database.
const STORE_TIMEOUT: Duration = Duration::from_secs(60);

/// A list, and the shop and database that it is imported into.
#[derive(Clone, Debug, clap::Args)]
pub struct ListArgs {
    /// The list, as CSV in UTF-8
    #[arg(long, value_name = "PATH")]
    pub file: PathBuf,
    /// Compare and report without writing anything
    #[arg(long)]
    pub dry_run: bool,
    /// The shop to import into
    #[arg(long, value_name = "NAME", default_value_t)]
    pub tenant: TenantId,
    /// The database: sqlite://PATH or postgres://…
    #[arg(
        long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL",
        default_value = DEFAULT_DATABASE_URL, value_parser = database_url
    )]
    pub database_url: String,
}

impl ListArgs {
    /// Creates the arguments without `--dry-run`.
    pub fn new(file: PathBuf, tenant: TenantId, database_url: impl Into<String>) -> Self {
        Self { file, dry_run: false, tenant, database_url: database_url.into() }
    }

    /// Opens the database. See [`open_store`].
    pub(super) async fn open(&self) -> anyhow::Result<(Store, Option<tempfile::TempDir>)> {
        open_store(&self.database_url, STORE_TIMEOUT, self.dry_run).await
    }
}

/// How an import treats refused rows, and what it prints.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ImportOptions {
    /// Write the valid entries even if others are refused
    #[arg(long)]
    pub skip_invalid: bool,
    #[command(flatten)]
    pub output: Output,
}

/// What an import prints.
#[derive(Clone, Debug, clap::Args)]
pub struct Output {
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// How many refused rows to show
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub max_refused_shown: usize,
}

impl Default for Output {
    fn default() -> Self {
        Self { json: false, max_refused_shown: 100 }
    }
}

/// Reads a CSV list into memory, with the rows that have too few or too many fields as refusals, of which `shown` are kept.
pub(super) async fn read_table<C: Column + Send + 'static>(
    file: &Path,
    shown: usize,
) -> anyhow::Result<(Table<C>, Refusals)> {
    let path = file.to_owned();
    let read = tokio::task::spawn_blocking(move || -> anyhow::Result<_> { Ok(Table::read(open(&path)?)?) });
    let table: Table<C> = read.await?.with_context(|| file.display().to_string())?;
    let mut refusals = Refusals::new(shown);
    for row in &table.ragged {
        refusals.add_ragged(row.line, row.fields, row.expected, &row.first);
    }
    Ok((table, refusals))
}

/// Opens the database. A dry run does not create one: it gets an empty database in the returned temporary folder instead.
pub(super) async fn open_store(
    url: &str,
    timeout: Duration,
    dry_run: bool,
) -> anyhow::Result<(Store, Option<tempfile::TempDir>)> {
    let mut options = StoreOptions { url: url.to_owned(), timeout, connections: 1 };
    let mut scratch = None;
    if dry_run && options.would_create()? {
        let folder = tempfile::tempdir()?;
        options.url = format!("sqlite://{}", folder.path().join("empty.db").display());
        scratch = Some(folder);
    }
    Ok((Store::open(&options).await?, scratch))
}

/// Reads DATABASE_URL. An empty value counts as unset, as on the server.
fn database_url(text: &str) -> Result<String, Infallible> {
    let text = text.trim();
    Ok(if text.is_empty() { DEFAULT_DATABASE_URL } else { text }.to_owned())
}

/// The result of an import, as printed with `--json`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ImportReport {
    pub file: String,
    pub tenant: String,
    pub new: u64,
    pub changed: u64,
    pub unchanged: u64,
    /// Entries that the list lacks. `None`: the import leaves those alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
    /// Refused rows.
    pub refused: u64,
    /// Rows that repeat an earlier one, which the other counts leave out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<u64>,
    pub dry_run: bool,
    /// Whether the new and changed entries were written.
    pub written: bool,
    /// The refused values of the first refused rows, in file order.
    pub refused_rows: Vec<Refused>,
    /// The number of further refused rows.
    pub refused_rows_not_shown: u64,
    /// The quoted names of unknown columns.
    pub ignored_columns: Vec<String>,
    #[serde(flatten)]
    pub timing: Option<Timing>,
    /// The unit that refused rows are numbered in: `line` or `order`.
    #[serde(skip)]
    pub place: &'static str,
    #[serde(skip)]
    pub skip_invalid: bool,
    /// What the entries are if they are not rows: `orders`, `items`.
    #[serde(skip)]
    pub entries: &'static str,
    /// Whether the command has `--skip-invalid`.
    #[serde(skip)]
    pub may_skip_invalid: bool,
}

/// How long an import took.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Timing {
    pub seconds: f64,
    /// Rows read per second.
    pub rows_per_second: u64,
    /// How long the writing transaction was open. On SQLite, other writers wait that long at most.
    pub locked_seconds: f64,
}

impl ImportReport {
    /// Creates a report with the refused rows. The caller adds the counts.
    pub(super) fn new(list: &ListArgs, refusals: Refusals, ignored_columns: Vec<String>) -> Self {
        let refused = refusals.count();
        let (refused_rows, refused_rows_not_shown) = refusals.into_first();
        Self {
            file: list.file.display().to_string(),
            tenant: list.tenant.to_string(),
            refused,
            dry_run: list.dry_run,
            refused_rows,
            refused_rows_not_shown,
            ignored_columns,
            place: "line",
            ..Self::default()
        }
    }
}

impl Report for ImportReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { new, changed, unchanged, refused, .. } = self;
        let (space, rows) = if self.entries.is_empty() { ("", "") } else { (" ", " rows") };
        let removed = self.removed.map(|removed| format!("{removed} removed, ")).unwrap_or_default();
        let entries = self.entries;
        writeln!(
            out,
            "{new} new, {changed} changed, {removed}{unchanged} unchanged{space}{entries}, {refused} refused{rows}"
        )?;
        write_refused(out, self.place, &self.refused_rows, self.refused_rows_not_shown)
    }

    /// Returns 1 if refused rows prevented the import.
    fn exit_code(&self) -> ExitCode {
        let is_refused = self.refused > 0 && !self.skip_invalid;
        if is_refused || (!self.written && !self.dry_run) { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS }
    }

    fn write_remarks(&self, out: &mut dyn Write, json: bool) -> io::Result<()> {
        if json {
            return Ok(());
        }
        if !self.ignored_columns.is_empty() {
            writeln!(out, "ignored columns: {}", self.ignored_columns.join(", "))?;
        }
        if let Some(repeated) = self.repeated.filter(|repeated| *repeated > 0) {
            writeln!(out, "repeated lines, counted once: {repeated}")?;
        }
        let written = self.new + self.changed;
        match self.timing {
            _ if self.dry_run => writeln!(out, "dry run: nothing was written"),
            _ if !self.written && self.may_skip_invalid => {
                writeln!(out, "nothing was written; fix the refused rows, or write the others with --skip-invalid")
            }
            _ if !self.written => writeln!(out, "nothing was written; fix the refused rows"),
            None => {
                let removed = self.removed.map(|removed| format!(", removed: {removed}")).unwrap_or_default();
                writeln!(out, "written: {written} {}{removed}", self.entries)
            }
            Some(Timing { seconds, rows_per_second, locked_seconds }) => writeln!(
                out,
                "written: {written} rows in {seconds:.3} s ({rows_per_second} rows/s), {locked_seconds:.3} s of it in the writing \
                 transaction"
            ),
        }
    }
}

/// Prints each refused row on one line. `place` names what the row numbers count, such as "line".
pub(super) fn write_refused(
    out: &mut (impl Write + ?Sized),
    place: &str,
    rows: &[Refused],
    not_shown: u64,
) -> io::Result<()> {
    for Refused { line, column, value, reason, .. } in rows {
        let column = column.unwrap_or("row");
        writeln!(out, "{place} {line}: {column} {}: {reason}", quoted(value, VALUE_SHOWN + 1))?;
    }
    match not_shown {
        0 => Ok(()),
        more => writeln!(out, "… and {more} more refused (--max-refused-shown shows more)"),
    }
}
