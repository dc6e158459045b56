//! Copies the warranties that a case asks for.

use async_trait::async_trait;
use serde_json::Value;

use crate::desks::{AskedTurn, FixtureError, ReplayFixture, Restoring};
use crate::domain::Serial;
use crate::domain::serial::find_serials;
use crate::store::warranty_import::{ImportError, ImportRow, RowSorter, WarrantyImport};
use crate::store::{Store, StoreError};

/// The shop's current warranties. A case stores none.
pub(super) struct Warranties;

#[async_trait]
impl ReplayFixture for Warranties {
    async fn copy(&self, _shop: &Store, _turn: &AskedTurn) -> Result<Option<Value>, StoreError> {
        Ok(None)
    }

    async fn restore(&self, case: Restoring<'_>) -> Result<(), FixtureError> {
        let Restoring { shop: Some(shop), to, turn, .. } = case else { return Ok(()) };
        let runs = turn.texts.iter().flat_map(|text| find_serials(text));
        let serials: Vec<Serial> = runs.filter_map(|run| run.parse().ok()).collect();
        let mut warranties = RowSorter::default();
        for record in shop.tenant(&turn.tenant).list_warranties(&serials).await? {
            warranties.push(ImportRow { record, line: 0 }).map_err(ImportError::from)?;
        }
        let mut import = WarrantyImport::begin(to, &turn.tenant).await?;
        import.compare(warranties, |_| {}).await?;
        import.apply().await?;
        Ok(())
    }
}
