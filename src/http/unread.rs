//! Requests whose body nobody read, since they were refused before: the rest of it is taken off the connection, so that the
//! client can read the answer and go on. What is too long for that is said to end with the connection.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;

/// So many bytes of a body that nobody wants are taken, and so long is waited for them.
const MOST_BYTES: usize = 8 * 1024 * 1024;
const LONGEST: Duration = Duration::from_secs(2);

/// A body on loan: what was not read of it comes back.
struct Lent {
    body: Body,
    back: Arc<Mutex<Option<Body>>>,
}

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let body = std::mem::take(&mut self.body);
        *self.back.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
    }
}

/// Takes in what the request's handler has left of its body.
pub(super) async fn take_in(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    // Who asks first has sent nothing yet, and need not.
    let asks_first = request.headers().contains_key(header::EXPECT);
    let back = Arc::new(Mutex::new(None));
    let lent = request.map(|body| Body::new(Lent { body, back: back.clone() }));
    let mut response = next.run(lent).await;
    let rest = back.lock().unwrap_or_else(PoisonError::into_inner).take();
    let is_whole = match rest {
        Some(rest) if rest.is_end_stream() => true,
        Some(_) if response.status() == StatusCode::REQUEST_TIMEOUT => false,
        Some(rest) => !asks_first && tokio::time::timeout(LONGEST, is_drained(rest)).await.unwrap_or(false),
        // Still being read: by a handler that answers meanwhile.
        None => true,
    };
    if !is_whole {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Whether the body ends within what is taken of it.
async fn is_drained(mut body: Body) -> bool {
    let mut left = MOST_BYTES;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        let length = frame.data_ref().map_or(0, Bytes::len);
        let Some(rest) = left.checked_sub(length) else { return false };
        left = rest;
    }
    true
}
