//! Whether the server is up, ready, and how it fares.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::access::Monitor;
use super::problem::Problem;
use crate::app::{App, PartState};
use crate::store::Outage;

/// Seconds after which to look again at a server that is not ready.
const RETRY_AFTER: &str = "5";

/// The process is up.
#[derive(Serialize, ToSchema)]
pub(super) struct Health {
    #[schema(example = "ok")]
    status: &'static str,
}

/// The process is up.
#[utoipa::path(get, path = "/healthz", tag = "operation", responses((status = 200, description = "up", body = Health)))]
pub(super) async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// Each part with its state.
#[derive(Serialize, ToSchema)]
pub(super) struct Readiness {
    /// `ready`, `draining` or `unavailable`.
    #[schema(example = "ready")]
    status: &'static str,
    /// `ok` if a row was written and read back within the last second, else `down`.
    store: PartState,
    /// Why the store is down; the server's log names the remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    store_outage: Option<Outage>,
    /// `ok`, `down` or `off`. Down is no reason not to be ready: what does not need it goes on.
    language_model: PartState,
    /// `ok`, `down` or `off`.
    vectors: PartState,
}

/// Whether the server takes messages, and how its parts fare.
#[utoipa::path(
    get, path = "/readyz", tag = "operation",
    responses(
        (status = 200, description = "ready", body = Readiness),
        (status = 503, description = "draining, or the store takes no writes", body = Readiness),
    )
)]
pub(super) async fn readyz(State(app): State<Arc<App>>) -> Response {
    let parts = app.parts().await;
    let status = match parts.store {
        _ if app.engine.is_draining() => "draining",
        PartState::Ok => "ready",
        PartState::Down | PartState::Off => "unavailable",
    };
    let body = Readiness {
        status,
        store: parts.store,
        store_outage: parts.store_outage,
        language_model: parts.language_model,
        vectors: parts.vectors,
    };
    if status == "ready" {
        Json(body).into_response()
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, RETRY_AFTER)], Json(body)).into_response()
    }
}

/// Figures for Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "operation",
    responses(
        (status = 200, description = "Prometheus text", body = String, content_type = "text/plain"),
        (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "`rate_limited`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn metrics(_: Monitor, app: State<Arc<App>>) -> Response {
    open_metrics(app).await
}

/// The same at `METRICS_ADDR`, for everyone who can connect.
pub(super) async fn open_metrics(State(app): State<Arc<App>>) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, app.metrics.render()).into_response()
}
