//! `upsert-warranty`: brings a list of warranties, as a spreadsheet writes it, into the shop's database.
//!
//! - `csv_rows`, `header`, `records`: the file
//! - `report`: what was found, and how it is printed
//!
//! Exit codes: 0, done (or, with `--dry-run`, nothing stands in the way); 1, rows were refused and nothing was written;
//! 2, the command line, the file or the database is at fault, and nothing was written.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

use self::csv_rows::{CsvRows, Row};
use self::report::Refusals;
use crate::domain::TenantId;
use crate::domain::warranty::parse_row;
use crate::store::warranty_import::{Applied, ImportRow, RowSorter, WarrantyImport};
use crate::store::{Store, StoreOptions};

pub(super) mod csv_rows;
mod header;
pub(super) mod records;
pub(super) mod report;

pub use self::report::Report;

/// The arguments, of `upsert-warranty` and of `frontdesk upsert-warranty`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The list: CSV in UTF-8 with the columns serial, product_name and warranty_end_date, in any order
    #[arg(long, value_name = "PATH")]
    pub file: PathBuf,
    /// Compare and report, but write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The shop whose warranties these are
    #[arg(long, value_name = "NAME", default_value_t)]
    pub tenant: TenantId,
    /// Write the good rows even if others are refused
    #[arg(long)]
    pub skip_invalid: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// How many refused rows to show
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub max_refused_shown: usize,
    /// The database: sqlite://PATH or postgres://…
    #[arg(
        long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL",
        default_value = DEFAULT_DATABASE_URL, value_parser = database_url
    )]
    pub database_url: String,
}

/// Brings a list of warranties into the shop's database: all of it, or nothing.
///
/// Dates are written YYYY-MM-DD or DD/MM/YYYY. Exit code 0: done. 1: rows were refused, and nothing was written.
/// 2: the command line, the file or the database is at fault, and nothing was written.
#[derive(Debug, Parser)]
#[command(name = "upsert-warranty", version)]
struct Command {
    #[command(flatten)]
    args: Args,
}

/// The server's default as well.
pub(super) const DEFAULT_DATABASE_URL: &str = "sqlite://database/frontdesk.db";

/// A variable that is set to nothing counts as unset, as it does for the server.
pub(super) fn database_url(text: &str) -> Result<String, Infallible> {
    let text = text.trim();
    Ok(if text.is_empty() { DEFAULT_DATABASE_URL } else { text }.to_owned())
}

const REFUSED: u8 = 1;
const FAILED: u8 = 2;

/// How long the database may keep us waiting.
const STORE_TIMEOUT: Duration = Duration::from_secs(60);

/// Rows between two steps of the progress bar.
const PROGRESS_ROWS: u64 = 4_096;

/// The whole of the program `upsert-warranty`.
pub fn main() -> ExitCode {
    if let Err(error) = dotenvy::dotenv()
        && !error.not_found()
    {
        eprintln!("error: the file .env cannot be read: {error}");
        return ExitCode::from(FAILED);
    }
    let args = Command::parse().args;
    match tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build() {
        Ok(runtime) => runtime.block_on(run(&args)),
        Err(error) => {
            eprintln!("error: cannot start: {error}");
            ExitCode::from(FAILED)
        }
    }
}

/// Runs the command, prints what it found or what went wrong, and gives the exit code.
pub async fn run(args: &Args) -> ExitCode {
    let printed = match import(args).await {
        Ok(report) => {
            print(args, &report).map(|()| report.exit_code(args.skip_invalid)).context("the report cannot be printed")
        }
        Err(error) => Err(error),
    };
    printed.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(FAILED)
    })
}

/// Reads the list, compares it with what the shop has and, unless something stands in the way, writes it.
pub async fn import(args: &Args) -> anyhow::Result<Report> {
    let start = Instant::now();
    let progress = progress_bar();
    let (path, shown_max, bar) = (args.file.clone(), args.max_refused_shown, progress.clone());
    let staged = tokio::task::spawn_blocking(move || stage(&path, shown_max, &bar)).await?;
    let Staged { rows, mut refusals, ignored_columns } = staged.with_context(|| args.file.display().to_string())?;

    progress.set_style(ProgressStyle::with_template("{spinner} {msg}")?);
    progress.enable_steady_tick(Duration::from_millis(100));
    progress.set_message("Comparing with the database");
    let (store, _scratch) = open_store(&args.database_url, args.dry_run).await?;
    let mut import = WarrantyImport::begin(&store, &args.tenant).await?;
    let comparison = import.compare(rows, |conflict| refusals.add_conflict(&conflict)).await?;

    let may_write = !args.dry_run && (refusals.count() == 0 || args.skip_invalid);
    let applied = if !may_write {
        None
    } else if comparison.new + comparison.changed == 0 {
        Some(Applied::default())
    } else {
        progress.set_message("Writing");
        Some(import.apply().await?)
    };
    progress.finish_and_clear();

    Ok(Report::new(args, comparison, refusals, ignored_columns, applied, start.elapsed()))
}

/// What one pass over the file leaves.
struct Staged {
    rows: RowSorter,
    refusals: Refusals,
    ignored_columns: Vec<String>,
}

fn stage(path: &Path, shown_max: usize, progress: &ProgressBar) -> anyhow::Result<Staged> {
    let file = File::open(path)?;
    progress.set_length(file.metadata()?.len());
    let mut csv = CsvRows::open(file)?;
    let ignored_columns = csv.ignored_columns().to_vec();
    let mut rows = RowSorter::default();
    let mut refusals = Refusals::new(shown_max);
    let mut count = 0;
    while let Some(row) = csv.next_row()? {
        match row {
            Row::Whole { line, serial, product_name, warranty_end_date } => {
                match parse_row(serial, product_name, warranty_end_date) {
                    Ok(record) => rows.push(ImportRow { record, line }).context("a temporary file")?,
                    Err(error) => refusals.add_bad_value(line, &error),
                }
            }
            Row::Ragged { line, fields, expected, first } => refusals.add_ragged(line, fields, expected, first),
        }
        count += 1;
        if count % PROGRESS_ROWS == 0 {
            progress.set_position(csv.bytes_read());
        }
    }
    Ok(Staged { rows, refusals, ignored_columns })
}

/// The shop's database. A dry run does not create one: it compares with an empty one in a temporary folder, which
/// vanishes with the second value.
pub(super) async fn open_store(url: &str, dry_run: bool) -> anyhow::Result<(Store, Option<tempfile::TempDir>)> {
    let mut options = StoreOptions { url: url.to_owned(), timeout: STORE_TIMEOUT, connections: 1 };
    let mut scratch = None;
    if dry_run && options.would_create()? {
        let folder = tempfile::tempdir()?;
        options.url = format!("sqlite://{}", folder.path().join("empty.db").display());
        scratch = Some(folder);
    }
    Ok((Store::open(&options).await?, scratch))
}

/// A bar on a terminal; nothing in a pipe.
fn progress_bar() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} Reading [{bar:30}] {bytes} of {total_bytes}, {eta} left");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The result goes to standard output; what one should know beside it goes to standard error.
fn print(args: &Args, report: &Report) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let printed = if args.json { report.write_json(&mut out) } else { report.write_text(&mut out) };
    let printed = printed.and_then(|()| out.flush());
    if !args.json {
        report.write_remarks(&mut io::stderr().lock())?;
    }
    match printed {
        // Whoever read the first lines and went away, as `head` does, has what they wanted.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}
