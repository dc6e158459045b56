//! Return labels.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::error::ApiError;
use super::extract::Query;
use super::in_time::in_time;
use super::problem::Problem;
use crate::app::App;

/// What makes a link ours.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Signature {
    signature: String,
}

/// The label that a signed link opens, as a PDF. The link itself is the permission: it names one label, and expires.
#[utoipa::path(
    get, path = "/labels/{label}", operation_id = "get_label", tag = "returns",
    params(("label" = String, Path, description = "names the label"), Signature),
    responses(
        (status = 200, description = "the label", content_type = "application/pdf"),
        (status = 404, description = "`not_found`: no link of ours, one that has expired, or no label yet", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "`rate_limited`", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "`unavailable`", body = Problem, content_type = "application/problem+json"),
    ),
    security(())
)]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    label: Result<Path<String>, PathRejection>,
    query: Result<Query<Signature>, ApiError>,
) -> Result<Response, ApiError> {
    // Whatever is wrong with a link, it opens nothing.
    let (Ok(Path(label)), Ok(Query(query))) = (label, query) else { return Err(ApiError::NotFound) };
    let pdf = in_time(&app, app.labels.open(&label, &query.signature)).await?.ok_or(ApiError::NotFound)?;
    let headers = [
        (header::CONTENT_TYPE, "application/pdf"),
        (header::CONTENT_DISPOSITION, "inline; filename=\"return-label.pdf\""),
        // The link is a permission: neither the file nor the address is to be left anywhere.
        (header::CACHE_CONTROL, "private, no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    Ok((headers, pdf).into_response())
}
