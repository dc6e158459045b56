//! Request bodies that take too long to arrive.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http_body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use crate::app::App;

/// The rest of a body did not arrive within `REQUEST_BODY_SECONDS`.
#[derive(Debug, thiserror::Error)]
#[error("the request body did not arrive in time")]
pub(super) struct BodyTimeout;

/// A body that fails with [`BodyTimeout`] once its deadline has passed. The deadline holds for the whole body, so a client
/// cannot extend it by sending a byte now and then.
struct WithDeadline {
    body: Body,
    deadline: Pin<Box<Sleep>>,
}

impl HttpBody for WithDeadline {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.deadline.as_mut().poll(context).is_ready() {
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

/// Gives the request's body until `REQUEST_BODY_SECONDS` to arrive.
pub(super) async fn limit(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let within: Duration = app.config.http.body_timeout;
    if within.is_zero() || request.body().is_end_stream() {
        return next.run(request).await;
    }
    let limited = request.map(|body| Body::new(WithDeadline { body, deadline: Box::pin(sleep(within)) }));
    next.run(limited).await
}
