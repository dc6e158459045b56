//! Copies the shop and the customer's orders for an evaluation case.

use async_trait::async_trait;
use chrono::Utc;
use serde_json::Value;

use crate::desks::{AskedTurn, FixtureError, ReplayFixture, Restoring};
use crate::store::shoppers::ShopperKey;
use crate::store::{Store, StoreError};

/// The rows are stored with the case.
pub(super) struct Rows;

#[async_trait]
impl ReplayFixture for Rows {
    async fn copy(&self, shop: &Store, turn: &AskedTurn) -> Result<Option<Value>, StoreError> {
        let key = ShopperKey::of(turn.user_id.as_deref(), turn.conversation);
        let said = format!("{} {}", turn.texts.join(" "), turn.state);
        Ok(serde_json::to_value(shop.tenant(&turn.tenant).snapshot_sales(&key, &said, turn.asked_at).await?).ok())
    }

    async fn restore(&self, case: Restoring<'_>) -> Result<(), FixtureError> {
        let Some(rows) = case.rows else { return Ok(()) };
        Ok(case.to.restore_sales(serde_json::from_value(rows)?, case.turn.asked_at, Utc::now()).await?)
    }
}
