//! What a browser's request reveals: the page that sent it, its languages, and the tokens in its cookies.

use axum::http::{HeaderMap, HeaderValue, header};
use chrono::{DateTime, Utc};
use cookie::{Cookie, CookieBuilder, SameSite};

use crate::config::HttpConfig;
use crate::domain::{ConversationId, Language};

/// The name of the cookie that holds a conversation token.
pub(super) const COOKIE: &str = "fd_conversation";
/// The name of the cookie that holds a console session.
pub(super) const SESSION: &str = "fd_console";

/// Returns whether one of our own pages sent the request, by `Sec-Fetch-Site` or else by `Origin`.
pub(super) fn is_own_page(headers: &HeaderMap, config: &HttpConfig) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin";
    }
    headers
        .get(header::ORIGIN)
        .and_then(|origin| origin.to_str().ok())
        .is_some_and(|origin| is_own(origin, headers, config))
}

/// Returns whether a page of another site sent the request that is not in `CORS_ORIGINS`. Clients other than browsers send
/// neither header.
pub(super) fn is_foreign_page(headers: &HeaderMap, config: &HttpConfig) -> bool {
    match headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok()) {
        Some(origin) => {
            !is_own(origin, headers, config) && !config.cors_origins.iter().any(|allowed| allowed == origin)
        }
        None => headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site"),
    }
}

/// Returns the languages of `Accept-Language`, the preferred one first, without regions: `en` for `en-GB`.
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
    // A stable sort: of two equal weights, the first language wins.
    wanted.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    wanted.into_iter().map(|(_, language)| language).collect()
}

/// Returns whether the origin is ours: `PUBLIC_URL` if it is set, else the host of the request.
fn is_own(origin: &str, headers: &HeaderMap, config: &HttpConfig) -> bool {
    if let Some(public) = &config.public_url {
        return origin.eq_ignore_ascii_case(public);
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host))
}

/// Returns whether the browser uses https, by `PUBLIC_URL`, the page's origin or a proxy's header. A client that forges the
/// header only affects the cookie that it receives.
pub(super) fn is_encrypted(headers: &HeaderMap, config: &HttpConfig) -> bool {
    let starts =
        |name: &str, with: &str| headers.get(name).is_some_and(|value| value.as_bytes().starts_with(with.as_bytes()));
    config.public_url.as_ref().is_some_and(|url| url.starts_with("https://"))
        || starts("origin", "https://")
        || starts("x-forwarded-proto", "https")
}

/// Returns the values of the cookies with this name, most specific path first, as browsers send them.
pub(super) fn cookies<'a>(headers: &'a HeaderMap, name: &'static str) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(Cookie::split_parse)
        .flatten()
        .filter(move |cookie| cookie.name() == name)
        .filter_map(|cookie| cookie.value_raw())
}

/// Builds a `Set-Cookie` with a conversation token.
pub(super) fn set_cookie(
    conversation: ConversationId,
    token: &str,
    expires: DateTime<Utc>,
    encrypted: bool,
) -> Option<HeaderValue> {
    let cookie = Cookie::build((COOKIE, token)).path(format!("/conversations/{conversation}")).same_site(SameSite::Lax);
    header_value(cookie, expires, encrypted)
}

/// Builds a `Set-Cookie` with a console session.
pub(super) fn set_session(token: &str, expires: DateTime<Utc>, encrypted: bool) -> Option<HeaderValue> {
    header_value(Cookie::build((SESSION, token)).path("/").same_site(SameSite::Strict), expires, encrypted)
}

/// Scripts cannot read the cookie, and a cookie set over https is only sent over https.
fn header_value(cookie: CookieBuilder<'_>, expires: DateTime<Utc>, encrypted: bool) -> Option<HeaderValue> {
    let seconds = (expires - Utc::now()).num_seconds().max(0);
    let cookie = cookie.http_only(true).secure(encrypted).max_age(cookie::time::Duration::seconds(seconds));
    HeaderValue::from_str(&cookie.build().to_string()).ok()
}
