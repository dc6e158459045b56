//! `application/problem+json` (RFC 9457): the body of every error, also of those from the router, its layers and panics.

use std::any::Any;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::Full;
use serde::Serialize;
use tracing::error;
use utoipa::ToSchema;

use super::REQUEST_ID;
use super::error::ApiError;
use super::extract::BODY_CEILING;
use crate::app::App;

/// The body of every error.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Problem {
    /// Always `about:blank`; see `code`.
    #[serde(rename = "type")]
    kind: String,
    title: String,
    status: u16,
    /// A stable word for the kind of error, for programs.
    code: String,
    /// A more precise word than `code`. Only the errors of uploaded files have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// The line of an uploaded file that `reason` is about, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// The most bytes that the body or the file may have. Only `too_large` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
    /// One sentence: what failed and how to fix it.
    detail: String,
    /// The id of the request in the server's log.
    request_id: String,
}

impl Problem {
    pub(super) fn new(status: StatusCode, code: &str, title: &str, detail: &str) -> Self {
        Self {
            kind: "about:blank".to_owned(),
            title: title.to_owned(),
            status: status.as_u16(),
            code: code.to_owned(),
            reason: None,
            line: None,
            limit: None,
            detail: detail.to_owned(),
            request_id: String::new(),
        }
    }

    pub(super) fn with_reason(self, reason: &'static str, line: Option<u64>) -> Self {
        Self { reason: Some(reason), line, ..self }
    }

    pub(super) fn with_limit(self, bytes: usize) -> Self {
        Self { limit: Some(bytes), ..self }
    }
}

impl IntoResponse for Problem {
    /// Leaves the body empty: [`finish`] writes it, because only there the request id is known.
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Middleware: writes the body of every error, also of those from the router and its layers.
pub(super) async fn finish(request: Request, next: Next) -> Response {
    let id = request.headers().get(REQUEST_ID).cloned().unwrap_or_else(|| HeaderValue::from_static(""));
    let response = next.run(request).await;
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let problem = match parts.extensions.remove::<Problem>() {
        Some(problem) => problem,
        None if parts.headers.get(header::CONTENT_TYPE).is_some_and(describes_error) => {
            return Response::from_parts(parts, body);
        }
        None => for_status(status),
    };
    let problem = Problem { request_id: id.to_str().unwrap_or_default().to_owned(), ..problem };
    let bytes = serde_json::to_vec(&problem).unwrap_or_default();
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::CONTENT_ENCODING);
    Response::from_parts(parts, Body::from(bytes))
}

/// Middleware: adds the limit to the error of a body that is larger than `BODY_MAX_BYTES`.
pub(super) async fn name_body_limit(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    match response.status() {
        status @ StatusCode::PAYLOAD_TOO_LARGE => {
            for_status(status).with_limit(app.config.http.body_max_bytes.min(BODY_CEILING)).into_response()
        }
        _ => response,
    }
}

/// Returns whether a body of this type already describes the error: as JSON or as a page.
fn describes_error(kind: &HeaderValue) -> bool {
    kind.as_bytes().ends_with(b"json") || kind.as_bytes().starts_with(b"text/html")
}

/// Returns the problem for an error of the router or a layer.
fn for_status(status: StatusCode) -> Problem {
    let problem = |error: ApiError| error.into_response().extensions().get::<Problem>().cloned();
    let known = match status {
        StatusCode::NOT_FOUND => problem(ApiError::NotFound),
        StatusCode::PAYLOAD_TOO_LARGE => problem(ApiError::TooLarge),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => problem(ApiError::UnsupportedMediaType("application/json")),
        StatusCode::METHOD_NOT_ALLOWED => Some(Problem::new(
            status,
            "method_not_allowed",
            "Method not allowed",
            "This address does not support the method; see the Allow header.",
        )),
        _ if status.is_client_error() => {
            Some(Problem::new(status, "invalid_request", "Invalid request", "The request is malformed; see /docs."))
        }
        _ => problem(ApiError::Internal),
    };
    known.unwrap_or_else(|| Problem::new(status, "internal", "Internal error", "The server failed."))
}

pub(super) async fn not_found() -> ApiError {
    ApiError::NotFound
}

pub(super) async fn method_not_allowed() -> Problem {
    for_status(StatusCode::METHOD_NOT_ALLOWED)
}

/// Logs the panic of a handler and responds with 500.
pub(super) fn panicked(cause: Box<dyn Any + Send + 'static>) -> Response<Full<Bytes>> {
    let cause = cause
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_default();
    error!(panic = cause, "A handler panicked");
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}

/// Middleware: removes a client's request id unless it is short and safe to log.
pub(super) async fn check_request_id(mut request: Request, next: Next) -> Response {
    let fits = |id: &HeaderValue| {
        (1..=64).contains(&id.len()) && id.as_bytes().iter().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b))
    };
    if request.headers().get(REQUEST_ID).is_some_and(|id| !fits(id)) {
        request.headers_mut().remove(REQUEST_ID);
    }
    next.run(request).await
}
