//! What a customer says while the desk waits for a yes or an order number.

use serde_json::json;

use super::shop::{Chat, open};
use crate::support::app::TestApp;

const JOHN: &str = "john.doe@example.com";

#[tokio::test]
async fn question_is_answered_and_the_yes_still_counts() {
    let app = open(TestApp::builder()).await;
    for (said, kind, answer) in [
        ("until what date can I send it back?", "reply", "77893"),
        ("has it been delivered at all?", "order_status", "77893"),
        ("did you open a ticket already?", "reply", "ticket"),
    ] {
        let mut chat = Chat::open(&app).await;
        let asked = chat.say_all(&["refund order 77893", JOHN, said]).await;
        assert_eq!(asked.kinds(), [kind, "action_prompt"], "{said}: {asked:?}");
        assert!(asked.text(kind).contains(answer), "{said}: {asked:?}");
    }
}

#[tokio::test]
async fn last_day_is_named_for_the_order() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let status = chat.say_all(&["where is order 77893?", JOHN]).await;
    assert!(status.kinds().contains(&"order_status".to_owned()));
    let answered = chat.say("what's the last day to return it?").await.text("reply");
    assert!(answered.contains("77893") && answered.contains("20"), "{answered}");
    let mut chat = Chat::open(&app).await;
    let offered = chat.say_all(&["is it too late for 77893?", JOHN]).await;
    assert_eq!(offered.kinds(), ["reply", "order_confirm"], "{offered:?}");
}

#[tokio::test]
async fn giving_up_in_other_words_ends_the_flow() {
    let app = open(TestApp::builder()).await;
    for (language, said) in [
        ("en", "on second thought I'll hold on to it"),
        ("en", "thank you for your help"),
        ("vi", "thôi mình giữ cho rồi"),
    ] {
        let mut chat = Chat::open_with(&app, json!({"language": language})).await;
        let ended = chat.say_all(&["return order 77893", JOHN, said]).await;
        assert_eq!(ended.kinds()[0], "reply", "{said}: {ended:?}");
        assert!(!ended.kinds().contains(&"order_confirm".to_owned()), "{said}: {ended:?}");
    }
}

#[tokio::test]
async fn thanks_never_call_a_person() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let said = ["return order 77893", JOHN, "ok thanks", "ok thanks", "ok thanks", "ok thanks"];
    let last = chat.say_all(&said).await;
    assert!(!last.kinds().contains(&"escalation".to_owned()), "{last:?}");
}

#[tokio::test]
async fn pause_is_not_answered_with_the_same_question() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let waits = chat.say_all(&["I want to return something", "one second, let me look for the e-mail"]).await;
    assert_eq!(waits.kinds(), ["reply"], "{waits:?}");
    assert_eq!(chat.say("77893").await.kinds(), ["order_prompt"], "the number is still awaited");
}

#[tokio::test]
async fn yes_with_another_request_does_both() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let both = chat.say_all(&["order 77893 was charged twice", JOHN, "yes please. And I need an invoice"]).await;
    assert_eq!(both.kinds(), ["escalation", "order_confirm"], "{both:?}");
    assert!(both.text("order_confirm").contains("invoice"), "{both:?}");
    assert_eq!(chat.say("yes").await.kinds()[0], "escalation");
}

#[tokio::test]
async fn weak_yes_with_a_question_opens_the_ticket() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let said = ["swap order 77893 for a bigger size please", JOHN, "ok. how long does a colleague take to answer?"];
    let opened = chat.say_all(&said).await;
    assert!(opened.kinds().contains(&"escalation".to_owned()), "{opened:?}");
    let again = chat.say("yes please").await;
    assert_eq!(again.kinds()[0], "escalation", "shows the ticket: {again:?}");
    assert!(again.text("escalation").contains("TICKET-"), "{again:?}");
}

#[tokio::test]
async fn label_is_that_of_the_order_spoken_of() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let said = ["return order 77912", "buyer-77898@example.com", "and 77913?", "send me the label again please"];
    let label = chat.say_all(&said).await;
    assert!(label.text("return_ticket").contains("RMA-") && label.text("return_ticket").contains("-0003"), "{label:?}");
}
