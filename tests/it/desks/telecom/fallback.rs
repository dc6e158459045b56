//! Small talk, unclear messages, and the way to a person.

use super::{Turns, open_desk, open_desk_in, open_plain_desk, talk};
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
        ("hello", "Hello! I'm an AI assistant. I can help with"),
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
async fn customer_id_accepts_the_offered_person() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    talk(&mut chat, &["The PON light is red", "I did all of that, still red"]).await;
    let events = chat.say("u123, 7 Long Street").await;
    assert_eq!(events.messages().len(), 1, "{events:?}");
    assert_eq!(chat.view().await["status"], "waiting");
}

#[tokio::test]
async fn refused_person_is_not_called() {
    let desk = open_plain_desk().await;
    for no in ["no", "No, thanks.", "no, I'll wait"] {
        let mut chat = desk.chat().await;
        talk(&mut chat, &["hjgf uoiz", "wrtz plmk qx", "ouaia"]).await;
        let events = chat.say(no).await;
        assert!(events.text("social").starts_with("All right"), "{no}: {events:?}");
    }
}

#[tokio::test]
async fn question_without_fault_asks_for_no_device() {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    let turns = talk(&mut chat, &["do you have tv channels too?", "will it snow tomorrow?", "no thanks"]).await;
    for turn in &turns[..2] {
        assert!(!format!("{turn:?}").contains("which device"), "{turn:?}");
    }
    let turns = talk(&mut chat, &["so what can you do?", "good to know, have a nice evening"]).await;
    assert!(turns[0].text("social").contains("[BILLING]"), "{turns:?}");
    assert!(turns[1].text("social").starts_with("Goodbye"), "{turns:?}");
}

#[tokio::test]
async fn wish_for_a_person_is_understood_anywhere() {
    for (language, texts) in [
        (
            "en",
            &[
                "I want to talk to a human about my invoice",
                "ok get me a human to book it pls",
                "fine, get me someone then",
                "whom do I talk to about the move?",
                "please connect me about this PUK",
                "alright can someone send me that code then",
                "put me through to somebody for the switch",
            ][..],
        ),
        (
            "pl",
            &[
                "tak, poprosze kogos od tego",
                "To proszę połączyć mnie z kimś w sprawie tego PUK-u.",
                "to zglaszam ta przeprowadzke, z kim gadac",
                "niech ktoś mi to włączy",
                "poproszę o połączenie z konsultantem",
                "proszę umówić technika na sobotę",
            ],
        ),
    ] {
        let desk = open_desk_in(language, TestApp::builder()).await;
        for text in texts {
            let mut chat = desk.chat().await;
            chat.say(text).await;
            assert_eq!(chat.view().await["status"], "waiting", "{text}");
        }
    }
}

#[tokio::test]
async fn problem_beside_small_talk_is_answered() {
    let desk = open_plain_desk().await;
    for text in ["works now!! but on the ONT the PON light blinks", "thanks. and what does a red PON light mean?"] {
        let events = desk.chat().await.say(text).await;
        assert!(events.text("reply").contains("PON LED"), "{text}: {events:?}");
    }
    for text in ["That was very clear, thank you. Have a pleasant evening.", "internet works again, thanks"] {
        let events = desk.chat().await.say(text).await;
        assert!(!events.text("social").is_empty(), "{text}: {events:?}");
    }
}
