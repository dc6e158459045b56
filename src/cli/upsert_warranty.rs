//! `upsert-warranty`: imports a list of warranties, as exported by a spreadsheet.
//!
//! `crate::app::warranty_list` reads, checks, compares and writes the list.
//!
//! Exit codes: 0, success; 1, rows were refused and nothing was written; 2, an error in the command line, the file or the
//! database, and nothing was written.

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

use super::lists::{ImportOptions, ImportReport, ListArgs, Timing};
use super::output;
use crate::app::warranty_list::{Found, WarrantyList};
use crate::config::ConfigError;
use crate::store::warranty_import::Comparison;

/// The arguments of `upsert-warranty` and `frontdesk upsert-warranty`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub list: ListArgs,
    #[command(flatten)]
    pub options: ImportOptions,
}

/// Imports a list of warranties, all rows or none.
///
/// Dates are written YYYY-MM-DD or DD/MM/YYYY. Exit code 0: success. 1: rows were refused, and nothing was written.
/// 2: an error in the command line, the file or the database, and nothing was written.
#[derive(Debug, Parser)]
#[command(name = "upsert-warranty", version)]
struct Command {
    #[command(flatten)]
    args: Args,
}

/// Runs the program `upsert-warranty`.
pub fn main() -> ExitCode {
    super::create_private_files();
    let ran = || -> anyhow::Result<ExitCode> {
        ConfigError::load_dotenv()?;
        let args = Command::parse().args;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        Ok(runtime.context("cannot start")?.block_on(run(&args)))
    };
    output::exit_code(ran())
}

/// Runs the command, prints the result or the error, and returns the exit code.
pub async fn run(args: &Args) -> ExitCode {
    output::finish(import(args).await, args.options.output.json)
}

/// Reads the list, compares it with the shop's warranties, and writes it unless rows were refused.
pub async fn import(args: &Args) -> anyhow::Result<ImportReport> {
    let start = Instant::now();
    let progress = progress_bar();
    let list = read(args, &progress).await.with_context(|| args.list.file.display().to_string())?;

    progress.set_style(ProgressStyle::with_template("{spinner} {msg}")?);
    progress.enable_steady_tick(Duration::from_millis(100));
    progress.set_message("Comparing with the database");
    let (store, _scratch) = args.list.open().await?;
    let compared = list.compare(&store, &args.list.tenant).await?;

    let (found, applied) = if args.list.dry_run || !compared.may_be_written(args.options.skip_invalid) {
        (compared.found, None)
    } else {
        progress.set_message("Writing");
        let (found, applied) = compared.write().await?;
        (found, Some(applied))
    };
    progress.finish_and_clear();

    let Found { comparison, refusals, ignored_columns, .. } = found;
    let Comparison { new, changed, unchanged, repeated } = comparison;
    let (took, rows) = (start.elapsed(), new + changed + unchanged + repeated + refusals.count());
    Ok(ImportReport {
        may_skip_invalid: true,
        new,
        changed,
        unchanged,
        repeated: Some(repeated),
        written: applied.is_some(),
        timing: Some(Timing {
            seconds: output::seconds(took),
            rows_per_second: (rows as f64 / took.as_secs_f64().max(0.001)) as u64,
            locked_seconds: output::seconds(applied.unwrap_or_default().locked),
        }),
        skip_invalid: args.options.skip_invalid,
        ..ImportReport::new(&args.list, refusals, ignored_columns)
    })
}

/// Opens the file first, so that a wrong file name is reported at once, and reads it on a blocking thread.
async fn read(args: &Args, progress: &ProgressBar) -> anyhow::Result<WarrantyList> {
    let file = output::open(&args.list.file)?;
    progress.set_length(file.metadata()?.len());
    let (shown_max, bar) = (args.options.output.max_refused_shown, progress.clone());
    let reading = move || WarrantyList::read(file, shown_max, |bytes| bar.set_position(bytes));
    Ok(tokio::task::spawn_blocking(reading).await??)
}

/// Creates a progress bar, which is hidden unless stderr is a terminal.
fn progress_bar() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} Reading [{bar:30}] {bytes} of {total_bytes}, {eta} left");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
