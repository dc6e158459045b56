//! `frontdesk import catalog`: imports the goods of a shop that sells over WhatsApp.
//!
//! Exit codes are those of `import orders`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use chrono::Utc;

use crate::app::list_file::{Refusals, Table};
use crate::cli::lists::{Destination, ImportReport};
use crate::cli::{output, tenant};
use crate::domain::commerce::catalog::list::{CatalogField, items_of};
use crate::store::catalog::Unlisted;

/// The arguments of `frontdesk import catalog`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The list: CSV in UTF-8 with the columns item_id, name, category, price (whole shillings) and stock, and optionally
    /// description, attributes, variants and url
    #[arg(long, value_name = "PATH")]
    pub file: PathBuf,
    #[command(flatten)]
    pub destination: Destination,
    /// Remove the items that the list lacks
    #[arg(long)]
    pub replace: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// How many refused rows to show
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub max_refused_shown: usize,
}

/// The actor in the audit log.
const WHO: &str = "import";

/// Runs the command, prints the result or the error, and returns the exit code.
pub async fn run(args: &Args) -> ExitCode {
    output::finish(import(args).await, args.json)
}

async fn import(args: &Args) -> anyhow::Result<ImportReport> {
    let path = args.file.clone();
    let read = tokio::task::spawn_blocking(move || -> anyhow::Result<_> { Ok(Table::read(output::open(&path)?)?) });
    let table: Table<CatalogField> = read.await?.with_context(|| args.file.display().to_string())?;
    let mut refusals = Refusals::new(args.max_refused_shown);
    for row in &table.ragged {
        refusals.add_ragged(row.line, row.fields, row.expected, &row.first);
    }
    let (items, bad) = items_of(&table.rows);
    refusals.add_values(&bad);
    let (store, _scratch) = args.destination.open().await?;
    let shop = &args.destination.tenant;
    let door = store.tenant(shop);
    if door.find_tenant().await?.is_none() {
        return Err(tenant::no_tenant(shop));
    }
    let unlisted = if args.replace { Unlisted::Remove } else { Unlisted::Keep };
    let write = refusals.count() == 0 && !args.destination.dry_run;
    let comparison = match write {
        true => door.import_catalog(&items, unlisted, WHO, Utc::now()).await?,
        false => door.compare_catalog(&items, unlisted).await?,
    };
    Ok(ImportReport {
        new: comparison.new,
        changed: comparison.changed,
        unchanged: comparison.unchanged,
        removed: args.replace.then_some(comparison.removed),
        written: write,
        entries: "items",
        ..ImportReport::new(&args.file, &args.destination, refusals, table.ignored_columns)
    })
}
