//! The form of error responses.

use reqwest::{RequestBuilder, Response};
use serde_json::Value;

/// Sends the request, asserts the error's status, `code` and form, and returns the body.
pub async fn refused(request: RequestBuilder, status: u16, code: &str) -> Value {
    check(request.send().await.unwrap(), status, code).await
}

/// Asserts that the response is a problem with this status and code, and returns the body.
pub async fn check(response: Response, status: u16, code: &str) -> Value {
    let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    let (actual, kind, id) = (response.status().as_u16(), header("content-type"), header("x-request-id"));
    let retry_after = header("retry-after");
    let bytes = response.bytes().await.unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert_eq!(actual, status, "{text}");
    assert_eq!(kind.as_deref(), Some("application/problem+json"), "{text}");
    let body: Value = serde_json::from_slice(&bytes).unwrap();
    check_body(&body, status, code, id.as_deref());
    // A response that asks for a retry has `Retry-After`.
    assert_eq!(retry_after.is_some(), matches!(status, 429 | 503), "{text}");
    body
}

/// Asserts the members of a problem. The errors of a file also have a `reason` and a `line`, those of a size a `limit`.
pub fn check_body(body: &Value, status: u16, code: &str, request_id: Option<&str>) {
    let members = body.as_object().unwrap().keys().map(String::as_str);
    let members: Vec<&str> = members.filter(|name| !["reason", "line", "limit"].contains(name)).collect();
    assert_eq!(members, ["type", "title", "status", "code", "detail", "request_id"], "{body}");
    assert_eq!(body["code"], code, "{body}");
    assert_eq!(body["status"], status, "{body}");
    assert_eq!(body["request_id"].as_str(), request_id, "{body}");
    assert!(!request_id.unwrap_or_default().is_empty());
    let (title, detail) = (body["title"].as_str().unwrap(), body["detail"].as_str().unwrap());
    assert!(!title.is_empty() && detail.ends_with('.') && detail.len() > 10, "{body}");
}
