//! `POST /chat`: a session is an ordinary conversation, and the response is the reply.

use std::time::Duration;

use frontdesk::app::session_chat::ChatSession;
use frontdesk::cli::seed::accounts::accounts;
use frontdesk::domain::TenantId;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::console::{Browser, guarded};
use super::problem::refused;
use crate::support::app::{TestApp, TestAppBuilder};
use crate::support::eventually_async;
use crate::support::ollama::{Play, ScriptedOllama};

const KEY: &str = "key-of-the-shop-0";

async fn open(builder: TestAppBuilder) -> TestApp {
    let app = builder.every_desk().start().await;
    app.inner.store.tenant(&TenantId::default()).make_sample_accounts(&accounts()).await.unwrap();
    app
}

async fn chat(app: &TestApp, body: &Value) -> Value {
    let response = app.post("/chat", body).send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.json().await.unwrap()
}

async fn conversations(app: &TestApp) -> Vec<Value> {
    let list: Value = app.get("/conversations?limit=200").send().await.unwrap().json().await.unwrap();
    list["conversations"].as_array().unwrap().clone()
}

#[tokio::test]
async fn session_opens_a_refund_case() {
    let app = open(TestApp::builder()).await;
    let said =
        |message: &str| json!({"session_id": "s-1", "user_id": "u123", "persona": "telecom_en", "message": message});
    let asked = chat(&app, &said("I want to request a refund for invoice INV-20251001")).await;
    assert_eq!((&asked["route"], &asked["last_agent"]), (&json!("billing"), &json!("billing")));
    assert_eq!(asked["state_excerpt"]["history_length"], 2);
    assert_eq!(asked["state_excerpt"]["refund_in_progress"], true);
    chat(&app, &said("Reason: overcharge. Amount: PLN 100")).await;
    let opened = chat(&app, &said("yes")).await;
    let excerpt =
        json!({"last_agent": "billing", "history_length": 6, "refund_in_progress": true, "billing_case_id": "R10001"});
    assert_eq!(opened["state_excerpt"], excerpt, "{opened}");
    assert!(opened["reply"].as_str().unwrap().contains("R10001"), "{opened}");
    let members: Vec<&str> = opened.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["reply", "status", "route", "last_agent", "sources", "used_tools", "state_excerpt"]);
    let [conversation] = &conversations(&app).await[..] else { panic!("not one conversation") };
    assert_eq!((&conversation["user_id"], &conversation["persona"]), (&json!("u123"), &json!("telecom_en")));
    let history = app.history(conversation["id"].as_str().unwrap()).await;
    assert_eq!(history.last().unwrap()["text"], opened["reply"]);
}

#[tokio::test]
async fn technical_reply_names_no_refund() {
    let app = open(TestApp::builder()).await;
    let body = json!({"session_id": "s-1", "persona": "telecom_en", "message": "My internet is slow"});
    let answer = chat(&app, &body).await;
    assert_eq!(answer["state_excerpt"].get("refund_in_progress"), None, "{answer}");
}

#[tokio::test]
async fn fifty_first_calls_open_one_conversation() {
    let app = TestApp::builder().env("TURNS_PER_MINUTE", 0).env("TURNS_WAITING_MAX", 100).start().await;
    let body = json!({"session_id": "s-1", "message": "xin chào"});
    let answers = join_all((0..50).map(|_| chat(&app, &body))).await;
    assert!(answers.iter().all(|answer| answer["reply"].is_string()));
    let [conversation] = &conversations(&app).await[..] else { panic!("not one conversation") };
    let id = conversation["id"].as_str().unwrap();
    let turn: Value = app.get(&format!("/conversations/{id}/turns/50")).send().await.unwrap().json().await.unwrap();
    assert_eq!(turn["status"], "completed");
}

#[tokio::test]
async fn repeated_key_gives_the_same_reply() {
    let app = TestApp::start().await;
    let body = json!({"session_id": "s-1", "message": "hello"});
    let send = async |body: &Value| app.post("/chat", body).header("idempotency-key", "k-1").send().await.unwrap();
    let first: Value = send(&body).await.json().await.unwrap();
    let again: Value = send(&body).await.json().await.unwrap();
    assert_eq!(first, again);
    let other = json!({"session_id": "s-1", "message": "bye"});
    assert_eq!(send(&other).await.status(), 422);
}

#[tokio::test]
async fn first_user_binds_the_session() {
    let app = TestApp::builder().every_desk().start().await;
    let said = |user: Option<&str>| json!({"session_id": "s-1", "message": "hello", "user_id": user});
    chat(&app, &said(None)).await;
    chat(&app, &said(Some("u123"))).await;
    chat(&app, &said(None)).await;
    assert_eq!(conversations(&app).await[0]["user_id"], "u123");
    let detail = refused(app.post("/chat", &said(Some("u456"))), 422, "invalid_request").await["detail"].clone();
    assert!(detail.as_str().unwrap().contains("another user_id"), "{detail}");
    let persona = json!({"session_id": "s-1", "message": "hello", "persona": "telecom_en"});
    refused(app.post("/chat", &persona), 422, "invalid_request").await;
}

#[tokio::test]
async fn invalid_sessions_and_messages_are_refused() {
    let app = TestApp::start().await;
    for (session, message) in
        [("", "hello"), ("a b", "hello"), ("ế", "hello"), (&"x".repeat(129), "hello"), ("s-1", " "), ("s-1", "")]
    {
        let body = json!({"session_id": session, "message": message});
        refused(app.post("/chat", &body), 422, "invalid_request").await;
    }
    refused(app.post("/chat", &json!({"session_id": "s-1"})), 422, "invalid_request").await;
    assert!(conversations(&app).await.is_empty());
}

#[tokio::test]
async fn only_the_shop_may_chat() {
    let app = guarded().start().await;
    let body = json!({"session_id": "s-1", "message": "hello"});
    refused(app.post("/chat", &body), 401, "unauthorized").await;
    let lan = Browser::sign_in(&app, KEY, "Lan").await;
    refused(lan.post("/chat", &body), 401, "unauthorized").await;
    // Shops do not share sessions.
    for key in [KEY, "key-of-the-shop-1"] {
        let response = app.post("/chat", &body).header("x-api-key", key).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let list: Value =
            app.get("/conversations").header("x-api-key", key).send().await.unwrap().json().await.unwrap();
        assert_eq!(list["conversations"].as_array().unwrap().len(), 1, "{list}");
    }
}

#[tokio::test]
async fn taken_conversation_has_no_reply() {
    let app = guarded().start().await;
    let send = async |text: &str| -> Value {
        let body = json!({"session_id": "s-1", "message": text});
        app.post("/chat", &body).header("x-api-key", KEY).send().await.unwrap().json().await.unwrap()
    };
    assert!(send("hello").await["reply"].is_string());
    let list: Value = app.get("/conversations").header("x-api-key", KEY).send().await.unwrap().json().await.unwrap();
    let id = list["conversations"][0]["id"].as_str().unwrap();
    let lan = Browser::sign_in(&app, KEY, "Lan").await;
    lan.hand(id, "take").await;
    let taken = send("are you there?").await;
    assert_eq!((&taken["reply"], &taken["status"]), (&Value::Null, &json!("completed")));
}

#[tokio::test]
async fn failed_turn_says_so() {
    let ollama = ScriptedOllama::start().await;
    let app = open(TestApp::builder().ollama(&ollama)).await;
    let said = |session: &str| json!({"session_id": session, "persona": "telecom_en", "message": "What does a red PON light mean?"});
    ollama.play(Play::new().says("Check the fibre cable, and then ").hangs_up());
    let failed = chat(&app, &said("s-1")).await;
    assert_eq!(failed["status"], "failed", "{failed}");
    let reply = failed["reply"].as_str().unwrap();
    assert!(reply.starts_with("Check the fibre cable") && reply.contains("\n\n"), "{reply}");
    ollama.reply("There is no signal.");
    let completed = chat(&app, &said("s-2")).await;
    assert_eq!((&completed["status"], &completed["route"]), (&json!("completed"), &json!("technical")));
}

#[tokio::test]
async fn refused_repeat_binds_no_user() {
    let app = TestApp::start().await;
    chat(&app, &json!({"session_id": "s-1", "message": "hello"})).await;
    let (user_id, repeats_only) = (Some("u123".to_owned()), true);
    let session = ChatSession { session_id: "s-1".to_owned(), user_id, persona: None, repeats_only };
    app.inner.conversation_of_session(&TenantId::default(), &session).await.unwrap();
    assert_eq!(conversations(&app).await[0]["user_id"], Value::Null);
}

#[tokio::test]
async fn late_reply_is_accepted_with_its_turn() {
    let ollama = ScriptedOllama::start().await;
    ollama.play(Play::reply("There is no signal.").paced(Duration::from_millis(200)));
    let app = open(TestApp::builder().ollama(&ollama).env("CHAT_WAIT_SECONDS", "0")).await;
    let message = "What does a red PON light mean?";
    let body = json!({"session_id": "s-1", "persona": "telecom_en", "message": message});
    let send = async || app.post("/chat", &body).header("idempotency-key", "k-1").send().await.unwrap();
    let response = send().await;
    assert_eq!(response.status(), 202);
    let accepted: Value = response.json().await.unwrap();
    assert_eq!(accepted["turn"], 1);
    assert!(["queued", "running"].contains(&accepted["status"].as_str().unwrap()), "{accepted}");
    assert_eq!(accepted["conversation_id"], conversations(&app).await[0]["id"]);
    // The wait is over at once, so the reply comes from the stored events.
    let mut reply = Value::Null;
    eventually_async("the reply is stored", async || {
        let response = send().await;
        let is_reply = response.status() == 200;
        reply = response.json().await.unwrap();
        is_reply
    })
    .await;
    assert_eq!((&reply["status"], &reply["route"]), (&json!("completed"), &json!("technical")), "{reply}");
    assert!(!reply["sources"].as_array().unwrap().is_empty(), "{reply}");
}
