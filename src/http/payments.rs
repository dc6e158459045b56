//! `/webhooks/pay/{secret}`: callbacks of payment providers. The secret is the only credential, and a callback never decides.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::{Value, json};
use tokio::time::timeout;
use tracing::warn;

use super::error::{ApiError, Result};
use crate::app::App;
use crate::domain::text::clean_json;
use crate::tools::payment_callback::CallbackAnswer;

/// Daraja waits 8 seconds before it decides by itself.
const ANSWER_WITHIN: Duration = Duration::from_secs(6);

/// Receives a callback of a payment provider, which makes the server ask the provider.
#[utoipa::path(
    post, path = "/webhooks/pay/{secret}", operation_id = "payment_callback", tag = "payments",
    params(("secret" = String, Path, description = "the secret that the provider was given")),
    request_body(content = Value, description = "the provider's report"),
    responses(
        (status = 200, description = "received; for M-PESA with `ResultCode` and `ResultDesc`", body = Value),
        (status = 400, description = "`invalid_json`: the body broke off"),
        (status = 404, description = "`not_found`: the secret is unknown"),
        (status = 413, description = "`too_large`"),
        (status = 503, description = "`unavailable`"),
    ),
    security(())
)]
pub(super) async fn post(
    State(app): State<Arc<App>>,
    secret: Result<Path<String>, PathRejection>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response> {
    let body = body.map_err(|_| ApiError::InvalidJson)?;
    // A body that cannot be read has no details, but the provider is asked nevertheless.
    receive(&app, secret, serde_json::from_slice(&body).unwrap_or_default()).await
}

/// Brings the customer's browser back from the payment page.
#[utoipa::path(
    get, path = "/webhooks/pay/{secret}", operation_id = "payment_return", tag = "payments",
    params(("secret" = String, Path, description = "the secret that the provider was given")),
    responses(
        (status = 200, description = "received", body = Value),
        (status = 303, description = "to the shop's page, or to the chat page"),
        (status = 404, description = "`not_found`: the secret is unknown"),
        (status = 503, description = "`unavailable`"),
    ),
    security(())
)]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    secret: Result<Path<String>, PathRejection>,
    query: Result<Query<BTreeMap<String, String>>, QueryRejection>,
) -> Result<Response> {
    receive(&app, secret, json!(query.map(|Query(query)| query).unwrap_or_default())).await
}

async fn receive(app: &App, secret: Result<Path<String>, PathRejection>, body: Value) -> Result<Response> {
    let Ok(Path(secret)) = secret else { return Err(ApiError::NotFound) };
    let body = clean_json(body);
    let within = ANSWER_WITHIN.min(app.config.http.store_timeout);
    let Ok(received) = timeout(within, app.payment_callbacks.receive(&secret, &body)).await else {
        warn!("The store did not respond to a callback of a payment provider in time");
        return Err(ApiError::Unavailable);
    };
    let answer = received?.ok_or(ApiError::NotFound)?;
    app.jobs.wake();
    Ok(match answer {
        CallbackAnswer::Json(answer) => Json(answer).into_response(),
        CallbackAnswer::Browser(page) => Redirect::to(page.as_deref().unwrap_or("/")).into_response(),
    })
}
