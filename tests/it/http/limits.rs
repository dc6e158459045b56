//! Limits on queued turns, turns per minute and requests.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::RequestBuilder;
use serde_json::{Value, json};

use super::live::{BEGINNING, Live, QUESTION, delete, ended, stalled, turn};
use super::problem::refused;
use crate::support::app::TestApp;

#[tokio::test]
async fn ninth_queued_turn_is_refused() {
    let (app, _ollama) = stalled(TestApp::builder()).await;
    let id = app.open(&json!({})).await;
    let mut running = Live::say(&app, &id, QUESTION, None).await;
    running.until(BEGINNING).await;
    let path = format!("/conversations/{id}/messages");
    let answers = join_all((0..20).map(|n| app.post(&path, &json!({"text": format!("hello {n}")})).send())).await;
    let accepted = answers.iter().filter(|answer| answer.as_ref().unwrap().status() == 202).count();
    assert_eq!(accepted, 8, "exactly, however they come");
    for answer in answers.into_iter().map(Result::unwrap).filter(|answer| answer.status() != 202) {
        super::problem::check(answer, 429, "rate_limited").await;
    }
    // Another conversation has a queue of the same size.
    let other = app.open(&json!({})).await;
    assert_eq!(
        app.post(&format!("/conversations/{other}/messages"), &json!({"text": "hi"})).send().await.unwrap().status(),
        202
    );
    delete(&app, &id).await;
}

#[tokio::test]
async fn server_wide_queue_limit_frees_up() {
    let (app, _ollama) = stalled(TestApp::builder().env("TURNS_WAITING_TOTAL", 3)).await;
    let id = app.open(&json!({})).await;
    let mut running = Live::say(&app, &id, QUESTION, None).await;
    running.until(BEGINNING).await;
    let path = format!("/conversations/{id}/messages");
    let say =
        |n: usize| app.post(&path, &json!({"text": format!("hello {n}")})).header("idempotency-key", format!("k{n}"));
    for n in 0..3 {
        assert_eq!(say(n).send().await.unwrap().status(), 202);
    }
    let other = app.open(&json!({})).await;
    // Others that wait for the store do not delay a refusal.
    let busy = app.inner.store.acceptor(Duration::from_secs(30)).await;
    for route in ["messages", "stream"] {
        for conversation in [&id, &other] {
            let path = format!("/conversations/{conversation}/{route}");
            refused(app.post(&path, &json!({"text": "hi"})), 503, "overloaded").await;
        }
    }
    drop(busy);
    // A retry of an accepted message returns its turn.
    assert_eq!(say(1).send().await.unwrap().status(), 202);
    refused(app.post(&path, &json!({"text": "other"})).header("idempotency-key", "k1"), 422, "invalid_request").await;
    delete(&app, &id).await;
    for turn in 1..=10 {
        let response =
            app.post(&format!("/conversations/{other}/messages"), &json!({"text": "kiểm tra bảo hành ABC123"}));
        assert_eq!(response.send().await.unwrap().status(), 202, "turn {turn}");
        assert_eq!(ended(&app, &other, turn).await, "completed");
    }
}

#[tokio::test]
async fn turns_over_the_running_limit_wait() {
    let builder = TestApp::builder().env("TURNS_RUNNING_MAX", 1).env("TURNS_WAITING_TOTAL", 1);
    let (app, _ollama) = stalled(builder).await;
    let [running, waiting, refused_one] =
        [app.open(&json!({})).await, app.open(&json!({})).await, app.open(&json!({})).await];
    Live::say(&app, &running, QUESTION, None).await.until(BEGINNING).await;
    let say = |id: &str| app.post(&format!("/conversations/{id}/messages"), &json!({"text": "bảo hành ABC123"}));
    assert_eq!(say(&waiting).send().await.unwrap().status(), 202);
    refused(say(&refused_one), 503, "overloaded").await;
    assert_eq!(turn(&app, &waiting, 1).await["status"], "queued");
    delete(&app, &running).await;
    assert_eq!(ended(&app, &waiting, 1).await, "completed");
    assert_eq!(say(&refused_one).send().await.unwrap().status(), 202);
}

#[tokio::test]
async fn deletion_waits_for_no_other_conversation() {
    let (app, _ollama) = stalled(TestApp::builder().env("TURNS_RUNNING_MAX", 1)).await;
    let (running, waiting) = (app.open(&json!({})).await, app.open(&json!({})).await);
    Live::say(&app, &running, QUESTION, None).await.until(BEGINNING).await;
    let sent = app.post(&format!("/conversations/{waiting}/messages"), &json!({"text": "hello"})).send().await.unwrap();
    assert_eq!(sent.status(), 202);
    assert_eq!(delete(&app, &waiting).await, 204);
    assert_eq!(turn(&app, &running, 1).await["status"], "running");
}

#[tokio::test]
async fn turns_per_minute_are_limited_per_conversation() {
    let app = TestApp::builder().env("TURNS_PER_MINUTE", 3).start().await;
    let (id, other) = (app.open(&json!({})).await, app.open(&json!({})).await);
    for _ in 0..3 {
        app.ask(&id, "kiểm tra bảo hành ABC123").await;
    }
    for route in ["messages", "stream"] {
        let path = format!("/conversations/{id}/{route}");
        let response = app.post(&path, &json!({"text": "hello"})).send().await.unwrap();
        let seconds: u64 = response.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=61).contains(&seconds), "{seconds}");
        let problem = super::problem::check(response, 429, "rate_limited").await;
        let unit = if seconds == 1 { "second" } else { "seconds" };
        let expected = format!("A conversation may have 3 messages per minute; retry in {seconds} {unit}.");
        assert_eq!(problem["detail"], expected);
    }
    app.ask(&other, "hello").await;
    assert_eq!(app.history(&id).await.iter().filter(|message| message["sender"] == "user").count(), 3);
}

#[tokio::test]
async fn only_trusted_proxies_name_client_address() {
    for (trusted, is_limited) in [("", true), ("127.0.0.0/8", false)] {
        let app = TestApp::builder()
            .env("X_API_KEYS", "key-of-the-shop-0")
            .env("RATE_LIMIT_PER_SECOND", 1)
            .env("RATE_LIMIT_BURST", 1)
            .env("TRUSTED_PROXIES", trusted)
            .start()
            .await;
        let mut statuses = Vec::new();
        // At least two of the requests arrive within the same second.
        for client in 1..=20 {
            // Addresses that the client sends come before the one that the proxy adds.
            let from = format!("198.51.100.9, 203.0.113.{client}");
            let answer = app.get("/conversations").header("x-forwarded-for", from).send().await.unwrap();
            statuses.push(answer.status().as_u16());
        }
        assert_eq!(
            (statuses[0], statuses.contains(&429)),
            (401, is_limited),
            "TRUSTED_PROXIES={trusted}: {statuses:?}"
        );
    }
}

#[tokio::test]
async fn keys_of_one_shop_have_separate_limits() {
    let keys = "acme:key-of-the-shop-0,acme:key-of-the-shop-1";
    let app = TestApp::builder().env("X_API_KEYS", keys).env("KEY_RATE_LIMIT_PER_SECOND", 1).start().await;
    let status = async |key: &str| {
        let response = app.get("/conversations").header("x-api-key", key.to_owned()).send().await.unwrap();
        response.status().as_u16()
    };
    let mut statuses = Vec::new();
    while statuses.len() < 100 && statuses.last() != Some(&429) {
        statuses.push(status("key-of-the-shop-0").await);
    }
    assert!(statuses.ends_with(&[429]), "{statuses:?}");
    assert_eq!(status("key-of-the-shop-1").await, 200);
}

#[tokio::test]
async fn cancelled_queued_turn_frees_its_slot() {
    let (app, _ollama) = stalled(TestApp::builder().env("TURNS_WAITING_MAX", 2)).await;
    let id = app.open(&json!({})).await;
    let mut running = Live::say(&app, &id, QUESTION, None).await;
    running.until(BEGINNING).await;
    let path = format!("/conversations/{id}/messages");
    let say = async || app.post(&path, &json!({"text": "hello"})).send().await.unwrap().status().as_u16();
    assert_eq!([say().await, say().await, say().await], [202, 202, 429]);
    let cancel = app.request(reqwest::Method::POST, &format!("/conversations/{id}/turns/2/cancel"));
    assert_eq!(cancel.send().await.unwrap().status(), 202);
    assert_eq!([say().await, say().await], [202, 429]);
    delete(&app, &id).await;
}

#[tokio::test]
async fn wrong_credentials_are_limited_on_every_route() {
    let app = TestApp::builder()
        .env("X_API_KEYS", "key-of-the-shop-0")
        .env("WEB_CHAT", "on")
        .env("RATE_LIMIT_PER_SECOND", 1)
        .env("RATE_LIMIT_BURST", 5)
        .env("TRUSTED_PROXIES", "127.0.0.0/8")
        .start()
        .await;
    let key = "key-of-the-shop-0";
    let opened: Value =
        app.post("/conversations", &json!({})).header("x-api-key", key).send().await.unwrap().json().await.unwrap();
    let (id, token) = (opened["id"].as_str().unwrap(), opened["token"].as_str().unwrap());
    let events = format!("/conversations/{id}/events");
    let guess = |request: RequestBuilder| request.header("x-api-key", "key-of-the-shop-1");
    let repeat = |request: RequestBuilder| guess(request).header("idempotency-key", "k");
    let stream = |token: &str| app.get(&format!("{events}?token={token}"));
    let all: [(&str, &dyn Fn() -> RequestBuilder); 4] = [
        ("192.0.2.1", &|| guess(app.get(&events))),
        ("192.0.2.2", &|| repeat(app.post("/conversations", &json!({})))),
        ("192.0.2.3", &|| stream("rubbish")),
        ("192.0.2.4", &|| guess(app.get("/conversations"))),
    ];
    let from = |request: RequestBuilder, address: &str| request.header("x-forwarded-for", address.to_owned());
    for (address, request) in all {
        let mut statuses = Vec::new();
        while statuses.len() < 100 && statuses.last() != Some(&429) {
            statuses.push(from(request(), address).send().await.unwrap().status().as_u16());
        }
        assert!(statuses.starts_with(&[401; 5]) && statuses.ends_with(&[429]), "{address}: {statuses:?}");
        // A browser with a valid token always gets its stream.
        assert_eq!(from(stream(token), address).send().await.unwrap().status(), 200, "{address}");
    }
    // The response does not reveal a correct guess. Other addresses are not affected.
    let mut statuses = Vec::new();
    while statuses.len() < 100 && statuses.last() != Some(&429) {
        from(guess(app.get("/conversations")), "192.0.2.4").send().await.unwrap();
        let right = from(app.get("/conversations").header("x-api-key", key), "192.0.2.4");
        statuses.push(right.send().await.unwrap().status().as_u16());
    }
    assert!(statuses.ends_with(&[429]), "{statuses:?}");
    let other = from(app.get("/conversations").header("x-api-key", key), "192.0.2.5");
    assert_eq!(other.send().await.unwrap().status(), 200);
    // The console's page has no rate limit, so a key has no effect there.
    let page = async |key: &str| {
        let page = app.get("/console").header("x-api-key", key.to_owned()).send().await.unwrap();
        page.text().await.unwrap()
    };
    assert_eq!(page(key).await, page("key-of-the-shop-1").await);
    let metrics = app.get("/metrics").header("x-api-key", key).send().await.unwrap().text().await.unwrap();
    for credential in ["api_key", "token"] {
        let line = format!("frontdesk_failed_authentications_total{{credential=\"{credential}\"}}");
        assert!(metrics.contains(&line), "{metrics}");
    }
}
