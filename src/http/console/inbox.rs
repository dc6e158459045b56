//! `GET /console/api/conversations`: the inbox.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::owner::Owner;
use crate::app::App;
use crate::domain::calendar::{optional_time, time};
use crate::domain::{Conversation, ConversationId, ConversationStatus, Kind, Message, Sender};
use crate::http::error::{ApiError, Result, with_store_timeout};
use crate::http::extract::{Query, cut_page, page_limit, position};
use crate::http::refusals::RefusedConsoleQuery;
use crate::http::views::ConversationView;
use crate::store::inbox::{InboxQuery, Place};
use crate::store::{StoreError, TenantStore};

/// The length of the excerpt of a message, in characters.
const EXCERPT_CHARS: usize = 200;
/// The longest search text, in characters.
const SEARCH_MAX_CHARS: usize = 200;

/// The conversations to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ConversationsQuery {
    /// Only conversations with this status.
    status: Option<ConversationStatus>,
    /// Only conversations that contain each of these words in a message or the customer's name, without regard to diacritics and
    /// case.
    #[param(max_length = 200)]
    q: Option<String>,
    /// The most conversations to return, 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u64>,
    /// Continue after this position: `next` of an earlier response.
    #[param(pattern = "^w?([0-8][0-9]{18}|[0-9]{1,18})_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")]
    after: Option<String>,
}

/// A page of the inbox.
#[derive(Serialize, ToSchema)]
pub(super) struct Inbox {
    conversations: Vec<InboxItem>,
    counts: Counts,
    /// The `after` of the next page; null at the end.
    next: Option<String>,
}

/// The number of conversations of each status, among those that match `q`.
#[derive(Serialize, ToSchema)]
pub(super) struct Counts {
    bot: u64,
    waiting: u64,
    taken: u64,
    closed: u64,
}

impl From<HashMap<ConversationStatus, u64>> for Counts {
    fn from(counts: HashMap<ConversationStatus, u64>) -> Self {
        let of = |status| counts.get(&status).copied().unwrap_or_default();
        Self {
            bot: of(ConversationStatus::Bot),
            waiting: of(ConversationStatus::Waiting),
            taken: of(ConversationStatus::Taken),
            closed: of(ConversationStatus::Closed),
        }
    }
}

/// A conversation as the shop's staff sees it.
#[derive(Serialize, ToSchema)]
pub(super) struct InboxItem {
    #[serde(flatten)]
    conversation: ConversationView,
    /// The person who has taken it.
    agent: Option<String>,
    #[serde(serialize_with = "time")]
    last_activity_at: DateTime<Utc>,
    #[serde(serialize_with = "optional_time")]
    waiting_since: Option<DateTime<Utc>>,
    last_message: Option<LastMessage>,
    /// The customer's last message.
    last_customer_message: Option<LastMessage>,
    /// The customer's name, if known from an order or the shop's `user_id`.
    customer_name: Option<String>,
}

/// The last message of a conversation, shortened.
#[derive(Serialize, ToSchema)]
pub(super) struct LastMessage {
    sender: Sender,
    /// Null for a customer's message.
    kind: Option<Kind>,
    /// The first 200 characters.
    text: String,
    #[serde(serialize_with = "time")]
    created_at: DateTime<Utc>,
}

/// Adds the customers' names and last messages to the conversations.
pub(super) async fn items(
    store: &TenantStore<'_>,
    listed: Vec<(Conversation, Option<Message>)>,
) -> Result<Vec<InboxItem>, StoreError> {
    let conversations: Vec<Conversation> = listed.iter().map(|(conversation, _)| conversation.clone()).collect();
    let mut said = store.last_customer_messages(&conversations).await?;
    let mut names = store.customer_names(Some(&conversations)).await?;
    let item = |(conversation, last): (Conversation, Option<Message>)| {
        let id = conversation.id;
        let (last_activity_at, waiting_since) = (conversation.last_activity_at, conversation.waiting_since);
        let mut conversation = ConversationView::from(conversation);
        InboxItem {
            agent: conversation.agent.take(),
            conversation,
            last_activity_at,
            waiting_since,
            last_message: last.map(LastMessage::from),
            last_customer_message: said.remove(&id).map(LastMessage::from),
            customer_name: names.remove(&id),
        }
    };
    Ok(listed.into_iter().map(item).collect())
}

impl From<Message> for LastMessage {
    fn from(message: Message) -> Self {
        Self {
            sender: message.sender,
            kind: message.metadata.kind(),
            text: message.text.chars().take(EXCERPT_CHARS).collect(),
            created_at: message.created_at,
        }
    }
}

/// Lists the shop's conversations: the longest waiting first, then by newest activity.
#[utoipa::path(
    get, path = "/console/api/conversations", operation_id = "console_conversations", tag = "console",
    params(ConversationsQuery),
    responses((status = 200, description = "a page", body = Inbox), RefusedConsoleQuery)
)]
pub(super) async fn list(
    owner: Owner,
    State(app): State<Arc<App>>,
    Query(query): Query<ConversationsQuery>,
) -> Result<Json<Inbox>> {
    let limit = page_limit(query.limit)?;
    let text = query.q.as_deref().map(str::trim).filter(|text| !text.is_empty());
    if text.is_some_and(|text| text.chars().count() > SEARCH_MAX_CHARS) {
        return Err(ApiError::InvalidRequest(format!("q must have at most {SEARCH_MAX_CHARS} characters.")));
    }
    let after = position(query.after.as_deref(), parse_cursor)?;
    let wanted = InboxQuery { status: query.status, text, after, limit: limit + 1 };
    let store = app.store.tenant(&owner.tenant);
    let reading = async {
        let counts = store.count_by_status(text).await?;
        let mut page = store.list_inbox(&wanted).await?;
        let next = cut_page(&mut page, limit, |(last, _)| write_cursor(Place::of(last)));
        Ok::<_, StoreError>((counts, items(&store, page).await?, next))
    };
    let (counts, conversations, next) = with_store_timeout(&app, reading).await?;
    Ok(Json(Inbox { conversations, counts: counts.into(), next }))
}

/// Writes a cursor: the nanosecond and the id, with the prefix `w` for a waiting customer.
fn write_cursor(place: Place) -> String {
    let (waits, at, id) = match place {
        Place::Waiting(since, id) => ("w", since, id),
        Place::Other(at, id) => ("", at, id),
    };
    format!("{waits}{}_{id}", at.timestamp_nanos_opt().unwrap_or_default())
}

fn parse_cursor(text: &str) -> Option<Place> {
    let (rest, place): (_, fn(DateTime<Utc>, ConversationId) -> Place) = match text.strip_prefix('w') {
        Some(rest) => (rest, Place::Waiting),
        None => (text, Place::Other),
    };
    let (at, id) = rest.split_once('_')?;
    Some(place(DateTime::from_timestamp_nanos(at.parse().ok()?), id.parse().ok()?))
}
