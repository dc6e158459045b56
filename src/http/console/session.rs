//! `/console/session`: signing in with an API key, and out.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::Utc;
use serde::Deserialize;
use tracing::error;
use utoipa::ToSchema;

use super::owner::console_act;
use crate::app::App;
use crate::domain::audit::OPERATOR;
use crate::domain::{ConsoleAct, ConsoleDeed, TenantId};
use crate::http::browser::{forget_session, is_encrypted, is_own_page, session_tokens, set_session};
use crate::http::client::ClientAddress;
use crate::http::error::ApiError;
use crate::http::extract::Body;
use crate::http::in_time::in_time;
use crate::http::problem::Problem;

/// The longest name by which customers know who answers, in characters.
const NAME_MAX_CHARS: usize = 80;

/// Who wants to sign in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SignIn {
    /// One of the shop's API keys.
    key: String,
    /// What customers are told of who answers, up to 80 characters.
    #[schema(nullable, max_length = 80)]
    name: Option<String>,
}

/// Signs the browser in: the answer holds a cookie that opens what the key opens, for `CONSOLE_SESSION_HOURS`.
#[utoipa::path(
    post, path = "/console/session", operation_id = "console_sign_in", tag = "console", request_body = SignIn,
    responses(
        (status = 204, description = "signed in", headers(("Set-Cookie" = String))),
        (status = 400, description = "`invalid_json`", body = Problem, content_type = "application/problem+json"),
        (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
        (status = 403, description = "`forbidden_origin`", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "`not_found`: there is no console", body = Problem, content_type = "application/problem+json"),
        (status = 408, description = "`request_timeout`", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "`too_large`", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "`unsupported_media_type`", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "`invalid_request`; in development nobody signs in", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "`rate_limited`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn begin(
    State(app): State<Arc<App>>,
    ClientAddress(client): ClientAddress,
    headers: HeaderMap,
    body: Body<SignIn>,
) -> Result<Response, ApiError> {
    from_our_own_page(&app, &headers)?;
    let Some(sessions) = &app.sessions else {
        return Err(ApiError::InvalidRequest("No keys are set, so nobody needs to sign in.".to_owned()));
    };
    let SignIn { key, name } = body.value;
    let name = name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    if name.is_some_and(|name| name.chars().count() > NAME_MAX_CHARS || name.chars().any(char::is_control)) {
        return Err(ApiError::InvalidRequest(format!(
            "name must have at most {NAME_MAX_CHARS} characters, on one line."
        )));
    }
    let begun = sessions.begin(key.trim().as_bytes(), name.map(str::to_owned), Utc::now());
    let Some((session, token)) = begun else {
        // An unknown key names no shop, so the entry goes to the shop that owns the server's pages.
        let act = console_act(name.unwrap_or_default(), ConsoleDeed::SignInRefused, client);
        note(&app, &app.config.auth.web_chat_tenant, &act).await;
        return Err(ApiError::Unauthorized("This API key is not known here; check X_API_KEYS of the server."));
    };
    let act = console_act(name.unwrap_or(OPERATOR), ConsoleDeed::SignedIn, client);
    note(&app, &session.tenant, &act).await;
    Ok(with_cookie(set_session(&token, session.expires_at, is_encrypted(&headers, &app.config.http))))
}

/// Signs the browser out: the session ends with all its streams, also where the cookie was copied.
#[utoipa::path(
    delete, path = "/console/session", operation_id = "console_sign_out", tag = "console",
    responses(
        (status = 204, description = "signed out", headers(("Set-Cookie" = String))),
        (status = 403, description = "`forbidden_origin`", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "`not_found`: there is no console", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "`rate_limited`", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "`unavailable`", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn end(
    State(app): State<Arc<App>>,
    ClientAddress(client): ClientAddress,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    from_our_own_page(&app, &headers)?;
    revoke_sessions(&app, &headers, client).await?;
    Ok(with_cookie(forget_session(is_encrypted(&headers, &app.config.http))))
}

/// Ends the sessions of the request's cookies. Stored first, so that they stay ended after a restart.
async fn revoke_sessions(app: &App, headers: &HeaderMap, client: Option<IpAddr>) -> Result<(), ApiError> {
    let (Some(sessions), now) = (&app.sessions, Utc::now()) else { return Ok(()) };
    for session in session_tokens(headers).filter_map(|token| sessions.verify(token, now)) {
        let tenant = app.store.tenant(&session.tenant);
        in_time(app, tenant.revoke_session(&session.id, session.expires_at)).await?;
        sessions.revoke(&session, now);
        let act = console_act(session.name.as_deref().unwrap_or(OPERATOR), ConsoleDeed::SignedOut, client);
        note(app, &session.tenant, &act).await;
    }
    Ok(())
}

/// Stores an entry of the audit log. A failure is logged and does not refuse the sign-in.
async fn note(app: &App, tenant: &TenantId, act: &ConsoleAct) {
    if let Err(cause) = in_time(app, app.store.tenant(tenant).record_console_act(act)).await {
        error!(error = ?cause, what = act.what.as_str(), "An entry of the audit log was not stored");
    }
}

/// Another site must not sign anybody in or out.
fn from_our_own_page(app: &App, headers: &HeaderMap) -> Result<(), ApiError> {
    if !app.config.console.on {
        return Err(ApiError::NotFound);
    }
    if is_own_page(headers, &app.config.http) { Ok(()) } else { Err(ApiError::ForbiddenOrigin) }
}

fn with_cookie(cookie: Option<header::HeaderValue>) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Some(cookie) = cookie {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}
