//! Signing in, and the permissions of a session.

use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Browser, guarded, routes};
use crate::http::live::Live;
use crate::http::problem::refused;
use crate::support::app::TestApp;
use crate::support::eventually_async;

#[tokio::test]
async fn only_a_valid_key_signs_in() {
    let app = guarded().every_desk().start().await;
    let sign_in = |body: Value| app.post("/console/session", &body).header("sec-fetch-site", "same-origin");
    for key in ["", "k", "key-of-the-shop-2", "acme:key-of-the-shop-1"] {
        refused(sign_in(json!({ "key": key })), 401, "unauthorized").await;
    }
    refused(sign_in(json!({})), 422, "invalid_request").await;
    refused(sign_in(json!({"key": "key-of-the-shop-0", "name": "x".repeat(81)})), 422, "invalid_request").await;
    refused(sign_in(json!({"key": "key-of-the-shop-0", "name": "a\nb"})), 422, "invalid_request").await;
    refused(app.post("/console/session", &json!({"key": "key-of-the-shop-0"})), 403, "forbidden_origin").await;
    let response = sign_in(json!({"key": "key-of-the-shop-1", "name": " Lan "})).send().await.unwrap();
    assert_eq!(response.status(), 204);
    let cookie = response.headers()["set-cookie"].to_str().unwrap();
    for part in ["fd_console=", "HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=4"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "{cookie}");
    let payload = cookie.trim_start_matches("fd_console=").split('.').next().unwrap();
    let payload = String::from_utf8(URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap();
    assert!(payload.split('|').all(|part| part != "key-of-the-shop-1"), "{payload}");
    let lan = Browser::sign_in(&app, "key-of-the-shop-1", "Lan").await;
    let me = lan.json("/console/api/me").await;
    let expires_at = me["expires_at"].as_str().unwrap();
    let expected = json!({
        "signed_in": true, "development": false, "tenant": "acme", "name": "Lan", "expires_at": expires_at, "may_edit": false, "sells": true
    });
    assert_eq!(me, expected);
    let hours = expires_at.parse::<chrono::DateTime<chrono::Utc>>().unwrap() - chrono::Utc::now();
    assert!((11..=12).contains(&hours.num_hours()), "{expires_at}");
    let default = Browser::sign_in(&app, "key-of-the-shop-0", "").await;
    let me = default.json("/console/api/me").await;
    assert_eq!((&me["name"], &me["may_edit"]), (&Value::Null, &json!(true)));
    let out = default.request(Method::DELETE, "/console/session").send().await.unwrap();
    assert_eq!(out.status(), 204);
    assert!(out.headers()["set-cookie"].to_str().unwrap().starts_with("fd_console=; "), "{out:?}");
    refused(app.get("/console/api/me"), 401, "unauthorized").await;
}

#[tokio::test]
async fn signed_out_session_stays_closed_after_restart() {
    let app = guarded().start().await;
    let lan = Browser::sign_in(&app, "key-of-the-shop-0", "Lan").await;
    let other = Browser::sign_in(&app, "key-of-the-shop-0", "Lan").await;
    let copied = (lan.cookie.clone(), other.cookie.clone());
    let me = |app: &TestApp, cookie: &str| app.get("/console/api/me").header("cookie", cookie.to_owned());
    let opened: Value = lan.post("/conversations", &json!({})).send().await.unwrap().json().await.unwrap();
    let events = format!("/conversations/{}/events", opened["id"].as_str().unwrap());
    let streams = [lan.get("/console/api/events"), lan.get(&events)].map(|request| request.send());
    let streams = futures_util::future::try_join_all(streams).await.unwrap();
    let forged = lan.app.request(Method::DELETE, "/console/session").header("cookie", &lan.cookie);
    refused(forged.header("sec-fetch-site", "cross-site"), 403, "forbidden_origin").await;
    assert_eq!(me(&app, &copied.0).send().await.unwrap().status(), 200);
    assert_eq!(lan.request(Method::DELETE, "/console/session").send().await.unwrap().status(), 204);
    refused(me(&app, &copied.0), 401, "unauthorized").await;
    for stream in streams {
        assert_eq!(stream.status(), 200);
        stream.text().await.unwrap();
    }
    assert_eq!(me(&app, &copied.1).send().await.unwrap().status(), 200, "another session is not signed out");
    let app = app.stop().await.env("X_API_KEYS", "key-of-the-shop-0").start().await;
    refused(me(&app, &copied.0), 401, "unauthorized").await;
    assert_eq!(me(&app, &copied.1).send().await.unwrap().status(), 200);
    // Retention keeps a revoked session until it would have expired.
    let store = &app.inner.store;
    for (hours, kept) in [(11, 1), (13, 0)] {
        let now = chrono::Utc::now() + chrono::TimeDelta::hours(hours);
        store.forget_revoked_sessions(now).await.unwrap();
        assert_eq!(store.list_revoked_sessions(chrono::Utc::now()).await.unwrap().len(), kept);
    }
}

#[tokio::test]
async fn https_session_cookie_is_secure() {
    let app = guarded().env("PUBLIC_URL", "https://chat.shop.example").start().await;
    let sign_in = app
        .post("/console/session", &json!({"key": "key-of-the-shop-0"}))
        .header("origin", "https://chat.shop.example");
    let response = sign_in.send().await.unwrap();
    assert!(response.headers()["set-cookie"].to_str().unwrap().contains("; Secure"));
}

#[tokio::test]
async fn session_has_key_permissions_except_for_other_sites() {
    let app = guarded().start().await;
    let lan = Browser::sign_in(&app, "key-of-the-shop-1", "Lan").await;
    let wish = json!({"user_id": "u-1"});
    let opened: Value = lan.post("/conversations", &wish).send().await.unwrap().json().await.unwrap();
    assert_eq!(opened["user_id"], "u-1", "it is the shop that opened it");
    let id = opened["id"].as_str().unwrap();
    let listed: Value =
        app.get("/conversations").header("x-api-key", "key-of-the-shop-1").send().await.unwrap().json().await.unwrap();
    assert_eq!(listed["conversations"][0]["id"], id);
    let history = lan.json(&format!("/conversations/{id}/history")).await;
    assert_eq!(history["messages"].as_array().unwrap().len(), 1);
    assert_eq!(lan.get("/metrics").send().await.unwrap().status(), 200);
    let mut writes = routes(&app, id);
    writes.push(app.post("/conversations", &json!({})));
    writes.push(app.post(&format!("/conversations/{id}/messages"), &json!({"text": "hi"})));
    writes.push(app.request(Method::DELETE, &format!("/conversations/{id}")));
    for write in writes {
        for (name, value) in
            [("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site"), ("origin", "https://evil.example")]
        {
            let forged = write.try_clone().unwrap().header("cookie", &lan.cookie).header("x-console", "1");
            refused(forged.header(name, value), 403, "forbidden_origin").await;
        }
        refused(write.header("cookie", &lan.cookie).header("x-console", "1"), 403, "forbidden_origin").await;
    }
    assert_eq!(lan.json(&format!("/conversations/{id}")).await["status"], "bot", "not taken");
}

#[tokio::test]
async fn session_cannot_reach_other_shops() {
    let app = guarded().start().await;
    let opened = app.post("/conversations", &json!({})).header("x-api-key", "key-of-the-shop-0").send().await.unwrap();
    let opened: Value = opened.json().await.unwrap();
    let id = opened["id"].as_str().unwrap();
    let theirs = Browser::sign_in(&app, "key-of-the-shop-1", "Minh").await;
    let inbox = theirs.json("/console/api/conversations").await;
    let nothing = json!({"bot": 0, "waiting": 0, "taken": 0, "closed": 0});
    assert_eq!((&inbox["conversations"], &inbox["counts"]), (&json!([]), &nothing));
    assert_eq!(theirs.json("/console/api/conversations?q=chao").await["conversations"], json!([]));
    assert_eq!(theirs.json("/console/api/figures?days=1").await["days"][0]["turns"], 0);
    for request in routes(&app, id) {
        let request = request.header("cookie", &theirs.cookie).header("sec-fetch-site", "same-origin");
        refused(request, 404, "not_found").await;
    }
    for request in routes(&app, id) {
        refused(request, 401, "unauthorized").await;
    }
    let token = opened["token"].as_str().unwrap();
    for request in routes(&app, id) {
        refused(request.bearer_auth(token), 401, "unauthorized").await;
    }
    let ours = Browser::sign_in(&app, "key-of-the-shop-0", "Lan").await;
    assert_eq!(ours.json("/console/api/conversations").await["conversations"][0]["status"], "bot");
}

#[tokio::test]
async fn customer_token_wins_over_session_outside_console() {
    let app = guarded().start().await;
    let lan = Browser::sign_in(&app, "key-of-the-shop-0", "Lan").await;
    // The chat page in the same browser.
    let page =
        app.post("/conversations", &json!({})).header("sec-fetch-site", "same-origin").header("cookie", &lan.cookie);
    let opened = page.send().await.unwrap();
    let token = opened.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let id = opened.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
    let cookies = format!("{token}; {}", lan.cookie);
    let path = format!("/conversations/{id}/stream");
    let said = app.post(&path, &json!({"text": "kiểm tra bảo hành ABC123"})).header("cookie", &cookies);
    Live::open(said.header("sec-fetch-site", "same-origin")).await.text().await;
    let receipts = async |console: bool| {
        let request = app.get(&format!("/conversations/{id}/history")).header("cookie", &cookies);
        let request = if console { request.header("x-console", "1") } else { request };
        let history: Value = request.send().await.unwrap().json().await.unwrap();
        history["messages"].as_array().unwrap().iter().filter(|message| message.get("receipt").is_some()).count()
    };
    assert_eq!(receipts(false).await, 0, "a customer sees none");
    assert!(receipts(true).await > 0);
}

#[tokio::test]
async fn expired_session_ends_its_stream() {
    let app = guarded().env("CONSOLE_SESSION_HOURS", 2.1 / 3600.0).start().await;
    // On a slow machine the session may expire before it is used.
    let mut opened = None;
    eventually_async("a session opens a stream", async || {
        let lan = Browser::sign_in(&app, "key-of-the-shop-0", "Lan").await;
        let response = lan.get("/console/api/events").send().await.unwrap();
        opened.insert((lan, response)).1.status() == 200
    })
    .await;
    let (lan, stream) = opened.unwrap();
    // The stream ends, and the session opens nothing more.
    stream.text().await.unwrap();
    refused(lan.get("/console/api/me"), 401, "unauthorized").await;
    refused(lan.get("/conversations"), 401, "unauthorized").await;
}

#[tokio::test]
async fn session_ends_when_its_key_is_removed() {
    let app = guarded().env("TOKEN_SECRET", "a secret of the tests, long enough for all").start().await;
    let cookie = Browser::sign_in(&app, "key-of-the-shop-1", "Lan").await.cookie;
    let me = |app: &TestApp| app.get("/console/api/me").header("cookie", &cookie);
    let same = ("TOKEN_SECRET", "a secret of the tests, long enough for all");
    let app = app
        .stop()
        .await
        .env(same.0, same.1)
        .env("X_API_KEYS", "key-of-the-shop-0, acme:key-of-the-shop-1")
        .start()
        .await;
    assert_eq!(me(&app).send().await.unwrap().status(), 200, "the server's own end ends no session");
    let app = app
        .stop()
        .await
        .env(same.0, same.1)
        .env("X_API_KEYS", "key-of-the-shop-0, acme:key-of-the-shop-9, beta:key-of-the-shop-1")
        .start()
        .await;
    refused(me(&app), 401, "unauthorized").await;
}

#[tokio::test]
async fn conversation_tokens_and_sessions_are_not_interchangeable() {
    let app = guarded().start().await;
    let opened = app.post("/conversations", &json!({})).header("x-api-key", "key-of-the-shop-0").send().await.unwrap();
    let opened: Value = opened.json().await.unwrap();
    let (id, token) = (opened["id"].as_str().unwrap(), opened["token"].as_str().unwrap());
    let lan = Browser::sign_in(&app, "key-of-the-shop-0", "Lan").await;
    let session = lan.cookie.strip_prefix("fd_console=").unwrap();
    refused(app.get("/console/api/me").header("cookie", format!("fd_console={token}")), 401, "unauthorized").await;
    let path = format!("/conversations/{id}");
    refused(app.get(&path).header("cookie", format!("fd_conversation={session}")), 401, "unauthorized").await;
    refused(app.get(&path).bearer_auth(session), 401, "unauthorized").await;
    refused(app.get(&format!("{path}/events?token={session}")), 401, "unauthorized").await;
}

#[tokio::test]
async fn development_needs_no_sign_in() {
    let app = TestApp::builder().every_desk().start().await;
    let me: Value = app.get("/console/api/me").send().await.unwrap().json().await.unwrap();
    let expected = json!({
        "signed_in": true, "development": true, "tenant": "default", "name": null, "expires_at": null, "may_edit": true, "sells": true
    });
    assert_eq!(me, expected);
    let sign_in =
        app.post("/console/session", &json!({"key": "key-of-the-shop-0"})).header("sec-fetch-site", "same-origin");
    refused(sign_in, 422, "invalid_request").await;

    let kept = guarded().start().await;
    let cookie = Browser::sign_in(&kept, "key-of-the-shop-0", "Lan").await.cookie;
    let off = kept.stop().await.env("X_API_KEYS", "key-of-the-shop-0").env("CONSOLE", "off").start().await;
    let id = uuid::Uuid::now_v7().to_string();
    let mut all = routes(&off, &id);
    for path in ["me", "conversations", "events", "figures"] {
        all.push(off.get(&format!("/console/api/{path}")));
    }
    all.push(
        off.post("/console/session", &json!({"key": "key-of-the-shop-0"})).header("sec-fetch-site", "same-origin"),
    );
    for request in all {
        refused(request.header("x-api-key", "key-of-the-shop-0"), 404, "not_found").await;
    }
    refused(off.get("/conversations").header("cookie", cookie), 401, "unauthorized").await;
}

#[tokio::test]
async fn key_guessing_at_sign_in_is_limited() {
    let app = guarded().env("RATE_LIMIT_PER_SECOND", 1).env("RATE_LIMIT_BURST", 3).start().await;
    let (begun, mut refusals) = (Instant::now(), Vec::new());
    while refusals.len() < 100 && refusals.last() != Some(&429) {
        let guess = app.post("/console/session", &json!({"key": "guess"})).header("sec-fetch-site", "same-origin");
        refusals.push(guess.send().await.unwrap().status().as_u16());
    }
    assert!(refusals.starts_with(&[401]) && refusals.ends_with(&[429]), "{refusals:?}");
    // One more guess with each second.
    assert!(refusals.len() as u64 <= 4 + begun.elapsed().as_secs(), "{refusals:?}");
}
