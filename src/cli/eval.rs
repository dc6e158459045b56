//! `frontdesk eval`: measures on questions whose answers are known, and on answers that were wrong.
//!
//! - `conversations`: what has become of answers that were called wrong
//! - `retrieval`: whether the documents that answer a question are found
//!
//! Exit codes: 0, measured; 2, the command line or a file is at fault.

use std::process::ExitCode;

mod conversations;
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
    /// Give answers that were called wrong in the console again, and show what has changed
    Conversations(conversations::Args),
    /// Whether the documents that answer a question are found
    Retrieval(retrieval::Args),
}

/// Runs the command, prints what it measured or what went wrong, and gives the exit code.
pub async fn run(args: &Args) -> ExitCode {
    let ran = match &args.what {
        What::Conversations(args) => Box::pin(conversations::run(args)).await,
        What::Retrieval(args) => retrieval::run(args).await,
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(FAILED)
        }
    }
}
