//! Who answers, and why.

use serde_json::{Value, json};

use super::{Turns, open_desk, open_plain_desk, talk};
use crate::support::app::TestApp;
use crate::support::dialogue::assert_dialogue;
use crate::support::ollama::{Play, ScriptedOllama};

#[tokio::test]
async fn unsure_messages_stay_with_the_specialist() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    let intent = |events: &crate::support::sse::Events| events.first("intent").clone();
    let first = intent(&chat.say("The PON light is red").await);
    assert_eq!((&first["intent"], &first["route"]), (&json!("technical"), &json!("technical")));
    let second = intent(&chat.say("hmm, and that one?").await);
    assert_eq!(second["route"], "technical");
    let thanks = intent(&chat.say("thanks").await);
    assert_eq!(
        (&thanks["intent"], &thanks["confidence"], &thanks["route"]),
        (&json!("unknown"), &json!(0.9), &json!("fallback"))
    );
    assert_eq!(intent(&chat.say("hmm, and that one?").await)["route"], "technical", "thanks do not end the thread");
    let pivot = intent(&chat.say("How much is the refund?").await);
    assert_eq!((&pivot["intent"], &pivot["route"]), (&json!("billing"), &json!("billing")));
}

#[tokio::test]
async fn language_switch_asks_no_specialist() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    for (said, open) in [("The PON light is red", "technical"), ("I want a refund", "billing")] {
        assert_eq!(chat.say(said).await.first("intent")["route"], open);
        let events = chat.say("please speak English").await;
        assert_eq!(events.first("intent")["route"], "fallback");
        assert_eq!(events.messages().len(), 1, "{events:?}");
    }
    assert!(!chat.say("u123").await.text("billing_prompt").is_empty(), "the question stays open");
}

#[tokio::test]
async fn customer_pivots_from_a_fault_to_billing() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    let turns = talk(&mut chat, &["Internet is down", "PON LED is blinking", "How much is the refund?"]).await;
    assert_dialogue!("telecom_pivot", Turns(turns));
}

#[tokio::test]
async fn receipt_has_route_and_reason() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    chat.say("The PON light is red").await;
    let history = chat.history().await;
    let receipt: &Value = &history.last().unwrap()["receipt"];
    assert_eq!(receipt["route"], "technical");
    assert!(receipt["intent"]["reason"].as_str().unwrap().starts_with("words: technical Clear"), "{receipt}");
}

#[tokio::test]
async fn model_decides_where_rules_are_unsure() {
    let ollama = ScriptedOllama::start().await;
    let desk = open_desk(TestApp::builder().ollama(&ollama)).await;
    let verdict = json!({"category": "technical", "confidence": 0.83, "reasoning": "A device does not respond."});
    ollama.classify(&verdict);
    let events = desk.chat().await.say("???").await;
    let intent = events.first("intent");
    assert_eq!((&intent["source"], &intent["route"]), (&json!("llm"), &json!("technical")));
    // A malformed verdict is not used.
    ollama.play_answer(Play::answer("{\"category\": \"weather\"}"));
    let events = desk.chat().await.say("???").await;
    assert_eq!(events.first("intent")["source"], "fallback");
    // Clear words do not wait for a model.
    let asked = ollama.chats().len();
    ollama.reply("It synchronizes.");
    desk.chat().await.say("The PON light is blinking").await;
    assert!(ollama.chats()[asked..].iter().all(|chat| chat.get("format").is_none()));
}
