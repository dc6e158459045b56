//! `GET /console/api/conversations/{id}/panel`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::owner::Owner;
use crate::app::App;
use crate::desks::{ConsolePanel, PanelRow};
use crate::http::error::{ApiError, Result, with_store_timeout};
use crate::http::extract::ConversationPath;
use crate::http::refusals::RefusedRead;

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
