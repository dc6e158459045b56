//! `GET /console/api/catalog`: the goods of a shop of the commerce desk.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::owner::Owner;
use crate::app::App;
use crate::domain::commerce::catalog::search::SearchWords;
use crate::domain::commerce::{CatalogItem, Money};
use crate::http::error::{Result, with_store_timeout};
use crate::http::extract::Query;
use crate::http::refusals::RefusedConsoleQuery;

/// The goods to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct CatalogFilter {
    /// Only goods with all of these words.
    q: Option<String>,
}

/// Goods of the shop, by name.
#[derive(Serialize, ToSchema)]
pub(super) struct CatalogView {
    /// The first 100.
    items: Vec<ItemView>,
    /// How many there are.
    total: u64,
}

#[derive(Serialize, ToSchema)]
#[schema(as = CatalogItem)]
struct ItemView {
    id: String,
    name: String,
    category: String,
    price: Money,
    /// How many pieces can be sold.
    stock: u32,
    /// What the customer chooses, such as sizes.
    variants: BTreeMap<String, Vec<String>>,
}

/// Lists the goods of the shop with their prices and stock.
#[utoipa::path(
    get, path = "/console/api/catalog", operation_id = "console_catalog", tag = "console", params(CatalogFilter),
    responses((status = 200, description = "the goods, by name", body = CatalogView), RefusedConsoleQuery)
)]
pub(super) async fn get(
    owner: Owner,
    State(app): State<Arc<App>>,
    Query(filter): Query<CatalogFilter>,
) -> Result<Json<CatalogView>> {
    const MOST: u64 = 100;
    let words = SearchWords::of(filter.q.as_deref().unwrap_or_default());
    let store = app.store.tenant(&owner.tenant);
    let (items, total) = with_store_timeout(&app, store.list_catalog_items(&words, MOST)).await?;
    Ok(Json(CatalogView { items: items.into_iter().map(ItemView::from).collect(), total }))
}

impl From<CatalogItem> for ItemView {
    fn from(item: CatalogItem) -> Self {
        let CatalogItem { id, name, category, price, stock, variants, .. } = item;
        Self { id: id.to_string(), name, category, price, stock, variants }
    }
}
