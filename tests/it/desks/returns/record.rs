//! The audit log of a conversation: rows of users, the assistant, tools and the system.

use chrono::Utc;
use frontdesk::domain::returns::ticket::idempotency_key;
use frontdesk::domain::returns::{Action, RmaStatus, TrackingNumber};
use frontdesk::domain::{ActorKind, TenantId};
use frontdesk::store::audit::Actor;

use super::shop::{Chat, open};
use crate::support::app::TestApp;
use crate::support::audit;

/// The rows of the conversation as `type who what`.
async fn recorded(app: &TestApp, chat: &Chat<'_>) -> Vec<String> {
    let tenant = TenantId::default();
    let rows = audit::of_conversation(&app.inner.store.tenant(&tenant), chat.id.parse().unwrap()).await;
    rows.iter().map(|row| format!("{} {} {}", row.kind, row.who, row.what)).collect()
}

#[tokio::test]
async fn audit_log_shows_decisions_and_results() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["I want to return my order 77893, john.doe@example.com", "yes"]).await;
    let rows = recorded(&app, &chat).await;
    let place = |row: &str| rows.iter().position(|known| known == row).unwrap_or_else(|| panic!("{row}: {rows:#?}"));
    let expected = [
        "tool desk order.looked_up",
        "tool desk eligibility.decided",
        "user customer customer.confirmed",
        "system desk rma.created",
        "assistant desk flow.ended",
    ];
    let places: Vec<usize> = expected.into_iter().map(place).collect();
    assert!(places.is_sorted(), "{rows:#?}");
    chat.say("they arrived shattered").await;
    let rows = recorded(&app, &chat).await;
    let later = &rows[places[4] + 1..];
    for row in ["user customer customer.reported_damage", "system desk ticket.escalated", "assistant desk flow.ended"] {
        assert!(later.contains(&row.to_owned()), "{row}: {later:#?}");
    }
}

#[tokio::test]
async fn withdrawals_and_person_requests_are_audited() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["return order 77893, john.doe@example.com", "no", "I want to talk to a human"]).await;
    let rows = recorded(&app, &chat).await;
    for row in ["user customer customer.declined", "user customer customer.wants_person"] {
        assert!(rows.contains(&row.to_owned()), "{row}: {rows:#?}");
    }
}

#[tokio::test]
async fn yes_to_a_request_is_audited() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["order 77893: I need an invoice", "john.doe@example.com", "yes"]).await;
    let rows = recorded(&app, &chat).await;
    assert!(rows.contains(&"user customer customer.confirmed".to_owned()), "{rows:#?}");
}

#[tokio::test]
async fn rejected_return_keeps_its_ticket_key() {
    let app = open(TestApp::builder()).await;
    let tenant = TenantId::default();
    let store = app.inner.store.tenant(&tenant);
    let order = "77893".parse().unwrap();
    let returned = async || {
        let mut chat = Chat::open(&app).await;
        let made = chat.say_all(&["return order 77893, john.doe@example.com", "yes"]).await;
        assert_eq!(made.kinds(), ["return_ticket", "follow_up"]);
        let conversation = store.find_conversation(chat.id.parse().unwrap()).await.unwrap().unwrap();
        conversation.state["meta"]["idempotency_key"].as_str().unwrap().to_owned()
    };
    assert_eq!(returned().await, idempotency_key(&order, Action::Return, None, 0));
    let rma = store.list_rmas_of(&order).await.unwrap().pop().unwrap();
    let by = Actor { kind: ActorKind::Person, who: "Thu", conversation: None, now: Utc::now() };
    store.issue_label(&rma.number, &TrackingNumber::new(7), &by).await.unwrap();
    for to in [RmaStatus::InTransit, RmaStatus::Received, RmaStatus::Inspected, RmaStatus::Rejected] {
        store.advance_rma(&rma.number, to, &by).await.unwrap();
    }
    assert_eq!(returned().await, idempotency_key(&order, Action::Return, None, 1));
}
