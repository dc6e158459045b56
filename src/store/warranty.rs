//! Warranty records, as the desk looks them up.

use chrono::NaiveDate;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};

use super::entities::warranty_records;
use super::{StoreError, TenantStore};
use crate::domain::Serial;

/// The warranty of one product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warranty {
    /// In upper case.
    pub serial: String,
    pub product_name: String,
    /// The last day of the warranty.
    pub end_date: NaiveDate,
}

impl TenantStore<'_> {
    /// The records of those serials that the shop has, in no particular order.
    pub async fn list_warranties(&self, serials: &[Serial]) -> Result<Vec<Warranty>, StoreError> {
        let rows = warranty_records::Entity::find()
            .filter(warranty_records::Column::TenantId.eq(self.tenant.as_str()))
            .filter(warranty_records::Column::Serial.is_in(serials.iter().map(Serial::as_str)))
            .all(&self.store.read)
            .await?;
        Ok(rows
            .into_iter()
            .map(|row| Warranty { serial: row.serial, product_name: row.product_name, end_date: row.warranty_end_date })
            .collect())
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
