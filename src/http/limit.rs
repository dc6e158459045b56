//! Rate limits and failed authentications, which are counted before anything else.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::warn;

use super::access::query_token;
use super::client::{ClientAddress, has_proxy_header, is_from_this_machine, is_trusted};
use super::error::ApiError;
use super::logged_path::logged_path;
use super::serve::Peer;
use crate::app::{App, Keys, Notice, TooMany};

/// A request over a limit that may still be answered if it repeats an accepted one. Holds the refusal otherwise.
#[derive(Clone, Debug)]
pub(super) struct OnlyRepeats(pub ApiError);

/// The API key of a request.
#[derive(Debug, PartialEq, Eq)]
enum Key {
    /// A valid key, by its hash.
    Known([u8; 32]),
    Wrong,
    /// None was sent, or none is needed.
    Absent,
}

/// Counts the request for its key or its client's address, and failed authentications for the address as well.
pub(super) async fn count(
    State(app): State<Arc<App>>,
    client: ClientAddress,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let key = key_of(&app, &parts);
    if let Err(too_many) = count_request(&app, client.0, &key, &parts) {
        if key == Key::Wrong || !may_repeat(&parts) {
            return ApiError::from(too_many).into_response();
        }
        parts.extensions.insert(OnlyRepeats(too_many.into()));
    }
    warn_about_proxy(&app, &parts);
    let credential = credential(&key, &parts);
    let path = logged_path(&parts.uri, &parts.extensions).to_owned();
    // A stream was not counted above, since a browser with a valid token always gets 200 there.
    let uncounted = key == Key::Absent && is_events(&parts);
    let response = next.run(Request::from_parts(parts, body)).await;
    if response.status() != StatusCode::UNAUTHORIZED {
        return response;
    }
    if let Some(credential) = credential {
        let address = client.0.map(tracing::field::display);
        warn!(client.address = address, credential, path, "Refused a request with a wrong credential");
        metrics::counter!("frontdesk_failed_authentications_total", "credential" => credential).increment(1);
    }
    match client.0.filter(|_| uncounted).map(|address| app.limits.count_address(address)) {
        Some(Err(too_many)) => ApiError::from(too_many).into_response(),
        _ => response,
    }
}

fn key_of(app: &App, parts: &Parts) -> Key {
    match (&app.keys, parts.headers.get("x-api-key")) {
        (Some(keys), Some(key)) => match keys.find_tenant(key.as_bytes()) {
            Some(_) => Key::Known(Keys::hash(key.as_bytes())),
            None => Key::Wrong,
        },
        _ => Key::Absent,
    }
}

fn count_request(app: &App, address: Option<IpAddr>, key: &Key, parts: &Parts) -> Result<(), TooMany> {
    if is_probe(parts) || is_webhook(parts) {
        return Ok(());
    }
    match (key, address) {
        (Key::Known(hash), address) => {
            // Otherwise an address that guesses keys would see which guess is right.
            if let Some(address) = address.filter(|_| !is_from_this_machine(parts)) {
                app.limits.check_guessing(address)?;
            }
            if is_events(parts) { Ok(()) } else { app.limits.count_key(hash) }
        }
        (Key::Wrong, Some(address)) => app.limits.count_guess(address),
        (Key::Absent, Some(_)) if is_events(parts) => Ok(()),
        (Key::Absent, Some(address)) => app.limits.count_address(address),
        (_, None) => Ok(()),
    }
}

/// Health checks are never refused.
fn is_probe(parts: &Parts) -> bool {
    parts.method == Method::GET && ["/healthz", "/readyz"].contains(&parts.uri.path())
}

/// A webhook is authenticated by its secret or signature. Its callers share few addresses, and may not retry a refused request.
fn is_webhook(parts: &Parts) -> bool {
    parts.uri.path().starts_with("/webhooks/")
}

/// Returns whether this is an event stream: an `EventSource` does not reconnect after anything but 200.
fn is_events(parts: &Parts) -> bool {
    parts.method == Method::GET && parts.uri.path().ends_with("/events")
}

/// Returns whether the request may repeat an accepted one, which is answered before any limit counts.
fn may_repeat(parts: &Parts) -> bool {
    let path = parts.uri.path();
    parts.method == Method::POST
        && parts.headers.contains_key("idempotency-key")
        && ["/conversations", "/messages", "/stream", "/answers", "/chat"].iter().any(|end| path.ends_with(end))
}

/// The kind of credential that the request shows. Cookies do not count: a browser sends expired ones, too.
fn credential(key: &Key, parts: &Parts) -> Option<&'static str> {
    match key {
        Key::Known(_) | Key::Wrong => Some("api_key"),
        Key::Absent if parts.method == Method::POST && parts.uri.path() == "/console/session" => Some("sign_in"),
        Key::Absent => {
            let token = parts.headers.contains_key(header::AUTHORIZATION) || query_token(parts).is_some();
            token.then_some("token")
        }
    }
}

/// Warns once about a proxy that is not in `TRUSTED_PROXIES`, or in front of a server without keys.
fn warn_about_proxy(app: &App, parts: &Parts) {
    if is_webhook(parts) || (parts.version >= Version::HTTP_11 && !has_proxy_header(&parts.headers)) {
        return;
    }
    let Some(ConnectInfo(Peer(peer))) = parts.extensions.get().copied() else { return };
    let peer = peer.ip().to_canonical();
    let local = match peer {
        IpAddr::V4(address) => address.is_loopback() || address.is_private(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local(),
    };
    if app.keys.is_none() {
        if app.limits.is_first(Notice::ProxyWithoutKeys) {
            warn!("Refused a request that came through a proxy, because X_API_KEYS is not set");
        }
    } else if !is_trusted(&app.config.http.trusted_proxies, peer)
        // Any client can send these headers, so one from far away must not hide the one from the shop's proxy.
        && app.limits.is_first(if local { Notice::LocalProxy } else { Notice::FarProxy })
    {
        warn!(
            proxy.address = %peer,
            "A proxy that is not in TRUSTED_PROXIES passes requests on, so all its clients share one rate limit: add its \
             address to TRUSTED_PROXIES and have it send X-Forwarded-For"
        );
    }
}

impl From<TooMany> for ApiError {
    fn from(TooMany { per_second, retry_after }: TooMany) -> Self {
        let limit = match per_second {
            Some(limit) => format!("A caller may send {limit} requests per second"),
            None => "Your network has sent too many wrong API keys".to_owned(),
        };
        Self::RateLimited { limit, retry_after }
    }
}
