//! Agent mode without a model, or with one that fails.

use serde_json::json;

use super::script::{Step, driven, driven_by, look, say};
use crate::desks::returns::shop::{Chat, mails};
use crate::support::app::TestApp;
use crate::support::ollama::{Play, ScriptedOllama};

#[tokio::test]
async fn desk_without_model_uses_the_machine() {
    let ollama = ScriptedOllama::start().await;
    ollama.has_models(&[]);
    let shop = driven_by(TestApp::builder(), ollama).await;
    let mut chat = Chat::open(&shop.app).await;
    assert_eq!(chat.say("I want to return order 77893").await.kinds(), ["order_prompt"]);
    assert_eq!(chat.say("john.doe@example.com").await.kinds(), ["order_confirm"]);
    assert_eq!(chat.say("yes").await.kinds(), ["return_ticket", "follow_up"]);
    assert_eq!(mails(&shop.app).len(), 1);
    assert_eq!(shop.ollama.chats().len(), 0);
}

#[tokio::test]
async fn model_failing_first_leaves_turn_to_machine() {
    let cut = "{\"message\":{\"content\":\"cut\"},\"done\":true,\"done_reason\":\"length\"}";
    for (play, seconds) in [
        (Play::refuses(500, "out of memory"), 600),
        (Play::refuses(400, "gpt-oss does not support tools"), 600),
        (Play::busy(), 600),
        (Play::new().hangs_up(), 600),
        (Play::new().stalls(), 2),
        (Play::new().line(cut), 600),
    ] {
        let shop = driven(TestApp::builder().env("AGENT_CALL_SECONDS", seconds)).await;
        let mut chat = Chat::open(&shop.app).await;
        shop.then(vec![Step::Play(play.clone())]);
        let asked = chat.say("return order 77893, john.doe@example.com").await;
        assert_eq!(asked.kinds(), ["order_confirm"], "{play:?}");
        // The model is back; what the table asked is answered to the table.
        assert_eq!(chat.say("yes").await.kinds(), ["return_ticket", "follow_up"], "{play:?}");
        // On a slow machine, a short deadline may pass before the request is sent.
        let chats = shop.ollama.chats().len();
        assert!(chats == 1 || chats == 0 && seconds == 2, "{play:?}: {chats}");
    }
}

#[tokio::test]
async fn model_failing_after_lookup_leaves_turn_to_machine() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![look("77893"), Step::Play(Play::refuses(500, "out of memory"))]);
    let asked = chat.say("return order 77893, john.doe@example.com").await;
    assert_eq!(asked.kinds(), ["order_confirm"]);
}

#[tokio::test]
async fn a_model_takes_up_where_the_table_stopped() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![Step::Play(Play::refuses(500, "out of memory"))]);
    assert_eq!(chat.say("I want to return something").await.kinds(), ["order_prompt"]);
    shop.then(vec![look("77893"), say("I found order 77893. What is wrong with the boots?")]);
    let asked = chat.say("77893, john.doe@example.com").await;
    assert_eq!(asked.kinds(), ["order_confirm"]);
    assert_eq!(shop.results()[0].1["success"], json!(true));
}

#[tokio::test]
async fn never_mind_ends_it_without_a_model() {
    let shop = driven(TestApp::builder()).await;
    let mut chat = Chat::open(&shop.app).await;
    shop.then(vec![look("77893"), say("I found order 77893. What is wrong with it?")]);
    chat.say("return order 77893, john.doe@example.com").await;
    let asked = shop.ollama.chats().len();
    assert_eq!(chat.say("never mind").await.kinds(), ["reply", "follow_up"]);
    assert_eq!(shop.ollama.chats().len(), asked);
}
