//! `POST /chat`: a message and its reply in one request, for back ends that keep their own session ids.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::timeout;
use utoipa::ToSchema;

use super::access::{Access, NO_SHOP_KEY, Shop};
use super::conversations::check_user_id;
use super::error::{ApiError, Result, with_store_timeout};
use super::extract::{Body, idempotency};
use super::limit::OnlyRepeats;
use super::messages::{accept_message, trimmed};
use super::refusals::RefusedChat;
use crate::app::App;
use crate::app::OpenError;
use crate::app::session_chat::{ChatSession, SessionError};
use crate::domain::{Author, ConversationId, Event, Kind, Sender, SourceItem, TenantId, TurnStatus};
use crate::store::StoreError;
use crate::turn::{Item, Message, Reader};

/// The longest session id, in characters.
const SESSION_MAX_CHARS: usize = 128;

/// A message of a session.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChatMessage {
    /// The caller's own name for the conversation, 1 to 128 visible ASCII characters. The first message opens the conversation.
    #[schema(min_length = 1, max_length = 128, pattern = "^[!-~]+$")]
    session_id: String,
    /// 1 to 4,000 characters after trimming, at least one of them visible.
    #[schema(
        min_length = 1,
        max_length = 4000,
        pattern = r"[^\s\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0]"
    )]
    message: String,
    /// The shop's own name for the customer, 1 to 255 characters without control or bidirectional characters. The first one binds
    /// the session; another one is refused.
    #[schema(nullable, min_length = 1, max_length = 255, pattern = r"\S")]
    user_id: Option<String>,
    /// The name of a persona: a file's stem under `prompts/`. Without it, the shop's default. A session keeps its persona.
    #[schema(nullable)]
    persona: Option<String>,
}

/// The reply to a message.
#[derive(Serialize, ToSchema)]
pub(super) struct ChatReply {
    /// The turn's messages, joined with a blank line. `null` if there are none: while a person has the conversation. After a failure,
    /// it ends with an apology to the customer.
    reply: Option<String>,
    /// How the turn ended: `completed`, `cancelled`, `failed` or `interrupted`. Only a completed turn has a complete reply.
    status: TurnStatus,
    /// The part of the desk that answered, if the desk has several, such as `technical`.
    route: Option<String>,
    /// The part that answered last, which also holds after small talk.
    last_agent: Option<String>,
    /// The sources of the reply.
    sources: Vec<SourceItem>,
    /// The names of the tools that a language model called, in alphabetical order.
    used_tools: BTreeSet<String>,
    state_excerpt: StateExcerpt,
}

/// What the desk remembers.
#[derive(Serialize, ToSchema)]
struct StateExcerpt {
    last_agent: Option<String>,
    /// The number of messages so far, without the greeting.
    history_length: u64,
    /// `true` while the customer asks for a refund that is not settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    refund_in_progress: Option<bool>,
    /// The number of the refund case that was opened last.
    #[serde(skip_serializing_if = "Option::is_none")]
    billing_case_id: Option<String>,
}

/// A message whose turn has not ended in time.
#[derive(Serialize, ToSchema)]
pub(super) struct ChatAccepted {
    conversation_id: ConversationId,
    turn: u32,
    /// `queued` or `running`.
    status: TurnStatus,
}

/// What the events of a turn report besides its messages.
#[derive(Default)]
struct Reported {
    route: Option<String>,
    sources: Vec<SourceItem>,
    tools: BTreeSet<String>,
    /// What the customer reads about a failure.
    error: Option<String>,
    /// How the turn ended.
    status: Option<TurnStatus>,
}

/// Stores a message of a session and waits for the reply.
///
/// A session is an ordinary conversation: it is in `GET /conversations`, in the console, and has events. Only for callers with an API
/// key, or in development.
#[utoipa::path(
    post, path = "/chat", operation_id = "chat", tag = "messages",
    params(
        ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$", description = "the same key and body return the same turn for 24 h"),
    ),
    request_body = ChatMessage,
    responses(
        (status = 200, description = "the reply", body = ChatReply),
        (status = 202, description = "stored; the turn still runs after `CHAT_WAIT_SECONDS`, and its events are at `…/events`", body = ChatAccepted),
        RefusedChat,
    )
)]
pub(super) async fn post(
    shop: Shop,
    State(app): State<Arc<App>>,
    repeats: Option<Extension<OnlyRepeats>>,
    headers: HeaderMap,
    body: Body<ChatMessage>,
) -> Result<Response> {
    if !matches!(shop.access, Access::Key | Access::Development) {
        return Err(ApiError::Unauthorized(NO_SHOP_KEY));
    }
    let repeats = repeats.map(|repeats| repeats.0);
    let text = trimmed("message", &body.value.message, &app)?;
    let idempotency = idempotency(&headers, &body.hash)?;
    let message = Message { new: repeats.is_none(), ..Message::new(Author::Customer, text, idempotency) };
    let session = session(body.value, repeats.is_some())?;
    let finding = async {
        match (app.conversation_of_session(&shop.tenant, &session).await, &repeats) {
            (Err(SessionError::Open(OpenError::NotRepeated)), Some(OnlyRepeats(refusal))) => Err(refusal.clone()),
            (found, _) => found.map_err(ApiError::from),
        }
    };
    let conversation = with_store_timeout(&app, finding).await?.id;
    let turn = accept_message(&app, &shop.tenant, conversation, message, repeats).await?.turn;
    let read = |most| Reported::read(app.engine.read_turn(&shop.tenant, conversation, turn), most);
    let mut reported = read(app.config.http.chat_wait).await;
    if reported.status.is_none() {
        let store = app.store.tenant(&shop.tenant);
        let record = with_store_timeout(&app, store.find_turn(conversation, turn)).await?;
        let status = record.ok_or(ApiError::NotFound)?.status;
        if !status.has_ended() {
            // The turn continues.
            let accepted = ChatAccepted { conversation_id: conversation, turn, status };
            return Ok((StatusCode::ACCEPTED, Json(accepted)).into_response());
        }
        // It ended as the wait did, so all of its events are stored by now.
        reported = read(app.config.http.store_timeout).await;
        reported.status.get_or_insert(status);
    }
    let reply = with_store_timeout(&app, reply(&app, &shop.tenant, (conversation, turn), reported)).await?;
    Ok(Json(reply).into_response())
}

fn session(wanted: ChatMessage, repeats_only: bool) -> Result<ChatSession> {
    let ChatMessage { session_id, user_id, persona, .. } = wanted;
    let is_visible = session_id.bytes().all(|b| b.is_ascii_graphic());
    if !is_visible || !(1..=SESSION_MAX_CHARS).contains(&session_id.len()) {
        let detail = format!("session_id must have 1 to {SESSION_MAX_CHARS} visible ASCII characters.");
        return Err(ApiError::InvalidRequest(detail));
    }
    check_user_id(user_id.as_deref())?;
    Ok(ChatSession { session_id, user_id, persona, repeats_only })
}

impl Reported {
    /// Reads events until the turn ends, there are no more, or this time is over.
    async fn read(mut reader: Reader, most: Duration) -> Self {
        let mut reported = Self::default();
        let reading = async {
            while let Some(Item::Event(frame)) = reader.next().await {
                let Ok(event) = serde_json::from_str::<Event>(&frame.body) else { continue };
                reported.take(event);
                if reported.status.is_some() {
                    return;
                }
            }
        };
        let _ = timeout(most, reading).await;
        reported
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Intent { route, .. } => self.route = route,
            Event::Sources { items } => self.sources = items,
            Event::ToolEnd { name, .. } => drop(self.tools.insert(name)),
            Event::Error { message, .. } => self.error = Some(message),
            Event::TurnDone { status, .. } => self.status = Some(status),
            _ => {}
        }
    }
}

/// Returns the reply of an ended turn.
async fn reply(
    app: &App,
    tenant: &TenantId,
    (id, turn): (ConversationId, u32),
    reported: Reported,
) -> Result<ChatReply, StoreError> {
    let store = app.store.tenant(tenant);
    let messages = store.list_messages_of_turn(id, turn).await?;
    // A turn that failed before it said anything has a notice instead.
    let has_notice = messages.iter().any(|message| message.metadata.kind() == Some(Kind::ErrorNotice));
    let texts = messages.into_iter().filter(|message| message.sender == Sender::Assistant).map(|message| message.text);
    let texts: Vec<String> = texts.chain(reported.error.filter(|_| !has_notice)).collect();
    let state = store.find_conversation(id).await?.map_or(Value::Null, |conversation| conversation.state);
    // A desk without these fields has none.
    let field = |name: &str| state[name].as_str().map(str::to_owned);
    let is_refunding = state["context_flags"]["refund_in_progress"].as_bool();
    Ok(ChatReply {
        reply: (!texts.is_empty()).then(|| texts.join("\n\n")),
        status: reported.status.unwrap_or(TurnStatus::Completed),
        route: reported.route,
        last_agent: field("last_agent"),
        sources: reported.sources,
        used_tools: reported.tools,
        state_excerpt: StateExcerpt {
            last_agent: field("last_agent"),
            history_length: store.count_messages(id, turn).await?,
            refund_in_progress: is_refunding.filter(|is_open| *is_open),
            billing_case_id: field("billing_case_id"),
        },
    })
}

impl From<SessionError> for ApiError {
    fn from(cause: SessionError) -> Self {
        match cause {
            SessionError::OtherUser => Self::InvalidRequest(
                "This session belongs to another user_id; send the user_id of its first message, or a new session_id."
                    .to_owned(),
            ),
            SessionError::OtherPersona => Self::InvalidRequest(
                "This session has another persona; leave persona out, or send a new session_id.".to_owned(),
            ),
            SessionError::Open(cause) => cause.into(),
        }
    }
}
