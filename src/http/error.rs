//! Every error that a client can get, in one place.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tracing::error;

use super::problem::Problem;
use crate::store::StoreError;
use crate::turn::{AcceptError, CancelError};

/// A refused request. `detail` is one plain sentence for the developer of a client: it never holds a provider's text,
/// SQL, a path or a key.
#[derive(Debug)]
pub enum ApiError {
    InvalidJson,
    /// Nobody we know; the sentence says what is missing.
    Unauthorized(&'static str),
    ForbiddenOrigin,
    NotFound,
    TurnEnded,
    NotTaken,
    /// What was changed is not any more what it was; the sentence says what to do.
    Conflict(&'static str),
    /// A step that may not be taken; the sentence names both states.
    IllegalStep(String),
    /// An escalation that somebody has decided on; the sentence says who, and how.
    AlreadyResolved(String),
    /// The type that is wanted instead.
    UnsupportedMediaType(&'static str),
    TooLarge,
    /// The body did not arrive within its deadline.
    RequestTimeout,
    /// A file that is larger than its own limit, in MB.
    TooLargeFile {
        max_mb: usize,
    },
    /// A file of ours that the server's account may not write.
    NotWritable(&'static str),
    InvalidRequest(String),
    RateLimited {
        retry_after: u64,
        detail: &'static str,
    },
    Overloaded,
    Draining,
    Unavailable,
    Internal,
}

impl From<StoreError> for ApiError {
    fn from(cause: StoreError) -> Self {
        error!(error = %cause, "A request could not use the store");
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
            AcceptError::TooManyWaiting => Self::RateLimited {
                retry_after: 2,
                detail: "Too many messages of this conversation wait for their turn; send the next one after an answer.",
            },
            AcceptError::TooManyPerMinute { retry_after } => Self::RateLimited {
                retry_after,
                detail: "This conversation has had its messages for this minute; wait as Retry-After says.",
            },
            AcceptError::TooManyPerDay { retry_after } => Self::RateLimited {
                retry_after,
                detail: "The shop has had its messages for this day; wait as Retry-After says.",
            },
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

/// What a client hears that uses a key for two things.
pub(super) const KEY_REUSED: &str =
    "This Idempotency-Key was used with another body; take a new key for a new request.";

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let text;
        let (status, code, title, detail) = match &self {
            Self::InvalidJson => (
                StatusCode::BAD_REQUEST,
                "invalid_json",
                "Invalid JSON",
                "The body is no JSON; send one JSON object in UTF-8.",
            ),
            Self::Unauthorized(detail) => (StatusCode::UNAUTHORIZED, "unauthorized", "Unauthorized", *detail),
            Self::ForbiddenOrigin => (
                StatusCode::FORBIDDEN,
                "forbidden_origin",
                "Forbidden origin",
                "Pages of another site may not write here; call from our own pages or send an API key.",
            ),
            Self::NotFound => (
                StatusCode::NOT_FOUND,
                "not_found",
                "Not found",
                "There is no such thing here; check the address and the id.",
            ),
            Self::TurnEnded => (
                StatusCode::CONFLICT,
                "turn_ended",
                "Turn ended",
                "The turn has ended; there is nothing left to cancel.",
            ),
            Self::NotTaken => (
                StatusCode::CONFLICT,
                "not_taken",
                "Not taken",
                "Nobody has taken this conversation; take it over before you answer in it.",
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
                "The body did not arrive in time; send it again, without a pause.",
            ),
            Self::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "too_large",
                "Too large",
                "The body is too large; 64 KiB is the most unless the shop has set another limit.",
            ),
            Self::TooLargeFile { max_mb } => {
                text = format!(
                    "The file is larger than {max_mb} MB; split it, set CONSOLE_CSV_MAX_MB, or take `frontdesk \
                     upsert-warranty`, which reads files of any size."
                );
                (StatusCode::PAYLOAD_TOO_LARGE, "too_large", "Too large", text.as_str())
            }
            Self::NotWritable(detail) => (StatusCode::INTERNAL_SERVER_ERROR, "not_writable", "Not writable", *detail),
            Self::InvalidRequest(detail) => {
                (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", "Invalid request", detail.as_str())
            }
            Self::RateLimited { detail, .. } => {
                (StatusCode::TOO_MANY_REQUESTS, "rate_limited", "Too many requests", *detail)
            }
            Self::Overloaded => (
                StatusCode::SERVICE_UNAVAILABLE,
                "overloaded",
                "Overloaded",
                "Too many messages wait; try again as Retry-After says.",
            ),
            Self::Draining => (
                StatusCode::SERVICE_UNAVAILABLE,
                "draining",
                "Going down",
                "The server is going down; try again as Retry-After says.",
            ),
            Self::Unavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                "unavailable",
                "Unavailable",
                "The store does not answer; try again as Retry-After says.",
            ),
            Self::Internal => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal",
                "Internal error",
                "Something went wrong on our side; tell the shop the request_id.",
            ),
        };
        let mut response = Problem::new(status, code, title, detail).into_response();
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
