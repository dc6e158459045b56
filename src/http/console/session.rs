//! `/console/session`: signing in with an API key and signing out. `GET /console/api/me`: who is signed in.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::owner::{Owner, console_act, record};
use crate::app::App;
use crate::domain::audit::OPERATOR;
use crate::domain::calendar::optional_time;
use crate::domain::text::clean;
use crate::domain::{ConsoleDeed, TenantId};
use crate::http::access::Access;
use crate::http::browser::{SESSION, cookies, is_encrypted, is_own_page, set_session};
use crate::http::client::ClientAddress;
use crate::http::error::{ApiError, Result, with_store_timeout};
use crate::http::extract::Body;
use crate::http::refusals::{RefusedBody, RefusedConsole};

/// The longest display name, in characters.
const NAME_MAX_CHARS: usize = 80;

/// The credentials to sign in with.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SignIn {
    /// One of the shop's API keys.
    key: String,
    /// The name that customers see when the person answers, at most 80 characters.
    #[schema(nullable, max_length = 80)]
    name: Option<String>,
}

/// Signs the browser in. Sets a cookie with the permissions of the key for `CONSOLE_SESSION_HOURS`.
#[utoipa::path(
    post, path = "/console/session", operation_id = "console_sign_in", tag = "console", request_body = SignIn,
    responses(
        (status = 204, description = "signed in", headers(("Set-Cookie" = String))),
        RefusedBody,
        (status = 404, description = "`not_found`: the console is off"),
        (status = 422, description = "`invalid_request`, also in development, where no sign-in is needed"),
    )
)]
pub(super) async fn begin(
    State(app): State<Arc<App>>,
    ClientAddress(client): ClientAddress,
    headers: HeaderMap,
    body: Body<SignIn>,
) -> Result<Response> {
    require_own_page(&app, &headers)?;
    let Some(sessions) = &app.sessions else {
        return Err(ApiError::InvalidRequest("X_API_KEYS is not set, so no sign-in is needed.".to_owned()));
    };
    let SignIn { key, name } = body.value;
    let name = name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    if name.is_some_and(|name| {
        name.chars().count() > NAME_MAX_CHARS || name.chars().any(char::is_control) || clean(name) != name
    }) {
        return Err(ApiError::InvalidRequest(format!(
            "name must have at most {NAME_MAX_CHARS} characters, on one line."
        )));
    }
    let begun = sessions.begin(key.trim().as_bytes(), name.map(str::to_owned), Utc::now());
    let Some((session, token)) = begun else {
        // An unknown key identifies no shop, so the entry goes to the shop that owns the server's pages.
        if app.limits.may_audit_refusal(client, Instant::now()) {
            let act = console_act(name.unwrap_or_default(), ConsoleDeed::SignInRefused, client);
            record(&app, &app.config.auth.web_chat_tenant, &act).await;
        }
        return Err(ApiError::Unauthorized("This API key is unknown; check X_API_KEYS of the server."));
    };
    let act = console_act(name.unwrap_or(OPERATOR), ConsoleDeed::SignedIn, client);
    record(&app, &session.tenant, &act).await;
    Ok(with_cookie(set_session(&token, session.expires_at, is_encrypted(&headers, &app.config.http))))
}

/// Signs the browser out. Ends the session and its streams, also for copies of the cookie.
#[utoipa::path(
    delete, path = "/console/session", operation_id = "console_sign_out", tag = "console",
    responses(
        (status = 204, description = "signed out", headers(("Set-Cookie" = String))),
        (status = 403, description = "`forbidden_origin`"),
        (status = 404, description = "`not_found`: the console is off"),
        (status = 429, description = "`rate_limited`"),
        (status = 503, description = "`unavailable`"),
    )
)]
pub(super) async fn end(
    State(app): State<Arc<App>>,
    ClientAddress(client): ClientAddress,
    headers: HeaderMap,
) -> Result<Response> {
    require_own_page(&app, &headers)?;
    revoke_sessions(&app, &headers, client).await?;
    // An expired cookie replaces the session.
    Ok(with_cookie(set_session("", DateTime::UNIX_EPOCH, is_encrypted(&headers, &app.config.http))))
}

/// Revokes the sessions in the cookies. Stores that first, so that they stay revoked after a restart.
async fn revoke_sessions(app: &App, headers: &HeaderMap, client: Option<IpAddr>) -> Result<()> {
    let (Some(sessions), now) = (&app.sessions, Utc::now()) else { return Ok(()) };
    for session in cookies(headers, SESSION).filter_map(|token| sessions.verify(token, now)) {
        let tenant = app.store.tenant(&session.tenant);
        with_store_timeout(app, tenant.revoke_session(&session.id, session.expires_at)).await?;
        sessions.revoke(&session, now);
        let act = console_act(session.name.as_deref().unwrap_or(OPERATOR), ConsoleDeed::SignedOut, client);
        record(app, &session.tenant, &act).await;
    }
    Ok(())
}

/// Refuses requests from other sites.
fn require_own_page(app: &App, headers: &HeaderMap) -> Result<()> {
    if !app.config.console.on {
        return Err(ApiError::NotFound);
    }
    if is_own_page(headers, &app.config.http) { Ok(()) } else { Err(ApiError::ForbiddenOrigin) }
}

fn with_cookie(cookie: Option<HeaderValue>) -> Response {
    (StatusCode::NO_CONTENT, cookie.map(|cookie| [(header::SET_COOKIE, cookie)]), ()).into_response()
}

/// Who is signed in.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Me {
    /// Always true. Without a sign-in, the response is 401.
    signed_in: bool,
    /// Whether `X_API_KEYS` is not set, so that no sign-in is needed.
    development: bool,
    #[schema(value_type = String)]
    pub(in crate::http) tenant: TenantId,
    /// The person's display name.
    name: Option<String>,
    /// When the session ends; null without a session.
    #[serde(serialize_with = "optional_time")]
    expires_at: Option<DateTime<Utc>>,
    /// Whether the person may read and change personas, documents and evaluation cases, which belong to the whole server.
    may_edit: bool,
    /// Whether a persona of the shop sells goods from its catalogue.
    sells: bool,
}

impl Me {
    fn new(owner: Owner, app: &App) -> Self {
        Self {
            signed_in: true,
            development: owner.access == Access::Development,
            may_edit: owner.may_edit(app),
            sells: app.shops.get(&owner.tenant).sells_goods(),
            expires_at: owner.access.expires_at(),
            tenant: owner.tenant,
            name: owner.name,
        }
    }

    /// Returns who sent a request, or `None` without a sign-in.
    pub async fn of(parts: &mut Parts, app: &Arc<App>) -> Option<Self> {
        let owner = Owner::from_request_parts(parts, app).await.ok()?;
        Some(Self::new(owner, app))
    }
}

/// Returns who is signed in.
#[utoipa::path(
    get, path = "/console/api/me", operation_id = "console_me", tag = "console",
    responses((status = 200, description = "who is signed in", body = Me), RefusedConsole)
)]
pub(super) async fn me(owner: Owner, State(app): State<Arc<App>>) -> Result<Json<Me>> {
    Ok(Json(Me::new(owner, &app)))
}
