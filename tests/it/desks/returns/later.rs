//! Several tickets, returns and conversations of one customer: each message and decision reaches the right one.

use chrono::{TimeDelta, Utc};
use frontdesk::domain::TenantId;
use frontdesk::domain::commerce::OrderNumber;
use frontdesk::domain::returns::{Resolution, Rma, RmaStatus};

use super::damage::two_items;
use super::decisions::{mailed, resolve};
use super::shop::{Chat, metadata, open};
use crate::support::app::TestApp;
use crate::support::eventually_async;

const JOHN: &str = "john.doe@example.com";
const INVOICE: [&str; 3] = ["order 77893: I need an invoice", JOHN, "yes"];

/// Asks for a cancellation and confirms it. Returns its ticket's number.
async fn cancelled(chat: &mut Chat<'_>) -> String {
    let made = chat.say_all(&["cancel order ABC-100001", "an.nguyen@example.com", "yes, cancel it"]).await;
    metadata(&made, "return_ticket")["action_ticket"]["id"].as_str().unwrap().to_owned()
}

/// Returns the order's returns once there are `count` and all have labels.
async fn labelled(app: &TestApp, order: &OrderNumber, count: usize) -> Vec<Rma> {
    let tenant = TenantId::default();
    let store = app.inner.store.tenant(&tenant);
    let mut made = Vec::new();
    eventually_async("the labels are sent", async || {
        made = store.list_rmas_of(order).await.unwrap();
        made.len() == count && made.iter().all(|rma| rma.status == RmaStatus::LabelSent)
    })
    .await;
    made
}

#[tokio::test]
async fn question_of_an_earlier_ticket_is_answered() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let first = chat.escalated(&["return order 77897", "buyer-77897@example.com"]).await;
    let second = chat.escalated(&INVOICE).await;
    resolve(&app, &first, Resolution::MoreInfo, "How long is the tear?").await;
    chat.decisions(1).await;
    let reply = chat.say("about 3 cm at the heel").await;
    assert!(reply.text("escalation").contains(&first) && first != second, "{reply:?}");
    let tenant = TenantId::default();
    let stored = app.inner.store.tenant(&tenant).find_ticket(&first).await.unwrap().unwrap();
    assert!(stored.summary.ends_with("Answer: about 3 cm at the heel"), "{}", stored.summary);
}

#[tokio::test]
async fn both_conversations_receive_the_cancellations_decision() {
    let app = open(TestApp::builder()).await;
    let (mut first, mut second) = (Chat::open(&app).await, Chat::open(&app).await);
    let ticket = cancelled(&mut first).await;
    assert_eq!(cancelled(&mut second).await, ticket);
    resolve(&app, &ticket, Resolution::Reject, "already packed").await;
    for chat in [&first, &second] {
        assert_eq!(chat.decisions(1).await.len(), 1);
    }
}

#[tokio::test]
async fn open_cancellation_keeps_the_conversation_waiting() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    cancelled(&mut chat).await;
    let invoice = chat.escalated(&INVOICE).await;
    resolve(&app, &invoice, Resolution::Approve, "sent").await;
    chat.decisions(1).await;
    assert_eq!(chat.status().await, "waiting");
}

#[tokio::test]
async fn number_of_an_invoice_ticket_is_known() {
    let app = open(TestApp::builder().env("ORDER_MISS_LIMIT", 1)).await;
    let mut chat = Chat::open(&app).await;
    let ticket = chat.escalated(&INVOICE).await;
    resolve(&app, &ticket, Resolution::MoreInfo, "Which address?").await;
    let mut later = Chat::open(&app).await;
    let reply = later.say(&format!("what about {ticket}?")).await;
    assert_eq!(reply.kinds(), ["escalation", "follow_up"], "{reply:?}");
    let text = reply.text("escalation");
    assert!(text.contains(&ticket) && !text.contains("address"), "{text}");
    assert_eq!(later.say_all(&["where is order 77893?", JOHN]).await.kinds()[0], "order_status");
}

#[tokio::test]
async fn label_is_that_of_the_named_return() {
    let app = open(TestApp::builder()).await;
    let order = two_items(&app).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["return the boots of order 77901", "buyer-77900@example.com", "yes"]).await;
    chat.say_all(&["return the poles of order 77901", "yes"]).await;
    for rma in labelled(&app, &order, 2).await {
        let label = chat.say(&format!("send me the label for {} again", rma.number)).await;
        assert_eq!(metadata(&label, "return_ticket")["label"]["rma_number"], rma.number.as_str());
    }
}

#[tokio::test]
async fn label_is_mailed_after_retention() {
    let app = open(TestApp::builder()).await;
    Chat::open(&app).await.say_all(&["return order 77893", JOHN, "yes"]).await;
    labelled(&app, &"77893".parse().unwrap(), 1).await;
    let later = Utc::now() + TimeDelta::days(40);
    while app.inner.store.forget_aged(later, later).await.unwrap() {}
    let mut chat = Chat::open(&app).await;
    let given = chat.say_all(&["please resend the label of order 77893", JOHN]).await;
    assert!(given.text("return_ticket").contains("example.com"), "{given:?}");
    assert!(mailed(&app, 2).await.iter().all(|mail| mail.contains("To: john.doe@example.com")));
}
