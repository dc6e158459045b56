//! `catalog_search` and `catalog_get_item`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CallError, Tool, ToolContext};
use crate::domain::commerce::CatalogItem;
use crate::domain::commerce::catalog::search::{
    CatalogFilters, CatalogMatches, CatalogQuery, SearchLimit, SearchWords,
};
use crate::nlu::spelling::nearest;
use crate::store::{StoreError, TenantStore};

/// A search that matches less of its words may be misspelled.
const SURE: f64 = 0.99;

/// Finds goods by words and filters.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CatalogSearch {
    pub query: String,
    #[serde(default)]
    pub filters: CatalogFilters,
    /// 1 to 6.
    pub limit: u8,
}

impl Tool for CatalogSearch {
    const NAME: &'static str = "catalog_search";
    type Output = CatalogMatches;

    async fn run(&self, context: &ToolContext<'_>) -> Result<CatalogMatches, CallError> {
        let limit = SearchLimit::try_from(self.limit).map_err(|_| CallError::refused("limit_out_of_range"))?;
        let query = CatalogQuery { words: SearchWords::of(&self.query), filters: self.filters.clone(), limit };
        Ok(search(&context.door(), query).await?)
    }
}

/// Searches the catalogue. Words that it does not have are compared with those that it has: "sandels".
pub async fn search(door: &TenantStore<'_>, query: CatalogQuery) -> Result<CatalogMatches, StoreError> {
    let found = door.search_catalog(&query).await?;
    if found.confidence >= SURE || query.words.is_empty() {
        return Ok(found);
    }
    let known = door.catalog_words().await?;
    let corrected: Vec<&str> = query.words.iter().map(|word| nearest(word, &known.all).unwrap_or(word)).collect();
    let corrected = CatalogQuery { words: SearchWords::of(&corrected.join(" ")), ..query.clone() };
    if corrected == query {
        return Ok(found);
    }
    let again = door.search_catalog(&corrected).await?;
    Ok(if again.confidence > found.confidence { again } else { found })
}

/// Returns the current row of an item.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CatalogGetItem {
    pub item_id: String,
}

impl Tool for CatalogGetItem {
    const NAME: &'static str = "catalog_get_item";
    type Output = CatalogItem;

    async fn run(&self, context: &ToolContext<'_>) -> Result<CatalogItem, CallError> {
        let id = self.item_id.parse().map_err(|_| CallError::refused("no_such_item"))?;
        context.door().find_catalog_item(&id).await?.ok_or_else(|| CallError::refused("no_such_item"))
    }
}
