//! What browsers are told about a page of ours.

use axum::http::{HeaderName, header};

/// The `X-Content-Type-Options` of everything that a page loads.
pub(super) const NOSNIFF: &str = "nosniff";

/// The headers of a page that only our own pages, and pages of `frames`, may show inside them.
///
/// Scripts and styles come from our own files alone, none stands in a page, and no text can become markup
/// (`require-trusted-types-for`).
pub(super) fn headers(frames: &[String]) -> [(HeaderName, String); 4] {
    let frames: String = frames.iter().map(|origin| format!(" {origin}")).collect();
    for_frames(&format!("'self'{frames}"))
}

/// The same for a page that no other page may show inside it.
pub(in crate::http) fn alone() -> [(HeaderName, String); 4] {
    for_frames("'none'")
}

fn for_frames(frames: &str) -> [(HeaderName, String); 4] {
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors {frames}; require-trusted-types-for 'script'; \
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
