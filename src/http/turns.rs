//! `/conversations/{id}/turns/{turn}`: the state of a turn, and cancelling it.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;

use super::access::Guest;
use super::error::{ApiError, Result, with_store_timeout};
use super::extract::{Body, EmptyBody};
use super::refusals::{RefusedRead, RefusedWrite};
use crate::app::App;
use crate::store::turns::TurnRecord;

/// Returns the state of a turn.
#[utoipa::path(
    get, path = "/conversations/{id}/turns/{turn}", operation_id = "get_turn", tag = "messages",
    params(("id" = String, Path), ("turn" = String, Path, description = "counted from 1")),
    responses((status = 200, description = "the turn", body = TurnRecord), RefusedRead)
)]
pub(super) async fn get(
    guest: Guest,
    path: Path<(String, String)>,
    State(app): State<Arc<App>>,
) -> Result<Json<TurnRecord>> {
    let turn = turn_number(&path.0.1)?;
    let found = with_store_timeout(&app, app.store.tenant(&guest.tenant).find_turn(guest.conversation, turn)).await?;
    found.map(Json).ok_or(ApiError::NotFound)
}

/// Cancels a running or queued turn. The text so far stays.
#[utoipa::path(
    post, path = "/conversations/{id}/turns/{turn}/cancel", tag = "messages",
    params(("id" = String, Path), ("turn" = String, Path, description = "counted from 1")),
    request_body = EmptyBody,
    responses(
        (status = 202, description = "stored; the turn ends soon"),
        RefusedWrite,
        (status = 409, description = "`turn_ended`"),
    )
)]
pub(super) async fn cancel(
    guest: Guest,
    path: Path<(String, String)>,
    State(app): State<Arc<App>>,
    _: Body<EmptyBody>,
) -> Result<StatusCode> {
    let turn = turn_number(&path.0.1)?;
    with_store_timeout(&app, app.engine.cancel(&guest.tenant, guest.conversation, turn)).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Parses a turn number, which has one spelling: neither `+1` nor `01` is found.
pub(super) fn turn_number(text: &str) -> Result<u32> {
    let turn = text.parse().ok().filter(|n: &u32| (1..=i32::MAX.unsigned_abs()).contains(n) && n.to_string() == text);
    turn.ok_or(ApiError::NotFound)
}
