//! `POST /conversations`, with and without an `Idempotency-Key`.

use std::collections::HashSet;

use frontdesk::app::App;
use frontdesk::turn::retention;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::live::Live;
use super::problem::refused;
use crate::support::app::TestApp;

async fn create(app: &TestApp, key: &str, body: &Value) -> Value {
    let response = app.post("/conversations", body).header("idempotency-key", key).send().await.unwrap();
    assert_eq!(response.status(), 201);
    response.json().await.unwrap()
}

async fn count(app: &TestApp) -> usize {
    let list: Value = app.get("/conversations?limit=200").send().await.unwrap().json().await.unwrap();
    list["conversations"].as_array().unwrap().len()
}

#[tokio::test]
async fn new_conversation_has_greeting_and_token() {
    let app = TestApp::start().await;
    let metadata = json!({"z": 1, "a": {"deep": [true, null, 1.5, "ế"]}});
    let wish = json!({"user_id": "u-1", "persona": "system_persona_en", "language": "en", "metadata": metadata});
    let response = app.post("/conversations", &wish).send().await.unwrap();
    assert_eq!(response.status(), 201);
    let location = response.headers()["location"].to_str().unwrap().to_owned();
    let body: Value = response.json().await.unwrap();
    let members: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        members,
        [
            "id",
            "user_id",
            "persona",
            "preferred_language",
            "status",
            "created_at",
            "last_event_id",
            "metadata",
            "greeting",
            "token",
            "token_expires_at"
        ]
    );
    let id = body["id"].as_str().unwrap();
    assert_eq!(uuid::Uuid::parse_str(id).unwrap().get_version_num(), 7);
    assert_eq!(location, format!("/conversations/{id}"));
    let told = json!({"user_id": body["user_id"], "persona": body["persona"], "language": body["preferred_language"], "metadata": body["metadata"]});
    assert_eq!(told, wish);
    assert_eq!((&body["status"], &body["last_event_id"]), (&json!("bot"), &json!("0.0")));
    for time in ["created_at", "token_expires_at"] {
        assert!(body[time].as_str().unwrap().ends_with('Z'), "{body}");
    }
    let greeting = &body["greeting"];
    assert_eq!(greeting["conversation_id"], id);
    assert_eq!((&greeting["turn"], &greeting["sender"]), (&json!(0), &json!("assistant")));
    assert_eq!(greeting["metadata"], json!({"type": "greeting"}));
    assert!(!greeting["text"].as_str().unwrap().is_empty());
    // Without the fields that only the creation returns, it equals the response to `GET`.
    let mut expected = body.clone();
    for extra in ["greeting", "token", "token_expires_at"] {
        expected.as_object_mut().unwrap().remove(extra);
    }
    let got: Value = app.get(&location).send().await.unwrap().json().await.unwrap();
    assert_eq!(got, expected);
    assert_eq!(app.history(id).await, std::slice::from_ref(greeting));
}

#[tokio::test]
async fn same_key_and_body_open_one_conversation() {
    let app = TestApp::start().await;
    let first = create(&app, "k", &json!({"user_id": "u", "metadata": {"a": 1, "b": 2}})).await;
    let again = create(&app, "k", &json!({"metadata": {"b": 2, "a": 1}, "user_id": "u"})).await;
    assert_eq!((&first["id"], &first["greeting"]), (&again["id"], &again["greeting"]));
    let path = "/conversations";
    refused(app.post(path, &json!({"user_id": "v"})).header("idempotency-key", "k"), 422, "invalid_request").await;
    assert_eq!(count(&app).await, 1);
    // Another key, or none, opens another conversation.
    create(&app, "K", &json!({"user_id": "u"})).await;
    app.open(&json!({"user_id": "u"})).await;
    assert_eq!(count(&app).await, 3);
}

#[tokio::test]
async fn concurrent_creations_with_one_key_open_one_conversation() {
    let app = TestApp::start().await;
    let body = json!({"user_id": "u"});
    let opened = join_all((0..50).map(|_| create(&app, "k", &body))).await;
    let ids: HashSet<&str> = opened.iter().map(|body| body["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(count(&app).await, 1);
}

#[tokio::test]
async fn key_of_deleted_conversation_opens_a_new_one() {
    let app = TestApp::start().await;
    let first = create(&app, "k", &json!({})).await;
    let path = format!("/conversations/{}", first["id"].as_str().unwrap());
    assert_eq!(app.request(reqwest::Method::DELETE, &path).send().await.unwrap().status(), 204);
    assert_ne!(create(&app, "k", &json!({})).await["id"], first["id"]);
}

#[tokio::test]
async fn idempotency_key_has_255_visible_ascii_characters() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let long = "k".repeat(255);
    create(&app, &long, &json!({})).await;
    create(&app, "!\"#~", &json!({})).await;
    let keys: [&[u8]; 6] = [b"", b"a b", "ế".as_bytes(), b"\xff", b"a\tb", &[b'k'; 256]];
    for path in
        ["/conversations".to_owned(), format!("/conversations/{id}/messages"), format!("/conversations/{id}/stream")]
    {
        let body = if path.ends_with('s') && path.len() < 20 { json!({}) } else { json!({"text": "hi"}) };
        for key in keys {
            let request = app.post(&path, &body).header("idempotency-key", key);
            refused(request, 422, "invalid_request").await;
        }
        let twice = app.post(&path, &body).header("idempotency-key", "a").header("idempotency-key", "a");
        refused(twice, 422, "invalid_request").await;
    }
    assert_eq!(app.history(&id).await.len(), 1, "the greeting alone");
}

#[tokio::test]
async fn idempotency_keys_are_separate_per_visitor() {
    let settings = TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0").env("WEB_CHAT", "on");
    let app = settings.env("TRUSTED_PROXIES", "127.0.0.0/8").start().await;
    let create = async |who: (&str, &str), body: Value| -> (u16, Value) {
        let request = app.post("/conversations", &body).header("idempotency-key", "visit-42").header(who.0, who.1);
        let response = request.header("sec-fetch-site", "same-origin").send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    };
    let shop = create(("x-api-key", "key-of-the-shop-0"), json!({})).await.1;
    let (visitor, again) = ("198.51.100.7", json!({}));
    let first = create(("x-forwarded-for", visitor), again.clone()).await.1;
    assert_ne!(first["id"], shop["id"], "the shop's idempotency key opens nothing for a visitor");
    assert_eq!(create(("x-forwarded-for", visitor), again).await.1["id"], first["id"], "a retry is one conversation");
    let other = create(("x-forwarded-for", "198.51.100.8"), json!({})).await.1;
    assert!(other["id"] != first["id"] && other["id"] != shop["id"]);
    let elsewhere = create(("x-forwarded-for", "198.51.100.9"), json!({"language": "en"})).await;
    assert_eq!(elsewhere.0, 201, "nor is it told that somebody else has used the key");
}

#[tokio::test]
async fn repeated_creation_bypasses_limits() {
    let app = TestApp::builder().env("RATE_LIMIT_PER_SECOND", 1).env("RATE_LIMIT_BURST", 1).start().await;
    let first = create(&app, "k", &json!({})).await;
    let request = |key: &str| app.post("/conversations", &json!({})).header("idempotency-key", key);
    let mut refusals = 0;
    // At least two of the requests arrive within the same second.
    for n in 0..20 {
        assert_eq!(create(&app, "k", &json!({})).await["id"], first["id"]);
        let response = request(&format!("new-{n}")).send().await.unwrap();
        if response.status() == 429 {
            assert!(response.headers().contains_key("retry-after"));
            refusals += 1;
        }
        let reused = app.post("/conversations", &json!({"language": "en"})).header("idempotency-key", "k");
        assert_eq!(reused.send().await.unwrap().status(), 422);
    }
    assert!(refusals > 0);
}

#[tokio::test]
async fn https_page_gets_secure_cookie() {
    let app = TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0").env("WEB_CHAT", "on").start().await;
    let host = app.url.strip_prefix("http://").unwrap().to_owned();
    let (secure, plain) = (format!("https://{host}"), app.url.clone());
    for (name, value, expected) in [
        ("origin", secure.as_str(), true),
        ("x-forwarded-proto", "https", true),
        ("origin", plain.as_str(), false),
        ("x-forwarded-proto", "http", false),
    ] {
        let request = app.post("/conversations", &json!({})).header("sec-fetch-site", "same-origin");
        let response = request.header(name, value).send().await.unwrap();
        let cookie = response.headers()["set-cookie"].to_str().unwrap().to_owned();
        assert_eq!(cookie.contains("; Secure"), expected, "{name}: {value}: {cookie}");
    }
}

#[tokio::test]
async fn empty_visitor_conversations_expire() {
    let app = TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0").env("WEB_CHAT", "on").start().await;
    let key = ("x-api-key", "key-of-the-shop-0");
    let open = async |name: &str, value: &str| -> (String, String) {
        let opened = app.post("/conversations", &json!({})).header(name, value).send().await.unwrap();
        let opened: Value = opened.json().await.unwrap();
        (opened["id"].as_str().unwrap().to_owned(), opened["token"].as_str().unwrap().to_owned())
    };
    let (empty, _) = open("sec-fetch-site", "same-origin").await;
    let (spoken, token) = open("sec-fetch-site", "same-origin").await;
    let (shops, _) = open(key.0, key.1).await;
    let said = app.post(&format!("/conversations/{spoken}/messages"), &json!({"text": "ABC123"})).bearer_auth(&token);
    assert_eq!(said.send().await.unwrap().status(), 202);
    let mut news = Live::open(app.get("/console/api/events").header(key.0, key.1)).await.opened().await;
    for (hours, status) in [(47, 200), (49, 404)] {
        let now = chrono::Utc::now() + chrono::TimeDelta::hours(hours);
        let App { engine, config, .. } = &*app.inner;
        retention::forget(engine, config, now, &CancellationToken::new()).await.unwrap();
        for (id, status) in [(&empty, status), (&spoken, 200), (&shops, 200)] {
            let found = app.get(&format!("/conversations/{id}")).header(key.0, key.1).send().await.unwrap();
            assert_eq!(found.status(), status, "after {hours} h");
        }
    }
    // An open inbox removes its row.
    news.until(&json!({"type": "conversation.deleted", "conversation_id": empty}).to_string()).await;
}
