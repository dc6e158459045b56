//! `GET /labels/{label}`: return labels.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::error::{ApiError, Result, with_store_timeout};
use super::extract::Query;
use crate::app::App;

/// The signature of a link to a label.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Signature {
    signature: String,
}

/// Returns a label as a PDF. The signed link is the only permission: it names one label and expires.
#[utoipa::path(
    get, path = "/labels/{label}", operation_id = "get_label", tag = "returns",
    params(("label" = String, Path, description = "the label's identifier"), Signature),
    responses(
        (status = 200, description = "the label", content_type = "application/pdf"),
        (status = 404, description = "`not_found`: the link is invalid or expired, or the label does not exist yet"),
        (status = 429, description = "`rate_limited`"),
        (status = 503, description = "`unavailable`"),
    ),
    security(())
)]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    label: Result<Path<String>, PathRejection>,
    query: Result<Query<Signature>>,
) -> Result<Response> {
    // Every invalid link gets the same response.
    let (Ok(Path(label)), Ok(Query(query))) = (label, query) else { return Err(ApiError::NotFound) };
    let pdf = with_store_timeout(&app, app.labels.open(&label, &query.signature)).await?.ok_or(ApiError::NotFound)?;
    let headers = [
        (header::CONTENT_TYPE, "application/pdf"),
        (header::CONTENT_DISPOSITION, "inline; filename=\"return-label.pdf\""),
        // The link is a permission, so neither the file nor the address may be cached or passed on.
        (header::CACHE_CONTROL, "private, no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    Ok((headers, pdf).into_response())
}
