//! The language model fails. Before its first word the customer notices nothing; later the text so far stays.

use serde_json::json;

use super::chat::{open_shop, say_until_deadline};
use crate::support::app::{TestApp, TestAppBuilder};
use crate::support::dialogue::assert_dialogue;
use crate::support::ollama::{Play, ScriptedOllama};

const QUESTION: &str = "SSD Kingston giá bao nhiêu vậy em";
const QUOTED: &str = "Dạ, em xin gửi quý khách thông tin liên quan trong tài liệu của SSTC ạ:";

fn builder(ollama: &ScriptedOllama) -> TestAppBuilder {
    TestApp::builder().ollama(ollama).env("LLM_BREAKER_FAILURES", 100)
}

#[tokio::test]
async fn model_that_is_down_changes_nothing_visible() {
    let ollama = ScriptedOllama::start().await;
    ollama.set_down(true);
    let shop = open_shop(builder(&ollama)).await;
    let mut chat = shop.chat().await;
    assert_dialogue!("retail_shopping_without_a_model", chat.say(QUESTION).await);
    let unsure = chat.say("em khỏe không").await;
    assert_eq!(unsure.first("intent")["source"], "fallback");
    assert_eq!(unsure.kinds(), ["social"]);
}

#[tokio::test]
async fn model_down_between_turns_changes_nothing_visible() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(builder(&ollama)).await;
    ollama.set_down(true);
    let events = shop.chat().await.say(QUESTION).await;
    assert_eq!(events.status(), "completed");
    assert!(events.text("reply").starts_with(QUOTED));
}

#[tokio::test]
async fn model_failing_before_text_is_replaced_by_documents() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(builder(&ollama).env("LLM_FIRST_TOKEN_SECONDS", 0.3)).await;
    for (why, play) in [
        ("silent", Play::new().stalls()),
        ("thinking only, then silent", Play::new().thinks("Hmm. ").stalls()),
        ("thinking only", Play::new().thinks("Hmm, what would ").done()),
        ("empty", Play::new().done()),
        ("white space", Play::new().says(" \n ").done()),
        ("an error line", Play::new().fails("CUDA error: out of memory")),
        ("an error status", Play::refuses(500, "llama runner process has terminated")),
        ("busy", Play::busy()),
        ("never pulled", Play::no_such_model()),
        ("hung up", Play::new().hangs_up()),
        ("garbage", Play::new().line("<html>502 Bad Gateway</html>")),
        ("ended without an end", Play::new()),
    ] {
        ollama.play(play);
        let mut chat = shop.chat().await;
        let events = chat.say(QUESTION).await;
        assert_eq!(events.status(), "completed", "{why}");
        assert_dialogue!("retail_shopping_without_a_model", events);
        let history = chat.history().await;
        let receipt = &history.iter().find(|m| m["metadata"]["type"] == "reply").unwrap()["receipt"];
        assert!(receipt["model_error"].is_string(), "the shop sees why ({why}): {receipt}");
    }
}

#[tokio::test]
async fn model_failing_midway_leaves_text_and_one_error() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(builder(&ollama)).await;
    let said = || Play::new().says("Dạ");
    for play in [
        said().fails("CUDA error: out of memory"),
        said().hangs_up(),
        said().line("{\"message\":"),
        // Without a last line.
        said(),
    ] {
        ollama.play(play);
        assert_dialogue!("retail_model_breaks", shop.chat().await.say(QUESTION).await);
    }
    // A separate shop, because on a slow machine the other replies could reach this deadline.
    let shop = open_shop(builder(&ollama).env("LLM_BETWEEN_TOKENS_SECONDS", 0.3)).await;
    ollama.play(said().stalls());
    assert_dialogue!("retail_model_breaks_with_silence", shop.chat().await.say(QUESTION).await);
}

#[tokio::test]
async fn an_english_conversation_hears_of_errors_in_english() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(builder(&ollama)).await;
    let mut chat = shop.chat().await;
    chat.say("speak english please").await;
    ollama.play(Play::new().says("The SSD").hangs_up());
    let events = chat.say("SSD Kingston giá bao nhiêu vậy em").await;
    assert_dialogue!("retail_model_breaks_en", events);
    let message = events.first("error")["message"].as_str().unwrap();
    assert!(message.starts_with("I'm sorry"), "{message}");
}

#[tokio::test]
async fn turn_at_deadline_keeps_partial_text() {
    let ollama = ScriptedOllama::start().await;
    ollama.otherwise(|_| Some(Play::new().says("Dạ vâng").stalls()));
    let (_shop, events) = say_until_deadline(|| builder(&ollama), QUESTION, "reply").await;
    assert_dialogue!("retail_turn_deadline", events);
    crate::support::eventually("the connection is closed", || ollama.closed_early() == ollama.chats().len()).await;
}

#[tokio::test]
async fn silent_failed_turn_leaves_a_notice() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(builder(&ollama).env("TURN_DEADLINE_SECONDS", 0.5)).await;
    ollama.play_answer(Play::new().stalls());
    assert_dialogue!("retail_turn_deadline_nothing_said", shop.chat().await.say("cái này thế nào").await);
    ollama.play_answer(Play::new().stalls());
    let events = shop.chat_with(json!({"language": "en"})).await.say("cái này thế nào").await;
    assert_eq!((events.status(), events.kinds()), ("failed", vec!["error_notice".to_owned()]));
    assert!(events.text("error_notice").starts_with("I'm sorry, I could not answer"));
}
