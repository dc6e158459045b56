//! Small talk, unclear messages, and the way to a person.

use super::{Turns, open_desk, open_plain_desk};
use crate::support::app::TestApp;
use crate::support::dialogue::assert_dialogue;

#[tokio::test]
async fn third_unclear_turn_offers_a_person() {
    let desk = open_desk(TestApp::builder()).await;
    let mut chat = desk.chat().await;
    let mut turns = Vec::new();
    for text in ["hjgf uoiz", "wrtz plmk qx", "ouaia", "yes please"] {
        turns.push(chat.say(text).await);
    }
    assert_dialogue!("telecom_fallback", Turns(turns));
    assert_eq!(chat.view().await["status"], "waiting");
}

#[tokio::test]
async fn small_talk_has_texts_of_its_own() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    for (said, start) in [
        ("hello", "Hello! I can help with"),
        ("thank you so much", "You're welcome."),
        ("are you a robot?", "I'm an AI assistant."),
        ("tell me a joke", "I'm best at"),
        ("goodbye", "Goodbye"),
    ] {
        let events = chat.say(said).await;
        assert!(events.text("social").starts_with(start), "{said}: {events:?}");
        assert_eq!(events.first("intent")["clarify_needed"], false);
    }
}

#[tokio::test]
async fn wish_for_a_person_is_granted_at_once() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    chat.say("I want to talk to a human about my invoice").await;
    assert_eq!(chat.view().await["status"], "waiting");
}
