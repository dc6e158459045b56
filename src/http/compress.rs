//! Response compression.

use std::convert::Infallible;
use std::future::ready;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use tower::{ServiceExt, service_fn};
use tower_http::compression::Compression;

/// Middleware: compresses the response if the client accepts that. Event streams bypass the layer, which would not compress
/// them but hold 5 KiB of idle encoder for each open stream.
pub(super) async fn compress(request: Request, next: Next) -> Response {
    let mut accepts = axum::http::Request::new(());
    for coding in request.headers().get_all(header::ACCEPT_ENCODING) {
        accepts.headers_mut().append(header::ACCEPT_ENCODING, coding.clone());
    }
    let response = next.run(request).await;
    if is_event_stream(response.headers().get(header::CONTENT_TYPE)) {
        return response;
    }
    let mut response = Some(response);
    let answer = service_fn(move |_| ready(Ok::<_, Infallible>(response.take().unwrap_or_default())));
    match Compression::new(answer).oneshot(accepts).await {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    }
}

fn is_event_stream(kind: Option<&HeaderValue>) -> bool {
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}
