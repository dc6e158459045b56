//! The pages: the chat, the widget for other sites, the console and the API's documentation.
//!
//! - [`page`]: the chat page
//! - [`widget`]: the script for other sites
//! - [`console`]: the support console
//! - [`mod@reference`]: the API's documentation
//! - [`assets`]: the files that the pages load
//!
//! Pages do not read the store and have no rate limit, because one page loads a dozen files.

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::app::App;

mod assets;
mod console;
mod page;
pub(super) mod reference;
mod widget;

/// The `X-Content-Type-Options` of every file that a page loads.
const NOSNIFF: &str = "nosniff";

/// The pages and their files.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(page::get))
        .route("/console", get(console::get))
        .route("/widget.js", get(widget::get))
        .route("/assets/{name}", get(assets::get))
}

/// Responds with a body that browsers cache and revalidate: 304 while it is unchanged.
fn revalidated(headers: &HeaderMap, content_type: &'static str, body: String) -> Response {
    // A weak tag, because the body may be compressed.
    let tag = format!("W/\"{}\"", assets::hash(body.as_bytes()));
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    let known = known.is_some_and(|tags| tags.split(',').any(|known| known.trim() == tag));
    let common = [
        (header::ETAG, tag),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::VARY, "accept-language".to_owned()),
    ];
    if known {
        (StatusCode::NOT_MODIFIED, common).into_response()
    } else {
        (common, [(header::CONTENT_TYPE, content_type)], body).into_response()
    }
}

/// Returns the headers of a page that only our own pages and those of `origins` may show in a frame.
///
/// Scripts and styles come from our own files only, a page contains none, and no text can become markup
/// (`require-trusted-types-for`).
fn framed_by(origins: &[String]) -> [(HeaderName, String); 4] {
    let origins: String = origins.iter().map(|origin| format!(" {origin}")).collect();
    page_headers(&format!("'self'{origins}"))
}

/// Returns the headers of a page that no other page may show in a frame.
pub(super) fn standalone() -> [(HeaderName, String); 4] {
    page_headers("'none'")
}

fn page_headers(frame_ancestors: &str) -> [(HeaderName, String); 4] {
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors {frame_ancestors}; require-trusted-types-for 'script'; \
         trusted-types 'none'"
    );
    [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, NOSNIFF.to_owned()),
        (header::REFERRER_POLICY, "same-origin".to_owned()),
        (
            HeaderName::from_static("permissions-policy"),
            "camera=(), geolocation=(), microphone=(), payment=(), usb=()".to_owned(),
        ),
    ]
}
