//! `POST /console/api/conversations/{id}/answers`

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{Browser, answer, guarded, hand};
use crate::http::live::{Live, ended};
use crate::http::problem::refused;
use crate::support::app::TestApp;

#[tokio::test]
async fn persons_answer_is_a_turn_of_one_message() {
    let app = guarded().start().await;
    let lan = Browser::sign_in(&app, "key-of-the-shop-0", "Lan").await;
    let opened: Value = lan.post("/conversations", &json!({})).send().await.unwrap().json().await.unwrap();
    let (id, token) = (opened["id"].as_str().unwrap(), opened["token"].as_str().unwrap());
    let customer = app.get(&format!("/conversations/{id}/events")).bearer_auth(token);
    let mut customer = Live::open(customer).await.opened().await;
    let taken = lan.hand(id, "take").await;
    assert_eq!((&taken["status"], &taken["agent"]), (&json!("taken"), &json!("Lan")));
    assert_eq!(lan.answer(id, "  Dạ em là Lan ạ \n").await, 1);
    customer.until_done(1).await;
    let events = customer.so_far().await;
    assert_eq!(events.ids(), ["1.1", "1.2", "1.3", "1.4", "1.5"]);
    let mut told: Vec<Value> = events.data().into_iter().cloned().collect();
    let message = told[0]["message_id"].clone();
    told[4].as_object_mut().unwrap().remove("timings_ms");
    let metadata = json!({"type": "agent", "name": "Lan"});
    let expected = json!([
        {"type": "turn.start", "turn": 1, "message_id": message, "sender": "agent", "text": "Dạ em là Lan ạ"},
        {"type": "message.start", "message_id": message, "kind": "agent"},
        {"type": "delta", "message_id": message, "text": "Dạ em là Lan ạ"},
        {"type": "message.end", "message_id": message, "kind": "agent", "metadata": metadata},
        {"type": "turn.done", "turn": 1, "status": "completed"},
    ]);
    assert_eq!(Value::from(told), expected);
    let history = lan.json(&format!("/conversations/{id}/history")).await;
    let messages = history["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2, "the greeting, and one answer: {messages:?}");
    assert_eq!((&messages[1]["id"], &messages[1]["sender"]), (&message, &json!("agent")));
    assert_eq!((&messages[1]["metadata"], &messages[1]["turn"]), (&metadata, &json!(1)));
    let shown = app.get(&format!("/conversations/{id}")).bearer_auth(token).send().await.unwrap();
    let shown: Value = shown.json().await.unwrap();
    assert_eq!((&shown["status"], &shown["agent"]), (&json!("taken"), &json!("Lan")), "the customer sees who answers");
    let given = lan.hand(id, "give-back").await;
    assert_eq!((&given["status"], &given["agent"]), (&json!("bot"), &Value::Null));
}

#[tokio::test]
async fn only_taken_conversations_accept_answers() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let path = format!("/console/api/conversations/{id}/answers");
    let say = |text: &str| app.post(&path, &json!({"text": text}));
    refused(say("hi"), 409, "not_taken").await;
    app.ask(&id, "talk to a human").await;
    refused(say("hi"), 409, "not_taken").await;
    hand(&app, &id, "take").await;
    refused(say(" "), 422, "invalid_request").await;
    refused(say(&"a".repeat(4001)), 422, "invalid_request").await;
    let keyed = || say("Dạ có ạ").header("idempotency-key", "k");
    let first: Value = keyed().send().await.unwrap().json().await.unwrap();
    for act in ["give-back", "close"] {
        hand(&app, &id, act).await;
        refused(say("hi"), 409, "not_taken").await;
        let again: Value = keyed().send().await.unwrap().json().await.unwrap();
        assert_eq!(again, first, "what was accepted stays accepted");
    }
    let unknown = uuid::Uuid::now_v7();
    refused(
        app.post(&format!("/console/api/conversations/{unknown}/answers"), &json!({"text": "a"})),
        404,
        "not_found",
    )
    .await;
    assert_eq!(app.history(&id).await.iter().filter(|message| message["sender"] == "agent").count(), 1);
}

#[tokio::test]
async fn concurrent_answers_with_one_key_store_one() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    hand(&app, &id, "take").await;
    let path = format!("/console/api/conversations/{id}/answers");
    let posts = (0..100).map(|_| app.post(&path, &json!({"text": "Dạ"})).header("idempotency-key", "same").send());
    let mut accepted = Vec::new();
    for response in join_all(posts).await {
        let response = response.unwrap();
        assert_eq!(response.status(), 202);
        accepted.push(response.text().await.unwrap());
    }
    accepted.dedup();
    assert_eq!(accepted.len(), 1);
    let other = app.post(&path, &json!({"text": "Vâng"})).header("idempotency-key", "same");
    refused(other, 422, "invalid_request").await;
    assert_eq!(app.history(&id).await.len(), 2);
}

#[tokio::test]
async fn persons_answers_bypass_customer_limits() {
    let app = TestApp::builder().env("TURNS_PER_MINUTE", 2).env("TURNS_PER_DAY", 2).start().await;
    let id = app.open(&json!({})).await;
    hand(&app, &id, "take").await;
    for turn in 1..=5 {
        assert_eq!(answer(&app, &id, "Dạ").await, turn);
    }
    assert_eq!(ended(&app, &id, 5).await, "completed");
    let path = format!("/conversations/{id}/messages");
    let say = || app.post(&path, &json!({"text": "hello"}));
    for _ in 0..2 {
        assert_eq!(say().send().await.unwrap().status(), 202);
    }
    refused(say(), 429, "rate_limited").await;
    assert_eq!(answer(&app, &id, "Dạ").await, 8);
}
