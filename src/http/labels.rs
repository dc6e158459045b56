//! Return labels.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::error::ApiError;
use super::in_time::in_time;
use super::problem::Problem;
use crate::app::App;

/// The label that a signed link opens, as a PDF. The link itself is the permission: it names one label, and expires.
#[utoipa::path(
    get, path = "/labels/{signed}", operation_id = "get_label", tag = "returns",
    params(("signed" = String, Path, description = "the last part of the link that the customer was given")),
    responses(
        (status = 200, description = "the label", content_type = "application/pdf"),
        (status = 404, description = "`not_found`: no link of ours, one that has expired, or no label yet", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "`rate_limited`", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "`unavailable`", body = Problem, content_type = "application/problem+json"),
    ),
    security(())
)]
pub(super) async fn get(State(app): State<Arc<App>>, signed: Result<Path<String>, PathRejection>) -> Result<Response, ApiError> {
    let Path(signed) = signed.map_err(|_| ApiError::NotFound)?;
    let pdf = in_time(&app, app.post.label(&signed)).await?.ok_or(ApiError::NotFound)?;
    let headers = [
        (header::CONTENT_TYPE, "application/pdf"),
        (header::CONTENT_DISPOSITION, "inline; filename=\"return-label.pdf\""),
        // The link is a permission: neither the file nor the address is to be left anywhere.
        (header::CACHE_CONTROL, "private, no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    Ok((headers, pdf).into_response())
}
