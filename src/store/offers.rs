//! The offers of a shop, and the import of a list.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::json;

use super::audit::record;
use super::catalog::{ListComparison, Unlisted};
use super::entities::{TenantEntity, offers};
use super::transaction::Transaction;
use super::{Result, TenantStore, unreadable};
use crate::domain::commerce::sale::Offer;
use crate::domain::{AuditEntry, TenantId};

impl TenantStore<'_> {
    /// Lists the offers that hold, by code.
    pub async fn list_offers(&self, now: DateTime<Utc>) -> Result<Vec<Offer>> {
        let rows = self.rows::<offers::Entity>().filter(offers::Column::EndsAt.gt(now));
        let rows = rows.order_by_asc(offers::Column::Code).all(&self.store.read).await?;
        rows.into_iter().map(read_offer).collect()
    }

    /// Compares the list with the shop's offers. Writes nothing.
    pub async fn compare_offers(&self, list: &[Offer], unlisted: Unlisted) -> Result<ListComparison> {
        Ok(self.offer_differences(&self.store.read, list, unlisted).await?.0)
    }

    /// Writes the offers that differ, in one transaction, and records who did it. Returns what was written.
    pub async fn import_offers(
        &self,
        list: &[Offer],
        unlisted: Unlisted,
        who: &str,
        now: DateTime<Utc>,
    ) -> Result<ListComparison> {
        let transaction = self.store.begin_fenced().await?;
        let (comparison, differing, removed) = self.offer_differences(&transaction, list, unlisted).await?;
        if comparison.is_same() {
            return Ok(comparison);
        }
        let codes = removed.iter().map(String::as_str);
        self.delete_where::<offers::Entity, _>(&transaction, offers::Column::Code, codes).await?;
        write_offers(&transaction, self.tenant, differing).await?;
        let counts = Some(comparison.counts());
        let entry = AuditEntry { after: counts, ..AuditEntry::system(who, "offers.imported", now) };
        record(&transaction, self.tenant, &[entry]).await?;
        transaction.commit().await?;
        Ok(comparison)
    }

    /// Returns the counts, the offers to write, and the codes to remove.
    async fn offer_differences<'a>(
        &self,
        connection: &impl ConnectionTrait,
        list: &'a [Offer],
        unlisted: Unlisted,
    ) -> Result<(ListComparison, Vec<&'a Offer>, Vec<String>)> {
        let rows = self.rows::<offers::Entity>().all(connection).await?.into_iter();
        let mut existing: HashMap<String, Offer> =
            rows.map(|row| Ok((row.code.clone(), read_offer(row)?))).collect::<Result<_>>()?;
        let (mut comparison, mut differing) = (ListComparison::default(), Vec::new());
        for offer in list {
            let before = existing.remove(&offer.code);
            comparison.count(before.as_ref(), offer);
            if before.as_ref() != Some(offer) {
                differing.push(offer);
            }
        }
        let removed: Vec<String> = match unlisted {
            Unlisted::Keep => Vec::new(),
            Unlisted::Remove => existing.into_keys().collect(),
        };
        comparison.removed = removed.len() as u64;
        Ok((comparison, differing, removed))
    }
}

/// Inserts or replaces offers.
pub(super) async fn write_offers(
    transaction: &Transaction,
    tenant: &TenantId,
    list: impl IntoIterator<Item = &Offer>,
) -> Result<()> {
    let rows = list.into_iter().map(|offer| offers::ActiveModel {
        tenant_id: Set(tenant.to_string()),
        code: Set(offer.code.clone()),
        offer: Set(json!(offer)),
        ends_at: Set(offer.ends_at),
    });
    let insert = offers::Entity::insert_many(rows).on_conflict(offers::Entity::replace_existing());
    insert.exec_without_returning(transaction).await?;
    Ok(())
}

pub(super) fn read_offer(row: offers::Model) -> Result<Offer> {
    let offer: Offer = serde_json::from_value(row.offer).map_err(|error| unreadable("offers", error))?;
    // The end is also in the JSON, but only the column counts.
    Ok(Offer { ends_at: row.ends_at, ..offer })
}
