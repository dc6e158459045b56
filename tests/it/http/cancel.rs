//! `POST …/turns/{turn}/cancel`

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use super::live::{BEGINNING, Live, QUESTION, ended, stalled, turn};
use super::problem::refused;
use crate::support::app::TestApp;
use crate::support::eventually;

fn cancel(app: &TestApp, id: &str, turn: &str) -> RequestBuilder {
    app.request(reqwest::Method::POST, &format!("/conversations/{id}/turns/{turn}/cancel"))
}

#[tokio::test]
async fn cancelled_turn_stops_model_and_keeps_partial_text() {
    let (app, ollama) = stalled(TestApp::builder()).await;
    let id = app.open(&json!({})).await;
    let mut running = Live::say(&app, &id, QUESTION, None).await;
    running.until(BEGINNING).await;
    assert_eq!(ollama.closed_early(), 0);
    assert_eq!(cancel(&app, &id, "1").send().await.unwrap().status(), 202);
    let events = running.events().await;
    assert_eq!(events.status(), "cancelled");
    let starts = events.data().iter().filter(|event| event["type"] == "message.start").count();
    let ends = events.data().iter().filter(|event| event["type"] == "message.end").count();
    assert_eq!(starts, ends);
    eventually("the model's connection is closed", || ollama.closed_early() > 0).await;
    assert_eq!(turn(&app, &id, 1).await["status"], "cancelled");
    let history = app.history(&id).await;
    let reply = history.iter().find(|message| message["metadata"]["type"] == "reply").unwrap();
    assert_eq!(reply["text"], events.text("reply"));
    assert_eq!((&reply["metadata"]["cut"], &reply["metadata"]["cut_reason"]), (&json!(true), &json!("cancelled")));
    // The next message is answered.
    assert_eq!(app.ask(&id, "kiểm tra bảo hành ABC123").await.status(), "completed");
}

#[tokio::test]
async fn cancelled_queued_turn_ends_in_order() {
    let (app, _ollama) = stalled(TestApp::builder()).await;
    let id = app.open(&json!({})).await;
    let mut stream = Live::follow(&app, &id, None).await;
    let mut running = Live::say(&app, &id, QUESTION, None).await;
    running.until(BEGINNING).await;
    let path = format!("/conversations/{id}/messages");
    for text in ["kiểm tra bảo hành XYZ789", "kiểm tra bảo hành ABC123"] {
        assert_eq!(app.post(&path, &json!({"text": text})).send().await.unwrap().status(), 202);
    }
    // Cancelling is idempotent.
    for _ in 0..2 {
        assert_eq!(cancel(&app, &id, "2").send().await.unwrap().status(), 202);
    }
    assert_eq!(turn(&app, &id, 2).await["status"], "queued", "its place has not come");
    assert_eq!(cancel(&app, &id, "1").send().await.unwrap().status(), 202);
    stream.until_done(3).await;
    let seen = stream.so_far().await;
    let of = |turn: &str| -> Vec<Value> {
        let events = seen.with_ids().into_iter().filter(|(id, _)| id.split('.').next() == Some(turn));
        events.map(|(_, data)| data).collect()
    };
    let second = of("2");
    assert_eq!(second.len(), 2, "{second:?}");
    assert_eq!((&second[0]["type"], &second[0]["text"]), (&json!("turn.start"), &json!("kiểm tra bảo hành XYZ789")));
    assert_eq!((&second[1]["type"], &second[1]["status"]), (&json!("turn.done"), &json!("cancelled")));
    assert_eq!(of("3").last().unwrap()["status"], "completed");
    let history = app.history(&id).await;
    let answers = history.iter().filter(|message| message["turn"] == 2 && message["sender"] == "assistant").count();
    assert_eq!(answers, 0);
}

#[tokio::test]
async fn cancellation_survives_a_restart() {
    let (app, _ollama) = stalled(TestApp::builder().env("DRAIN_SECONDS", 0.05)).await;
    let id = app.open(&json!({})).await;
    let mut running = Live::say(&app, &id, QUESTION, None).await;
    running.until(BEGINNING).await;
    let path = format!("/conversations/{id}/messages");
    assert_eq!(app.post(&path, &json!({"text": "kiểm tra bảo hành ABC123"})).send().await.unwrap().status(), 202);
    assert_eq!(cancel(&app, &id, "2").send().await.unwrap().status(), 202);
    let next = app.stop().await.start().await;
    assert_eq!(ended(&next, &id, 2).await, "cancelled");
    assert_eq!(turn(&next, &id, 1).await["status"], "interrupted");
}

#[tokio::test]
async fn ended_turn_cannot_be_cancelled() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    assert_eq!(app.ask(&id, "hello").await.status(), "completed");
    refused(cancel(&app, &id, "1"), 409, "turn_ended").await;
    assert_eq!(turn(&app, &id, 1).await["status"], "completed");
    let unknown = uuid::Uuid::now_v7().to_string();
    for (id, turn) in
        [(id.as_str(), "2"), (&id, "0"), (&id, "x"), (&id, "-1"), (&id, "01"), (&id, "99999999999"), (&unknown, "1")]
    {
        refused(cancel(&app, id, turn), 404, "not_found").await;
    }
}

#[tokio::test]
async fn other_shops_turn_cannot_be_cancelled() {
    let (app, _ollama) = stalled(TestApp::builder().env("X_API_KEYS", "a:key-of-the-shop-a,b:key-of-the-shop-b")).await;
    let opened = app.post("/conversations", &json!({})).header("x-api-key", "key-of-the-shop-a");
    let opened: Value = opened.send().await.unwrap().json().await.unwrap();
    let (id, token) = (opened["id"].as_str().unwrap(), opened["token"].as_str().unwrap());
    let request = app.post(&format!("/conversations/{id}/stream"), &json!({"text": QUESTION})).bearer_auth(token);
    let mut running = Live::open(request).await;
    running.until(BEGINNING).await;
    refused(cancel(&app, id, "1").header("x-api-key", "key-of-the-shop-b"), 404, "not_found").await;
    refused(cancel(&app, id, "1"), 401, "unauthorized").await;
    let record = app.get(&format!("/conversations/{id}/turns/1")).bearer_auth(token).send().await.unwrap();
    assert_eq!(record.json::<Value>().await.unwrap()["status"], "running");
    // The customer may cancel with the conversation's token.
    assert_eq!(cancel(&app, id, "1").bearer_auth(token).send().await.unwrap().status(), 202);
    assert_eq!(running.events().await.status(), "cancelled");
}

#[tokio::test]
async fn cancelled_turn_does_not_repeat_greeting() {
    let (app, _ollama) = stalled(TestApp::builder()).await;
    let id = app.open(&json!({})).await;
    for (turn_number, greets) in [("1", true), ("2", false)] {
        let mut running = Live::say(&app, &id, QUESTION, None).await;
        running.until(BEGINNING).await;
        assert_eq!(cancel(&app, &id, turn_number).send().await.unwrap().status(), 202);
        let events = running.events().await;
        assert_eq!(events.status(), "cancelled");
        assert_eq!(events.kinds().contains(&"cute_greeting".to_owned()), greets, "{:?}", events.kinds());
    }
}

#[tokio::test]
async fn cancel_accepts_only_an_empty_body() {
    let (app, _ollama) = stalled(TestApp::builder()).await;
    let id = app.open(&json!({})).await;
    let mut running = Live::say(&app, &id, QUESTION, None).await;
    running.until(BEGINNING).await;
    refused(cancel(&app, &id, "1").json(&json!({"x": 1})), 422, "invalid_request").await;
    refused(cancel(&app, &id, "1").header("content-type", "text/plain").body("x"), 415, "unsupported_media_type").await;
    assert_eq!(turn(&app, &id, 1).await["status"], "running");
    assert_eq!(cancel(&app, &id, "1").json(&json!({})).send().await.unwrap().status(), 202);
    assert_eq!(running.events().await.status(), "cancelled");
}
