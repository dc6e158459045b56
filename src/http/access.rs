//! Authentication: who sends a request, and what the caller may use.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};
use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use super::browser::{COOKIE, SESSION, cookies, is_foreign_page, is_own_page};
use super::client::{ClientAddress, is_from_this_machine};
use super::error::{ApiError, Result};
use super::extract::{conversation_id, path_parameter};
use super::sse::Lease;
use crate::app::{App, Claims, Session, StreamPlace, TooManyStreams};
use crate::desks::Caller;
use crate::domain::{ConversationId, TenantId};

/// How a caller authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// With an API key: the shop's back end.
    Key,
    /// From this machine, while `X_API_KEYS` is not set.
    Development,
    /// With a console session: a browser of the shop's staff.
    Session { expires_at: DateTime<Utc> },
    /// With a conversation token: the customer's browser.
    Token { expires_at: DateTime<Utc> },
}

impl Access {
    /// Returns whether the caller is the shop, which sees receipts.
    pub fn is_shop(self) -> bool {
        matches!(self, Self::Key | Self::Development | Self::Session { .. })
    }

    /// Returns when the access expires.
    pub fn expires_at(self) -> Option<DateTime<Utc>> {
        match self {
            Self::Key | Self::Development => None,
            Self::Session { expires_at } | Self::Token { expires_at } => Some(expires_at),
        }
    }
}

/// The header that the console sends with each request.
const CONSOLE: &str = "x-console";

const NO_KEY: &str = "Send your API key as X-API-Key, or a conversation token as Authorization: Bearer.";
pub(super) const NO_SHOP_KEY: &str = "Send your API key as X-API-Key; only the shop may use this address.";
const NO_METRICS_KEY: &str = "Send an API key as X-API-Key, or read the metrics at METRICS_ADDR.";
const NOT_LOCAL: &str =
    "X_API_KEYS is not set, so only programs on this machine may call, and not through a proxy: set X_API_KEYS.";

/// The shop: a caller with an API key or a console session, or any local caller in development.
pub(super) struct Shop {
    pub tenant: TenantId,
    pub access: Access,
    /// The display name of the person who signed in.
    pub name: Option<String>,
    /// Cancelled when the person signs out; `None` without a session.
    pub signed_out: Option<CancellationToken>,
}

impl FromRequestParts<Arc<App>> for Shop {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let shop = authenticate_shop(parts, app)?.filter(|shop| !shop.uses_token(parts));
        shop.ok_or(ApiError::Unauthorized(NO_SHOP_KEY))
    }
}

impl Shop {
    fn with(tenant: TenantId, access: Access) -> Self {
        Self { tenant, access, name: None, signed_out: None }
    }

    /// Returns whether the request sends a conversation token in development, where it gets only what the token opens.
    fn uses_token(&self, parts: &Parts) -> bool {
        self.access == Access::Development && (bearer(&parts.headers).is_some() || query_token(parts).is_some())
    }
}

/// A caller that may open a conversation: the shop, or one of our own pages if `WEB_CHAT` is on.
pub(super) struct Opener {
    pub tenant: TenantId,
    /// The client's address if a page opens the conversation. A page may not set `user_id` or `metadata`.
    pub visitor: Option<IpAddr>,
}

impl FromRequestParts<Arc<App>> for Opener {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        if let Some(shop) =
            authenticate_shop_unless(parts, app, app.config.auth.web_chat && !is_console(&parts.headers))?
        {
            return Ok(Self { tenant: shop.tenant, visitor: None });
        }
        if !app.config.auth.web_chat {
            return Err(ApiError::Unauthorized(NO_SHOP_KEY));
        }
        if !is_own_page(&parts.headers, &app.config.http) {
            return Err(ApiError::ForbiddenOrigin);
        }
        let Ok(ClientAddress(address)) = ClientAddress::from_request_parts(parts, app).await;
        let visitor = Some(address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)));
        Ok(Self { tenant: app.config.auth.web_chat_tenant.clone(), visitor })
    }
}

/// A caller that may use the conversation in the path: the shop, or a browser with the conversation's token.
pub(super) struct Guest {
    pub tenant: TenantId,
    pub conversation: ConversationId,
    pub access: Access,
    pub caller: Caller,
    signed_out: Option<CancellationToken>,
}

impl Guest {
    /// Opens a stream of this conversation that lasts until the token expires.
    pub fn lease(&self, app: &App) -> Result<Lease> {
        self.leased(app.streams.open(Some(self.conversation), self.key()))
    }

    /// Opens a stream of one turn.
    pub fn lease_turn(&self, app: &App) -> Result<Lease> {
        self.leased(app.streams.open(None, self.key()))
    }

    /// Opens a stream that replays a turn. It counts against no limit.
    pub fn lease_replay(&self, app: &App) -> Result<Lease> {
        self.leased(app.streams.open(None, None))
    }

    fn key(&self) -> Option<TenantId> {
        (self.access == Access::Key).then(|| self.tenant.clone())
    }

    fn leased(&self, place: Result<StreamPlace, TooManyStreams>) -> Result<Lease> {
        Ok(Lease::new(place?, self.access.expires_at(), self.signed_out.clone()))
    }
}

impl From<TooManyStreams> for ApiError {
    fn from(TooManyStreams { limit }: TooManyStreams) -> Self {
        let limit = format!("The API keys of a shop may have {limit} open streams: close some of them");
        Self::RateLimited { limit, retry_after: 10 }
    }
}

impl FromRequestParts<Arc<App>> for Guest {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let shop = authenticate_shop_unless(parts, app, !is_console(&parts.headers));
        let authenticated = shop.map(|shop| shop.filter(|shop| !shop.uses_token(parts)));
        let id = path_parameter(parts, app, "id").await.and_then(|id| conversation_id(&id));
        let guest = |shop: Shop, conversation| Self {
            tenant: shop.tenant,
            conversation,
            access: shop.access,
            caller: Caller::default(),
            signed_out: shop.signed_out,
        };
        if let Some(shop) = authenticated? {
            return Ok(guest(shop, id?));
        }
        let Some((claims, by_cookie)) = claims(parts, app, id.as_ref().ok()) else {
            let signed_in = by_session(parts, app)?.ok_or(ApiError::Unauthorized(NO_KEY))?;
            return Ok(guest(signed_in, id?));
        };
        let conversation = id?;
        if claims.conversation != conversation {
            return Err(ApiError::NotFound);
        }
        if by_cookie && !parts.method.is_safe() && !is_own_page(&parts.headers, &app.config.http) {
            return Err(ApiError::ForbiddenOrigin);
        }
        let Ok(ClientAddress(address)) = ClientAddress::from_request_parts(parts, app).await;
        let access = Access::Token { expires_at: claims.expires_at };
        Ok(Self { tenant: claims.tenant, conversation, access, caller: Caller { address }, signed_out: None })
    }
}

/// Returns the claims of the request's token, and whether it came in a cookie. Looks at the `Authorization` header, then at
/// the cookies for this conversation, then, for an `EventSource`, at the query.
fn claims(parts: &Parts, app: &App, id: Option<&ConversationId>) -> Option<(Claims, bool)> {
    let verify = |token: &str| app.tokens.verify(token, Utc::now());
    if let Some(token) = bearer(&parts.headers) {
        return Some((verify(token)?, false));
    }
    let cookie = cookies(&parts.headers, COOKIE).filter_map(verify).find(|claims| Some(&claims.conversation) == id);
    if let Some(claims) = cookie {
        return Some((claims, true));
    }
    Some((verify(query_token(parts)?)?, false))
}

/// Returns the token in the query of an event stream, since an `EventSource` cannot send headers.
pub(super) fn query_token(parts: &Parts) -> Option<&str> {
    let events = parts.method.is_safe() && parts.uri.path().ends_with("/events");
    let query = parts.uri.query().filter(|_| events)?;
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// A caller that may read the API's documentation: with an API key, or from this machine.
pub(super) struct Operator;

impl FromRequestParts<Arc<App>> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        if is_from_this_machine(parts) {
            return Ok(Self);
        }
        Shop::from_request_parts(parts, app).await.map(|_| Self)
    }
}

/// A caller that may read `/metrics`. With keys, being on this machine is not enough: a reverse proxy is, too.
pub(super) struct Monitor;

impl FromRequestParts<Arc<App>> for Monitor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        match authenticate_shop(parts, app)? {
            Some(_) => Ok(Self),
            None => Err(ApiError::Unauthorized(NO_METRICS_KEY)),
        }
    }
}

/// Authenticates the shop. Returns `None` if the request has neither an API key nor a session.
pub(super) fn authenticate_shop(parts: &Parts, app: &App) -> Result<Option<Shop>> {
    authenticate_shop_unless(parts, app, false)
}

/// Like [`authenticate_shop`], but ignores a console session if `customer`: a customer may use a browser in which somebody is
/// signed in to the console.
fn authenticate_shop_unless(parts: &Parts, app: &App, customer: bool) -> Result<Option<Shop>> {
    match by_key(parts, app)? {
        Some(shop) => Ok(Some(shop)),
        None if customer => Ok(None),
        None => by_session(parts, app),
    }
}

/// Returns whether the console sent the request. Its browser may hold conversation tokens as well.
fn is_console(headers: &HeaderMap) -> bool {
    headers.contains_key(CONSOLE)
}

/// Authenticates by console session. A request that writes must come from our own pages.
fn by_session(parts: &Parts, app: &App) -> Result<Option<Shop>> {
    let Some(sessions) = &app.sessions else { return Ok(None) };
    let session = cookies(&parts.headers, SESSION).find_map(|token| sessions.verify(token, Utc::now()));
    let Some(session) = session else { return Ok(None) };
    if !parts.method.is_safe() && !is_own_page(&parts.headers, &app.config.http) {
        return Err(ApiError::ForbiddenOrigin);
    }
    let signed_out = Some(sessions.watch(&session, Utc::now()));
    let Session { tenant, name, expires_at, .. } = session;
    Ok(Some(Shop { tenant, access: Access::Session { expires_at }, name, signed_out }))
}

/// Authenticates by API key, or as a local caller in development. Returns `None` if no key was sent.
fn by_key(parts: &Parts, app: &App) -> Result<Option<Shop>> {
    let sent = parts.headers.get("x-api-key");
    match (&app.keys, sent) {
        (Some(keys), Some(key)) => match keys.find_tenant(key.as_bytes()) {
            Some(tenant) => Ok(Some(Shop::with(tenant, Access::Key))),
            None => Err(ApiError::Unauthorized("This API key is unknown; check X_API_KEYS of the server.")),
        },
        (Some(_), None) => Ok(None),
        (None, _) => {
            if !is_from_this_machine(parts) || !is_local_host(&parts.headers, &parts.uri) {
                return Err(ApiError::Unauthorized(NOT_LOCAL));
            }
            if !parts.method.is_safe() && is_foreign_page(&parts.headers, &app.config.http) {
                return Err(ApiError::ForbiddenOrigin);
            }
            Ok(Some(Shop::with(TenantId::default(), Access::Development)))
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Returns whether `Host` names this machine, which rules out DNS rebinding by a page of another site.
fn is_local_host(headers: &HeaderMap, uri: &Uri) -> bool {
    let mut named = headers.get_all(header::HOST).iter();
    let host = named.next().and_then(|host| host.to_str().ok()).or_else(|| uri.authority().map(|a| a.as_str()));
    // With two `Host` headers, a proxy may have read the other one.
    let Some(host) = host.filter(|_| named.next().is_none()) else { return false };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|local| name.eq_ignore_ascii_case(local))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_local_host_names_are_local() {
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
