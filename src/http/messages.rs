//! `POST /conversations/{id}/messages` and `…/stream`: a customer says something.

use std::sync::Arc;

use axum::Extension;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access::Guest;
use super::error::ApiError;
use super::extract::{Body, idempotency};
use super::in_time::in_time;
use super::limit::OnlyRepeats;
use super::problem::Problem;
use super::refusals::RefusedWrite;
use super::sse;
use crate::app::App;
use crate::domain::text::clean;
use crate::domain::{Author, ConversationId, MessageId, TenantId};
use crate::turn::{AcceptError, Accepted, Message};

/// What a customer says.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PostMessage {
    /// 1 to 4,000 characters after trimming.
    #[schema(
        min_length = 1,
        max_length = 4000,
        pattern = r"[^\s\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]"
    )]
    pub text: String,
}

impl PostMessage {
    /// The text without control characters and without the white space around it.
    pub fn trimmed(&self, app: &App) -> Result<String, ApiError> {
        let text = clean(&self.text);
        let text = text.trim();
        let length = text.chars().count();
        let most = app.config.http.text_max_chars;
        if (1..=most).contains(&length) {
            return Ok(text.to_owned());
        }
        let detail = format!("text must have 1 to {most} characters after trimming; this one has {length}.");
        Err(ApiError::InvalidRequest(detail))
    }
}

/// A message that is stored; its turn runs in the background.
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

/// Takes a message in; its turn runs in the background.
#[utoipa::path(
    post, path = "/conversations/{id}/messages", operation_id = "post_message", tag = "messages",
    params(
        ("id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$", description = "the same key and body give the same turn for 24 h"),
    ),
    request_body = PostMessage,
    responses(
        (status = 202, description = "stored", body = MessageAccepted),
        RefusedWrite,
        (status = 503, description = "`overloaded`, `draining` or `unavailable`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn post(
    guest: Guest,
    State(app): State<Arc<App>>,
    repeats: Option<Extension<OnlyRepeats>>,
    headers: HeaderMap,
    body: Body<PostMessage>,
) -> Result<(StatusCode, Json<MessageAccepted>), ApiError> {
    let accepted = accept(&app, guest, &headers, repeats.map(|repeats| repeats.0), body).await?.1;
    Ok((StatusCode::ACCEPTED, Json(accepted.into())))
}

/// Takes a message in and answers with its turn's events, as server-sent events that end after `turn.done`.
///
/// Each `data:` line is one event; see the schema `Event`. The first frame is `{"debug":"stream-open"}`. A request with a
/// used `Idempotency-Key` replays that turn's events.
#[utoipa::path(
    post, path = "/conversations/{id}/stream", operation_id = "stream_message", tag = "messages",
    params(
        ("id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$", description = "the same key and body give the same turn for 24 h"),
    ),
    request_body = PostMessage,
    responses(
        (status = 200, description = "the turn's events", body = sse::Frame, content_type = "text/event-stream"),
        RefusedWrite,
        (status = 503, description = "`overloaded`, `draining` or `unavailable`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn stream(
    guest: Guest,
    State(app): State<Arc<App>>,
    repeats: Option<Extension<OnlyRepeats>>,
    headers: HeaderMap,
    body: Body<PostMessage>,
) -> Result<Response, ApiError> {
    // Before anything is stored: a refusal must not leave half of the request done.
    let lease = guest.lease_turn(&app)?;
    let (guest, accepted) = accept(&app, guest, &headers, repeats.map(|repeats| repeats.0), body).await?;
    let reader = app.engine.read_turn(&guest.tenant, guest.conversation, accepted.turn);
    Ok(sse::response(reader, lease, &app.config.http))
}

async fn accept(
    app: &App,
    guest: Guest,
    headers: &HeaderMap,
    repeats: Option<OnlyRepeats>,
    body: Body<PostMessage>,
) -> Result<(Guest, Accepted), ApiError> {
    let message = Message {
        author: Author::Customer,
        text: body.value.trimmed(app)?,
        idempotency: idempotency(headers, &body.hash)?,
        caller: guest.caller.clone(),
        new: repeats.is_none(),
        act: None,
    };
    let accepted = take_in(app, &guest.tenant, guest.conversation, message, repeats).await?;
    Ok((guest, accepted))
}

/// Takes a message in, whoever wrote it.
pub(super) async fn take_in(
    app: &App,
    tenant: &TenantId,
    conversation: ConversationId,
    message: Message,
    repeats: Option<OnlyRepeats>,
) -> Result<Accepted, ApiError> {
    let accepting = async {
        match (app.engine.accept(tenant, conversation, message).await, repeats) {
            (Ok(accepted), _) => Ok(accepted),
            // Nothing new was to be taken in: the limit that said so is the answer.
            (Err(AcceptError::Overloaded), Some(OnlyRepeats(too_many))) => Err(too_many.into()),
            (Err(cause), _) => Err(ApiError::from(cause)),
        }
    };
    in_time(app, accepting).await
}
