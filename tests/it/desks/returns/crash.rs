//! A server that is killed after an effect and before its state is saved.

use chrono::{DateTime, TimeDelta, Utc};
use frontdesk::domain::returns::MailNumber;
use frontdesk::domain::{ConversationId, Language, TenantId};
use frontdesk::store::mails::NewMail;
use serde_json::{Value, json};

use super::shop::{Chat, mails, metadata, open};
use crate::http::live::meddle;
use crate::support::app::TestApp;
use crate::support::eventually;

const JOHN: &str = "john.doe@example.com";
const TO_THE_TICKET: [&str; 3] = ["return order 77893", JOHN, "yes"];

/// Puts the conversation's state back to before the step whose fields these are, as a kill before the save leaves it.
async fn forget(chat: &Chat<'_>, fields: &[&str]) {
    let tenant = TenantId::default();
    let store = chat.app.inner.store.tenant(&tenant);
    let id: ConversationId = chat.id.parse().unwrap();
    let mut state = store.find_conversation(id).await.unwrap().unwrap().state;
    for field in fields {
        state[*field] = Value::Null;
    }
    state["conversation_complete"] = json!(false);
    state["meta"]["idempotency_key"] = Value::Null;
    state["meta"]["last_rma"] = Value::Null;
    store.save_state(id, &state).await.unwrap();
}

#[tokio::test]
async fn lost_state_repeats_no_ticket_or_mail() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    let first = metadata(&chat.say_all(&TO_THE_TICKET).await, "return_ticket");
    forget(&chat, &["action_ticket", "email_status"]).await;
    let again = chat.say("are you still there?").await;
    assert_eq!(again.kinds(), ["social", "return_ticket", "follow_up"]);
    let again = metadata(&again, "return_ticket");
    assert_eq!(again["action_ticket"], first["action_ticket"], "created, and not a duplicate: it is the same asking");
    assert_eq!(again["email_status"], "sent");
    assert_eq!(mails(&app).len(), 1);
}

#[tokio::test]
async fn mail_with_lost_state_is_sent_once() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&TO_THE_TICKET).await;
    forget(&chat, &["email_status"]).await;
    let again = chat.say("are you still there?").await;
    assert_eq!(metadata(&again, "return_ticket")["email_status"], "sent");
    assert_eq!(mails(&app).len(), 1);
}

#[tokio::test]
async fn lost_decision_is_made_again() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["return order 77894", "buyer-77894@example.com"]).await;
    forget(&chat, &["eligibility"]).await;
    assert_eq!(chat.say("hello?").await.kinds(), ["return_decision", "follow_up"]);
}

#[tokio::test]
async fn pending_mail_is_sent_after_a_restart() {
    let app = open(TestApp::builder().env("OUTBOX_BACK_OFF_SECONDS", "0.000001").env("MAIL_WAIT_SECONDS", 0)).await;
    let in_the_way = app.folder().join("outbox");
    std::fs::write(&in_the_way, "").unwrap();
    let mut chat = Chat::open(&app).await;
    chat.say_all(&TO_THE_TICKET).await;
    let builder = app.stop().await;
    let next = builder.start().await;
    std::fs::remove_file(next.folder().join("outbox")).unwrap();
    eventually("the mail is sent", || !mails(&next).is_empty()).await;
    assert_eq!(mails(&next).len(), 1);
}

#[tokio::test]
async fn unreadable_mail_does_not_block_later_ones() {
    let app = open(TestApp::builder()).await;
    meddle(
        &app,
        "CREATE TRIGGER spoil AFTER INSERT ON mails WHEN NEW.order_number = '77893' \
         BEGIN UPDATE mails SET status = 'lost' WHERE id = NEW.id; END",
        "CREATE FUNCTION spoil() RETURNS trigger AS $$ BEGIN UPDATE mails SET status = 'lost' WHERE id = NEW.id; RETURN NULL; END $$ \
         LANGUAGE plpgsql; CREATE TRIGGER spoil AFTER INSERT ON mails FOR EACH ROW WHEN (NEW.order_number = '77893') \
         EXECUTE FUNCTION spoil()",
    )
    .await;
    let tenant = TenantId::default();
    let store = app.inner.store.tenant(&tenant);
    let mail = |order: &str, at: DateTime<Utc>| NewMail {
        number: MailNumber::new(at, &[order]),
        to: JOHN.parse().unwrap(),
        template: "return_approved".to_owned(),
        language: Language::EN,
        context: json!({}),
        conversation: None,
        order: Some(order.parse().unwrap()),
        rma: None,
    };
    let now = Utc::now();
    let before = now - TimeDelta::seconds(1);
    store.queue_mail(&mail("77893", before), "test", before).await.unwrap();
    store.queue_mail(&mail("77894", now), "test", now).await.unwrap();
    app.inner.jobs.wake();
    eventually("the mail is sent", || !mails(&app).is_empty()).await;
    assert_eq!(mails(&app).len(), 1);
}

#[tokio::test]
async fn lost_message_keeps_the_customer_waiting_visibly() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["return order 77893", "I want to talk to a human"]).await;
    assert_eq!(chat.status().await, "waiting");
    forget(&chat, &[]).await;
    let bot = "UPDATE conversations SET status = 'bot', waiting_since = NULL";
    meddle(&app, bot, bot).await;
    assert_eq!(chat.say("hello?").await.kinds(), ["escalation", "follow_up"]);
    assert_eq!(chat.status().await, "waiting");
}
