//! Who is calling, and what that opens.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};
use chrono::{DateTime, Utc};

use super::error::ApiError;
use super::extract::{conversation_id, path_parameter};
use crate::app::App;
use crate::desks::Caller;
use crate::domain::{ConversationId, TenantId};

/// How a caller got in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// With an API key: the shop's back end.
    Key,
    /// From this machine, while no keys are set.
    Development,
    /// With a conversation token: the customer's browser.
    Token { expires_at: DateTime<Utc> },
}

impl Access {
    /// Whether the caller is the shop itself, which sees receipts.
    pub fn is_shop(self) -> bool {
        matches!(self, Self::Key | Self::Development)
    }
}

const NO_KEY: &str = "Send your API key as X-API-Key, or a conversation token as Authorization: Bearer.";
const NO_SHOP_KEY: &str = "Send your API key as X-API-Key; this address is for the shop alone.";
const NOT_LOCAL: &str = "No keys are set, so only this machine may call, directly: set X_API_KEYS to let others in.";

/// The shop: an API key, or development.
pub(super) struct Shop {
    pub tenant: TenantId,
}

impl FromRequestParts<Arc<App>> for Shop {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        match enter(parts, app)? {
            Some((tenant, _)) => Ok(Self { tenant }),
            None => Err(ApiError::Unauthorized(NO_SHOP_KEY)),
        }
    }
}

/// Somebody who may use the conversation of the path: the shop, or who holds its token.
pub(super) struct Guest {
    pub tenant: TenantId,
    pub conversation: ConversationId,
    pub access: Access,
    pub caller: Caller,
}

impl FromRequestParts<Arc<App>> for Guest {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let entered = enter(parts, app)?;
        let id = path_parameter(parts, app, "id").await.and_then(|id| conversation_id(&id));
        if let Some((tenant, access)) = entered {
            return Ok(Self { tenant, conversation: id?, access, caller: Caller::default() });
        }
        let claims = bearer(&parts.headers)
            .and_then(|token| app.tokens.verify(token, Utc::now()))
            .ok_or(ApiError::Unauthorized(NO_KEY))?;
        let conversation = id?;
        if claims.conversation != conversation {
            return Err(ApiError::NotFound);
        }
        let address = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        let access = Access::Token { expires_at: claims.expires_at };
        Ok(Self { tenant: claims.tenant, conversation, access, caller: Caller { address } })
    }
}

/// Whoever may see what describes the server itself: an API key, or this machine.
pub(super) struct Operator;

impl FromRequestParts<Arc<App>> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let local = parts
            .extensions
            .get::<ConnectInfo<SocketAddr>>()
            .is_some_and(|info| info.0.ip().to_canonical().is_loopback())
            && !is_forwarded(&parts.headers);
        if local || matches!(enter(parts, app), Ok(Some(_))) {
            Ok(Self)
        } else {
            Err(ApiError::Unauthorized(NO_SHOP_KEY))
        }
    }
}

/// The shop that an API key, or development, opens. `None`: no key was sent.
fn enter(parts: &Parts, app: &App) -> Result<Option<(TenantId, Access)>, ApiError> {
    let sent = parts.headers.get("x-api-key");
    match (&app.keys, sent) {
        (Some(keys), Some(key)) => match keys.find_tenant(key.as_bytes()) {
            Some(tenant) => Ok(Some((tenant, Access::Key))),
            None => Err(ApiError::Unauthorized("This API key is not known here; check X_API_KEYS of the server.")),
        },
        (Some(_), None) => Ok(None),
        (None, _) => {
            if !is_local_host(&parts.headers, &parts.uri) || is_forwarded(&parts.headers) {
                return Err(ApiError::Unauthorized(NOT_LOCAL));
            }
            if !parts.method.is_safe() && is_foreign_page(&parts.headers, app) {
                return Err(ApiError::ForbiddenOrigin);
            }
            Ok(Some((TenantId::default(), Access::Development)))
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whether the request was sent to this machine by name: a page elsewhere that rebinds its own name cannot do that.
fn is_local_host(headers: &HeaderMap, uri: &Uri) -> bool {
    let host =
        headers.get(header::HOST).and_then(|host| host.to_str().ok()).or_else(|| uri.authority().map(|a| a.as_str()));
    let Some(host) = host else { return false };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|local| name.eq_ignore_ascii_case(local))
}

fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| name.as_str() == "forwarded" || name.as_str().starts_with("x-forwarded-"))
}

/// Whether a page of another site sent this, that the shop has not allowed.
fn is_foreign_page(headers: &HeaderMap, app: &App) -> bool {
    let Some(origin) = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok()) else {
        return headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site");
    };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let own = origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host));
    !own && !app.config.http.cors_origins.iter().any(|allowed| allowed == origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_local() {
        let local = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            is_local_host(&headers, &Uri::from_static("/"))
        };
        for host in ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]", "[::1]:8080", "LOCALHOST"] {
            assert!(local(host), "{host}");
        }
        for host in
            ["shop.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "[::2]", "::1", "", "127.0.0.2"]
        {
            assert!(!local(host), "{host}");
        }
        assert!(!is_local_host(&HeaderMap::new(), &Uri::from_static("/")));
    }
}
