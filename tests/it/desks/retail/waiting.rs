//! While the desk waits for a serial number.

use serde_json::json;

use super::chat::{Chat, Shop, open_shop};
use crate::support::app::TestApp;
use crate::support::dialogue::assert_dialogue;
use crate::support::ollama::{Play, ScriptedOllama};

/// A conversation in which a serial number has just been asked for.
async fn waiting(shop: &Shop) -> Chat<'_> {
    let mut chat = shop.chat().await;
    assert_eq!(chat.say("em muốn kiểm tra bảo hành").await.kinds(), ["cute_greeting", "warranty_prompt"]);
    chat
}

#[tokio::test]
async fn a_bare_serial_is_enough() {
    let shop = open_shop(TestApp::builder()).await;
    for text in ["FUT-2099", "fut-2099", "dạ FUT-2099 ạ", "đây em: FUT-2099", "nó là FUT-2099 nha shop"] {
        assert_eq!(waiting(&shop).await.say(text).await.kinds(), ["warranty_result", "follow_up"], "{text}");
    }
}

#[tokio::test]
async fn after_the_answer_it_waits_no_more() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = waiting(&shop).await;
    chat.say("FUT-2099").await;
    assert_eq!(chat.say("cái này thế nào").await.kinds(), ["warranty_prompt"], "a new question, no invalid answer");
}

#[tokio::test]
async fn fault_after_a_record_asks_no_serial() {
    let shop = open_shop(TestApp::builder()).await;
    for text in ["bàn phím bị liệt mấy nút rồi em", "máy bị lỗi, mai em mang qua kịp không"] {
        let mut chat = waiting(&shop).await;
        chat.say("FUT-2099").await;
        let kinds = chat.say(text).await.kinds();
        assert!(!kinds.contains(&"warranty_prompt".to_owned()), "{text}: {kinds:?}");
    }
}

#[tokio::test]
async fn message_without_serial_keeps_the_desk_waiting() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = waiting(&shop).await;
    for text in ["abcdef", "máy tính của anh", "??", "A1"] {
        assert_eq!(chat.say(text).await.kinds(), ["warranty_prompt_invalid"], "{text}");
    }
    assert_eq!(chat.say("FUT-2099").await.kinds(), ["warranty_result", "follow_up"]);
}

#[tokio::test]
async fn asking_for_a_moment_is_not_invalid() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = waiting(&shop).await;
    let long = "hôm qua em đi công tác ở xa nên chưa mở hộp ra coi được";
    for text in ["dạ", "ok", "đợi em chút", "wait a sec", "để em tìm cái hộp", long] {
        assert_eq!(chat.say(text).await.kinds(), ["warranty_prompt"], "{text}");
    }
    for text in ["hóa đơn số HD00123", "0912 345 678"] {
        assert_eq!(chat.say(text).await.kinds(), ["warranty_prompt_invalid"], "{text}");
    }
    assert_eq!(chat.say("FUT-2099").await.kinds(), ["warranty_result", "follow_up"]);
}

#[tokio::test]
async fn a_change_of_subject_ends_the_wait() {
    let shop = open_shop(TestApp::builder()).await;
    for text in ["thôi, SSD 1TB giá bao nhiêu", "thoi, ssd 1tb gia bao nhieu", "phí giao hàng bao nhiêu vậy"] {
        let kinds = waiting(&shop).await.say(text).await.kinds();
        assert_eq!(kinds, ["cute_greeting", "reply", "follow_up"], "{text}");
    }
    assert_eq!(waiting(&shop).await.say("thôi khỏi em").await.kinds(), ["clarify"]);
    assert_eq!(waiting(&shop).await.say("cảm ơn em nhiều").await.kinds(), ["social"]);
}

#[tokio::test]
async fn language_switch_alone_repeats_the_question() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = waiting(&shop).await;
    let events = chat.say("can you speak english please").await;
    assert_dialogue!("retail_switch_while_waiting", events);
    assert_eq!(events.kinds(), ["language_ack", "warranty_prompt"]);
    let events = chat.say("FUT-2099").await;
    assert!(events.text("warranty_result").starts_with("Warranty information:"));
}

#[tokio::test]
async fn switch_with_serial_is_answered_in_new_language() {
    let shop = open_shop(TestApp::builder()).await;
    let events = waiting(&shop).await.say("speak english please, FUT-2099").await;
    assert_eq!(events.kinds(), ["language_ack", "warranty_result", "follow_up"]);
    assert!(events.text("warranty_result").starts_with("Warranty information:"));
}

#[tokio::test]
async fn the_wait_outlives_a_turn_that_failed() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama)).await;
    let id = waiting(&shop).await.id;
    ollama.classify(&json!({"intent": "unknown", "confidence": 0.9, "need_retrieval": false, "clarify_needed": true,
        "clarify_questions": [], "rationale": "social: thanks"}));
    ollama.play(Play::new().stalls());
    // Only this turn has a deadline, so that a slow machine does not end the others.
    let app = shop.app.stop().await.ollama(&ollama).env("TURN_DEADLINE_SECONDS", 1).start().await;
    assert_eq!(app.ask(&id, "cảm ơn em nhiều").await.kinds(), ["error_notice"]);
    let app = app.stop().await.ollama(&ollama).start().await;
    let asked = ollama.chats();
    assert_eq!(app.ask(&id, "FUT-2099").await.kinds(), ["warranty_result", "follow_up"]);
    assert_eq!(ollama.chats(), asked, "no model on the way");
}
