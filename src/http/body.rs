//! Limits on requests: their target and headers, the time that their bodies may take to arrive, and the rest of one that no handler
//! reads.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::time::{Sleep, sleep, timeout};

use super::problem::Problem;
use crate::app::App;

/// The most bytes of an unread body that the server reads and discards.
const DISCARD_MAX_BYTES: usize = 8 * 1024 * 1024;
/// How long the server reads an unread body.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(2);

/// The most headers of a request, besides `x-request-id`.
const MOST_HEADERS: usize = 100;
/// The most bytes of a request's path and query.
const MOST_TARGET_BYTES: usize = 8 * 1024;

/// The rest of a body did not arrive within `REQUEST_BODY_SECONDS`.
#[derive(Debug, thiserror::Error)]
#[error("the request body did not arrive in time")]
pub(super) struct BodyTimeout;

/// A request's body. It fails with [`BodyTimeout`] after its deadline, which is for the whole body: a client cannot extend it by sending a
/// byte now and then. When it is dropped, it goes into its slot, so that the rest of it can be read.
struct Watched {
    body: Body,
    deadline: Option<Pin<Box<Sleep>>>,
    slot: Option<Arc<Mutex<Option<Body>>>>,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(context).is_ready()) {
            return Poll::Ready(Some(Err(axum::Error::new(BodyTimeout))));
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(slot) = &self.slot {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(std::mem::take(&mut self.body));
        }
    }
}

/// Middleware: gives the request's body `REQUEST_BODY_SECONDS` to arrive (0 disables).
pub(super) async fn limit_time(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let within: Duration = app.config.http.body_timeout;
    if within.is_zero() || request.body().is_end_stream() {
        return next.run(request).await;
    }
    let deadline = Some(Box::pin(sleep(within)));
    let limited = request.map(|body| Body::new(Watched { body, deadline, slot: None }));
    next.run(limited).await
}

/// Middleware: reads and discards what the handler left of the body. Otherwise a client that is still sending a refused
/// request loses the response when the connection closes. A body that is too long for that ends with `Connection: close`.
pub(super) async fn discard_unread(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    // With `Expect`, the client has sent nothing yet.
    let expects_continue = request.headers().contains_key(header::EXPECT);
    let slot = Arc::new(Mutex::new(None));
    let request = request.map(|body| Body::new(Watched { body, deadline: None, slot: Some(slot.clone()) }));
    let mut response = next.run(request).await;
    let rest = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    let is_read = match rest {
        Some(rest) if rest.is_end_stream() => true,
        Some(_) if response.status() == StatusCode::REQUEST_TIMEOUT => false,
        Some(rest) => {
            !expects_continue && timeout(DISCARD_TIMEOUT, discard(rest, DISCARD_MAX_BYTES)).await.unwrap_or(false)
        }
        // A handler that responds while it reads still holds the body.
        None => true,
    };
    if !is_read {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Reads and discards at most `max` bytes of the body. Returns whether it ended within them.
pub(super) async fn discard(mut body: Body, max: usize) -> bool {
    let mut left = max;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        let length = frame.data_ref().map_or(0, Bytes::len);
        let Some(rest) = left.checked_sub(length) else { return false };
        left = rest;
    }
    true
}

/// Middleware: refuses a request with too many headers or with a target that is too long.
pub(super) async fn limit_head(request: Request, next: Next) -> Response {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    // Every request has an id by now.
    let headers = request.headers().len().saturating_sub(1);
    let (status, title, detail) = if target > MOST_TARGET_BYTES {
        (StatusCode::URI_TOO_LONG, "Address too long", "Send an address of at most 8 KiB.")
    } else if headers > MOST_HEADERS {
        (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "Too many headers", "Send at most 100 headers.")
    } else {
        return next.run(request).await;
    };
    Problem::new(status, "invalid_request", title, detail).into_response()
}
