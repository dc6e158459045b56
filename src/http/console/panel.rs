//! `GET /console/api/conversations/{id}/panel`, and `PUT …/tags` for the customer of a shop of the commerce desk

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::owner::{Owner, notify};
use crate::app::App;
use crate::desks::{ConsolePanel, PanelRow};
use crate::domain::commerce::Tags;
use crate::domain::{ConsoleAct, ConsoleDeed};
use crate::http::error::{ApiError, Result, with_store_timeout};
use crate::http::extract::{Body, ConversationPath};
use crate::http::refusals::{RefusedRead, RefusedWrite};
use crate::store::StoreError;
use crate::store::shoppers::ShopperKey;

/// What the conversation's desk shows next to it.
#[derive(Serialize, ToSchema)]
pub(super) struct Panel {
    /// `null` if the desk has no panel.
    rows: Option<Vec<PanelRow>>,
}

/// The rows that the conversation's desk shows next to it.
#[utoipa::path(
    get, path = "/console/api/conversations/{id}/panel", operation_id = "console_panel", tag = "console",
    params(("id" = String, Path)),
    responses((status = 200, description = "the rows", body = Panel), RefusedRead)
)]
pub(super) async fn get(
    owner: Owner,
    ConversationPath(id): ConversationPath,
    State(app): State<Arc<App>>,
) -> Result<Json<Panel>> {
    let store = app.store.tenant(&owner.tenant);
    let conversation = with_store_timeout(&app, store.find_conversation(id)).await?.ok_or(ApiError::NotFound)?;
    let rows = match app.shops.get(&owner.tenant).console_panel(&conversation.persona) {
        Some(ConsolePanel::Rows(read)) => Some(with_store_timeout(&app, read(app.store.clone(), conversation)).await?),
        Some(ConsolePanel::Orders | ConsolePanel::Account) | None => None,
    };
    Ok(Json(Panel { rows }))
}

/// The tags of a customer.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CustomerTags {
    #[schema(max_items = 20, value_type = Vec<CustomerTag>)]
    tags: Vec<String>,
}

/// A tag, without a comma. Spaces around it are removed; an empty one is left out.
#[derive(ToSchema)]
#[schema(max_length = 40, pattern = "^[^,]*$")]
#[expect(dead_code, reason = "only describes a string")]
pub(super) struct CustomerTag(String);

/// Replaces the tags of the conversation's customer.
#[utoipa::path(
    put, path = "/console/api/conversations/{id}/tags", operation_id = "console_put_tags", tag = "console",
    params(("id" = String, Path)), request_body = CustomerTags,
    responses((status = 200, description = "the stored tags", body = CustomerTags), RefusedWrite)
)]
pub(super) async fn put_tags(
    owner: Owner,
    ConversationPath(id): ConversationPath,
    State(app): State<Arc<App>>,
    body: Body<CustomerTags>,
) -> Result<Json<CustomerTags>> {
    let tags = Tags::try_from(body.value.tags).map_err(|error| ApiError::InvalidRequest(format!("{error}.")))?;
    let act = ConsoleAct { conversation: Some(id), ..owner.act(ConsoleDeed::CustomerTagged) };
    let store = app.store.tenant(&owner.tenant).noting(Some(&act));
    let changing = async {
        let Some(conversation) = store.find_conversation(id).await? else { return Ok(false) };
        let key = ShopperKey::of(conversation.user_id.as_deref(), id);
        let Some(shopper) = store.find_shopper(&key).await? else { return Ok(false) };
        store.set_tags(shopper.id, &tags).await?;
        Ok::<_, StoreError>(true)
    };
    if !with_store_timeout(&app, changing).await? {
        return Err(ApiError::NotFound);
    }
    notify(&app, &owner.tenant, Some(id));
    Ok(Json(CustomerTags { tags: tags.as_slice().to_vec() }))
}
