//! Conversation tokens in a header, in a cookie and, for `EventSource`, in the query.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::live::Live;
use crate::support::app::TestApp;
use crate::support::sse::parse;

/// A server with a key and `WEB_CHAT=on`.
async fn shop() -> TestApp {
    TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0,acme:key-of-the-shop-1").env("WEB_CHAT", "on").start().await
}

/// Opens a conversation as one of our pages and returns its id, token and cookie.
async fn opened_by_page(app: &TestApp) -> (String, String, String) {
    let request = app.post("/conversations", &json!({})).header("sec-fetch-site", "same-origin");
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), StatusCode::CREATED);
    let cookie = response.headers()["set-cookie"].to_str().unwrap().to_owned();
    let body: Value = response.json().await.unwrap();
    let id = body["id"].as_str().unwrap().to_owned();
    let path = format!("Path=/conversations/{id}");
    for part in ["HttpOnly", "SameSite=Lax", &path] {
        assert!(cookie.contains(part), "{cookie} lacks {part}");
    }
    assert!(!cookie.contains("Secure"), "{cookie} would not come back over http");
    (id, body["token"].as_str().unwrap().to_owned(), cookie.split(';').next().unwrap().to_owned())
}

#[tokio::test]
async fn only_our_pages_open_conversations_without_key() {
    let app = shop().await;
    opened_by_page(&app).await;
    let foreign = app.post("/conversations", &json!({})).header("sec-fetch-site", "cross-site").send().await.unwrap();
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
    let claims = app.post("/conversations", &json!({"user_id": "u-1"})).header("sec-fetch-site", "same-origin");
    assert_eq!(claims.send().await.unwrap().status(), StatusCode::UNPROCESSABLE_ENTITY);
    let off = TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0").start().await;
    let page = off.post("/conversations", &json!({})).header("sec-fetch-site", "same-origin").send().await.unwrap();
    assert_eq!(page.status(), StatusCode::UNAUTHORIZED, "WEB_CHAT is off where keys are set");
}

#[tokio::test]
async fn cookie_works_only_for_our_pages() {
    let app = shop().await;
    let (id, _, cookie) = opened_by_page(&app).await;
    let history = app.get(&format!("/conversations/{id}/history")).header("cookie", &cookie).send().await.unwrap();
    assert_eq!(history.status(), StatusCode::OK);
    let write = |site: &'static str| {
        let path = format!("/conversations/{id}/messages");
        app.post(&path, &json!({"text": "hello"})).header("cookie", &cookie).header("sec-fetch-site", site).send()
    };
    assert_eq!(write("same-origin").await.unwrap().status(), StatusCode::ACCEPTED);
    assert_eq!(write("cross-site").await.unwrap().status(), StatusCode::FORBIDDEN);
    let (other, ..) = opened_by_page(&app).await;
    let path = format!("/conversations/{other}/history");
    assert_eq!(app.get(&path).header("cookie", &cookie).send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn query_token_opens_only_event_streams() {
    let app = shop().await;
    let (id, token, _) = opened_by_page(&app).await;
    let mut stream = Live::open(app.get(&format!("/conversations/{id}/events?token={token}"))).await;
    stream = stream.opened().await;
    drop(stream);
    for path in [format!("/conversations/{id}?token={token}"), format!("/conversations/{id}/history?token={token}")] {
        assert_eq!(app.get(&path).send().await.unwrap().status(), StatusCode::UNAUTHORIZED, "{path}");
    }
    let write = app.post(&format!("/conversations/{id}/messages?token={token}"), &json!({"text": "hello"}));
    assert_eq!(write.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn token_is_renewed_by_key_or_valid_token() {
    let app = shop().await;
    let (id, token, _) = opened_by_page(&app).await;
    let path = format!("/conversations/{id}/token");
    let renew = |name: &'static str, value: String| app.request(Method::POST, &path).header(name, value).send();
    let response = renew("authorization", format!("Bearer {token}")).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let fresh: Value = response.json().await.unwrap();
    let bearer = format!("Bearer {}", fresh["token"].as_str().unwrap());
    let read = app.get(&format!("/conversations/{id}")).header("authorization", bearer).send().await.unwrap();
    assert_eq!(read.status(), StatusCode::OK);
    assert_eq!(renew("x-api-key", "key-of-the-shop-0".to_owned()).await.unwrap().status(), StatusCode::OK);
    assert_eq!(renew("x-api-key", "key-of-the-shop-1".to_owned()).await.unwrap().status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn stream_ends_when_its_token_expires() {
    let app = TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0").env("TOKEN_TTL_HOURS", "0.002").start().await;
    let created = app.post("/conversations", &json!({})).header("x-api-key", "key-of-the-shop-0").send().await.unwrap();
    let created: Value = created.json().await.unwrap();
    let (id, token) = (created["id"].as_str().unwrap(), created["token"].as_str().unwrap());
    let stream = app.get(&format!("/conversations/{id}/events?token={token}")).send().await.unwrap();
    assert_eq!(stream.status(), StatusCode::OK);
    // The stream ends, so it can be read to its end.
    let events = parse(&stream.text().await.unwrap());
    assert_eq!(events.0.len(), 1, "{events:?}");
    let again = app.get(&format!("/conversations/{id}/events?token={token}")).send().await.unwrap();
    assert_eq!(again.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn address_limit_spares_streams_keys_and_retries() {
    let app = TestApp::builder()
        .env("X_API_KEYS", "key-of-the-shop-0")
        .env("WEB_CHAT", "on")
        .env("RATE_LIMIT_PER_SECOND", 1)
        .env("RATE_LIMIT_BURST", 4)
        .start()
        .await;
    let (id, token, _) = opened_by_page(&app).await;
    let bearer = format!("Bearer {token}");
    let path = format!("/conversations/{id}/messages");
    let post = |key: &'static str| {
        let request = app.post(&path, &json!({"text": "ABC123"})).header("authorization", &bearer);
        request.header("idempotency-key", key).send()
    };
    let first: Value = post("once").await.unwrap().json().await.unwrap();
    let get = || app.get(&format!("/conversations/{id}")).header("authorization", &bearer).send();
    let mut refused = None;
    for _ in 0..200 {
        let response = get().await.unwrap();
        if response.status() == StatusCode::TOO_MANY_REQUESTS {
            refused = Some(response);
            break;
        }
    }
    let refused = refused.expect("a burst is refused");
    assert!(refused.headers()["retry-after"].to_str().unwrap().parse::<u64>().unwrap() >= 1);
    let keyed = app.get(&format!("/conversations/{id}")).header("x-api-key", "key-of-the-shop-0").send().await.unwrap();
    assert_eq!(keyed.status(), StatusCode::OK);
    for _ in 0..20 {
        let stream = app.get(&format!("/conversations/{id}/events?token={token}")).send().await.unwrap();
        assert_eq!(stream.status(), StatusCode::OK);
        let repeated: Value = post("once").await.unwrap().json().await.unwrap();
        assert_eq!(repeated["message_id"], first["message_id"]);
    }
}

#[tokio::test]
async fn daily_turn_limit_is_per_shop() {
    let app = TestApp::builder()
        .env("X_API_KEYS", "key-of-the-shop-0,acme:key-of-the-shop-1")
        .env("TURNS_PER_DAY", 2)
        .start()
        .await;
    for key in ["key-of-the-shop-0", "key-of-the-shop-1"] {
        let created = app.post("/conversations", &json!({})).header("x-api-key", key).send().await.unwrap();
        let created: Value = created.json().await.unwrap();
        let path = format!("/conversations/{}/messages", created["id"].as_str().unwrap());
        for expected in [StatusCode::ACCEPTED, StatusCode::ACCEPTED, StatusCode::TOO_MANY_REQUESTS] {
            let response = app.post(&path, &json!({"text": "ABC123"})).header("x-api-key", key).send().await.unwrap();
            assert_eq!(response.status(), expected, "{key}");
        }
    }
}
