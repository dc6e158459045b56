//! `frontdesk import catalog`: imports the goods of a shop that sells over WhatsApp.
//!
//! Exit codes are those of `import orders`.

use chrono::Utc;

use super::shop_list::{Args, ShopList, WHO};
use crate::cli::lists::ImportReport;
use crate::domain::commerce::catalog::list::{CatalogField, items_of};

/// Reads the list, compares it with the shop's goods, and writes it unless rows were refused.
pub(super) async fn import(args: &Args) -> anyhow::Result<ImportReport> {
    let mut list = ShopList::<CatalogField>::read(args, "items").await?;
    let (items, bad) = items_of(&list.table.rows);
    list.refusals.add_values(&bad);
    let door = list.store.tenant(&args.list.tenant);
    let comparison = match list.is_written() {
        true => door.import_catalog(&items, args.unlisted(), WHO, Utc::now()).await?,
        false => door.compare_catalog(&items, args.unlisted()).await?,
    };
    Ok(list.report(comparison))
}
