//! `frontdesk import`: imports lists of the shop's own system.
//!
//! - [`catalog`]: goods of a shop that sells over WhatsApp, as CSV
//! - [`orders`]: orders with their customers and items, as CSV or JSON
//! - [`policies`]: return policies, as CSV

use std::process::ExitCode;

use clap::Subcommand;

pub mod catalog;
pub mod orders;
pub mod policies;

#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Clone, Debug, Subcommand)]
enum What {
    /// Import a list of orders, all rows or none
    Orders(orders::Args),
    /// Replace the shop's return policies
    Policies(policies::Args),
    /// Import the goods of a shop that sells over WhatsApp, all rows or none
    Catalog(catalog::Args),
}

/// Runs the command, prints the result or the error, and returns the exit code.
pub async fn run(args: &Args) -> ExitCode {
    match &args.what {
        What::Orders(args) => orders::run(args).await,
        What::Policies(args) => policies::run(args).await,
        What::Catalog(args) => catalog::run(args).await,
    }
}
