//! Server-sent events: the only module that writes their wire format.

use std::convert::Infallible;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::Serialize;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_stream::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

use crate::app::StreamPlace;
use crate::config::HttpConfig;
use crate::domain::EventId;
use crate::turn::{Item, Reader};

/// The first frame of every stream, sent when the request is accepted and before the turn does any work.
const OPEN: &str = r#"{"debug":"stream-open"}"#;
/// Sent when the client's last event is too old to resume after.
const RESET: &str = r#"{"type":"reset"}"#;
/// A comment, which clients ignore, so that proxies keep a silent stream open.
const KEEP_ALIVE: Bytes = Bytes::from_static(b": keep-alive\n\n");

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
pub(super) trait FrameSource: Send {
    /// Returns the next frame, or `None` at the end.
    fn next_frame(&mut self) -> impl Future<Output = Option<Bytes>> + Send;
}

impl FrameSource for Reader {
    async fn next_frame(&mut self) -> Option<Bytes> {
        Some(match self.next().await? {
            Item::Event(event) => event.encoded(|event| frame(event.id, &event.body)),
            Item::Reset(id) => frame(id, RESET),
        })
    }
}

/// Frames without an id.
struct News<S>(Pin<Box<S>>);

impl<S: Stream<Item: Serialize> + Send> FrameSource for News<S> {
    async fn next_frame(&mut self) -> Option<Bytes> {
        let news = self.0.next().await?;
        Some(format!("data: {}\n\n", serde_json::to_string(&news).unwrap_or_default()).into())
    }
}

/// Returns a frame. JSON has no line breaks outside of its texts, where they are escaped.
pub fn frame(id: EventId, json: &str) -> Bytes {
    format!("id: {id}\ndata: {json}\n\n").into()
}

/// Responds with JSON objects that have no ids, until they or the lease end.
pub(super) fn news<S>(news: S, lease: Lease, config: &HttpConfig) -> Response
where
    S: Stream<Item: Serialize> + Send + 'static,
{
    response(News(Box::pin(news)), lease, config)
}

/// Responds with the headers of a stream and no frames.
pub(super) fn empty() -> Response {
    with_headers(Body::empty())
}

/// Responds with the frames of the source, such as a reader's events, until they or the lease end.
pub(super) fn response(source: impl FrameSource + 'static, lease: Lease, config: &HttpConfig) -> Response {
    let opening = format!("retry: {}\ndata: {OPEN}\n\n", config.retry.as_millis()).into();
    with_headers(Body::from_stream(frames(source, lease, opening, config.keep_alive)))
}

fn with_headers(body: Body) -> Response {
    let kind = (header::CONTENT_TYPE, "text/event-stream");
    let fresh = (header::CACHE_CONTROL, "no-cache");
    // Otherwise nginx buffers the frames.
    let unbuffered = (header::HeaderName::from_static("x-accel-buffering"), "no");
    ([kind, fresh, unbuffered], body).into_response()
}

/// `keep_alive`: the longest silence of the stream; zero means no limit.
fn frames(
    mut source: impl FrameSource,
    lease: Lease,
    opening: Bytes,
    keep_alive: Duration,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
    async_stream::stream! {
        yield Ok(opening);
        // No expiry: a date far in the future.
        let until = lease.until.unwrap_or_else(|| Instant::now() + Duration::from_secs(365 * 24 * 3600));
        let expiry = sleep_until(until);
        let silence = sleep(keep_alive);
        tokio::pin!(expiry, silence);
        loop {
            let next = source.next_frame();
            tokio::pin!(next);
            // A silence does not drop what the source has begun.
            let next = loop {
                tokio::select! {
                    biased;
                    () = lease.place.evicted.cancelled() => break None,
                    () = lease.signed_out.cancelled() => break None,
                    () = &mut expiry => break None,
                    next = &mut next => break next,
                    () = &mut silence, if !keep_alive.is_zero() => {}
                }
                yield Ok(KEEP_ALIVE);
                silence.as_mut().reset(Instant::now() + keep_alive);
            };
            let Some(frame) = next else { break };
            yield Ok(frame);
            silence.as_mut().reset(Instant::now() + keep_alive);
        }
    }
}
