//! Requests a second, counted before anything is done.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::client::ClientAddress;
use super::error::ApiError;
use crate::app::{App, TooMany};

/// A request too many that may go on all the same, if it only repeats an earlier one.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnlyRepeats(pub TooMany);

/// Counts the request for its key, or for its client's address.
pub(super) async fn count(
    State(app): State<Arc<App>>,
    client: ClientAddress,
    mut request: Request,
    next: Next,
) -> Response {
    if let Err(too_many) = counted(&app, client, &request) {
        if !may_repeat(&request) {
            return ApiError::from(too_many).into_response();
        }
        request.extensions_mut().insert(OnlyRepeats(too_many));
    }
    next.run(request).await
}

fn counted(app: &App, client: ClientAddress, request: &Request) -> Result<(), TooMany> {
    if is_free(request) {
        return Ok(());
    }
    let key = request.headers().get("x-api-key");
    let tenant = key.zip(app.keys.as_ref()).and_then(|(key, keys)| keys.find_tenant(key.as_bytes()));
    match (tenant, client.0) {
        (Some(tenant), _) => app.limits.count_key(&tenant),
        (None, Some(address)) => app.limits.count_address(address),
        (None, None) => Ok(()),
    }
}

/// What is never refused: an `EventSource` gives up for good on anything but 200, and whoever watches the server must see it.
fn is_free(request: &Request) -> bool {
    let path = request.uri().path();
    request.method() == Method::GET && (path.ends_with("/events") || path == "/healthz" || path == "/readyz")
}

/// Whether the request may be the repetition of one that was accepted, which gets its answer before any limit is counted.
fn may_repeat(request: &Request) -> bool {
    let has_key = |headers: &HeaderMap| headers.contains_key("idempotency-key");
    let path = request.uri().path();
    request.method() == Method::POST
        && has_key(request.headers())
        && ["/conversations", "/messages", "/stream", "/answers"].iter().any(|end| path.ends_with(end))
}

impl From<TooMany> for ApiError {
    fn from(too_many: TooMany) -> Self {
        Self::RateLimited { retry_after: too_many.retry_after, detail: "Too many requests; wait as Retry-After says." }
    }
}
