//! Warranty records, as the desk looks them up.

use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};

use super::entities::warranty_records;
use super::{StoreError, TenantStore};
use crate::domain::{Serial, WarrantyRecord};

impl TenantStore<'_> {
    /// The records of those serials that the shop has, in no particular order.
    pub async fn list_warranties(&self, serials: &[Serial]) -> Result<Vec<WarrantyRecord>, StoreError> {
        let rows = warranty_records::Entity::find()
            .filter(warranty_records::Column::TenantId.eq(self.tenant.as_str()))
            .filter(warranty_records::Column::Serial.is_in(serials.iter().map(Serial::as_str)))
            .all(&self.store.read)
            .await?;
        rows.into_iter().map(read_record).collect()
    }

    /// How many records the shop has.
    pub async fn count_warranties(&self) -> Result<u64, StoreError> {
        let count = warranty_records::Entity::find()
            .filter(warranty_records::Column::TenantId.eq(self.tenant.as_str()))
            .count(&self.store.read)
            .await?;
        Ok(count)
    }
}

fn read_record(row: warranty_records::Model) -> Result<WarrantyRecord, StoreError> {
    let serial = row
        .serial
        .parse()
        .map_err(|error| StoreError::Unreadable { table: "warranty_records", reason: format!("serial: {error}") })?;
    Ok(WarrantyRecord { serial, product_name: row.product_name, warranty_end_date: row.warranty_end_date })
}
