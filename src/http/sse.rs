//! Server-sent events: the only module that writes their wire format.

use std::convert::Infallible;
use std::pin::Pin;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use futures_util::{Stream, StreamExt};
use serde::Serialize;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

use crate::app::StreamPlace;
use crate::config::HttpConfig;
use crate::turn::{Item, Reader};

/// The first frame of every stream, sent when the request is accepted and before the turn does any work.
const OPEN: &str = r#"{"debug":"stream-open"}"#;
/// Sent when the client's last event is too old to resume after.
const RESET: &str = r#"{"type":"reset"}"#;

/// One frame of a stream, as an `EventSource` reads it.
#[derive(ToSchema)]
#[schema(as = StreamFrame)]
#[expect(dead_code, reason = "only describes the frames")]
pub(super) struct Frame {
    /// `TURN.N`, for `Last-Event-ID`; the opening frame has none.
    #[schema(pattern = "^[0-9]+\\.[0-9]+$", example = "3.17")]
    id: Option<String>,
    /// One JSON object: an `Event`, or `{"debug":"stream-open"}`, or `{"type":"reset"}`.
    data: String,
    /// How long to wait before reconnecting, in milliseconds.
    retry: Option<u64>,
}

/// What limits the life of a stream.
pub(super) struct Lease {
    /// The stream's place among the open ones; evicted when a newer stream takes it.
    pub place: StreamPlace,
    /// When the token or session that opened it expires.
    pub until: Option<Instant>,
    /// Cancelled when the session that opened it signs out.
    pub signed_out: CancellationToken,
}

impl Lease {
    /// A lease until `expires_at`, or until `signed_out` is cancelled.
    pub fn new(place: StreamPlace, expires_at: Option<DateTime<Utc>>, signed_out: Option<CancellationToken>) -> Self {
        let left = |end: DateTime<Utc>| (end - Utc::now()).to_std().unwrap_or_default();
        let until = expires_at.map(|end| Instant::now() + left(end));
        Self { place, until, signed_out: signed_out.unwrap_or_default() }
    }
}

/// A source of frames. Not a `Stream`, because a pinned stream would take up its size twice in each waiting reader.
trait FrameSource: Send {
    /// Returns the next frame, or `None` at the end.
    fn next_frame(&mut self) -> impl Future<Output = Option<Event>> + Send;
}

impl FrameSource for Reader {
    async fn next_frame(&mut self) -> Option<Event> {
        Some(match self.next().await? {
            Item::Event(frame) => Event::default().id(frame.id.to_string()).data(&*frame.body),
            Item::Reset(id) => Event::default().id(id.to_string()).data(RESET),
        })
    }
}

/// Frames without an id.
struct News<S>(Pin<Box<S>>);

impl<S: Stream<Item: Serialize> + Send> FrameSource for News<S> {
    async fn next_frame(&mut self) -> Option<Event> {
        let news = self.0.next().await?;
        Some(Event::default().data(serde_json::to_string(&news).unwrap_or_default()))
    }
}

/// Responds with the reader's events, until they or the lease end.
pub(super) fn response(reader: Reader, lease: Lease, config: &HttpConfig) -> Response {
    streamed(reader, lease, config)
}

/// Responds with JSON objects that have no ids, until they or the lease end.
pub(super) fn news<S>(news: S, lease: Lease, config: &HttpConfig) -> Response
where
    S: Stream<Item: Serialize> + Send + 'static,
{
    streamed(News(Box::pin(news)), lease, config)
}

/// Responds with the headers of a stream and no frames.
pub(super) fn empty(config: &HttpConfig) -> Response {
    with_headers(futures_util::stream::empty(), config)
}

fn streamed(source: impl FrameSource + 'static, lease: Lease, config: &HttpConfig) -> Response {
    let opening = Event::default().retry(config.retry).data(OPEN);
    with_headers(frames(source, lease, opening), config)
}

fn with_headers(
    frames: impl Stream<Item = Result<Event, Infallible>> + Send + 'static,
    config: &HttpConfig,
) -> Response {
    let stream = Sse::new(frames);
    let mut response = match config.keep_alive {
        Duration::ZERO => stream.into_response(),
        silence => stream.keep_alive(KeepAlive::new().interval(silence).text("keep-alive")).into_response(),
    };
    // Otherwise nginx buffers the frames.
    let unbuffered = (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response.headers_mut().insert(unbuffered.0, unbuffered.1);
    response
}

fn frames(
    mut source: impl FrameSource,
    lease: Lease,
    opening: Event,
) -> impl Stream<Item = Result<Event, Infallible>> + Send {
    async_stream::stream! {
        yield Ok(opening);
        // No expiry: a date far in the future.
        let until = lease.until.unwrap_or_else(|| Instant::now() + Duration::from_secs(365 * 24 * 3600));
        let expiry = sleep_until(until);
        tokio::pin!(expiry);
        loop {
            let next = tokio::select! {
                biased;
                () = lease.place.evicted.cancelled() => break,
                () = lease.signed_out.cancelled() => break,
                () = &mut expiry => break,
                next = source.next_frame() => next,
            };
            match next {
                Some(frame) => yield Ok(frame),
                None => break,
            }
        }
    }
}
