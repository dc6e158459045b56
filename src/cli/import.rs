//! `import`: brings lists of a shop's own system into its database.
//!
//! - [`orders`]: orders with their customers and items, as CSV or JSON
//! - [`policies`]: how long goods may come back, as CSV

use std::process::ExitCode;

use clap::Subcommand;

pub mod orders;
pub mod policies;

#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Clone, Debug, Subcommand)]
enum What {
    /// Bring a list of orders into the database: all of it, or nothing
    Orders(orders::Args),
    /// Bring the shop's return policies into the database, in the place of those that it has
    Policies(policies::Args),
}

/// Runs the command, prints what it found or what went wrong, and gives the exit code.
pub async fn run(args: &Args) -> ExitCode {
    match &args.what {
        What::Orders(args) => orders::run(args).await,
        What::Policies(args) => policies::run(args).await,
    }
}
