//! `frontdesk import offers`: imports the offers of a shop that sells over WhatsApp.
//!
//! Exit codes are those of `import orders`.

use anyhow::Context;
use chrono::Utc;

use super::shop_list::{Args, ShopList, WHO};
use crate::cli::lists::ImportReport;
use crate::config::{Config, Env};
use crate::domain::commerce::sale::list::{OfferChecks, OfferField, offers_of};

/// Reads the list, compares it with the shop's offers, and writes it unless rows were refused.
pub(super) async fn import(args: &Args) -> anyhow::Result<ImportReport> {
    let config = Config::read(Env::from_process()).context("cannot read the shop's time zone (SHOP_TIME_ZONE)")?;
    let mut list = ShopList::<OfferField>::read(args, "offers").await?;
    let (door, now) = (list.store.tenant(&args.list.tenant), Utc::now());
    let categories = door.list_catalog_categories(None).await?;
    let zone = config.shops.time_zone_of(&args.list.tenant);
    let (offers, bad) = offers_of(&list.table.rows, &OfferChecks { categories: &categories, zone, now });
    list.refusals.add_values(&bad);
    let comparison = match list.is_written() {
        true => door.import_offers(&offers, args.unlisted(), WHO, now).await?,
        false => door.compare_offers(&offers, args.unlisted()).await?,
    };
    Ok(list.report(comparison))
}
