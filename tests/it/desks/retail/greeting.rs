//! The greeting of a conversation, and the cute one of its first clear intent.

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::chat::open_shop;
use crate::support::app::TestApp;
use crate::support::dialogue::assert_dialogue;

#[tokio::test]
async fn new_conversation_has_greeting_in_history() {
    let shop = open_shop(TestApp::builder()).await;
    for (body, greeting) in [
        (
            json!({}),
            "Chào quý khách! Em là nhân viên SSTC, rất vui được hỗ trợ quý khách... Em là trợ lý AI của SSTC ạ.",
        ),
        (json!({"language": "en"}), "Hi, I'm SSTC's AI assistant. How can I help?"),
        (json!({"persona": "system_persona_en"}), "Hi, I'm SSTC's AI assistant. How can I help?"),
    ] {
        let response = shop.app.post("/conversations", &body).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::CREATED);
        let opened: Value = response.json().await.unwrap();
        assert_eq!(opened["greeting"]["text"], greeting, "{body}");
        assert_eq!(opened["greeting"]["metadata"], json!({"type": "greeting"}));
        assert_eq!((&opened["greeting"]["turn"], &opened["last_event_id"]), (&json!(0), &json!("0.0")));
        let history = shop.app.history(opened["id"].as_str().unwrap()).await;
        assert_eq!(history, [opened["greeting"].clone()], "the same message, receipt or not");
    }
}

#[tokio::test]
async fn page_greets_in_the_browsers_language() {
    let shop = open_shop(TestApp::builder()).await;
    for (accepted, own, language) in [
        ("en-GB,en;q=0.9,vi;q=0.8", true, "en"),
        ("fr, vi;q=0.3, en;q=0.7", true, "en"),
        ("en;q=0, *", true, "vi"),
        ("en", false, "vi"),
    ] {
        let mut request = shop.app.post("/conversations", &json!({})).header("accept-language", accepted);
        if own {
            request = request.header("sec-fetch-site", "same-origin");
        }
        let opened: Value = request.send().await.unwrap().json().await.unwrap();
        assert_eq!(opened["preferred_language"], language, "{accepted}");
        let id = opened["id"].as_str().unwrap();
        let text = shop.app.ask(id, "kiểm tra bảo hành cho em với").await.text("warranty_prompt");
        assert!(text.starts_with("Quý khách"), "the first message decides: {text}");
    }
}

#[tokio::test]
async fn cute_greeting_comes_when_intent_changes() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = shop.chat().await;
    for (text, kinds) in [
        ("alo", vec!["clarify"]),
        ("phí giao hàng bao nhiêu", vec!["cute_greeting", "reply", "follow_up"]),
        ("chuột Logitech giá bao nhiêu", vec!["reply", "follow_up"]),
        ("em khỏe không", vec!["social"]),
        ("giá SSD Kingston", vec!["reply", "follow_up"]),
        ("kiểm tra bảo hành FUT-2099", vec!["cute_greeting", "warranty_result", "follow_up"]),
        ("phí giao hàng bao nhiêu", vec!["cute_greeting", "reply", "follow_up"]),
        // Its warranty has ended.
        ("kiểm tra bảo hành XYZ789", vec!["cute_greeting", "warranty_result", "follow_up"]),
        ("phí giao hàng bao nhiêu", vec!["reply", "follow_up"]),
    ] {
        assert_eq!(chat.say(text).await.kinds(), kinds, "{text}");
    }
}

#[tokio::test]
async fn unhappy_or_leaving_customer_gets_no_hearts() {
    let shop = open_shop(TestApp::builder()).await;
    for text in [
        "máy em mua bị hỏng rồi, bảo hành giúp em",
        "thất vọng quá, kiểm tra bảo hành FUT-2099",
        "my laptop is broken, is FUT-2099 under warranty?",
        "dịch vụ tệ quá, phí giao hàng bao nhiêu",
        "FUT-2099 còn bảo hành không, tạm biệt em",
    ] {
        let events = shop.chat().await.say(text).await;
        assert!(events.kinds()[0] != "cute_greeting", "{text}: {:?}", events.kinds());
        assert!(!events.messages().iter().any(|(_, said)| said.contains('💖')), "{text}");
    }
}

#[tokio::test]
async fn the_cute_greeting_can_come_always_and_never() {
    for (when, first, second) in [
        ("always", vec!["cute_greeting", "reply", "follow_up"], vec!["cute_greeting", "reply", "follow_up"]),
        ("off", vec!["reply", "follow_up"], vec!["reply", "follow_up"]),
    ] {
        let shop = open_shop(TestApp::builder().env("CUTE_GREETING", when)).await;
        let mut chat = shop.chat().await;
        assert_eq!(chat.say("phí giao hàng bao nhiêu").await.kinds(), first, "{when}");
        assert_eq!(chat.say("chuột Logitech giá bao nhiêu").await.kinds(), second, "{when}");
        assert_eq!(chat.say("alo").await.kinds(), ["clarify"], "{when}");
    }
}

#[tokio::test]
async fn cute_greeting_uses_the_conversations_language() {
    let shop = open_shop(TestApp::builder()).await;
    let events = shop.chat().await.say("how much does delivery cost in town?").await;
    assert_dialogue!("retail_shopping_without_a_model_en", events);
    assert_eq!(events.text("cute_greeting"), "Hi! I'm happy to help 💖 I'll assist you right away.");
}
