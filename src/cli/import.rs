//! `frontdesk import`: imports lists of the shop's own system, and documents.
//!
//! - [`catalog`]: goods of a shop that sells over WhatsApp, as CSV
//! - [`documents`]: documents that a shop answers from, as PDF, DOCX, text or Markdown
//! - [`offers`]: offers of such a shop, as CSV
//! - [`orders`]: orders with their customers and items, as CSV or JSON
//! - [`policies`]: return policies, as CSV

use std::process::ExitCode;

use clap::Subcommand;

use super::output;

pub mod catalog;
pub mod documents;
pub mod offers;
pub mod orders;
pub mod policies;
pub mod shop_list;

#[derive(Clone, Debug, Subcommand)]
pub enum What {
    /// Import a list of orders, all rows or none: CSV with one row per item, or a JSON array of orders if the file's name ends in .json
    Orders(orders::Args),
    /// Replace the shop's return policies. The columns are name, scope (vip, category or general), category, return_days and refund_days
    Policies(policies::Args),
    /// Import the goods of a shop that sells over WhatsApp, all rows or none. The columns are item_id, name, category, price (whole shillings) and
    /// stock, and optionally description, attributes, variants and url
    Catalog(shop_list::Args),
    /// Import the offers of such a shop, all rows or none. The columns are code, terms, discount (10% or whole shillings) and ends (the last day),
    /// and optionally min_total (whole shillings) and categories
    Offers(shop_list::Args),
    /// Import documents that a shop answers from, all files or none: PDF, DOCX, text or Markdown
    Documents(documents::Args),
}

/// Runs the command, prints the result or the error, and returns the exit code.
pub async fn run(what: &What) -> ExitCode {
    match what {
        What::Orders(args) => output::finish(orders::import(args).await, args.options.output.json),
        What::Policies(args) => output::exit_code(policies::import(args).await),
        What::Catalog(args) => output::finish(catalog::import(args).await, args.output.json),
        What::Offers(args) => output::finish(offers::import(args).await, args.output.json),
        What::Documents(args) => output::finish(documents::import(args).await, args.json),
    }
}
