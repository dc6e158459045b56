//! What a browser says of the page that calls: whose it is, and the token that it holds in a cookie.

use axum::http::{HeaderMap, HeaderValue, header};
use chrono::{DateTime, Utc};
use cookie::{Cookie, CookieBuilder, SameSite};

use crate::config::HttpConfig;
use crate::domain::{ConversationId, Language};

/// The cookie that holds a conversation's token.
pub(super) const COOKIE: &str = "fd_conversation";
/// The cookie that holds a console session.
pub(super) const SESSION: &str = "fd_console";

/// Whether a page of our own sent this: the browser says so, or the origin is ours.
pub(super) fn is_own_page(headers: &HeaderMap, config: &HttpConfig) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin";
    }
    headers
        .get(header::ORIGIN)
        .and_then(|origin| origin.to_str().ok())
        .is_some_and(|origin| is_own(origin, headers, config))
}

/// Whether a page of another site sent this, that the shop has not allowed. Programs that are no browsers send neither
/// header.
pub(super) fn is_foreign_page(headers: &HeaderMap, config: &HttpConfig) -> bool {
    match headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok()) {
        Some(origin) => {
            !is_own(origin, headers, config) && !config.cors_origins.iter().any(|allowed| allowed == origin)
        }
        None => headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site"),
    }
}

/// The languages of `Accept-Language`, the best first, without their regions: `en` for `en-GB`.
pub(super) fn accepted_languages(headers: &HeaderMap) -> Vec<Language> {
    let lists = headers.get_all(header::ACCEPT_LANGUAGE).iter().filter_map(|list| list.to_str().ok());
    let mut wanted: Vec<(f32, Language)> = lists
        .flat_map(|list| list.split(','))
        .filter_map(|entry| {
            let (range, weight) = entry.split_once(";q=").unwrap_or((entry, "1"));
            let language = range.trim().split('-').next()?.to_ascii_lowercase().parse().ok()?;
            let weight = weight.trim().parse().ok().filter(|weight| *weight > 0.0)?;
            Some((weight, language))
        })
        .collect();
    // Stable: of two equals the first one counts.
    wanted.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    wanted.into_iter().map(|(_, language)| language).collect()
}

/// Our own origin: `PUBLIC_URL` where it is set, else the name under which the browser called.
fn is_own(origin: &str, headers: &HeaderMap, config: &HttpConfig) -> bool {
    if let Some(public) = &config.public_url {
        return origin.eq_ignore_ascii_case(public);
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host))
}

/// Whether the browser came by an encrypted connection: the shop says so, the page's origin, or a proxy. Who lies about it
/// spoils a cookie of their own.
pub(super) fn is_encrypted(headers: &HeaderMap, config: &HttpConfig) -> bool {
    let starts =
        |name: &str, with: &str| headers.get(name).is_some_and(|value| value.as_bytes().starts_with(with.as_bytes()));
    config.public_url.as_ref().is_some_and(|url| url.starts_with("https://"))
        || starts("origin", "https://")
        || starts("x-forwarded-proto", "https")
}

/// The tokens that the request's cookies hold, most specific path first, as browsers send them.
pub(super) fn cookie_tokens(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    cookies(headers, COOKIE)
}

/// The console sessions that the request's cookies hold.
pub(super) fn session_tokens(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    cookies(headers, SESSION)
}

fn cookies<'a>(headers: &'a HeaderMap, name: &'static str) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(Cookie::split_parse)
        .flatten()
        .filter(move |cookie| cookie.name() == name)
        .filter_map(|cookie| cookie.value_raw())
}

/// A `Set-Cookie` that gives the page its conversation's token.
pub(super) fn set_cookie(
    conversation: ConversationId,
    token: &str,
    expires: DateTime<Utc>,
    encrypted: bool,
) -> Option<HeaderValue> {
    let cookie = Cookie::build((COOKIE, token)).path(format!("/conversations/{conversation}")).same_site(SameSite::Lax);
    header_value(cookie, expires, encrypted)
}

/// A `Set-Cookie` that signs the browser in to the console.
pub(super) fn set_session(token: &str, expires: DateTime<Utc>, encrypted: bool) -> Option<HeaderValue> {
    header_value(Cookie::build((SESSION, token)).path("/").same_site(SameSite::Strict), expires, encrypted)
}

/// A `Set-Cookie` that takes the session away.
pub(super) fn forget_session(encrypted: bool) -> Option<HeaderValue> {
    set_session("", DateTime::UNIX_EPOCH, encrypted)
}

/// No script reads it, and no plain connection carries it where it came by an encrypted one.
fn header_value(cookie: CookieBuilder<'_>, expires: DateTime<Utc>, encrypted: bool) -> Option<HeaderValue> {
    let seconds = (expires - Utc::now()).num_seconds().max(0);
    let cookie = cookie.http_only(true).secure(encrypted).max_age(cookie::time::Duration::seconds(seconds));
    HeaderValue::from_str(&cookie.build().to_string()).ok()
}
