//! The command-line interface: one module per command. Only this module prints.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "commands print to the terminal")]

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
pub mod output;
mod refund;
mod rma;
pub mod seed;
mod serve;
mod signals;
mod tenant;
mod traces;
pub mod upsert_warranty;

use crate::config::{Config, ConfigError, Env};
use crate::store::{Store, StoreError, StoreOptions};

/// A self-hosted customer-service chat server for shops.
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
    /// Update the documents' vectors after the documents changed
    Index(index::Args),
    /// Measure document search, or replay answers that were marked as wrong
    Eval(eval::Args),
    /// Check the configuration, files and services, and print how to fix each problem
    Doctor(doctor::Args),
    /// Import a list of warranties, all rows or none. The columns are serial, product_name and warranty_end_date
    UpsertWarranty(upsert_warranty::Args),
    /// Import a list of orders, return policies or goods, or documents: all or nothing
    #[command(subcommand)]
    Import(import::What),
    /// Advance an RMA to its next status, or resolve an escalation
    Rma(rma::Args),
    /// List, approve or reject refund cases
    Refund(refund::Args),
    /// Add, change or list shops that sell over WhatsApp
    #[command(subcommand)]
    Tenant(tenant::What),
    /// Export or erase the personal data of one customer
    #[command(subcommand)]
    Customer(customer::What),
    /// Create sample data for trying things out
    #[command(subcommand)]
    Seed(seed::What),
    /// Print the OpenAPI description of the HTTP API
    Openapi,
    /// Read a document from the standard input and print its text, for `import documents`
    #[command(hide = true)]
    ReadDocument(import::documents::read::Args),
}

impl Command {
    /// Returns whether the exit code 1 describes the command's result, so that errors need another one.
    fn has_reports(&self) -> bool {
        matches!(self, Self::UpsertWarranty(_) | Self::Import(_) | Self::Index(_) | Self::Eval(_))
    }
}

/// Makes new files and folders readable by this user only: they hold customers' data and the key that
/// signs tokens.
fn create_private_files() {
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// Runs the program `frontdesk`.
pub fn main() -> ExitCode {
    create_private_files();
    // clap reads some variables itself, so `.env` must be in the environment before the arguments are parsed.
    let dotenv = ConfigError::load_dotenv();
    let command = Cli::parse().command.unwrap_or_else(|| Command::Serve(serve::Args::default()));
    match dotenv {
        // The doctor reports the error itself and continues.
        Err(_) if matches!(command, Command::Doctor(_)) => {}
        Err(error) if command.has_reports() => return output::exit_code(Err(error.into())),
        Err(error) => return fail(&error.to_string()),
        Ok(()) => {}
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("cannot start: {error}")),
    };
    let code = runtime.block_on(run(command));
    // Do not wait for threads that read from the terminal.
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
        Command::Import(what) => import::run(&what).await,
        Command::Rma(args) => with_config(async |config| rma::run(config, &args).await).await,
        Command::Refund(args) => with_config(async |config| refund::run(config, &args).await).await,
        Command::Tenant(what) => with_config(async |config| tenant::run(config, &what).await).await,
        Command::Customer(what) => with_config(async |config| customer::run(config, &what).await).await,
        Command::Seed(what) => with_config(async |config| seed::run(config, &what).await).await,
        Command::Doctor(args) => doctor::run(&args).await,
        Command::ReadDocument(args) => import::documents::read::run(args),
    }
}

async fn with_config(command: impl AsyncFnOnce(Config) -> anyhow::Result<()>) -> ExitCode {
    let config = match Config::read(Env::from_process()) {
        Ok(config) => config,
        Err(error) => return fail(&error.to_string()),
    };
    match command(config).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&format!("{error:#}")),
    }
}

/// Returns the options of a command that uses the database alone.
fn store_options(config: &Config) -> StoreOptions {
    StoreOptions { url: config.store.url.clone(), timeout: config.store.timeout, connections: 1 }
}

async fn open_store(config: &Config) -> Result<Store, StoreError> {
    Store::open(&store_options(config)).await
}

fn fail(error: &str) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}
