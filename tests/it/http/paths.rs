//! Unknown paths, wrong methods and invalid queries.

use reqwest::Method;
use serde_json::{Value, json};

use super::access::routes_of;
use super::problem::refused;
use super::raw;
use crate::support::app::TestApp;

#[tokio::test]
async fn unknown_conversation_is_not_found_on_every_route() {
    let app = TestApp::start().await;
    let known = app.open(&json!({})).await;
    let simple = known.replace('-', "");
    let braced = format!("%7B{known}%7D");
    let missing = uuid::Uuid::now_v7().to_string();
    for id in ["x", "0", "%20", "%FF", "%C3%28", "%00", "..%2F..", "urn:uuid:x", &simple, &braced, &missing] {
        for request in routes_of(&app, id) {
            refused(request, 404, "not_found").await;
        }
    }
}

#[tokio::test]
async fn unknown_turn_is_not_found() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    app.ask(&id, "hello").await;
    for turn in ["0", "2", "-1", "+1", "01", "1.0", "x", "%FF", "2147483648", "99999999999999999999"] {
        refused(app.get(&format!("/conversations/{id}/turns/{turn}")), 404, "not_found").await;
    }
    assert_eq!(app.get(&format!("/conversations/{id}/turns/1")).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn unknown_paths_are_not_found() {
    let app = TestApp::start().await;
    for path in [
        "/nothing",
        "/conversations/",
        "//conversations",
        "/conversations/x/y",
        "/%FF",
        "/docs/%FF",
        "/docs/nothing.js",
    ] {
        refused(app.get(path), 404, "not_found").await;
        if !path.starts_with("/docs") {
            refused(app.request(Method::POST, path), 404, "not_found").await;
        }
    }
    for path in ["/%", "/%zz", "/conversations/%", "/a/../../etc/passwd"] {
        raw::send(&app, &raw::request(&app, "GET", path, "")).await.check(404, "not_found");
    }
}

#[tokio::test]
async fn wrong_method_lists_allowed_methods() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    for (method, path, allow) in [
        (Method::PUT, "/conversations".to_owned(), "GET,HEAD,POST"),
        (Method::DELETE, "/conversations".to_owned(), "GET,HEAD,POST"),
        (Method::PATCH, format!("/conversations/{id}"), "DELETE,GET,HEAD"),
        (Method::GET, format!("/conversations/{id}/messages"), "POST"),
        (Method::GET, format!("/conversations/{id}/stream"), "POST"),
        (Method::HEAD, format!("/conversations/{id}/stream"), "POST"),
        (Method::POST, format!("/conversations/{id}/history"), "GET,HEAD"),
        (Method::POST, "/healthz".to_owned(), "GET,HEAD"),
        (Method::POST, "/openapi.json".to_owned(), "GET,HEAD"),
    ] {
        let response = app.request(method.clone(), &path).send().await.unwrap();
        let mut allowed: Vec<String> = response
            .headers()
            .get_all("allow")
            .iter()
            .flat_map(|value| value.to_str().unwrap().split(',').map(|name| name.trim().to_owned()))
            .collect();
        allowed.sort();
        assert_eq!(allowed.join(","), allow, "{method} {path}");
        if method == Method::HEAD {
            assert_eq!(response.status(), 405);
        } else {
            super::problem::check(response, 405, "method_not_allowed").await;
        }
    }
    raw::send(&app, &raw::request(&app, "BREW", "/conversations", "")).await.check(405, "method_not_allowed");
}

#[tokio::test]
async fn head_matches_get_without_body() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    for (path, status) in [
        ("/healthz".to_owned(), 200),
        ("/conversations".to_owned(), 200),
        (format!("/conversations/{id}/history"), 200),
        ("/conversations/x".to_owned(), 404),
    ] {
        let answer = raw::send(&app, &raw::request(&app, "HEAD", &path, "")).await;
        assert_eq!((answer.status, answer.body.len()), (status, 0), "{path}");
        let kind = if status == 200 { "application/json" } else { "application/problem+json" };
        assert_eq!(answer.header("content-type"), Some(kind));
        assert!(answer.header("x-request-id").is_some());
    }
}

#[tokio::test]
async fn invalid_query_is_refused() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let bad = [
        "limit=0",
        "limit=201",
        "limit=-1",
        "limit=abc",
        "limit=",
        "limit=1.5",
        "limit=99999999999999999999999",
        "limit=1&limit=2",
        "after=",
        "after=x",
        "after=%FF",
        "after=%00",
        "after=1",
        "after=-1-0",
        "after=1-2-3",
        "limt=1",
        "offset=0",
        "Limit=1",
    ];
    for query in bad {
        for path in ["/conversations".to_owned(), format!("/conversations/{id}/history")] {
            refused(app.get(&format!("{path}?{query}")), 422, "invalid_request").await;
        }
    }
    refused(app.get("/conversations?user_id=%00"), 422, "invalid_request").await;
    refused(app.get(&format!("/conversations/{id}/history?user_id=u")), 422, "invalid_request").await;
    refused(app.get(&format!("/conversations/{id}/history?after=99999999999-1")), 422, "invalid_request").await;
    for good in ["limit=1", "limit=200", "limit=%31", ""] {
        assert_eq!(app.get(&format!("/conversations?{good}")).send().await.unwrap().status(), 200, "{good}");
    }
}

#[tokio::test]
async fn uppercase_id_is_accepted() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let body: Value =
        app.get(&format!("/conversations/{}", id.to_uppercase())).send().await.unwrap().json().await.unwrap();
    assert_eq!(body["id"], id);
}
