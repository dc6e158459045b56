//! Server-sent events: the only place that knows what they look like on the wire.

use std::convert::Infallible;

use axum::http::{HeaderName, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use tracing::error;

use crate::config::HttpConfig;
use crate::turn::{Frame, Reader};

/// The first frame of every stream: the request is accepted, and the turn has not done any work.
const OPEN: &str = r#"{"debug":"stream-open"}"#;

/// The events that the reader reads, as a response that ends with them.
pub(super) fn response(reader: Reader, config: &HttpConfig) -> Response {
    let keep_alive = KeepAlive::new().interval(config.keep_alive).text("keep-alive");
    let opening = Event::default().retry(config.retry).data(OPEN);
    let mut response = Sse::new(frames(reader, opening)).keep_alive(keep_alive).into_response();
    // Proxies of the nginx family would otherwise hold the frames back.
    let unbuffered = (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response.headers_mut().insert(unbuffered.0, unbuffered.1);
    response
}

fn frames(mut reader: Reader, opening: Event) -> impl Stream<Item = Result<Event, Infallible>> + Send {
    async_stream::stream! {
        yield Ok(opening);
        loop {
            match reader.next().await {
                Ok(Some(frame)) => yield Ok(event(&frame)),
                Ok(None) => break,
                Err(cause) => {
                    // The stream ends without turn.done, so the client knows that it must come back.
                    error!(error = %cause, "A stream could not read the store");
                    break;
                }
            }
        }
    }
}

fn event(frame: &Frame) -> Event {
    Event::default().id(frame.id.to_string()).data(&*frame.body)
}
