//! Requests that a person settles, small talk and anger.

use frontdesk::domain::TenantId;
use frontdesk::domain::returns::Resolution;

use super::decisions::resolve;
use super::shop::{Chat, mails, open};
use crate::support::app::TestApp;

const JOHN: &str = "john.doe@example.com";

#[tokio::test]
async fn request_becomes_a_ticket_and_no_return() {
    let app = open(TestApp::builder()).await;
    for said in [
        "can you swap the boots of order 77893 for a bigger size?",
        "you sent me the wrong item, I want a refund. order 77893",
        "order 77893 says delivered but nothing came",
        "đơn 77893 bị trừ tiền hai lần",
        "đổi địa chỉ giao hàng của đơn 77893 giúp mình",
        "xuất hóa đơn cho đơn 77893",
    ] {
        let mut chat = Chat::open(&app).await;
        let asked = chat.say_all(&[said, JOHN]).await;
        assert_eq!(asked.kinds(), ["order_confirm"], "{said}");
        let done = chat.say("yes please, do I get a mail?").await;
        assert!(done.kinds().contains(&"escalation".to_owned()), "{said}: {:?}", done.kinds());
        assert!(done.text("escalation").contains("TICKET-"), "{said}");
    }
    let tenant = TenantId::default();
    let number = "77893".parse().unwrap();
    assert_eq!(app.inner.store.tenant(&tenant).list_rmas_of(&number).await.unwrap().len(), 0);
    assert_eq!(mails(&app), [] as [String; 0]);
}

#[tokio::test]
async fn exchange_becomes_a_return_and_no_ends_it() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let asked = chat.say_all(&["swap order 77893 for a bigger size please", JOHN, "then just return it"]).await;
    assert_eq!(asked.kinds(), ["order_confirm"]);
    assert_eq!(chat.say("yes").await.kinds(), ["return_ticket", "follow_up"]);
    let mut chat = Chat::open(&app).await;
    let declined = chat.say_all(&["order 77895: I want an invoice", "buyer-77895@example.com", "no"]).await;
    assert_eq!(declined.kinds(), ["reply", "follow_up"]);
}

#[tokio::test]
async fn return_verb_declines_an_exchange() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let asked = chat.say_all(&["swap order 77893 for a bigger size please", JOHN, "yes, return it"]).await;
    assert_eq!(asked.kinds(), ["order_confirm"]);
    assert!(asked.text("order_confirm").contains("$"), "the question names the money: {asked:?}");
    assert_eq!(chat.say("yes").await.kinds(), ["return_ticket", "follow_up"]);
}

#[tokio::test]
async fn open_it_agrees_to_a_ticket_alone() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    assert_eq!(chat.say_all(&["return order 77893", JOHN, "ask her"]).await.kinds(), ["order_confirm"]);
    let mut chat = Chat::open(&app).await;
    let opened = chat.say_all(&["swap order 77893 for a bigger size please", JOHN, "please open it"]).await;
    assert_eq!(opened.kinds()[0], "escalation");
}

#[tokio::test]
async fn invoice_ticket_holds_no_return_up() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let opened = chat.say_all(&["order 77893: I need an invoice", JOHN, "yes"]).await;
    assert_eq!(opened.kinds()[0], "escalation");
    assert_eq!(chat.say("and I want to return the boots").await.kinds(), ["order_confirm"]);
}

#[tokio::test]
async fn rejected_exchange_is_no_rejected_return() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let ticket = chat.escalated(&["swap order 77893 for a bigger size please", JOHN, "yes"]).await;
    resolve(&app, &ticket, Resolution::Reject, "sold out").await;
    chat.decisions(1).await;
    let news = chat.say("any news about my ticket?").await.text("escalation");
    assert!(news.contains(&ticket) && !news.contains("return") && !news.contains("take it back"), "{news}");
}

#[tokio::test]
async fn small_talk_keeps_the_open_question() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let bot = chat.say("are you a bot or a real person?").await;
    assert_eq!(bot.kinds(), ["social"], "no person is called");
    assert!(bot.text("social").contains("AI"));
    let joke = chat.say_all(&["I want to return something", "tell me a joke"]).await;
    assert_eq!(joke.kinds(), ["social", "order_prompt"]);
    let angry = chat.say("you are useless").await;
    assert_eq!(angry.kinds()[0], "social", "anger is answered first");
}
