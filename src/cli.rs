//! The commands: each reads its arguments, calls what does the work, and prints.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to the terminal")]

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod chat;
mod customer;
mod doctor;
pub mod eval;
pub mod import;
pub mod index;
pub mod lists;
mod logging;
mod rma;
pub mod seed;
mod serve;
mod signals;
mod traces;
pub mod upsert_warranty;

use crate::config::{Config, ConfigError, Env};

/// A customer-service chat server that a shop runs itself.
#[derive(Debug, Parser)]
#[command(name = "frontdesk", version)]
struct Cli {
    /// Without a command: serve
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve customers over HTTP
    Serve(serve::Args),
    /// Talk to a persona in the terminal, or through a pipe
    Chat(chat::Args),
    /// Bring the vectors of the documents into line with the documents
    Index(index::Args),
    /// Measure, on questions whose answers are known
    Eval(eval::Args),
    /// Check the configuration, the files and the services, and say what to mend
    Doctor(doctor::Args),
    /// Bring a list of warranties into the database: all of it, or nothing
    UpsertWarranty(upsert_warranty::Args),
    /// Bring a list of orders into the database: all of it, or nothing
    Import(import::Args),
    /// Take an RMA's next step, or decide on an escalation
    Rma(rma::Args),
    /// Export or erase what the shop has about one customer
    Customer(customer::Args),
    /// Fill a shop with samples
    Seed(seed::Args),
    /// Print the API's description
    Openapi,
}

/// Makes files and folders that this process creates private to its user: they hold customers' data and the key that
/// signs tokens.
fn create_private_files() {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// The whole of the program `frontdesk`.
pub fn main() -> ExitCode {
    create_private_files();
    // `upsert-warranty` and clap read variables themselves, so `.env` must be in the environment before.
    let dotenv = ConfigError::load_dotenv();
    let command = Cli::parse().command.unwrap_or_else(|| Command::Serve(serve::Args::default()));
    match dotenv {
        // The doctor reports the mistake, too, and continues.
        Err(error) if !matches!(command, Command::Doctor(_)) => return fail(&error.to_string()),
        _ => {}
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("cannot start: {error}")),
    };
    let code = runtime.block_on(run(command));
    // Threads that wait for a terminal's next line must not keep the process.
    runtime.shutdown_background();
    code
}

async fn run(command: Command) -> ExitCode {
    match command {
        Command::UpsertWarranty(args) => upsert_warranty::run(&args).await,
        Command::Index(args) => index::run(&args).await,
        Command::Eval(args) => eval::run(&args).await,
        Command::Openapi => match crate::http::openapi().to_pretty_json() {
            Ok(json) => {
                println!("{json}");
                ExitCode::SUCCESS
            }
            Err(error) => fail(&error.to_string()),
        },
        Command::Serve(args) => with_config(async |config| Box::pin(serve::run(config, &args)).await).await,
        Command::Chat(args) => with_config(async |config| Box::pin(chat::run(config, &args)).await).await,
        Command::Import(args) => import::run(&args).await,
        Command::Rma(args) => with_config(async |config| rma::run(config, &args).await).await,
        Command::Customer(args) => with_config(async |config| customer::run(config, &args).await).await,
        Command::Seed(args) => with_config(async |config| seed::run(config, &args).await).await,
        Command::Doctor(args) => doctor::run(&args).await,
    }
}

async fn with_config(work: impl AsyncFnOnce(Config) -> anyhow::Result<()>) -> ExitCode {
    let config = match Config::read(Env::from_process()) {
        Ok(config) => config,
        Err(error) => return fail(&error.to_string()),
    };
    match work(config).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&format!("{error:#}")),
    }
}

fn fail(error: &str) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}
