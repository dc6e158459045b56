//! The sample shops of the commerce desk: two shops of Nairobi with like-named goods. Their lists are also examples for
//! `frontdesk import catalog`.

use anyhow::bail;
use chrono::{DateTime, TimeDelta, Utc};

use crate::app::list_file::Table;
use crate::domain::TenantId;
use crate::domain::commerce::Money;
use crate::domain::commerce::catalog::CATALOG_CURRENCY;
use crate::domain::commerce::catalog::list::{CatalogField, items_of};
use crate::domain::commerce::sale::{Discount, Offer};
use crate::domain::commerce::tenant::{PaymentMethod, ShopLanguages, TenantSettings, ToneStyle};
use crate::store::samples::SampleTenant;

/// Returns the sample shops, which are the same on every machine but for the end of their offers.
pub fn shops(now: DateTime<Utc>) -> anyhow::Result<Vec<SampleTenant>> {
    let mut savanna = shop("savanna", "Savanna Shoes", "Zuri", include_str!("commerce/savanna.csv"))?;
    savanna.settings.bot_intro = Some("Hi, I'm Zuri, the AI assistant of Savanna Shoes.".parse()?);
    savanna.settings.payments_enabled = PaymentMethod::ALL.iter().copied().collect();
    savanna.settings.catalog_link_base = Some("https://savanna.example/shop".parse()?);
    let mut kijani = shop("kijani", "Kijani Outfitters", "Baraka", include_str!("commerce/kijani.csv"))?;
    kijani.settings.tone_style = ToneStyle::Casual;
    kijani.settings.payments_enabled = [PaymentMethod::MpesaStk].into();
    kijani.settings.max_chattiness_level = 3.try_into()?;
    savanna.offers = vec![Offer {
        code: "KARIBU10".to_owned(),
        terms: "10 % off shoes and sandals in orders from KSh 1,000".to_owned(),
        discount: Discount::Percent(10),
        min_total: Some(Money::new(100_000, CATALOG_CURRENCY)),
        categories: ["Shoes", "Sandals"].map(str::to_owned).to_vec(),
        ends_at: now + TimeDelta::days(30),
    }];
    // `frontdesk chat` and the chat page speak for the default shop.
    let default = SampleTenant { id: TenantId::default(), ..savanna.clone() };
    Ok(vec![savanna, kijani, default])
}

fn shop(id: &str, name: &str, bot: &str, list: &str) -> anyhow::Result<SampleTenant> {
    let table: Table<CatalogField> = Table::read(list.as_bytes())?;
    let (items, bad) = items_of(&table.rows);
    if !bad.is_empty() || !table.ragged.is_empty() {
        bail!("the sample list of {id} has refused rows: {bad:?} {:?}", table.ragged);
    }
    let languages = ["en", "sw", "sheng"].map(str::parse).into_iter().collect::<Result<Vec<_>, _>>()?;
    let settings = TenantSettings {
        bot_name: bot.parse()?,
        languages: ShopLanguages::new(languages[0], languages),
        ..TenantSettings::new(name.parse()?)
    };
    Ok(SampleTenant { id: id.parse()?, settings, items, offers: Vec::new() })
}
