//! The language model in supervisor mode: asked where the rules cannot tell, and for nothing else.

use serde_json::json;

use super::shop::{Chat, open};
use crate::support::app::TestApp;
use crate::support::ollama::{Play, ScriptedOllama};

#[tokio::test]
async fn understood_messages_never_reach_the_model() {
    let ollama = ScriptedOllama::start().await;
    let app = open(TestApp::builder().ollama(&ollama)).await;
    let mut turns = 0;
    for dialogue in [
        &["I want to return my order", "77893", "john.doe@example.com", "yes", "where is order 77893?"][..],
        &["I want a refund for order 77900", "buyer-77900@example.com", "no", "77900"],
        &["Where's my order?", "77899", "buyer-77899@example.com", "what is your return policy?"],
        &["tôi muốn trả đơn 77895", "buyer-77895@example.com", "đúng rồi", "cảm ơn em"],
        &["cancel order ABC-100001", "an.nguyen@example.com", "yes", "I want to talk to a human"],
    ] {
        let mut chat = Chat::open(&app).await;
        chat.say_all(dialogue).await;
        turns += dialogue.len();
    }
    println!("{turns} turns of five dialogues in supervisor mode: {} calls of the model", ollama.chats().len());
    assert_eq!(ollama.chats(), [] as [serde_json::Value; 0]);
}

#[tokio::test]
async fn model_reading_is_verified_like_any_other() {
    let ollama = ScriptedOllama::start().await;
    let app = open(TestApp::builder().ollama(&ollama)).await;
    ollama.classify(&json!({"intent": "return"}));
    let mut chat = Chat::open(&app).await;
    let asked = chat.say("the sneakers are not my style").await;
    assert_eq!((&asked.first("intent")["intent"], &asked.first("intent")["source"]), (&json!("return"), &json!("llm")));
    assert_eq!(asked.kinds(), ["order_prompt"]);
    ollama.classify(&json!({"order_number": "77893"}));
    let contact = chat.say("it is seven seven eight nine three").await;
    assert_eq!(contact.kinds(), ["order_prompt"], "whose order it is comes before anything of it");
    assert!(!contact.text("order_prompt").contains("Boots"));
    assert_eq!(chat.say("john.doe@example.com").await.kinds(), ["order_confirm"]);
    assert_eq!(ollama.chats().len(), 2);
}

#[tokio::test]
async fn failed_reading_asks_the_customer() {
    for play in [
        Play::refuses(500, "out of memory"),
        Play::answer("I would say it is a return."),
        Play::answer("{\"intent\":\"create_rma\"}"),
        Play::answer("{}"),
    ] {
        let ollama = ScriptedOllama::start().await;
        let app = open(TestApp::builder().ollama(&ollama)).await;
        ollama.play_answer(play);
        let mut chat = Chat::open(&app).await;
        let asked = chat.say("the sneakers are not my style").await;
        assert_eq!(asked.kinds(), ["clarify"]);
        assert_eq!(asked.first("intent")["source"], "fallback");
    }
}

#[tokio::test]
async fn invented_order_number_shows_nothing() {
    let ollama = ScriptedOllama::start().await;
    let app = open(TestApp::builder().ollama(&ollama)).await;
    let mut chat = Chat::open(&app).await;
    chat.say("where is my order").await;
    ollama.classify(&json!({"order_number": "77895"}));
    let asked = chat.say("seven seven eight nine something").await;
    assert_eq!(asked.kinds(), ["order_prompt"]);
    let missed = chat.say("john.doe@example.com").await;
    assert_eq!(missed.kinds(), ["order_prompt"]);
    assert!(!missed.text("order_prompt").contains("Boots"));
}
