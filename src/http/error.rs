//! Every error that a client can receive.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tracing::{error, warn};

use super::problem::Problem;
use crate::app::App;
use crate::store::StoreError;
use crate::turn::{AcceptError, CancelError};

/// The result of a handler.
pub type Result<T, E = ApiError> = std::result::Result<T, E>;

/// An error response. Its detail is one sentence for the developer of a client; it never contains the text of a provider, SQL,
/// a path or a key.
#[derive(Clone, Debug)]
pub enum ApiError {
    InvalidJson,
    /// The caller is unknown. Holds the detail.
    Unauthorized(&'static str),
    ForbiddenOrigin,
    /// The request is not authentic. Holds the detail.
    Forbidden(&'static str),
    NotFound,
    TurnEnded,
    NotTaken,
    /// The resource has changed since the caller read it. Holds the detail.
    Conflict(&'static str),
    /// An RMA may not change to this state. Holds the detail, which names both states.
    IllegalStep(String),
    /// The escalation has been decided. Holds the detail, which says who decided and how.
    AlreadyResolved(String),
    /// Holds the content type to send.
    UnsupportedMediaType(&'static str),
    TooLarge,
    /// The body did not arrive within its deadline.
    RequestTimeout,
    /// A file is larger than its limit, in MB.
    TooLargeFile {
        max_mb: usize,
    },
    /// The server may not write one of its files. Holds the detail.
    NotWritable(&'static str),
    InvalidRequest(String),
    /// A file cannot be read. Holds a stable word for the reason, the line that it is about, and the detail.
    InvalidFile {
        reason: &'static str,
        line: Option<u64>,
        detail: String,
    },
    /// Holds the limit, as the first half of a sentence.
    RateLimited {
        limit: String,
        retry_after: u64,
    },
    Overloaded,
    Draining,
    Unavailable,
    Internal,
}

impl From<StoreError> for ApiError {
    fn from(cause: StoreError) -> Self {
        error!(error = %cause, "A request failed in the store");
        let passing = cause.is_unavailable() || matches!(cause, StoreError::Fenced);
        if passing { Self::Unavailable } else { Self::Internal }
    }
}

impl From<AcceptError> for ApiError {
    fn from(cause: AcceptError) -> Self {
        match cause {
            AcceptError::NotFound => Self::NotFound,
            AcceptError::NotTaken => Self::NotTaken,
            AcceptError::KeyReused => Self::InvalidRequest(KEY_REUSED.to_owned()),
            AcceptError::TooManyWaiting { limit } => {
                Self::RateLimited { limit: format!("A conversation may have {limit} queued messages"), retry_after: 2 }
            }
            AcceptError::TooManyPerMinute { limit, retry_after } => {
                Self::RateLimited { limit: format!("A conversation may have {limit} messages per minute"), retry_after }
            }
            AcceptError::TooManyPerDay { limit, retry_after } => {
                Self::RateLimited { limit: format!("A shop may have {limit} messages per day"), retry_after }
            }
            AcceptError::Overloaded => Self::Overloaded,
            AcceptError::Draining => Self::Draining,
            AcceptError::Store(cause) => cause.into(),
        }
    }
}

impl From<CancelError> for ApiError {
    fn from(cause: CancelError) -> Self {
        match cause {
            CancelError::NotFound => Self::NotFound,
            CancelError::Ended => Self::TurnEnded,
            CancelError::Store(cause) => cause.into(),
        }
    }
}

/// The detail for an `Idempotency-Key` that was used for another request.
pub(super) const KEY_REUSED: &str =
    "This Idempotency-Key was used with another body; send a new key with a new request.";

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let text;
        let (status, code, title, detail) = match &self {
            Self::InvalidJson => (
                StatusCode::BAD_REQUEST,
                "invalid_json",
                "Invalid JSON",
                "The request body is not valid JSON; send one JSON object in UTF-8.",
            ),
            Self::Unauthorized(detail) => (StatusCode::UNAUTHORIZED, "unauthorized", "Unauthorized", *detail),
            Self::ForbiddenOrigin => (
                StatusCode::FORBIDDEN,
                "forbidden_origin",
                "Forbidden origin",
                "Pages of other sites may not send this request; call from our own pages or send an API key.",
            ),
            Self::Forbidden(detail) => (StatusCode::FORBIDDEN, "forbidden", "Forbidden", *detail),
            Self::NotFound => (
                StatusCode::NOT_FOUND,
                "not_found",
                "Not found",
                "Nothing was found at this address; check the path and the id.",
            ),
            Self::TurnEnded => {
                (StatusCode::CONFLICT, "turn_ended", "Turn ended", "The turn has ended and cannot be cancelled.")
            }
            Self::NotTaken => (
                StatusCode::CONFLICT,
                "not_taken",
                "Not taken",
                "This conversation is not assigned to a person; take it before you answer.",
            ),
            Self::Conflict(detail) => (StatusCode::CONFLICT, "conflict", "Conflict", *detail),
            Self::IllegalStep(detail) => (StatusCode::CONFLICT, "illegal_step", "Illegal step", detail.as_str()),
            Self::AlreadyResolved(detail) => {
                (StatusCode::CONFLICT, "already_resolved", "Already resolved", detail.as_str())
            }
            Self::UnsupportedMediaType(wanted) => {
                text = format!("Send the body as {wanted}.");
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", "Unsupported media type", text.as_str())
            }
            Self::RequestTimeout => (
                StatusCode::REQUEST_TIMEOUT,
                "request_timeout",
                "Request timeout",
                "The request body did not arrive in time; send it again without pauses.",
            ),
            Self::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "too_large",
                "Too large",
                "The request body is too large; the limit is 64 KiB unless BODY_MAX_BYTES sets another one.",
            ),
            Self::TooLargeFile { max_mb } => {
                text = format!(
                    "The file is larger than {max_mb} MB; split it, raise CONSOLE_CSV_MAX_MB, or use `frontdesk \
                     upsert-warranty`, which reads files of any size."
                );
                (StatusCode::PAYLOAD_TOO_LARGE, "too_large", "Too large", text.as_str())
            }
            Self::NotWritable(detail) => (StatusCode::INTERNAL_SERVER_ERROR, "not_writable", "Not writable", *detail),
            Self::InvalidRequest(detail) | Self::InvalidFile { detail, .. } => {
                (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", "Invalid request", detail.as_str())
            }
            Self::RateLimited { limit, retry_after } => {
                let unit = if *retry_after == 1 { "second" } else { "seconds" };
                text = format!("{limit}; retry in {retry_after} {unit}.");
                (StatusCode::TOO_MANY_REQUESTS, "rate_limited", "Too many requests", text.as_str())
            }
            Self::Overloaded => (
                StatusCode::SERVICE_UNAVAILABLE,
                "overloaded",
                "Overloaded",
                "Too many messages are queued; retry after Retry-After seconds.",
            ),
            Self::Draining => (
                StatusCode::SERVICE_UNAVAILABLE,
                "draining",
                "Shutting down",
                "The server is shutting down; retry after Retry-After seconds.",
            ),
            Self::Unavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                "unavailable",
                "Unavailable",
                "The store does not respond; retry after Retry-After seconds.",
            ),
            Self::Internal => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal",
                "Internal error",
                "The server failed; report the request_id to the shop.",
            ),
        };
        let problem = Problem::new(status, code, title, detail);
        let mut response = match &self {
            Self::InvalidFile { reason, line, .. } => problem.with_reason(reason, *line).into_response(),
            Self::TooLargeFile { max_mb } => problem.with_limit(max_mb << 20).into_response(),
            _ => problem.into_response(),
        };
        let retry_after = match self {
            Self::RateLimited { retry_after, .. } => Some(retry_after),
            Self::Overloaded | Self::Draining | Self::Unavailable => Some(5),
            _ => None,
        };
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// Runs the work, and fails with [`ApiError::Unavailable`] after `REQUEST_STORE_TIMEOUT_SECONDS`. The engine may still finish
/// what it was asked to do, so a client that sent an `Idempotency-Key` retries with the same key.
pub(super) async fn with_store_timeout<T, E: Into<ApiError>>(
    app: &App,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T> {
    match tokio::time::timeout(app.config.http.store_timeout, work).await {
        Ok(outcome) => outcome.map_err(Into::into),
        Err(_) => {
            warn!("The store did not respond to a request in time");
            Err(ApiError::Unavailable)
        }
    }
}
