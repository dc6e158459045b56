//! Creates sample shops of the commerce desk for trying things out.

use std::collections::BTreeSet;

use sea_orm::PaginatorTrait;

use super::catalog::write_items;
use super::entities::{TenantEntity, catalog_items, tenant_credentials, tenants};
use super::sales::write_offers;
use super::tenants::write_tenant;
use super::{Result, Store};
use crate::domain::TenantId;
use crate::domain::commerce::sale::Offer;
use crate::domain::commerce::{CatalogItem, TenantSettings};

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
    /// This shop has a WhatsApp number, credentials or items of its own.
    RealShop(TenantId),
}

impl Store {
    /// Creates the sample shops, or resets them if they exist. If one is a real shop, nothing changes.
    pub async fn make_sample_tenants(&self, samples: &[SampleTenant]) -> Result<SampledTenants> {
        let transaction = self.begin_fenced().await?;
        for SampleTenant { id, settings, items, offers } in samples {
            let number = tenants::Entity::of(id).one(&transaction).await?.and_then(|row| row.whatsapp_number);
            let credentials = tenant_credentials::Entity::of(id).count(&transaction).await?;
            let own: BTreeSet<String> = self.tenant(id).list_item_ids(&transaction).await?.into_iter().collect();
            let is_sample = |id: &String| items.iter().any(|item| item.id.as_str() == id);
            if number.is_some() || credentials > 0 || !own.iter().all(is_sample) {
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
