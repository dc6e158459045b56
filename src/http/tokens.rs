//! `POST /conversations/{id}/token`: a token for a browser that stays longer.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use super::access::Guest;
use super::browser::{is_encrypted, is_own_page, set_cookie};
use super::error::ApiError;
use super::extract::{Body, Nothing};
use super::in_time::in_time;
use super::problem::Problem;
use super::refusals::RefusedWrite;
use super::views::time;
use crate::app::App;

/// A fresh conversation token.
#[derive(Serialize, ToSchema)]
pub(super) struct TokenView {
    token: String,
    #[serde(serialize_with = "time")]
    token_expires_at: DateTime<Utc>,
}

/// A fresh conversation token, for the key or a token that still holds; at most 30 days after the conversation began.
#[utoipa::path(
    post, path = "/conversations/{id}/token", tag = "conversations", params(("id" = String, Path)),
    request_body = Nothing,
    responses(
        (status = 200, description = "the token", body = TokenView),
        RefusedWrite,
        (status = 422, description = "`invalid_request`: the conversation is too old", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn renew(
    guest: Guest,
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    _: Body<Nothing>,
) -> Result<Response, ApiError> {
    let found = in_time(&app, app.store.tenant(&guest.tenant).find_conversation(guest.conversation)).await?;
    let conversation = found.ok_or(ApiError::NotFound)?;
    let (token, token_expires_at) = app.token(&conversation, Utc::now()).ok_or_else(|| {
        ApiError::InvalidRequest("This conversation began too long ago for a token; open a new one.".to_owned())
    })?;
    let cookie = is_own_page(&headers, &app.config.http)
        .then(|| set_cookie(conversation.id, &token, token_expires_at, is_encrypted(&headers, &app.config.http)))
        .flatten();
    let mut response = Json(TokenView { token, token_expires_at }).into_response();
    if let Some(cookie) = cookie {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}
