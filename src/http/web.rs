//! The pages that the server serves by itself: the chat page, the script that shows it on another site, and the console.
//!
//! - [`assets`]: the files in the program, under names that change with their content
//! - [`page`]: the chat page
//! - [`console`]: the shop's own desk
//! - [`mod@reference`]: the API's description for people
//! - [`widget`]: the script for other sites
//! - [`policy`]: what browsers may do with a page of ours
//!
//! Nothing here reads the store, and nothing is counted against a client's limit: a page is one answer and a dozen files.

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::app::App;

mod assets;
mod console;
mod page;
pub(super) mod policy;
pub(super) mod reference;
mod widget;

/// Everything that a browser loads to show the chat or the console.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(page::get))
        .route("/console", get(console::get))
        .route("/widget.js", get(widget::get))
        .route("/assets/{name}", get(assets::get))
}

/// An answer that a browser keeps but asks about each time: 304 while it is the same.
fn revalidated(headers: &HeaderMap, content_type: &'static str, body: String) -> Response {
    // Weak, since the body may travel compressed.
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
