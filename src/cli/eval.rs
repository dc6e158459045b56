//! `frontdesk eval`: measures on questions whose answers are known.
//!
//! - `retrieval`: whether the documents that answer a question are found
//!
//! Exit codes: 0, measured; 2, the command line or a file is at fault.

use std::process::ExitCode;

pub mod retrieval;

const FAILED: u8 = 2;

/// The arguments of `frontdesk eval`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum What {
    /// Whether the documents that answer a question are found
    Retrieval(retrieval::Args),
}

/// Runs the command, prints what it measured or what went wrong, and gives the exit code.
pub async fn run(args: &Args) -> ExitCode {
    let What::Retrieval(args) = &args.what;
    match retrieval::run(args).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(FAILED)
        }
    }
}
