//! `GET /conversations/{id}/history`: the messages of a conversation.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::access::Guest;
use super::error::{ApiError, Result, with_store_timeout};
use super::extract::{Query, cut_page, page_limit, position};
use super::refusals::RefusedQuery;
use super::views::{ConversationView, MessageView};
use crate::app::App;
use crate::domain::{EventId, Message};
use crate::store::StoreError;

/// The page of the history to read.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryQuery {
    /// The most messages to return, 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u64>,
    /// Continue after this position: `next` of an earlier response.
    #[param(pattern = "^[0-9]{1,9}-[0-9]{1,9}$")]
    after: Option<String>,
}

/// A page of a conversation's messages.
#[derive(Serialize, ToSchema)]
pub(super) struct History {
    conversation: ConversationView,
    messages: Vec<MessageView>,
    /// The `after` of the next page; null at the end.
    next: Option<String>,
    /// The last event of the last ended turn: resume the events after it.
    #[schema(value_type = String, example = "3.17")]
    last_event_id: EventId,
}

/// Lists the conversation's messages, oldest first.
#[utoipa::path(
    get, path = "/conversations/{id}/history", operation_id = "get_history", tag = "conversations",
    params(("id" = String, Path), HistoryQuery),
    responses((status = 200, description = "a page", body = History), RefusedQuery)
)]
pub(super) async fn get(
    guest: Guest,
    State(app): State<Arc<App>>,
    Query(query): Query<HistoryQuery>,
) -> Result<Json<History>> {
    let limit = page_limit(query.limit)?;
    let after = position(query.after.as_deref(), cursor)?;
    let tenant = app.store.tenant(&guest.tenant);
    let is_shop = guest.access.is_shop();
    // Read the conversation first, so that the messages include all turns up to its last event.
    let reading = async {
        let Some(conversation) = tenant.find_conversation(guest.conversation).await? else { return Ok(None) };
        let last_event_id = conversation.last_event_id;
        let mut page = tenant.list_messages(guest.conversation, after, limit + 1).await?;
        let next = cut_page(&mut page, limit, |last| format!("{}-{}", last.turn, last.position));
        let has_deliveries = is_shop && conversation.channel.is_some();
        let mut deliveries = match has_deliveries {
            true => tenant.list_deliveries(page.iter().map(|message| message.id)).await?,
            false => HashMap::new(),
        };
        let view = |message: Message| {
            let delivery = deliveries.remove(&message.id);
            MessageView::new(message, is_shop, delivery)
        };
        let messages = page.into_iter().map(view).collect();
        let conversation = match is_shop {
            true => ConversationView::for_shop(&tenant, conversation).await?,
            false => conversation.into(),
        };
        Ok::<_, StoreError>(Some(History { conversation, messages, next, last_event_id }))
    };
    with_store_timeout(&app, reading).await?.map(Json).ok_or(ApiError::NotFound)
}

/// Parses a cursor, `TURN-POSITION`.
fn cursor(text: &str) -> Option<(u32, u32)> {
    let (turn, position) = text.split_once('-')?;
    let number = |text: &str| text.parse::<u32>().ok().filter(|n| i32::try_from(*n).is_ok());
    Some((number(turn)?, number(position)?))
}
