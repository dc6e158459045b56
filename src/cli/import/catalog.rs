//! `frontdesk import catalog`: imports the goods of a shop that sells over WhatsApp.
//!
//! Exit codes are those of `import orders`.

use anyhow::bail;
use chrono::Utc;

use crate::cli::lists::{ImportReport, ListArgs, Output, read_table};
use crate::cli::tenant;
use crate::domain::commerce::catalog::list::{CatalogField, items_of};
use crate::store::catalog::Unlisted;

/// The arguments of `frontdesk import catalog`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub list: ListArgs,
    /// Remove the items that the list lacks
    #[arg(long)]
    pub replace: bool,
    #[command(flatten)]
    pub output: Output,
}

/// The actor in the audit log.
const WHO: &str = "import";

/// Reads the list, compares it with the shop's goods, and writes it unless rows were refused.
pub(super) async fn import(args: &Args) -> anyhow::Result<ImportReport> {
    let list = &args.list;
    let (table, mut refusals) = read_table::<CatalogField>(&list.file, args.output.max_refused_shown).await?;
    if args.replace && table.rows.is_empty() && table.ragged.is_empty() {
        bail!(
            "{}: nothing was written, since the list has no goods and --replace would remove all",
            list.file.display()
        );
    }
    let (items, bad) = items_of(&table.rows);
    refusals.add_values(&bad);
    let (store, _scratch) = list.open().await?;
    let shop = &list.tenant;
    let door = store.tenant(shop);
    if door.find_tenant().await?.is_none() {
        return Err(tenant::no_tenant(shop));
    }
    let unlisted = if args.replace { Unlisted::Remove } else { Unlisted::Keep };
    let write = refusals.count() == 0 && !list.dry_run;
    let comparison = match write {
        true => door.import_catalog(&items, unlisted, WHO, Utc::now()).await?,
        false => door.compare_catalog(&items, unlisted).await?,
    };
    Ok(ImportReport {
        new: comparison.new,
        changed: comparison.changed,
        unchanged: comparison.unchanged,
        // A refused row may be one of an item that seems removed.
        removed: (args.replace && refusals.count() == 0).then_some(comparison.removed),
        written: write,
        entries: "items",
        ..ImportReport::new(list, refusals, table.ignored_columns)
    })
}
