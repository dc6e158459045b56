//! Queries for warranty records.

use sea_orm::{ColumnTrait, PaginatorTrait, QueryFilter};

use super::entities::warranty_records;
use super::{Result, StoreError, TenantStore};
use crate::domain::{Serial, WarrantyRecord};

impl TenantStore<'_> {
    /// Lists the records of these serials in any order. Unknown serials are left out.
    pub async fn list_warranties(&self, serials: &[Serial]) -> Result<Vec<WarrantyRecord>> {
        let rows = self
            .rows::<warranty_records::Entity>()
            .filter(warranty_records::Column::Serial.is_in(serials.iter().map(Serial::as_str)))
            .all(&self.store.read)
            .await?;
        rows.into_iter().map(read_record).collect()
    }

    /// Counts the shop's records.
    pub async fn count_warranties(&self) -> Result<u64> {
        let count = self.rows::<warranty_records::Entity>().count(&self.store.read).await?;
        Ok(count)
    }
}

fn read_record(row: warranty_records::Model) -> Result<WarrantyRecord> {
    let serial = row
        .serial
        .parse()
        .map_err(|error| StoreError::Unreadable { table: "warranty_records", reason: format!("serial: {error}") })?;
    Ok(WarrantyRecord { serial, product_name: row.product_name, warranty_end_date: row.warranty_end_date })
}
