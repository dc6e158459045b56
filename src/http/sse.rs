//! Server-sent events: the only place that knows what they look like on the wire.

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

/// The first frame of every stream: the request is accepted, and the turn has not done any work.
const OPEN: &str = r#"{"debug":"stream-open"}"#;
/// What the client has is too old.
const RESET: &str = r#"{"type":"reset"}"#;

/// One frame of a stream, as an `EventSource` takes it in.
#[derive(ToSchema)]
#[schema(as = StreamFrame)]
#[expect(dead_code, reason = "describes what is written piece by piece")]
pub(super) struct Frame {
    /// `TURN.N`, for `Last-Event-ID`; the opening frame has none.
    #[schema(pattern = "^[0-9]+\\.[0-9]+$", example = "3.17")]
    id: Option<String>,
    /// One JSON object: an `Event`, or `{"debug":"stream-open"}`, or `{"type":"reset"}`.
    data: String,
    /// How soon to come back after a loss, in milliseconds.
    retry: Option<u64>,
}

/// How long a stream may last.
pub(super) struct Lease {
    /// Its place among the open streams.
    pub place: StreamPlace,
    /// When the token that opened it expires.
    pub until: Option<Instant>,
    /// Cancelled when the session that opened it is signed out.
    pub signed_out: CancellationToken,
}

impl Lease {
    /// `expires_at`: when what opened the stream ends. `signed_out`: ends it earlier.
    pub fn new(place: StreamPlace, expires_at: Option<DateTime<Utc>>, signed_out: Option<CancellationToken>) -> Self {
        let left = |end: DateTime<Utc>| (end - Utc::now()).to_std().unwrap_or_default();
        let until = expires_at.map(|end| Instant::now() + left(end));
        Self { place, until, signed_out: signed_out.unwrap_or_default() }
    }
}

/// Where the frames of a stream come from. No `Stream`: it would have to be pinned, and then takes up its place twice in each
/// reader that waits.
trait Source: Send {
    /// The next frame; `None`: there will be no more.
    fn next_frame(&mut self) -> impl Future<Output = Option<Event>> + Send;
}

impl Source for Reader {
    async fn next_frame(&mut self) -> Option<Event> {
        Some(match self.next().await? {
            Item::Event(frame) => Event::default().id(frame.id.to_string()).data(&*frame.body),
            Item::Reset(id) => Event::default().id(id.to_string()).data(RESET),
        })
    }
}

/// News that have no places.
struct News<S>(Pin<Box<S>>);

impl<S: Stream<Item: Serialize> + Send> Source for News<S> {
    async fn next_frame(&mut self) -> Option<Event> {
        let news = self.0.next().await?;
        Some(Event::default().data(serde_json::to_string(&news).unwrap_or_default()))
    }
}

/// The events that the reader reads, as a response that ends with them, or with the lease.
pub(super) fn response(reader: Reader, lease: Lease, config: &HttpConfig) -> Response {
    streamed(reader, lease, config)
}

/// News that have no places, each a JSON object, as a response that ends with them, or with the lease.
pub(super) fn news<S>(news: S, lease: Lease, config: &HttpConfig) -> Response
where
    S: Stream<Item: Serialize> + Send + 'static,
{
    streamed(News(Box::pin(news)), lease, config)
}

/// A stream of nothing, for its headers.
pub(super) fn nothing(config: &HttpConfig) -> Response {
    sent(futures_util::stream::empty(), config)
}

fn streamed(source: impl Source + 'static, lease: Lease, config: &HttpConfig) -> Response {
    let opening = Event::default().retry(config.retry).data(OPEN);
    sent(frames(source, lease, opening), config)
}

fn sent(frames: impl Stream<Item = Result<Event, Infallible>> + Send + 'static, config: &HttpConfig) -> Response {
    let stream = Sse::new(frames);
    let mut response = match config.keep_alive {
        Duration::ZERO => stream.into_response(),
        silence => stream.keep_alive(KeepAlive::new().interval(silence).text("keep-alive")).into_response(),
    };
    // Proxies of the nginx family would otherwise hold the frames back.
    let unbuffered = (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response.headers_mut().insert(unbuffered.0, unbuffered.1);
    response
}

fn frames(
    mut source: impl Source,
    lease: Lease,
    opening: Event,
) -> impl Stream<Item = Result<Event, Infallible>> + Send {
    async_stream::stream! {
        yield Ok(opening);
        // A far day stands in for no end.
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
