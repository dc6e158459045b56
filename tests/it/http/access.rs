//! Authentication and permissions.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::problem::{check, refused};
use super::raw;
use crate::support::app::TestApp;
use crate::support::sse::read_events;

const SECRET: &str = "a secret of the tests, long enough for all";

async fn guarded() -> TestApp {
    TestApp::builder()
        .env("X_API_KEYS", "key-of-the-shop-0, acme:key-of-the-shop-1 ,beta:key-of-the:shop-2")
        .env("TOKEN_SECRET", SECRET)
        .start()
        .await
}

async fn open(app: &TestApp, key: &str) -> (String, String) {
    let wish = json!({"user_id": "u-1", "metadata": {"shop": key}});
    let response = app.post("/conversations", &wish).header("x-api-key", key).send().await.unwrap();
    assert_eq!(response.status(), 201);
    let body: Value = response.json().await.unwrap();
    assert_eq!((&body["user_id"], &body["metadata"]), (&json!("u-1"), &wish["metadata"]));
    (body["id"].as_str().unwrap().to_owned(), body["token"].as_str().unwrap().to_owned())
}

/// Every route of a conversation.
pub fn routes_of(app: &TestApp, id: &str) -> Vec<RequestBuilder> {
    let path = format!("/conversations/{id}");
    vec![
        app.get(&path),
        app.get(&format!("{path}/history")),
        app.get(&format!("{path}/turns/1")),
        app.post(&format!("{path}/messages"), &json!({"text": "hi"})),
        app.post(&format!("{path}/stream"), &json!({"text": "hi"})),
        app.get(&format!("{path}/events")),
        app.post(&format!("{path}/token"), &json!({})),
        app.request(Method::POST, &format!("{path}/turns/1/cancel")),
        app.request(Method::DELETE, &path),
    ]
}

fn all_routes(app: &TestApp, id: &str) -> Vec<RequestBuilder> {
    let mut routes = routes_of(app, id);
    routes.push(app.get("/conversations"));
    routes.push(app.post("/conversations", &json!({})));
    routes
}

#[tokio::test]
async fn missing_or_wrong_key_is_unauthorized() {
    let app = guarded().await;
    let (id, _) = open(&app, "key-of-the-shop-0").await;
    for request in all_routes(&app, &id) {
        refused(request, 401, "unauthorized").await;
    }
    for key in ["", "k", "k00", "acme:key-of-the-shop-1", "K0", " k1x", "key-of-the-shop-0,acme:key-of-the-shop-1"] {
        for request in all_routes(&app, &id) {
            refused(request.header("x-api-key", key), 401, "unauthorized").await;
        }
    }
    // Without permission, a caller cannot find out whether a conversation exists.
    for request in all_routes(&app, "%FF") {
        refused(request, 401, "unauthorized").await;
    }
}

#[tokio::test]
async fn other_shops_conversation_is_not_found() {
    let app = guarded().await;
    let (id, _) = open(&app, "key-of-the-shop-1").await;
    let unknown = uuid::Uuid::now_v7().to_string();
    let strip = |mut body: Value| {
        body.as_object_mut().unwrap().remove("request_id");
        body.to_string()
    };
    for key in ["key-of-the-shop-0", "key-of-the:shop-2"] {
        let theirs = routes_of(&app, &id).into_iter().zip(routes_of(&app, &unknown));
        for (foreign, missing) in theirs {
            let foreign = refused(foreign.header("x-api-key", key), 404, "not_found").await;
            let missing = refused(missing.header("x-api-key", key), 404, "not_found").await;
            assert_eq!(strip(foreign), strip(missing));
        }
        let list: Value =
            app.get("/conversations").header("x-api-key", key).send().await.unwrap().json().await.unwrap();
        assert_eq!(list["conversations"], json!([]));
        let cursor = format!("/conversations?after={id}");
        let list: Value = app.get(&cursor).header("x-api-key", key).send().await.unwrap().json().await.unwrap();
        assert_eq!(list["conversations"], json!([]));
    }
    let history =
        app.get(&format!("/conversations/{id}/history")).header("x-api-key", "key-of-the-shop-1").send().await.unwrap();
    let history: Value = history.json().await.unwrap();
    assert_eq!(history["messages"].as_array().unwrap().len(), 1, "no one has written in it");
}

#[tokio::test]
async fn idempotency_keys_are_separate_per_shop() {
    let app = guarded().await;
    let mut ids = Vec::new();
    for key in ["key-of-the-shop-0", "key-of-the-shop-1"] {
        let request = app.post("/conversations", &json!({})).header("x-api-key", key).header("idempotency-key", "same");
        let body: Value = request.send().await.unwrap().json().await.unwrap();
        ids.push(body["id"].clone());
    }
    assert_ne!(ids[0], ids[1]);
}

#[tokio::test]
async fn token_opens_only_its_conversation() {
    let app = guarded().await;
    let (id, token) = open(&app, "key-of-the-shop-1").await;
    let (other, _) = open(&app, "key-of-the-shop-1").await;
    let path = format!("/conversations/{id}");
    let stream =
        app.post(&format!("{path}/stream"), &json!({"text": "hello"})).bearer_auth(&token).send().await.unwrap();
    assert_eq!(read_events(stream).await.status(), "completed");
    for path in [path.clone(), format!("{path}/history"), format!("{path}/turns/1")] {
        assert_eq!(app.get(&path).bearer_auth(&token).send().await.unwrap().status(), 200);
        let spelled = app.get(&path).header("authorization", format!("bEaReR {token}"));
        assert_eq!(spelled.send().await.unwrap().status(), 200);
    }
    refused(app.request(Method::DELETE, &path).bearer_auth(&token), 401, "unauthorized").await;
    refused(app.get("/conversations").bearer_auth(&token), 401, "unauthorized").await;
    refused(app.post("/conversations", &json!({})).bearer_auth(&token), 401, "unauthorized").await;
    for request in routes_of(&app, &other).into_iter().take(5) {
        refused(request.bearer_auth(&token), 404, "not_found").await;
    }
    let deleted = app.request(Method::DELETE, &path).header("x-api-key", "key-of-the-shop-1").send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    refused(app.get(&path).bearer_auth(&token), 404, "not_found").await;
}

#[tokio::test]
async fn invalid_tokens_are_unauthorized() {
    let app = guarded().await;
    let (id, token) = open(&app, "key-of-the-shop-1").await;
    let (payload, signature) = token.split_once('.').unwrap();
    let sign = |secret: &str, seconds: i64| {
        frontdesk::app::Tokens::new(secret).sign(&frontdesk::app::Claims {
            tenant: "acme".parse().unwrap(),
            conversation: id.parse().unwrap(),
            expires_at: chrono::Utc::now() + chrono::TimeDelta::seconds(seconds),
        })
    };
    let flipped =
        if signature.starts_with('A') { signature.replacen('A', "B", 1) } else { format!("A{}", &signature[1..]) };
    let path = format!("/conversations/{id}");
    for bad in [
        String::new(),
        "x".to_owned(),
        payload.to_owned(),
        format!("{payload}."),
        format!("{payload}.{flipped}"),
        format!("{token}.{token}"),
        format!("{token}="),
        sign(SECRET, -1),
        sign("another secret, which is long enough too", 60),
    ] {
        refused(app.get(&path).bearer_auth(&bad), 401, "unauthorized").await;
    }
    for scheme in ["Basic", "Token"] {
        refused(app.get(&path).header("authorization", format!("{scheme} {token}")), 401, "unauthorized").await;
    }
    refused(app.get(&path).header("authorization", &token), 401, "unauthorized").await;
    assert_eq!(app.get(&path).bearer_auth(sign(SECRET, 60)).send().await.unwrap().status(), 200);
    // A valid token does not compensate for a wrong key.
    refused(app.get(&path).bearer_auth(&token).header("x-api-key", "wrong"), 401, "unauthorized").await;
}

#[tokio::test]
async fn only_the_shop_sees_receipts() {
    let app = guarded().await;
    let (id, token) = open(&app, "key-of-the-shop-1").await;
    let path = format!("/conversations/{id}");
    let post = app.post(&format!("{path}/stream"), &json!({"text": "kiểm tra bảo hành ABC123"}));
    read_events(post.bearer_auth(&token).send().await.unwrap()).await;
    let get = app.get(&format!("{path}/history"));
    let shop: Value = get.header("x-api-key", "key-of-the-shop-1").send().await.unwrap().json().await.unwrap();
    let customer: Value =
        app.get(&format!("{path}/history")).bearer_auth(&token).send().await.unwrap().json().await.unwrap();
    let mut without = shop.clone();
    let mut receipts = 0;
    for message in without["messages"].as_array_mut().unwrap() {
        receipts += usize::from(message.as_object_mut().unwrap().remove("receipt").is_some());
    }
    assert!(receipts > 0, "{shop}");
    assert_eq!(customer, without);
}

#[tokio::test]
async fn without_keys_only_direct_local_calls_are_allowed() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    for (name, value) in [
        ("x-forwarded-for", "203.0.113.9"),
        ("x-forwarded-host", "shop.example"),
        ("x-forwarded-proto", "https"),
        ("forwarded", "for=203.0.113.9"),
        ("via", "1.1 proxy"),
        ("x-real-ip", "203.0.113.9"),
        ("cf-connecting-ip", "203.0.113.9"),
        ("host", "shop.example"),
        ("host", "127.0.0.1.shop.example"),
        ("host", "localhost.shop.example:8080"),
    ] {
        for request in all_routes(&app, &id) {
            let body = refused(request.header(name, value), 401, "unauthorized").await;
            assert!(body["detail"].as_str().unwrap().contains("X_API_KEYS"), "{name}: {body}");
        }
    }
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8080"] {
        assert_eq!(app.get("/conversations").header("host", host).send().await.unwrap().status(), 200, "{host}");
    }
    // The headers of nginx with a plain `proxy_pass`.
    let host = app.url.strip_prefix("http://").unwrap();
    for (method, path) in [("GET", "/conversations"), ("DELETE", &format!("/conversations/{id}")), ("GET", "/metrics")]
    {
        let request = format!("{method} {path} HTTP/1.0\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        let answer = raw::send(&app, request.as_bytes()).await;
        answer.check(401, "unauthorized");
        assert!(String::from_utf8(answer.body).unwrap().contains("X_API_KEYS"), "{path}");
    }
    assert_eq!(app.get("/metrics").send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn foreign_pages_cannot_write_in_development() {
    let app = TestApp::builder().env("CORS_ORIGINS", "https://widget.example/").start().await;
    let id = app.open(&json!({})).await;
    let own = app.url.clone();
    let foreign = [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("origin", "http://localhost:1"),
    ];
    for (name, value) in foreign {
        for request in [
            app.post("/conversations", &json!({})),
            app.post(&format!("/conversations/{id}/messages"), &json!({"text": "hi"})),
            app.post(&format!("/conversations/{id}/stream"), &json!({"text": "hi"})),
            app.request(Method::DELETE, &format!("/conversations/{id}")),
        ] {
            refused(request.header(name, value), 403, "forbidden_origin").await;
        }
        assert_eq!(app.get("/conversations").header(name, value).send().await.unwrap().status(), 200);
        let head = app.request(Method::HEAD, "/conversations").header(name, value);
        assert_eq!(head.send().await.unwrap().status(), 200);
    }
    for (name, value) in
        [("origin", own.as_str()), ("origin", "https://widget.example"), ("sec-fetch-site", "same-origin")]
    {
        assert_eq!(app.post("/conversations", &json!({})).header(name, value).send().await.unwrap().status(), 201);
    }
}

#[tokio::test]
async fn metrics_and_docs_require_the_shop() {
    let app = guarded().await;
    // A reverse proxy also runs on this machine.
    refused(app.get("/metrics"), 401, "unauthorized").await;
    assert_eq!(app.get("/metrics").header("x-api-key", "key-of-the-shop-0").send().await.unwrap().status(), 200);
    let path = "/docs";
    let far = app.get(path).header("x-forwarded-for", "203.0.113.9");
    refused(far, 401, "unauthorized").await;
    let http1 = format!("GET {path} HTTP/1.0\r\nhost: 127.0.0.1\r\n\r\n");
    raw::send(&app, http1.as_bytes()).await.check(401, "unauthorized");
    let near = app.get(path).header("x-forwarded-for", "203.0.113.9").header("x-api-key", "key-of-the-shop-0");
    assert_eq!(near.send().await.unwrap().status(), 200, "{path}");
    assert_eq!(app.get(path).send().await.unwrap().status(), 200, "{path}");
    for path in ["/healthz", "/readyz", "/openapi.json"] {
        let far = app.get(path).header("x-forwarded-for", "203.0.113.9").send().await.unwrap();
        assert_eq!(far.status(), 200, "{path}");
    }
    check(
        app.get("/metrics").header("x-forwarded-for", "x").header("x-api-key", "no").send().await.unwrap(),
        401,
        "unauthorized",
    )
    .await;
}

#[tokio::test]
async fn development_honors_conversation_tokens() {
    let app = TestApp::start().await;
    let opened: Value = app.post("/conversations", &json!({})).send().await.unwrap().json().await.unwrap();
    let (id, token) = (opened["id"].as_str().unwrap(), opened["token"].as_str().unwrap());
    let other = app.open(&json!({})).await;
    app.ask(id, "kiểm tra bảo hành ABC123").await;
    let with = |path: &str, token: &str| app.get(path).header("authorization", format!("Bearer {token}"));
    let history = format!("/conversations/{id}/history");
    let shown: Value = with(&history, token).send().await.unwrap().json().await.unwrap();
    assert!(shown["messages"].as_array().unwrap().iter().all(|message| message.get("receipt").is_none()), "{shown}");
    refused(with(&history, "rubbish"), 401, "unauthorized").await;
    refused(with(&format!("/conversations/{other}"), token), 404, "not_found").await;
    refused(app.get(&format!("/conversations/{id}/events?token=rubbish")), 401, "unauthorized").await;
    let delete = app.request(Method::DELETE, &format!("/conversations/{id}"));
    refused(delete.header("authorization", format!("Bearer {token}")), 401, "unauthorized").await;
    assert_eq!(app.get(&history).send().await.unwrap().status(), 200, "who shows nothing is let in");
}

#[tokio::test]
async fn two_host_headers_are_not_local() {
    let app = TestApp::start().await;
    let request = b"GET /conversations HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\nconnection: close\r\n\r\n";
    raw::send(&app, request).await.check(401, "unauthorized");
}
