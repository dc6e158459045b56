//! Reported damage reaches a person, however and whenever the customer reports it.

use chrono::Utc;
use frontdesk::domain::TenantId;
use frontdesk::domain::commerce::{OrderNumber, OrderStatus};
use frontdesk::domain::returns::{ListedOrder, Resolution};

use super::decisions::resolve;
use super::shop::{Chat, metadata, open};
use crate::support::app::TestApp;

const JOHN: &str = "john.doe@example.com";

/// Adds the delivered order 77901, of boots and poles, and returns its number.
pub(super) async fn two_items(app: &TestApp) -> OrderNumber {
    let tenant = TenantId::default();
    let store = app.inner.store.tenant(&tenant);
    let mut order = store.find_order(&"77900".parse().unwrap()).await.unwrap().unwrap();
    order.number = "77901".parse().unwrap();
    order.status = OrderStatus::Delivered;
    order.items.iter_mut().for_each(|item| item.rma = None);
    let number = order.number.clone();
    store.import_orders(&[ListedOrder { order, is_vip: None, fraud_flag: None }], false, Utc::now()).await.unwrap();
    number
}

#[tokio::test]
async fn damage_in_any_words_needs_a_person() {
    let app = open(TestApp::builder()).await;
    let long = format!("{}The sole is torn. I want to return 77893", "I wore them in the park. ".repeat(50));
    for said in [&[long.as_str(), JOHN][..], &["this thing is a lemon", "77893", JOHN]] {
        let mut chat = Chat::open(&app).await;
        let reply = chat.say_all(said).await;
        assert_eq!(metadata(&reply, "escalation")["eligibility"]["reason_code"], "DAMAGED_MANUAL", "{reply:?}");
    }
}

#[tokio::test]
async fn damage_next_to_a_question_is_kept() {
    let app = open(TestApp::builder()).await;
    let question = "Until when can I send them back? The sole came off.";
    let mut chat = Chat::open(&app).await;
    let reply = chat.say_all(&["return order 77893", JOHN, question]).await;
    assert_eq!(reply.kinds(), ["reply", "escalation", "follow_up"], "{reply:?}");
    let mut chat = Chat::open(&app).await;
    let reply = chat.say_all(&["return order 77893", JOHN, "yes", "What's my return number? The sole came off."]).await;
    assert_eq!(reply.kinds(), ["reply", "escalation", "follow_up"], "{reply:?}");
}

#[tokio::test]
async fn wish_next_to_a_question_is_kept() {
    let app = open(TestApp::builder()).await;
    let invoice = ["order 77893: I need an invoice", JOHN, "yes"];
    let mut chat = Chat::open(&app).await;
    chat.say_all(&invoice).await;
    let reply = chat.say("Any news about my ticket? I also want to return the boots.").await;
    assert_eq!(reply.kinds(), ["escalation", "order_confirm"], "{reply:?}");
    let mut chat = Chat::open(&app).await;
    let number = "What's my return number? And get me a person.";
    let reply = chat.say_all(&["return order 77893", JOHN, "yes", number]).await;
    assert_eq!(reply.kinds(), ["escalation", "follow_up"], "{reply:?}");
}

#[tokio::test]
async fn damage_before_the_yes_is_decided_first() {
    let app = open(TestApp::builder()).await;
    for (wish, said) in [
        ("return order 77893", "the sole is torn"),
        ("return order 77893", "no, the sole is torn"),
        ("exchange order 77893 for size 44", "no, the sole is torn"),
    ] {
        let mut chat = Chat::open(&app).await;
        let reply = chat.say_all(&[wish, JOHN, said]).await;
        assert_eq!(reply.kinds(), ["escalation", "follow_up"], "{said}: {reply:?}");
    }
}

#[tokio::test]
async fn damage_of_other_items_keeps_the_return() {
    let app = open(TestApp::builder()).await;
    let tenant = TenantId::default();
    let store = app.inner.store.tenant(&tenant);
    let order = two_items(&app).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["return the boots of order 77901", "buyer-77900@example.com", "yes"]).await;
    let ticket = chat.escalated(&["I also want to return the poles, they arrived torn"]).await;
    let ticket = store.find_ticket(&ticket).await.unwrap().unwrap();
    assert_eq!((ticket.rma, ticket.claim.map(|claim| claim.lines)), (None, Some(vec![2])));
    resolve(&app, &ticket.id, Resolution::Reject, "worn").await;
    let made = store.list_rmas_of(&order).await.unwrap();
    assert_eq!((made.len(), made[0].escalated, made[0].status.is_rejected()), (1, false, false));
}
