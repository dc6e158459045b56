//! Limits on a request's target and headers, as error responses like all others.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::problem::Problem;

/// The most headers of a request, besides `x-request-id`.
const MOST_HEADERS: usize = 100;
/// The most bytes of a request's path and query.
const MOST_TARGET_BYTES: usize = 8 * 1024;

/// Middleware: refuses a request with too many headers or with a target that is too long.
pub(super) async fn limit(request: Request, next: Next) -> Response {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    // Every request has an id by now.
    let headers = request.headers().len().saturating_sub(1);
    let (status, title, detail) = if target > MOST_TARGET_BYTES {
        (StatusCode::URI_TOO_LONG, "Address too long", "Send an address of at most 8 KiB.")
    } else if headers > MOST_HEADERS {
        (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "Too many headers", "Send at most 100 headers.")
    } else {
        return next.run(request).await;
    };
    Problem::new(status, "invalid_request", title, detail).into_response()
}
