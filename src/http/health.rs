//! Health, readiness and metrics.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::access::Monitor;
use crate::app::{App, PartState};
use crate::store::Outage;

/// The `Retry-After` of a server that is not ready, in seconds.
const RETRY_AFTER: &str = "5";

/// The state of the process.
#[derive(Serialize, ToSchema)]
pub(super) struct Health {
    #[schema(example = "ok")]
    status: &'static str,
}

/// Returns 200 while the process is up.
#[utoipa::path(get, path = "/healthz", tag = "operation", responses((status = 200, description = "up", body = Health)))]
pub(super) async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// The state of each part of the server.
#[derive(Serialize, ToSchema)]
pub(super) struct Readiness {
    /// `ready`, `draining` or `unavailable`.
    #[schema(example = "ready")]
    status: &'static str,
    /// `ok` if a row was written and read back within the last second, else `down`.
    store: PartState,
    /// Why the store is down. The server's log has the fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    store_outage: Option<Outage>,
    /// `ok`, `down` or `off`. The server is ready without it.
    language_model: PartState,
    /// `ok`, `down` or `off`.
    vectors: PartState,
}

/// Returns whether the server accepts messages, and the state of each part.
#[utoipa::path(
    get, path = "/readyz", tag = "operation",
    responses(
        (status = 200, description = "ready", body = Readiness),
        (status = 503, description = "draining, or the store does not accept writes", body = Readiness),
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

/// Returns metrics for Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "operation",
    responses(
        (status = 200, description = "Prometheus text", body = String, content_type = "text/plain"),
        (status = 401, description = "`unauthorized`"),
        (status = 429, description = "`rate_limited`"),
    )
)]
pub(super) async fn metrics(_: Monitor, app: State<Arc<App>>) -> Response {
    open_metrics(app).await
}

/// Returns the same metrics at `METRICS_ADDR`, without authentication.
pub(super) async fn open_metrics(State(app): State<Arc<App>>) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, app.metrics.render()).into_response()
}
