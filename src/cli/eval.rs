//! `frontdesk eval`: measures document search, and replays answers that were marked as wrong.
//!
//! - `conversations`: replays answers that were marked as wrong
//! - `retrieval`: measures whether the right documents are found
//!
//! Exit codes: 0, success; 2, an error in the command line or a file.

use std::process::ExitCode;

use super::output;

mod conversations;
pub mod retrieval;

/// The arguments of `frontdesk eval`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum What {
    /// Replay answers that were marked as wrong in the console, and show what changed
    Conversations(conversations::Args),
    /// Measure whether the documents that answer a question are found
    Retrieval(retrieval::Args),
}

/// Runs the command, prints the result or the error, and returns the exit code.
pub async fn run(args: &Args) -> ExitCode {
    match &args.what {
        What::Conversations(args) => output::finish(Box::pin(conversations::run(args)).await, args.json),
        What::Retrieval(args) => output::finish(retrieval::run(args).await, args.json),
    }
}
