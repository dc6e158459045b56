//! Shutdown: running turns are drained, queued turns are kept, and new messages are refused.

use serde_json::{Value, json};

use super::live::{BEGINNING, Live, QUESTION, ended, stalled, turn};
use super::problem::refused;
use crate::support::app::TestApp;
use crate::support::eventually_async;

#[tokio::test]
async fn draining_server_refuses_new_messages() {
    // Longer than any machine takes.
    let (app, _ollama) = stalled(TestApp::builder().env("DRAIN_SECONDS", 600)).await;
    let create = |body: Value| app.post("/conversations", &body).header("idempotency-key", "k");
    let opened: Value = create(json!({})).send().await.unwrap().json().await.unwrap();
    let id = opened["id"].as_str().unwrap().to_owned();
    let mut running = Live::say(&app, &id, QUESTION, Some("k")).await;
    running.until(BEGINNING).await;
    app.begin_shutdown();
    let is_draining = async || {
        let ready = app.get("/readyz").send().await.unwrap();
        ready.status() == 503 && ready.json::<Value>().await.unwrap()["status"] == "draining"
    };
    eventually_async("the server drains", is_draining).await;
    for path in
        ["/conversations".to_owned(), format!("/conversations/{id}/messages"), format!("/conversations/{id}/stream")]
    {
        let body = if path == "/conversations" { json!({}) } else { json!({"text": "hi"}) };
        refused(app.post(&path, &body), 503, "draining").await;
    }
    // A retry of an accepted request still gets its response.
    let again = create(json!({})).send().await.unwrap();
    assert_eq!(again.status(), 201);
    assert_eq!(again.json::<Value>().await.unwrap()["id"], opened["id"]);
    refused(create(json!({"language": "en"})), 422, "invalid_request").await;
    let again = app.post(&format!("/conversations/{id}/messages"), &json!({"text": QUESTION}));
    let again = again.header("idempotency-key", "k").send().await.unwrap();
    assert_eq!(again.status(), 202);
    assert_eq!(app.get(&format!("/conversations/{id}/history")).send().await.unwrap().status(), 200);
    assert_eq!(app.get("/healthz").send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn drained_server_interrupts_running_and_keeps_queued() {
    let (app, _ollama) = stalled(TestApp::builder().env("DRAIN_SECONDS", 0.2)).await;
    let id = app.open(&json!({})).await;
    let mut running = Live::say(&app, &id, QUESTION, Some("k")).await;
    running.until(BEGINNING).await;
    let waiting = Live::say(&app, &id, "kiểm tra bảo hành ABC123", Some("k2")).await;
    app.begin_shutdown();
    let events = running.events().await;
    assert_eq!(events.status(), "interrupted");
    assert!(events.text("reply").starts_with(BEGINNING));
    assert!(waiting.events().await.data().is_empty(), "it has not begun");
    let next = app.stop().await.start().await;
    assert_eq!(turn(&next, &id, 1).await["status"], "interrupted");
    assert_eq!(ended(&next, &id, 2).await, "completed");
    let replay = Live::say(&next, &id, "kiểm tra bảo hành ABC123", Some("k2")).await.events().await;
    assert_eq!(replay.status(), "completed");
    let history = next.history(&id).await;
    let cut: Vec<&Value> = history.iter().filter(|message| message["metadata"]["cut"] == true).collect();
    assert_eq!(cut.len(), 1);
    assert!(cut[0]["text"].as_str().unwrap().starts_with(BEGINNING));
}

#[tokio::test]
async fn idle_server_shuts_down_at_once() {
    let app = TestApp::builder().env("DRAIN_SECONDS", 600).start().await;
    let id = app.open(&json!({})).await;
    app.ask(&id, "hello").await;
    let begun = std::time::Instant::now();
    let next = app.stop().await;
    // Waiting for anything would take DRAIN_SECONDS, which no machine is slow enough to reach.
    assert!(begun.elapsed() < std::time::Duration::from_secs(300));
    assert!(next.start().await.history(&id).await.len() > 1);
}

#[tokio::test]
async fn tokens_survive_a_restart() {
    let app = TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0").start().await;
    let opened: Value = app
        .post("/conversations", &json!({}))
        .header("x-api-key", "key-of-the-shop-0")
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let path = format!("/conversations/{}", opened["id"].as_str().unwrap());
    let next = app.stop().await.env("X_API_KEYS", "key-of-the-shop-0").start().await;
    let token = opened["token"].as_str().unwrap();
    assert_eq!(next.get(&path).bearer_auth(token).send().await.unwrap().status(), 200);
}
