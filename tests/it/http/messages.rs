//! `POST …/messages` and `…/stream`: one message makes one turn, also after a retry.

use std::collections::HashSet;

use futures_util::future::join_all;
use reqwest::RequestBuilder;
use serde_json::{Value, json};

use super::live::{BEGINNING, Live, QUESTION, delete, ended, stalled};
use super::problem::refused;
use crate::support::app::TestApp;
use crate::support::sse::parse;

async fn post(app: &TestApp, conversation: &str, key: &str, text: &str) -> Value {
    let path = format!("/conversations/{conversation}/messages");
    let response = app.post(&path, &json!({"text": text})).header("idempotency-key", key).send().await.unwrap();
    assert_eq!(response.status(), 202);
    response.json().await.unwrap()
}

async fn stream(app: &TestApp, conversation: &str, key: &str, text: &str) -> String {
    let path = format!("/conversations/{conversation}/stream");
    let response = app.post(&path, &json!({"text": text})).header("idempotency-key", key).send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.text().await.unwrap()
}

#[tokio::test]
async fn accepted_message_runs_in_the_background() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    for turn in 1..=2 {
        let accepted = post(&app, &id, &format!("k{turn}"), "kiểm tra bảo hành ABC123").await;
        let message = accepted["message_id"].as_str().unwrap();
        assert_eq!(accepted, json!({"message_id": message, "turn": turn, "status": "queued"}));
        assert_eq!(ended(&app, &id, turn).await, "completed");
        let history = app.history(&id).await;
        let of_turn: Vec<&Value> = history.iter().filter(|message| message["turn"] == turn).collect();
        assert_eq!(of_turn[0]["id"], message);
        assert_eq!((&of_turn[0]["sender"], &of_turn[0]["metadata"]), (&json!("user"), &json!({})));
        assert!(of_turn.len() > 1, "it was answered");
    }
}

#[tokio::test]
async fn same_key_returns_same_turn_on_both_routes() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let text = "kiểm tra bảo hành ABC123 và XYZ789";
    let first = stream(&app, &id, "k", text).await;
    assert_eq!(stream(&app, &id, "k", text).await, first);
    let accepted = post(&app, &id, "k", text).await;
    assert_eq!(accepted["turn"], 1);
    assert_eq!(accepted["message_id"], parse(&first).first("turn.start")["message_id"]);
    let later = post(&app, &id, "k2", text).await;
    assert_eq!(later["turn"], 2);
    let second = stream(&app, &id, "k2", text).await;
    assert_ne!(second, first);
    assert_eq!(stream(&app, &id, "k", text).await, first, "an earlier turn, after a later one");
    let users = app.history(&id).await.iter().filter(|message| message["sender"] == "user").count();
    assert_eq!(users, 2);
}

#[tokio::test]
async fn key_with_another_body_is_refused() {
    let app = TestApp::start().await;
    let (id, other) = (app.open(&json!({})).await, app.open(&json!({})).await);
    stream(&app, &id, "k", "hello").await;
    for route in ["messages", "stream"] {
        let path = format!("/conversations/{id}/{route}");
        let request = app.post(&path, &json!({"text": "hallo"})).header("idempotency-key", "k");
        refused(request, 422, "invalid_request").await;
    }
    assert_eq!(post(&app, &other, "k", "hallo").await["turn"], 1);
}

#[tokio::test]
async fn concurrent_requests_with_one_key_store_one_message() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let text = "kiểm tra bảo hành ABC123";
    let (posts, streams) = tokio::join!(
        join_all((0..50).map(|_| post(&app, &id, "k", text))),
        join_all((0..50).map(|_| stream(&app, &id, "k", text))),
    );
    let posts: HashSet<String> = posts.iter().map(Value::to_string).collect();
    assert_eq!(posts.len(), 1);
    let streams: HashSet<String> = streams.into_iter().collect();
    assert_eq!(streams.len(), 1, "{streams:?}");
    assert_eq!(app.history(&id).await.iter().filter(|message| message["sender"] == "user").count(), 1);
}

#[tokio::test]
async fn repeated_key_replays_running_turn_despite_limits() {
    let (app, _ollama) = stalled(TestApp::builder().env("TURNS_PER_MINUTE", 1)).await;
    let id = app.open(&json!({})).await;
    let mut first = Live::say(&app, &id, QUESTION, Some("k")).await;
    first.until(BEGINNING).await;
    assert_eq!(post(&app, &id, "k", QUESTION).await["turn"], 1);
    let mut second = Live::say(&app, &id, QUESTION, Some("k")).await;
    second.until(BEGINNING).await;
    delete(&app, &id).await;
    let (first, second) = (first.text().await, second.text().await);
    assert_eq!(first, second);
    assert_eq!(parse(&first).status(), "cancelled");
}

#[tokio::test]
async fn repeated_key_replays_despite_stream_limit() {
    let app = TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0").env("STREAMS_PER_KEY", 1).start().await;
    let keyed = |request: RequestBuilder| request.header("x-api-key", "key-of-the-shop-0");
    let opened: Value = keyed(app.post("/conversations", &json!({}))).send().await.unwrap().json().await.unwrap();
    let path = format!("/conversations/{}", opened["id"].as_str().unwrap());
    let _open = Live::open(keyed(app.get(&format!("{path}/events")))).await.opened().await;
    let say = |route: &str| keyed(app.post(&format!("{path}/{route}"), &json!({"text": "kiểm tra bảo hành ABC123"})));
    assert_eq!(say("messages").header("idempotency-key", "k").send().await.unwrap().status(), 202);
    let replay = Live::open(say("stream").header("idempotency-key", "k")).await;
    assert_eq!(replay.events().await.status(), "completed");
    refused(say("stream").header("idempotency-key", "k2"), 429, "rate_limited").await;
    refused(say("stream"), 429, "rate_limited").await;
    assert_eq!(say("messages").send().await.unwrap().json::<Value>().await.unwrap()["turn"], 2, "none was stored");
}
