//! `GET /conversations/{id}/events`: the events of a conversation, live, for an `EventSource`.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use utoipa::IntoParams;

use super::access::Guest;
use super::error::{ApiError, Result, with_store_timeout};
use super::refusals::RefusedRead;
use super::sse;
use crate::app::App;
use crate::turn::Start;

/// The event to resume after, and the token.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the query, which is read leniently")]
struct EventsQuery {
    /// Resume after this event, or from the beginning after `0.0`. `Last-Event-ID` wins. Without both: from the next turn.
    last_event_id: Option<String>,
    /// A conversation token, since an `EventSource` cannot send headers.
    token: Option<String>,
}

/// Returns the first `last_event_id` of the query. No query is refused, because an `EventSource` does not reconnect after an
/// error response.
fn last_event_id(uri: &Uri) -> Option<String> {
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri).unwrap_or_default();
    pairs.into_iter().find(|(name, _)| name == "last_event_id").map(|(_, value)| value)
}

/// Streams the conversation's events, live, as server-sent events until the client disconnects.
///
/// Each `data:` line is one event; see the schema `Event`. The first frame is `{"debug":"stream-open"}`.
#[utoipa::path(
    get, path = "/conversations/{id}/events", tag = "messages",
    params(
        ("id" = String, Path),
        EventsQuery,
        ("Last-Event-ID" = Option<String>, Header, description = "like `last_event_id`, and wins over it"),
    ),
    responses(
        (status = 200, description = "the events", body = sse::Frame, content_type = "text/event-stream"),
        RefusedRead,
        (status = 429, description = "`rate_limited`: the key has too many streams open, or the address sent too many wrong credentials"),
    )
)]
pub(super) async fn get(
    guest: Guest,
    State(app): State<Arc<App>>,
    method: Method,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response> {
    let found = with_store_timeout(&app, app.store.tenant(&guest.tenant).find_conversation(guest.conversation)).await;
    let store_responds = match found {
        Ok(Some(_)) => true,
        Ok(None) => return Err(ApiError::NotFound),
        // The token is proof enough. With anything but 200, the browser's `EventSource` would not reconnect.
        Err(ApiError::Unavailable) if !guest.access.is_shop() => false,
        Err(cause) => return Err(cause),
    };
    // A HEAD request must not close the oldest stream.
    if method == Method::HEAD {
        return Ok(sse::empty());
    }
    let lease = guest.lease(&app)?;
    let header = headers.get("last-event-id").map(|id| id.to_str().unwrap_or_default());
    let start = match header.or(last_event_id(&uri).as_deref()) {
        None => Start::NextTurn,
        Some(text) => text.parse().map_or(Start::Unknown, Start::After),
    };
    let mut reader = app.engine.read(&guest.tenant, guest.conversation, start);
    if store_responds {
        // Position the reader before the client sees the open stream, so that the stream includes the client's next message.
        // If the store stops responding here, the stream itself retries.
        let _ = tokio::time::timeout(app.config.http.store_timeout, reader.resolve_start()).await;
    }
    Ok(sse::response(reader, lease, &app.config.http))
}
