//! Questions about the policy, and whatever else comes in between.

use serde_json::{Value, json};

use super::shop::{Chat, open};
use crate::support::app::TestApp;
use crate::support::dialogue::assert_dialogue;

#[tokio::test]
async fn policy_question_is_answered_and_flow_continues() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["return order 77893", "john.doe@example.com"]).await;
    let asked = chat.say("How long do I have to return something?").await;
    assert_eq!(asked.kinds(), ["reply", "order_confirm"]);
    assert!(asked.text("reply").contains("30 days"), "{asked:?}");
    assert!(asked.first("sources")["items"][0]["file"].as_str().unwrap().starts_with("returns/"), "{asked:?}");
    assert_eq!(chat.say("yes").await.kinds(), ["return_ticket", "follow_up"]);
    assert_dialogue!("returns_policy_in_the_middle", chat);
}

#[tokio::test]
async fn question_without_flow_is_answered_in_language() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open_with(&app, json!({"language": "vi"})).await;
    let asked = chat.say("chính sách trả hàng thế nào?").await;
    assert_eq!(asked.kinds(), ["reply", "follow_up"]);
    assert!(asked.text("reply").contains("30 ngày"), "{asked:?}");
}

#[tokio::test]
async fn misunderstood_message_asks_and_changes_nothing() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    assert_eq!(chat.say("purple monkeys").await.kinds(), ["clarify"]);
    assert_eq!(chat.say("hmm").await.kinds(), ["clarify"]);
    assert_eq!(chat.say("a return").await.kinds(), ["order_prompt"]);
    assert_eq!(chat.say("never mind").await.kinds(), ["reply", "follow_up"]);
}

#[tokio::test]
async fn question_with_order_or_person_is_not_policy() {
    let app = open(TestApp::builder()).await;
    for (text, intent, kinds) in [
        ("How do I return order 77893?", "return", &["order_prompt"][..]),
        ("I want to talk to a human about your return policy", "other", &["escalation", "follow_up"]),
    ] {
        let mut chat = Chat::open(&app).await;
        let events = chat.say(text).await;
        assert_eq!(events.kinds(), kinds, "{text}");
        let data = events.data();
        let intents: Vec<&Value> =
            data.iter().filter(|event| event["type"] == "intent").map(|event| &event["intent"]).collect();
        assert_eq!(intents, [intent], "{text}");
    }
}

/// A question to the documents that has the words of a wish, or of a question about the order.
#[tokio::test]
async fn question_with_words_of_a_wish_is_answered() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let asked = chat.say_all(&["return order ABC-100017", "marie.dubois@example.com"]).await;
    assert_eq!(asked.kinds(), ["action_prompt"], "{asked:?}");
    let said = chat.say("paid by e wallet, when is that money back").await;
    assert_eq!(said.kinds(), ["reply", "action_prompt"], "{said:?}");
    assert!(said.text("reply").contains("3 to 5 working days"), "{said:?}");
    let said = chat.say("what do the shoes come to altogether?").await;
    assert!(said.text("reply").contains("$179.00"), "{said:?}");
    let mut chat = Chat::open(&app).await;
    let said = chat.say("I handed it in on Friday and the tracking is still empty. Is that normal?").await;
    assert!(said.text("reply").contains("next working day"), "{said:?}");
    // The customer's own return and order are theirs, however likely a section is.
    for own in ["where is my refund?", "where's my order?"] {
        let said = Chat::open(&app).await.say(own).await;
        assert_eq!(said.kinds(), ["order_prompt"], "{own}");
    }
}

#[tokio::test]
async fn repeated_language_request_gets_another_wording() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let first = chat.say("speak English please").await;
    let second = chat.say("speak English please").await;
    assert_eq!((first.kinds(), second.kinds()), (vec!["language_ack".to_owned()], vec!["language_ack".to_owned()]));
    assert_ne!(first.text("language_ack"), second.text("language_ack"));
}
