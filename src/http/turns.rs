//! `GET /conversations/{id}/turns/{turn}`

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use super::access::Guest;
use super::error::ApiError;
use super::problem::Problem;
use super::views::optional_time;
use crate::app::App;
use crate::domain::{Timings, TurnStatus};

/// How a turn stands.
#[derive(Serialize, ToSchema)]
pub(super) struct TurnView {
    turn: u32,
    status: TurnStatus,
    #[serde(serialize_with = "optional_time")]
    started_at: Option<DateTime<Utc>>,
    #[serde(serialize_with = "optional_time")]
    ended_at: Option<DateTime<Utc>>,
    /// How long its steps took, by name.
    #[schema(value_type = Object)]
    timings_ms: Timings,
}

/// How a turn stands.
#[utoipa::path(
    get, path = "/conversations/{id}/turns/{turn}", operation_id = "get_turn", tag = "messages",
    params(("id" = String, Path), ("turn" = String, Path, description = "counted from 1")),
    responses(
        (status = 200, description = "the turn", body = TurnView),
        (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "`not_found`", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "`unavailable`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn get(
    guest: Guest,
    path: Path<(String, String)>,
    State(app): State<Arc<App>>,
) -> Result<Json<TurnView>, ApiError> {
    let (_, turn) = path.0;
    // One spelling: neither `+1` nor `01` is a turn.
    let turn = turn.parse().ok().filter(|n: &u32| (1..=0x7fff_ffff).contains(n) && n.to_string() == turn);
    let turn = turn.ok_or(ApiError::NotFound)?;
    let found = app.store.tenant(&guest.tenant).find_turn(guest.conversation, turn).await?;
    let record = found.ok_or(ApiError::NotFound)?;
    Ok(Json(TurnView {
        turn: record.turn,
        status: record.status,
        started_at: record.started_at,
        ended_at: record.ended_at,
        timings_ms: record.timings,
    }))
}
