//! `upsert-warranty`: brings a list of warranties, as a spreadsheet writes it, into the shop's database.
//!
//! `crate::app::warranty_list` reads, checks, compares and writes; `report` is what was found, and how it is printed.
//!
//! Exit codes: 0, done (or, with `--dry-run`, nothing stands in the way); 1, rows were refused and nothing was written;
//! 2, the command line, the file or the database is at fault, and nothing was written.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

use super::lists::Destination;
use crate::app::warranty_list::WarrantyList;
use crate::config::ConfigError;

pub(super) mod report;

pub use self::report::Report;

/// The arguments, of `upsert-warranty` and of `frontdesk upsert-warranty`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The list: CSV in UTF-8 with the columns serial, product_name and warranty_end_date, in any order
    #[arg(long, value_name = "PATH")]
    pub file: PathBuf,
    #[command(flatten)]
    pub destination: Destination,
    /// Write the good rows even if others are refused
    #[arg(long)]
    pub skip_invalid: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// How many refused rows to show
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub max_refused_shown: usize,
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

const REFUSED: u8 = 1;
const FAILED: u8 = 2;

/// The whole of the program `upsert-warranty`.
pub fn main() -> ExitCode {
    super::create_private_files();
    if let Err(error) = ConfigError::load_dotenv() {
        eprintln!("error: {error}");
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
    let list = read(args, &progress).await.with_context(|| args.file.display().to_string())?;

    progress.set_style(ProgressStyle::with_template("{spinner} {msg}")?);
    progress.enable_steady_tick(Duration::from_millis(100));
    progress.set_message("Comparing with the database");
    let (store, _scratch) = args.destination.open().await?;
    let compared = list.compare(&store, &args.destination.tenant).await?;

    let (found, applied) = if args.destination.dry_run || !compared.may_be_written(args.skip_invalid) {
        (compared.found, None)
    } else {
        progress.set_message("Writing");
        let (found, applied) = compared.write().await?;
        (found, Some(applied))
    };
    progress.finish_and_clear();

    Ok(Report::new(args, found, applied, start.elapsed()))
}

/// Opens the file before the thread that reads it is asked for: a name that is wrong is the likeliest mistake.
async fn read(args: &Args, progress: &ProgressBar) -> anyhow::Result<WarrantyList> {
    let file = File::open(&args.file)?;
    progress.set_length(file.metadata()?.len());
    let (shown_max, bar) = (args.max_refused_shown, progress.clone());
    let reading = move || WarrantyList::read(file, shown_max, |bytes| bar.set_position(bytes));
    Ok(tokio::task::spawn_blocking(reading).await??)
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
