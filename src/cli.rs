//! The commands: each reads its arguments, calls what does the work, and prints.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to the terminal")]

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod logging;
mod serve;
pub mod upsert_warranty;

use crate::config::{Config, Env};

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
    Serve,
    /// Bring a list of warranties into the database: all of it, or nothing
    UpsertWarranty(upsert_warranty::Args),
    /// Print the API's description
    Openapi,
}

/// The whole of the program `frontdesk`.
pub fn main() -> ExitCode {
    // Before clap, which reads variables too. What is set already wins over `.env`.
    let command = match dotenvy::dotenv() {
        Err(error) if !error.not_found() => return fail(&format!("the file .env cannot be read: {error}")),
        _ => Cli::parse().command.unwrap_or(Command::Serve),
    };
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
        Command::Openapi => match crate::http::openapi().to_pretty_json() {
            Ok(json) => {
                println!("{json}");
                ExitCode::SUCCESS
            }
            Err(error) => fail(&error.to_string()),
        },
        Command::Serve => with_config(serve::run).await,
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
