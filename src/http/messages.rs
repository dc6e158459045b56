//! `POST /conversations/{id}/messages` and `…/stream`: a customer sends a message.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access::Guest;
use super::error::{ApiError, Result, with_store_timeout};
use super::extract::{Body, idempotency};
use super::limit::OnlyRepeats;
use super::refusals::RefusedMessage;
use super::sse;
use crate::app::App;
use crate::domain::text::{clean, is_blank};
use crate::domain::{Author, ConversationId, MessageId, TenantId};
use crate::turn::{AcceptError, Accepted, Message};

/// A message to send.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PostMessage {
    /// 1 to 4,000 characters after trimming, at least one of them visible.
    #[schema(
        min_length = 1,
        max_length = 4000,
        pattern = r"[^\s\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0]"
    )]
    pub text: String,
}

impl PostMessage {
    /// Returns the text without control characters and surrounding white space.
    ///
    /// # Errors
    /// [`ApiError::InvalidRequest`] if nothing is left, or more than `TEXT_MAX_CHARS` characters.
    pub fn trimmed(&self, app: &App) -> Result<String> {
        trimmed("text", &self.text, app)
    }
}

/// Returns the text of a field without control characters and surrounding white space.
///
/// # Errors
/// [`ApiError::InvalidRequest`] if nothing is left, or more than `TEXT_MAX_CHARS` characters.
pub(super) fn trimmed(field: &str, text: &str, app: &App) -> Result<String> {
    let text = clean(text);
    let text = if is_blank(&text) { "" } else { text.trim() };
    let length = text.chars().count();
    let most = app.config.http.text_max_chars;
    if (1..=most).contains(&length) {
        return Ok(text.to_owned());
    }
    let detail = format!("{field} must have 1 to {most} characters after trimming; this one has {length}.");
    Err(ApiError::InvalidRequest(detail))
}

/// A stored message, whose turn runs in the background.
#[derive(Serialize, ToSchema)]
pub(super) struct MessageAccepted {
    message_id: MessageId,
    turn: u32,
    #[schema(example = "queued")]
    status: &'static str,
}

impl From<Accepted> for MessageAccepted {
    fn from(Accepted { turn, message_id }: Accepted) -> Self {
        Self { message_id, turn, status: "queued" }
    }
}

/// Stores a message. Its turn runs in the background.
#[utoipa::path(
    post, path = "/conversations/{id}/messages", operation_id = "post_message", tag = "messages",
    params(
        ("id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$", description = "the same key and body return the same turn for 24 h"),
    ),
    request_body = PostMessage,
    responses((status = 202, description = "stored", body = MessageAccepted), RefusedMessage)
)]
pub(super) async fn post(
    guest: Guest,
    State(app): State<Arc<App>>,
    repeats: Option<Extension<OnlyRepeats>>,
    headers: HeaderMap,
    body: Body<PostMessage>,
) -> Result<(StatusCode, Json<MessageAccepted>)> {
    let accepted = accept(&app, guest, &headers, repeats.map(|repeats| repeats.0), body).await?.1;
    Ok((StatusCode::ACCEPTED, Json(accepted.into())))
}

/// Stores a message and streams the events of its turn, as server-sent events that end after `turn.done`.
///
/// Each `data:` line is one event; see the schema `Event`. The first frame is `{"debug":"stream-open"}`. A request that
/// repeats an `Idempotency-Key` replays the events of that turn.
#[utoipa::path(
    post, path = "/conversations/{id}/stream", operation_id = "stream_message", tag = "messages",
    params(
        ("id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$", description = "the same key and body return the same turn for 24 h"),
    ),
    request_body = PostMessage,
    responses(
        (status = 200, description = "the turn's events", body = sse::Frame, content_type = "text/event-stream"),
        RefusedMessage,
    )
)]
pub(super) async fn stream(
    guest: Guest,
    State(app): State<Arc<App>>,
    repeats: Option<Extension<OnlyRepeats>>,
    headers: HeaderMap,
    body: Body<PostMessage>,
) -> Result<Response> {
    // Refuse before anything is stored. Above the limit, the message may only repeat an accepted one.
    let (lease, repeats) = match guest.lease_turn(&app) {
        Ok(lease) => (lease, repeats.map(|repeats| repeats.0)),
        Err(refusal) if headers.contains_key("idempotency-key") => {
            (guest.lease_replay(&app)?, Some(OnlyRepeats(refusal)))
        }
        Err(refusal) => return Err(refusal),
    };
    // On a busy server, the turn may have ended before it is read here.
    let _feed = app.engine.keep_feed(guest.conversation);
    let (guest, accepted) = accept(&app, guest, &headers, repeats, body).await?;
    let reader = app.engine.read_turn(&guest.tenant, guest.conversation, accepted.turn);
    Ok(sse::response(reader, lease, &app.config.http))
}

async fn accept(
    app: &App,
    guest: Guest,
    headers: &HeaderMap,
    repeats: Option<OnlyRepeats>,
    body: Body<PostMessage>,
) -> Result<(Guest, Accepted)> {
    let (text, idempotency) = (body.value.trimmed(app)?, idempotency(headers, &body.hash)?);
    let message = Message {
        caller: guest.caller.clone(),
        new: repeats.is_none(),
        ..Message::new(Author::Customer, text, idempotency)
    };
    let accepted = accept_message(app, &guest.tenant, guest.conversation, message, repeats).await?;
    Ok((guest, accepted))
}

/// Accepts a message of the customer or of a person of the shop.
pub(super) async fn accept_message(
    app: &App,
    tenant: &TenantId,
    conversation: ConversationId,
    message: Message,
    repeats: Option<OnlyRepeats>,
) -> Result<Accepted> {
    let accepting = async {
        match (app.engine.accept(tenant, conversation, message).await, repeats) {
            (Ok(accepted), _) => Ok(accepted),
            // Over its limit, the request could only repeat an accepted one, and it did not.
            (Err(AcceptError::Overloaded), Some(OnlyRepeats(refusal))) => Err(refusal),
            (Err(cause), _) => Err(ApiError::from(cause)),
        }
    };
    with_store_timeout(app, accepting).await
}
