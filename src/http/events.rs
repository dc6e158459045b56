//! `GET /conversations/{id}/events`: the whole conversation, live, for a plain `EventSource`.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use utoipa::IntoParams;

use super::access::Guest;
use super::error::ApiError;
use super::in_time::in_time;
use super::problem::Problem;
use super::refusals::RefusedRead;
use super::sse;
use crate::app::App;
use crate::turn::Start;

/// Where to begin.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the query, which is read leniently")]
struct EventsQuery {
    /// Go on behind this event; the header `Last-Event-ID` wins. `0.0`: from the beginning. Neither: from the next turn.
    last_event_id: Option<String>,
    /// A conversation token, for `EventSource`, which can send no header.
    token: Option<String>,
}

/// The query's `last_event_id`, the first one. Nothing in a query is refused: an `EventSource` would give up for good.
fn last_event_id(uri: &Uri) -> Option<String> {
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri).unwrap_or_default();
    pairs.into_iter().find(|(name, _)| name == "last_event_id").map(|(_, value)| value)
}

/// The conversation's events, live, as server-sent events that go on until the client leaves.
///
/// Each `data:` line is one event; see the schema `Event`. The first frame is `{"debug":"stream-open"}`.
#[utoipa::path(
    get, path = "/conversations/{id}/events", tag = "messages",
    params(
        ("id" = String, Path),
        EventsQuery,
        ("Last-Event-ID" = Option<String>, Header, description = "as `last_event_id`; wins over it"),
    ),
    responses(
        (status = 200, description = "the events", body = sse::Frame, content_type = "text/event-stream"),
        RefusedRead,
        (status = 429, description = "`rate_limited`: the key has too many streams open, or the address sent too many wrong credentials", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn get(
    guest: Guest,
    State(app): State<Arc<App>>,
    method: Method,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, ApiError> {
    let found = in_time(&app, app.store.tenant(&guest.tenant).find_conversation(guest.conversation)).await;
    let store_answers = match found {
        Ok(Some(_)) => true,
        Ok(None) => return Err(ApiError::NotFound),
        // A browser's token says enough: anything but 200 would make its `EventSource` give up for good.
        Err(ApiError::Unavailable) if !guest.access.is_shop() => false,
        Err(cause) => return Err(cause),
    };
    // Who only looks takes nobody's place.
    if method == Method::HEAD {
        return Ok(sse::nothing(&app.config.http));
    }
    let lease = guest.lease(&app)?;
    let header = headers.get("last-event-id").map(|id| id.to_str().unwrap_or_default());
    let start = match header.or(last_event_id(&uri).as_deref()) {
        None => Start::NextTurn,
        Some(text) => text.parse().map_or(Start::Unknown, Start::After),
    };
    let mut reader = app.engine.read(&guest.tenant, guest.conversation, start);
    if store_answers {
        // Before the client hears that its stream is open: it then misses nothing of what it says next. A store that has
        // stopped answering in between is asked again by the stream itself.
        let _ = tokio::time::timeout(app.config.http.store_timeout, reader.resolve_start()).await;
    }
    Ok(sse::response(reader, lease, &app.config.http))
}
