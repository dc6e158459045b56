//! What a person decides on a ticket: the customer is notified in the chat and by mail, once.

use chrono::{TimeDelta, Utc};
use frontdesk::channels::{Announcement, Announcer};
use frontdesk::domain::returns::{DamageWords, Notice, Outcome, Resolution, Rma};
use frontdesk::domain::{ActorKind, Kind, Metadata, TenantId};
use frontdesk::jobs::NewJob;
use frontdesk::store::audit::Actor;
use frontdesk::store::returns::SAY_DECISION;
use frontdesk::store::returns::resolve::{Resolving, Verdict};
use serde_json::{Value, json};
use uuid::Uuid;

use super::shop::{Chat, mails, metadata, open};
use crate::support::app::TestApp;
use crate::support::{eventually, eventually_async};

const JOHN: &str = "john.doe@example.com";
const SHATTERED: [&str; 2] = ["return order 77893, the boots arrived shattered", JOHN];

impl Chat<'_> {
    /// The ticket of the escalation with which the last of these messages ends.
    pub(super) async fn escalated(&mut self, texts: &[&str]) -> String {
        let ended = self.say_all(texts).await;
        metadata(&ended, "escalation")["escalation"]["ticket_id"].as_str().unwrap().to_owned()
    }

    async fn history(&self) -> Vec<Value> {
        let path = format!("/conversations/{}/history?limit=200", self.id);
        let history: Value = self.app.get(&path).send().await.unwrap().json().await.unwrap();
        history["messages"].as_array().unwrap().clone()
    }

    /// What the shop said about decisions, once there is so much of it.
    pub(in crate::desks) async fn decisions(&self, count: usize) -> Vec<Value> {
        let mut said = Vec::new();
        eventually_async("the decisions are announced", async || {
            said = self.history().await;
            said.retain(|message| message["metadata"].get("decision").is_some());
            said.len() >= count
        })
        .await;
        said
    }
}

pub(in crate::desks) async fn resolve(app: &TestApp, ticket: &str, decision: Resolution, why: &str) -> Vec<Rma> {
    let tenant = TenantId::default();
    let terms = app.inner.config.returns.terms(DamageWords::default(), chrono_tz::Asia::Ho_Chi_Minh);
    let verdict = Verdict { decision, why, terms: &terms, random: rand::random() };
    let by = Actor { kind: ActorKind::Person, who: "Lan", conversation: None, now: Utc::now() };
    let done = app.inner.store.tenant(&tenant).resolve_escalation(ticket, &verdict, &by).await.unwrap();
    app.inner.jobs.wake();
    match done {
        Resolving::Done(_, rmas) => rmas,
        other => panic!("{other:?}"),
    }
}

/// The mails that went out, once there are so many.
pub(in crate::desks) async fn mailed(app: &TestApp, count: usize) -> Vec<String> {
    eventually("the mails are sent", || mails(app).len() >= count).await;
    // Quoted-printable breaks lines after an equals sign, and writes one itself so.
    mails(app).iter().map(|mail| mail.replace("=\r\n", "").replace("=3D", "=")).collect()
}

#[tokio::test]
async fn approval_sends_message_label_and_mail() {
    let app = open(TestApp::builder()).await;
    for (at, (order, said)) in [
        ("77893", SHATTERED),
        ("77897", ["return order 77897", "buyer-77897@example.com"]),
        ("77898", ["return order 77898", "buyer-77898@example.com"]),
    ]
    .into_iter()
    .enumerate()
    {
        let mut chat = Chat::open(&app).await;
        let ticket = chat.escalated(&said).await;
        let rmas = resolve(&app, &ticket, Resolution::Approve, "photos seen").await;
        assert_eq!((rmas.len(), rmas[0].order.as_str()), (1, order));
        let reply = chat.decisions(1).await.remove(0);
        assert_eq!((&reply["sender"], &reply["metadata"]["name"]), (&"agent".into(), &"Lan".into()), "{reply}");
        let text = reply["text"].as_str().unwrap();
        let number = rmas[0].number.as_str();
        assert!(text.contains(&ticket) && text.contains(number), "{text}");
        assert!(!text.contains("photos seen"), "the reason is the shop's own: {text}");
        assert_eq!(chat.status().await, "bot");
        let mail = mailed(&app, at + 1).await.into_iter().find(|mail| mail.contains(number)).unwrap();
        assert!(mail.contains("is approved") && mail.contains("/labels/"), "{mail}");
        let news = chat.say("Any news about my ticket?").await;
        assert_eq!(news.kinds(), ["escalation", "follow_up"], "{order}");
        assert!(news.text("escalation").contains(number), "{news:?}");
    }
    assert_eq!(mails(&app).len(), 3);
}

#[tokio::test]
async fn rejected_review_creates_no_second_ticket() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let ticket = chat.escalated(&SHATTERED).await;
    resolve(&app, &ticket, Resolution::Reject, "worn for a year").await;
    let reply = chat.decisions(1).await.remove(0);
    assert_eq!(reply["metadata"]["decision"]["decision"], "reject", "{reply}");
    assert!(!reply["text"].as_str().unwrap().contains("worn"), "{reply}");
    assert!(mailed(&app, 1).await[0].contains("cannot accept it"));
    let again = chat.say_all(&SHATTERED[..1]).await;
    assert_eq!(again.kinds(), ["return_decision", "follow_up"]);
    assert!(again.text("return_decision").contains("colleague"), "{again:?}");
    assert_eq!(chat.status().await, "bot");
    assert_eq!(
        app.inner.store.tenant(&TenantId::default()).list_tickets_in(chat.id.parse().unwrap()).await.unwrap().len(),
        1
    );
}

#[tokio::test]
async fn reviewers_question_and_customers_answer_are_delivered() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let ticket = chat.escalated(&SHATTERED).await;
    assert_eq!(chat.status().await, "waiting");
    resolve(&app, &ticket, Resolution::MoreInfo, "Is the left sole torn as well?").await;
    let reply = chat.decisions(1).await.remove(0);
    assert!(reply["text"].as_str().unwrap().contains("Is the left sole torn as well?"), "{reply}");
    assert!(mailed(&app, 1).await[0].contains("Is the left sole torn as well?"));
    assert_eq!(chat.status().await, "bot", "it is the customer's turn");
    let answered = chat.say("yes, the left one too").await;
    assert_eq!(answered.kinds(), ["escalation"]);
    assert_eq!(chat.status().await, "waiting");
    let tenant = TenantId::default();
    let stored = app.inner.store.tenant(&tenant).find_ticket(&ticket).await.unwrap().unwrap();
    assert!(stored.summary.ends_with("Answer: yes, the left one too"), "{}", stored.summary);
    resolve(&app, &ticket, Resolution::Approve, "clear now").await;
    assert_eq!(chat.decisions(2).await.len(), 2);
    assert_eq!(chat.status().await, "bot");
}

#[tokio::test]
async fn joined_conversation_receives_each_decision_once() {
    let app = open(TestApp::builder()).await;
    let (mut first, mut joined) = (Chat::open(&app).await, Chat::open(&app).await);
    let ticket = first.escalated(&SHATTERED).await;
    assert_eq!(joined.escalated(&SHATTERED).await, ticket);
    assert_eq!(joined.escalated(&SHATTERED[..1]).await, ticket, "asking again joins once");
    let mut other = Chat::open(&app).await;
    let elsewhere = other.escalated(&["return order 77897", "buyer-77897@example.com"]).await;
    assert_ne!(elsewhere, ticket);
    let question = "Is the left sole torn as well?";
    resolve(&app, &ticket, Resolution::MoreInfo, question).await;
    for chat in [&first, &joined] {
        let reply = chat.decisions(1).await.remove(0);
        assert!(reply["text"].as_str().unwrap().contains(question), "{reply}");
        assert_eq!(chat.status().await, "bot");
    }
    let news = joined.say("my ticket?").await;
    assert!(news.text("escalation").contains(question), "a question is no answer: {news:?}");
    assert_eq!(joined.say("yes, the left one too").await.kinds(), ["escalation"]);
    resolve(&app, &ticket, Resolution::Approve, "clear now").await;
    for chat in [&first, &joined] {
        let reply = chat.decisions(2).await;
        assert_eq!(reply.len(), 2, "{reply:?}");
        assert!(reply[1]["text"].as_str().unwrap().contains("RMA-"), "{reply:?}");
        assert_eq!(chat.status().await, "bot");
    }
    assert_eq!(joined.say("send me the label again please").await.kinds()[0], "return_ticket");
    let approvals = mailed(&app, 2).await.into_iter().filter(|mail| mail.contains("is approved"));
    assert_eq!(approvals.count(), 1, "one mail says it");
    resolve(&app, &elsewhere, Resolution::Reject, "no").await;
    other.decisions(1).await;
    assert_eq!(joined.decisions(2).await.len(), 2);
}

#[tokio::test]
async fn open_ticket_is_reported_as_open() {
    let app = open(TestApp::builder()).await;
    for (wish, news) in [
        (serde_json::json!({"language": "en"}), "any news about my ticket?"),
        (serde_json::json!({"language": "en"}), "my ticket?"),
        (serde_json::json!({"persona": "returns_vi", "language": "vi"}), "ticket của em đâu ạ?"),
        (serde_json::json!({"persona": "returns_vi", "language": "vi"}), "phiếu của mình tới đâu rồi ạ?"),
    ] {
        let mut chat = Chat::open_with(&app, wish).await;
        let ticket = chat.escalated(&["return order 77897", "buyer-77897@example.com"]).await;
        let reply = chat.say(news).await;
        assert_eq!(reply.kinds(), ["escalation", "follow_up"], "{news}");
        assert!(reply.text("escalation").contains(&ticket), "{reply:?}");
    }
}

#[tokio::test]
async fn approved_damage_of_a_return_is_told() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let ticket = chat.escalated(&["return order 77893", JOHN, "yes", "the boots are shattered"]).await;
    let rmas = resolve(&app, &ticket, Resolution::Approve, "seen").await;
    let reply = chat.decisions(1).await.remove(0);
    assert!(reply["text"].as_str().unwrap().contains(rmas[0].number.as_str()), "{reply}");
    assert_eq!(mailed(&app, 2).await.len(), 2);
}

#[tokio::test]
async fn decision_of_a_killed_server_is_announced_once() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let ticket = chat.escalated(&SHATTERED).await;
    let (id, tenant) = (chat.id.clone(), TenantId::default());
    let terms = app.inner.config.returns.terms(DamageWords::default(), chrono_tz::Asia::Ho_Chi_Minh);
    let verdict = Verdict { decision: Resolution::Approve, why: "seen", terms: &terms, random: [1; 4] };
    let by = Actor { kind: ActorKind::Person, who: "Lan", conversation: None, now: Utc::now() };
    app.inner.store.tenant(&tenant).resolve_escalation(&ticket, &verdict, &by).await.unwrap();
    let next = app.stop().await.start().await;
    let chat = Chat::resumed(&next, &id);
    chat.decisions(1).await;
    assert_eq!(mailed(&next, 1).await.len(), 1);
    // A server that was killed before it noted the job as done says the same again.
    let said = || Announcement {
        text: "once".to_owned(),
        metadata: Metadata::of(Kind::Agent).with("decision", "x"),
        key: "decision:x".to_owned(),
    };
    for _ in 0..2 {
        next.inner.engine.announce(&tenant, id.parse().unwrap(), said()).await.unwrap();
    }
    assert_eq!(chat.decisions(2).await.len(), 2);
    assert_eq!(next.ask(&id, "thanks").await.status(), "completed");
    assert_eq!(chat.decisions(2).await.len(), 2);
}

#[tokio::test]
async fn closed_conversation_gets_decision_and_stays_closed() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let ticket = chat.escalated(&SHATTERED).await;
    let tenant = TenantId::default();
    let id = chat.id.parse().unwrap();
    app.inner.engine.hand_over(&tenant, id, frontdesk::domain::Handoff::Close, None).await.unwrap();
    resolve(&app, &ticket, Resolution::Reject, "worn").await;
    chat.decisions(1).await;
    assert_eq!(chat.status().await, "closed");
}

#[tokio::test]
async fn label_is_resent_to_a_verified_contact() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["return order 77893", JOHN, "yes"]).await;
    let mut later = Chat::open(&app).await;
    assert_eq!(later.say("please resend the label").await.kinds(), ["order_prompt"]);
    assert_eq!(later.say("77893").await.kinds(), ["order_prompt"], "whose order it is comes first");
    let mut sent = 1;
    for chat in [&mut later, &mut chat] {
        let given = if sent == 1 { chat.say(JOHN).await } else { chat.say("resend the label").await };
        assert_eq!(given.kinds(), ["return_ticket", "follow_up"]);
        let url = metadata(&given, "return_ticket")["label"]["url"].as_str().unwrap().to_owned();
        assert!(given.text("return_ticket").contains(&url), "{given:?}");
        let path = url.split_once("/labels/").unwrap().1;
        assert_eq!(app.get(&format!("/labels/{path}")).send().await.unwrap().status(), 200);
        sent += 1;
        let mail = mailed(&app, sent).await;
        assert!(mail.iter().any(|mail| mail.contains("Subject: The label for your return")), "{mail:?}");
    }
    let mut vi = Chat::open_with(&app, serde_json::json!({"persona": "returns_vi", "language": "vi"})).await;
    let given = vi.say_all(&["gửi lại nhãn đơn 77893 giúp mình", JOHN]).await;
    assert_eq!(given.kinds(), ["return_ticket", "follow_up"]);
}

#[tokio::test]
async fn confirmation_lists_only_items_not_returned() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let confirm = chat.say_all(&["I want to return order 77900", "buyer-77900@example.com"]).await;
    let text = confirm.text("order_confirm");
    assert!(text.contains("Trekking Poles") != text.contains("Hiking Boots"), "one of two is on its way back: {text}");
}

#[tokio::test]
async fn only_words_of_a_missing_desk_wait() {
    // Its personas use another desk.
    let app = TestApp::start().await;
    let (shop, id, now) = (TenantId::default(), app.open(&json!({})).await, Utc::now());
    let (chat, conversation) = (Chat::resumed(&app, &id), id.parse().unwrap());
    for (subject, outcome) in [(1, Outcome::Rejected), (2, Outcome::Closed)] {
        let notice = Notice { ticket: "T-1".to_owned(), order: None, by: None, outcome, at: now };
        let job = NewJob::new(SAY_DECISION, Uuid::from_u128(subject), &shop, now).in_conversation(conversation);
        app.inner.jobs.enqueue(&job.with_payload(json!(notice))).await.unwrap();
    }
    let said = chat.decisions(1).await;
    assert_eq!(said[0]["metadata"]["decision"]["decision"], "closed", "{said:?}");
    let store = &app.inner.store;
    eventually_async("the jobs have run", async || !store.has_jobs_of(conversation, SAY_DECISION).await.unwrap()).await;
    // The other one waits alone: the runner is free for the decisions of other shops.
    let due = store.list_due_jobs(&[SAY_DECISION], Utc::now() + TimeDelta::minutes(5)).await.unwrap();
    assert_eq!((due, chat.decisions(1).await.len()), (Vec::<String>::new(), 1));
}

/// The conversation's persona may have been taken away, or have another desk since a reload.
#[tokio::test]
async fn another_desk_says_what_its_own_cannot() {
    let app = open(TestApp::builder().every_desk()).await;
    let chat = Chat::open_with(&app, json!({ "persona": "telecom_en", "language": "en" })).await;
    let (shop, now, conversation) = (TenantId::default(), Utc::now(), chat.id.parse().unwrap());
    let notice = Notice { ticket: "T-1".to_owned(), order: None, by: None, outcome: Outcome::Rejected, at: now };
    let job = NewJob::new(SAY_DECISION, Uuid::from_u128(1), &shop, now).in_conversation(conversation);
    app.inner.jobs.enqueue(&job.with_payload(json!(notice))).await.unwrap();
    let said = chat.decisions(1).await;
    assert_eq!(said[0]["metadata"]["decision"]["decision"], "reject", "{said:?}");
}
