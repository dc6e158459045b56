//! Creates sample shops of the commerce desk for trying things out.

use std::collections::BTreeSet;

use sea_orm::PaginatorTrait;

use super::catalog::write_items;
use super::entities::{TenantEntity, catalog_items, tenant_credentials};
use super::sales::write_offers;
use super::tenants::{find_tenant, write_tenant};
use super::{Result, Store};
use crate::domain::TenantId;
use crate::domain::commerce::sale::Offer;
use crate::domain::commerce::{CatalogItem, Tenant, TenantSettings};

/// A sample shop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleTenant {
    pub id: TenantId,
    pub settings: TenantSettings,
    pub items: Vec<CatalogItem>,
    pub offers: Vec<Offer>,
}

/// The result of [`Store::make_sample_tenants`]. Only `Done` changes the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SampledTenants {
    Done,
    /// This shop has another name, a WhatsApp number, credentials or other items.
    RealShop(TenantId),
}

impl Store {
    /// Creates the sample shops, or resets them if they exist. If one is a real shop, nothing changes.
    pub async fn make_sample_tenants(&self, samples: &[SampleTenant]) -> Result<SampledTenants> {
        let transaction = self.begin_fenced().await?;
        for SampleTenant { id, settings, items, offers } in samples {
            let found = find_tenant(&transaction, id).await?;
            let is_named_otherwise = |found: &Tenant| found.settings.name != settings.name;
            let is_real = found.is_some_and(|found| found.whatsapp_number.is_some() || is_named_otherwise(&found));
            let credentials = tenant_credentials::Entity::of(id).count(&transaction).await?;
            let own: BTreeSet<String> = self.tenant(id).list_item_ids(&transaction).await?.into_iter().collect();
            let is_sample = |id: &String| items.iter().any(|item| item.id.as_str() == id);
            if is_real || credentials > 0 || !own.iter().all(is_sample) {
                return Ok(SampledTenants::RealShop(id.clone()));
            }
            write_tenant(&transaction, id, settings, None).await?;
            catalog_items::Entity::delete_of(id).exec(&transaction).await?;
            write_items(&transaction, id, &items.iter().collect::<Vec<_>>()).await?;
            write_offers(&transaction, id, offers).await?;
        }
        transaction.commit().await?;
        Ok(SampledTenants::Done)
    }
}
