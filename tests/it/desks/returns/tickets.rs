//! Tickets after they were opened: late decisions, further details, and numbers named in another conversation.

use chrono::Utc;
use frontdesk::domain::returns::{Resolution, RmaStatus, TicketKind};
use frontdesk::domain::{ActorKind, TenantId};
use frontdesk::store::audit::Actor;
use frontdesk::store::returns::advance::Advance;
use serde_json::json;

use super::decisions::{mailed, resolve};
use super::shop::{Chat, metadata, open};
use crate::support::app::TestApp;
use crate::support::eventually_async;
use crate::support::sse::Events;

const JOHN: &str = "john.doe@example.com";
const SHATTERED: [&str; 2] = ["return order 77893, the boots arrived shattered", JOHN];

async fn advance(app: &TestApp, rma: &str, steps: &[RmaStatus]) {
    let by = Actor { kind: ActorKind::Person, who: "Lan", conversation: None, now: Utc::now() };
    let tenant = TenantId::default();
    let store = app.inner.store.tenant(&tenant);
    for step in steps {
        let done = store.advance_rma(&rma.parse().unwrap(), *step, &by).await.unwrap();
        assert!(matches!(done, Advance::Done(_)), "{step}: {done:?}");
    }
}

/// The number of a return of 77893 whose label was made.
async fn returned(chat: &mut Chat<'_>) -> String {
    let made = chat.say_all(&["return order 77893", JOHN, "yes"]).await;
    let rma = metadata(&made, "return_ticket")["action_ticket"]["id"].as_str().unwrap().to_owned();
    let tenant = TenantId::default();
    let store = chat.app.inner.store.tenant(&tenant);
    let number = rma.parse().unwrap();
    let status = async || store.find_rma(&number).await.unwrap().unwrap().status;
    eventually_async("the label is sent", async || status().await == RmaStatus::LabelSent).await;
    rma
}

const INSPECTED: [RmaStatus; 3] = [RmaStatus::InTransit, RmaStatus::Received, RmaStatus::Inspected];

#[tokio::test]
async fn late_approval_sends_no_second_label() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let rma = returned(&mut chat).await;
    advance(&app, &rma, &INSPECTED).await;
    let ticket = chat.escalated(&["the boots are shattered"]).await;
    resolve(&app, &ticket, Resolution::Approve, "seen").await;
    chat.decisions(1).await;
    let approvals = mailed(&app, 2).await.into_iter().filter(|mail| mail.contains("is approved"));
    assert_eq!(approvals.count(), 1, "the mail of the return alone");
}

#[tokio::test]
async fn approval_after_refund_continues_nothing() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let rma = returned(&mut chat).await;
    advance(&app, &rma, &INSPECTED).await;
    advance(&app, &rma, &[RmaStatus::Approved, RmaStatus::Refunded]).await;
    let ticket = chat.escalated(&["the boots are shattered"]).await;
    resolve(&app, &ticket, Resolution::Approve, "seen").await;
    let reply = chat.decisions(1).await.remove(0);
    assert_eq!(reply["metadata"]["decision"]["decision"], "closed", "{reply}");
}

#[tokio::test]
async fn person_decides_a_cancellation() {
    let app = open(TestApp::builder()).await;
    for (order, decision, text) in
        [("ABC-100001", Resolution::Approve, "cancelled"), ("ABC-100005", Resolution::Reject, " not ")]
    {
        let mut chat = Chat::open(&app).await;
        let tenant = TenantId::default();
        let store = app.inner.store.tenant(&tenant);
        let email = store.find_order(&order.parse().unwrap()).await.unwrap().unwrap().email;
        let wish = format!("cancel order {order}");
        let made = chat.say_all(&[&wish, email.as_str(), "yes, cancel it"]).await;
        let ticket = metadata(&made, "return_ticket")["action_ticket"]["id"].as_str().unwrap().to_owned();
        resolve(&app, &ticket, decision, "stopped in time").await;
        let reply = chat.decisions(1).await.remove(0);
        assert!(reply["text"].as_str().unwrap().contains(text), "{reply}");
        assert!(!reply["text"].as_str().unwrap().contains("stopped"), "{reply}");
        let news = chat.say("any news about my ticket?").await;
        assert!(news.text("escalation").contains(order), "{news:?}");
        let stored = store.find_ticket(&ticket).await.unwrap().unwrap();
        assert_eq!((stored.kind, stored.resolved.map(|done| done.decision)), (TicketKind::Cancel, Some(decision)));
    }
}

#[tokio::test]
async fn rejected_cancellation_can_be_asked_again() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let ticket = |events: &Events| metadata(events, "return_ticket")["action_ticket"].clone();
    let first = chat.say_all(&["cancel order ABC-100001", "an.nguyen@example.com", "yes, cancel it"]).await;
    let first = ticket(&first)["id"].as_str().unwrap().to_owned();
    resolve(&app, &first, Resolution::Reject, "already packed").await;
    chat.decisions(1).await;
    let second = ticket(&chat.say_all(&["cancel order ABC-100001", "yes, cancel it"]).await);
    assert_eq!(second["status"], "created");
    assert_ne!(second["id"], first);
    let third = chat.say_all(&["cancel order ABC-100001", "yes, cancel it"]).await;
    assert_eq!(third.kinds(), ["return_ticket", "follow_up"]);
    assert_eq!(ticket(&third), json!({"id": second["id"], "status": "duplicate"}));
    assert!(third.text("return_ticket").contains(second["id"].as_str().unwrap()), "{third:?}");
}

#[tokio::test]
async fn cancelling_a_refunded_order_shows_its_status() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let rma = returned(&mut chat).await;
    let open = chat.say("cancel order 77893").await;
    assert_eq!(open.kinds(), ["reply", "follow_up"], "the return stays open: {open:?}");
    advance(&app, &rma, &INSPECTED).await;
    advance(&app, &rma, &[RmaStatus::Approved, RmaStatus::Refunded]).await;
    let refunded = chat.say("cancel order 77893").await;
    assert_eq!(refunded.kinds()[0], "order_status", "{refunded:?}");
}

#[tokio::test]
async fn every_detail_reaches_the_open_ticket() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let ticket = chat.escalated(&SHATTERED).await;
    // Written before the customer saw the question.
    let early = chat.say("the box looked fine from outside").await;
    assert_eq!(early.kinds(), ["escalation"], "{early:?}");
    resolve(&app, &ticket, Resolution::MoreInfo, "Is the left sole torn as well?").await;
    chat.decisions(1).await;
    chat.say("yes, the left one too").await;
    let second = chat.say("and the laces came without their tips").await;
    assert_eq!(second.kinds(), ["escalation"], "{second:?}");
    let third = chat.say("yes").await;
    assert_eq!(third.kinds(), ["escalation"], "{third:?}");
    let tenant = TenantId::default();
    let stored = app.inner.store.tenant(&tenant).find_ticket(&ticket).await.unwrap().unwrap();
    for detail in
        ["Detail: the box looked fine", "Answer: yes, the left one too", "Detail: and the laces came", "Detail: yes"]
    {
        assert!(stored.summary.contains(detail), "{detail}: {}", stored.summary);
    }
}

#[tokio::test]
async fn numbers_are_understood_in_a_new_conversation() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let rma = returned(&mut chat).await;
    let ticket = Chat::open(&app).await.escalated(&["return order 77897", "buyer-77897@example.com"]).await;
    for (number, contact, kind) in [(&rma, JOHN, "order_status"), (&ticket, "buyer-77897@example.com", "escalation")] {
        let mut later = Chat::open(&app).await;
        let asked = later.say(&format!("what about {number}?")).await;
        assert_eq!(asked.kinds(), ["order_prompt"], "{asked:?}");
        assert!(!asked.text("order_prompt").contains("7789"), "the order is not revealed: {asked:?}");
        let reply = later.say(contact).await;
        assert_eq!(reply.kinds(), [kind, "follow_up"], "{reply:?}");
        assert!(reply.text(kind).contains(number.as_str()), "{reply:?}");
        let mut stranger = Chat::open(&app).await;
        let refused = stranger.say_all(&[&format!("what about {number}?"), "stranger@example.com"]).await;
        assert_eq!(refused.kinds(), ["order_prompt"], "{refused:?}");
    }
}

#[tokio::test]
async fn damage_to_a_named_return_calls_a_person() {
    let app = open(TestApp::builder()).await;
    let rma = returned(&mut Chat::open(&app).await).await;
    let mut later = Chat::open(&app).await;
    let asked = later.say(&format!("{rma} arrived shattered")).await;
    assert_eq!(
        (asked.first("intent")["intent"].as_str(), asked.kinds()),
        (Some("return"), vec!["order_prompt".to_owned()])
    );
    let events = later.say(JOHN).await;
    assert!(events.kinds().contains(&"escalation".to_owned()), "{events:?}");
}

#[tokio::test]
async fn ticket_question_is_answered_in_another_conversation() {
    let app = open(TestApp::builder()).await;
    let ticket = Chat::open(&app).await.escalated(&SHATTERED).await;
    resolve(&app, &ticket, Resolution::MoreInfo, "Is the left sole torn as well?").await;
    let mut later = Chat::open(&app).await;
    let asked = later.say_all(&[&format!("what about {ticket}?"), JOHN]).await;
    assert!(asked.text("escalation").contains("Is the left sole torn as well?"), "{asked:?}");
    assert_eq!(later.say("yes, the left one too").await.kinds(), ["escalation"]);
    let tenant = TenantId::default();
    let stored = app.inner.store.tenant(&tenant).find_ticket(&ticket).await.unwrap().unwrap();
    assert!(stored.summary.contains("Answer: yes, the left one too"), "{}", stored.summary);
}

#[tokio::test]
async fn never_mind_after_ticket_asks_no_order() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    chat.escalated(&SHATTERED).await;
    let ended = chat.say("never mind my return, forget it").await;
    assert!(!ended.kinds().contains(&"order_prompt".to_owned()), "{ended:?}");
    assert!(ended.text("reply").contains("colleague"), "the request stays open: {ended:?}");
}
