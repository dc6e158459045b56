//! What the log names of a request's URL.

use axum::extract::MatchedPath;
use axum::http::{Extensions, Uri};

/// A path parameter that only its caller may know, such as the one that authenticates a webhook of a payment provider.
const SECRET: &str = "{secret}";

/// Where callers without another credential deliver. A misspelled path may hold a secret as well.
const WEBHOOKS: &str = "/webhooks/";

/// Returns the path of the request, or its route if the path holds a secret: `/webhooks/pay/{secret}`. Never the query, which may
/// hold a token.
pub(super) fn logged_path<'a>(uri: &'a Uri, extensions: &'a Extensions) -> &'a str {
    match extensions.get::<MatchedPath>().map(MatchedPath::as_str) {
        Some(route) if route.starts_with(WEBHOOKS) || route.contains(SECRET) => route,
        None if uri.path().to_ascii_lowercase().contains("webhook") => "/webhooks/…",
        _ => uri.path(),
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::extract::Request;
    use axum::middleware::{Next, from_fn};
    use axum::response::IntoResponse;
    use axum::routing::{get, post};
    use tower::ServiceExt;

    use super::*;

    /// Returns what the log would name of the request.
    async fn logged(method: &str, path: &str) -> String {
        let named = |request: Request, _: Next| async move {
            logged_path(request.uri(), request.extensions()).to_owned().into_response()
        };
        let router = Router::new()
            .route("/conversations/{id}", get(|| async {}))
            .route("/webhooks/pay/{secret}", post(|| async {}))
            .route("/invitations/{secret}/accept", post(|| async {}))
            .fallback(|| async {})
            .layer(from_fn(named));
        let request = Request::builder().method(method).uri(path).body(Body::empty()).expect("a request");
        let response = router.oneshot(request).await.expect("a response");
        let body = axum::body::to_bytes(response.into_body(), 1_000).await.expect("a body");
        String::from_utf8(body.to_vec()).expect("a text")
    }

    #[tokio::test]
    async fn secrets_in_paths_are_not_logged() {
        for (method, path, expected) in [
            ("GET", "/conversations/7?token=abc", "/conversations/7"),
            ("POST", "/webhooks/pay/s3cret", "/webhooks/pay/{secret}"),
            ("GET", "/webhooks/pay/s3cret", "/webhooks/pay/{secret}"),
            ("POST", "/webhooks/pay/s3cret/", "/webhooks/…"),
            ("POST", "/webhooks/other/s3cret", "/webhooks/…"),
            ("POST", "//webhooks/pay/s3cret", "/webhooks/…"),
            ("POST", "/Webhooks/pay/s3cret", "/webhooks/…"),
            ("POST", "/invitations/s3cret/accept", "/invitations/{secret}/accept"),
            ("GET", "/nowhere", "/nowhere"),
        ] {
            assert_eq!(logged(method, path).await, expected, "{method} {path}");
        }
    }
}
