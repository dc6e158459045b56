//! Copies the shop and the customer's orders for an evaluation case.

use async_trait::async_trait;
use chrono::Utc;
use serde_json::Value;

use crate::desks::{AskedTurn, FixtureError, ReplayFixture};
use crate::store::sale_snapshot::SaleSnapshot;
use crate::store::shoppers::ShopperKey;
use crate::store::{Store, StoreError};

/// The rows are stored with the case.
pub(super) struct Rows;

#[async_trait]
impl ReplayFixture for Rows {
    async fn copy(&self, shop: &Store, turn: &AskedTurn) -> Result<Option<Value>, StoreError> {
        Ok(serde_json::to_value(snapshot(shop, turn).await?).ok())
    }

    /// Without rows, the shop's current ones are used.
    async fn restore(
        &self,
        rows: Option<Value>,
        shop: Option<&Store>,
        to: &Store,
        turn: &AskedTurn,
    ) -> Result<(), FixtureError> {
        let rows: SaleSnapshot = match (rows, shop) {
            (Some(rows), _) => serde_json::from_value(rows)?,
            (None, Some(shop)) => snapshot(shop, turn).await?,
            (None, None) => return Ok(()),
        };
        Ok(to.restore_sales(rows, Utc::now()).await?)
    }
}

async fn snapshot(shop: &Store, turn: &AskedTurn) -> Result<SaleSnapshot, StoreError> {
    let key = ShopperKey::of(turn.user_id.as_deref(), turn.conversation);
    let said = format!("{} {}", turn.texts.join(" "), turn.state);
    shop.tenant(&turn.tenant).snapshot_sales(&key, &said, turn.asked_at).await
}
