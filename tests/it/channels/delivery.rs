//! How messages go out: in order, in parts, and once.

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use frontdesk::cli::seed::commerce::shops;
use frontdesk::domain::{Event, EventId, MessageId, Sender, TenantId};
use frontdesk::store::deliveries::Part;
use frontdesk::store::journal::{Change, Entry};
use frontdesk::store::shoppers::ShopperKey;
use frontdesk::store::turns::StoredEvent;
use serde_json::json;

use super::{CUSTOMER, Phone, SAVANNA, all_delivered, change, connect, deliveries, open, open_with, settings, status};
use crate::desks::retail::chat::Shop;
use crate::http::console::{answer, hand};
use crate::http::live::{BEGINNING, Live, QUESTION, ended, meddle, stalled};
use crate::store;
use crate::support::app::{TestApp, TestAppBuilder};
use crate::support::ollama::ScriptedOllama;
use crate::support::twilio::{Play, ScriptedTwilio};

/// A conversation that a person has taken, so that every message to the customer is the test's.
async fn taken(desk: &Shop, twilio: &ScriptedTwilio) -> String {
    let phone = Phone::new(&desk.app);
    phone.send("hi").await;
    all_delivered(&desk.app).await;
    let id = phone.conversation().await;
    hand(&desk.app, &id, "take").await;
    assert_eq!(twilio.sent().len(), 1);
    id
}

/// The texts that were sent after the first one.
fn answers(twilio: &ScriptedTwilio) -> Vec<String> {
    twilio.bodies().split_off(1)
}

#[tokio::test]
async fn persons_answer_goes_out_unchanged() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let id = taken(&desk, &twilio).await;
    let texts = ["Carton 40*30*20 cm", "Thanks\n--\nLan", "[pay]: https://savanna.example/pay"];
    for text in texts {
        answer(&desk.app, &id, text).await;
    }
    all_delivered(&desk.app).await;
    assert_eq!(answers(&twilio), texts);
    let sent = twilio.sent().pop().unwrap();
    for (reported, shown) in [("sent", "sent"), ("delivered", "delivered"), ("sent", "delivered"), ("read", "read")] {
        assert_eq!(twilio.report(&desk.app, &sent, reported, None).await.status(), 200);
        let (_, delivery) = deliveries(&desk.app, &id).await.pop().unwrap();
        assert_eq!(status(&delivery), shown, "{reported}");
    }
}

#[tokio::test]
async fn delivery_stores_no_phone_number() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let id = taken(&desk, &twilio).await;
    let erase = "UPDATE shoppers SET phone_e164 = NULL";
    meddle(&desk.app, erase, erase).await;
    answer(&desk.app, &id, "Hello").await;
    all_delivered(&desk.app).await;
    assert_eq!(answers(&twilio), ["Hello"]);
    let (shop, key) = (TenantId::default(), ShopperKey::Phone(CUSTOMER.parse().unwrap()));
    assert!(desk.app.inner.store.tenant(&shop).find_shopper(&key).await.unwrap().is_none());
}

#[tokio::test]
async fn long_messages_go_out_in_parts_and_order() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let id = taken(&desk, &twilio).await;
    let long: Vec<String> = (1..=3).map(|n| format!("Paragraph {n}. {}", "Words and words. ".repeat(70))).collect();
    answer(&desk.app, &id, &long.join("\n\n")).await;
    answer(&desk.app, &id, "and this").await;
    all_delivered(&desk.app).await;
    let bodies = answers(&twilio);
    assert_eq!(bodies.len(), 4, "{bodies:?}");
    assert!(bodies.iter().all(|body| body.chars().count() <= 1600));
    let beginnings: Vec<&str> = bodies.iter().map(|body| body.split('.').next().unwrap()).collect();
    assert_eq!(beginnings, ["Paragraph 1", "Paragraph 2", "Paragraph 3", "and this"]);
}

#[tokio::test]
async fn lost_part_is_not_hidden_by_later_reports() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open_with(TestApp::builder(), &twilio).await;
    let id = taken(&desk, &twilio).await;
    // From now on, only a report lets the next part go.
    let Shop { app, .. } = desk;
    let app = settings(app.stop().await, &twilio).env("WHATSAPP_PACE_SECONDS", 3600).start().await;
    let long: Vec<String> = (1..=3).map(|n| format!("Paragraph {n}. {}", "Words and words. ".repeat(70))).collect();
    answer(&app, &id, &long.join("\n\n")).await;
    for count in 1..=2 {
        let sent = twilio.wait_for(count).await;
        twilio.report(&app, &sent[count - 1], "sent", None).await;
    }
    let sent = twilio.wait_for(3).await;
    for (part, reported, error) in [(1, "undelivered", Some(63016)), (2, "delivered", None), (1, "delivered", None)] {
        assert_eq!(twilio.report(&app, &sent[part], reported, error).await.status(), 200);
        let (_, delivery) = deliveries(&app, &id).await.pop().unwrap();
        assert_eq!(delivery, json!({"status": "failed", "error": "63016"}), "{reported}");
    }
    answer(&app, &id, "again").await;
    all_delivered(&app).await;
    let bodies = answers(&twilio);
    let beginnings: Vec<&str> = bodies.iter().map(|body| body.split('.').next().unwrap()).collect();
    assert_eq!(beginnings, ["Paragraph 1", "Paragraph 2", "again"]);
}

/// A job that read the delivery before the report asks too late.
#[tokio::test]
async fn reported_part_is_not_begun_again() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let id = taken(&desk, &twilio).await;
    answer(&desk.app, &id, "one").await;
    all_delivered(&desk.app).await;
    twilio.report(&desk.app, &twilio.sent()[1], "sent", None).await;
    let message = desk.app.history(&id).await.pop().unwrap()["id"].as_str().unwrap().parse().unwrap();
    let (tenant, part) = (SAVANNA.tenant.parse().unwrap(), Part { message, number: 0 });
    assert!(!desk.app.inner.store.tenant(&tenant).begin_part(part, 1, Utc::now()).await.unwrap());
    assert_eq!(status(&deliveries(&desk.app, &id).await[1].1), "sent");
}

#[tokio::test]
async fn next_message_waits_for_the_report() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open_with(TestApp::builder(), &twilio).await;
    let id = taken(&desk, &twilio).await;
    // From now on, only a report lets the next message go.
    let Shop { app, .. } = desk;
    let app = settings(app.stop().await, &twilio).env("WHATSAPP_PACE_SECONDS", 3600).start().await;
    for text in ["one", "two", "three"] {
        answer(&app, &id, text).await;
    }
    for (count, expected) in [(1, "one"), (2, "two"), (3, "three")] {
        // The greeting of the first server was never reported.
        let before = twilio.sent();
        twilio.report(&app, before.last().unwrap(), "sent", None).await;
        let sent = twilio.wait_for(count + 1).await;
        assert_eq!((sent.len(), sent[count].body()), (count + 1, expected));
        assert_eq!(twilio.asked().0, count + 1, "nothing else was tried");
    }
}

#[tokio::test]
async fn waiting_customer_does_not_hold_others() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    twilio.play(&[Play::Stall]);
    Phone::new(&desk.app).send("hi").await;
    twilio.wait_for(1).await;
    let other = Phone::of(&desk.app, SAVANNA, "+254711000002");
    for count in 2..=3 {
        other.send("canvas shoes").await;
        let sent = twilio.wait_for(count).await;
        assert_eq!(sent[count - 1].to(), "whatsapp:+254711000002");
    }
}

#[tokio::test]
async fn lost_answer_sends_nothing_twice() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let id = taken(&desk, &twilio).await;
    twilio.play(&[Play::Accept, Play::Lose, Play::Drop, Play::Accept, Play::Lose]);
    // The same text several times, so that a lost one is not confused with another.
    for text in ["OK", "OK", "later", "OK"] {
        answer(&desk.app, &id, text).await;
    }
    all_delivered(&desk.app).await;
    assert_eq!(answers(&twilio), ["OK", "OK", "later", "OK"]);
    let shown = deliveries(&desk.app, &id).await;
    assert!(shown.iter().all(|(_, delivery)| status(delivery) == "accepted"), "{shown:?}");
    assert!(twilio.asked().1 >= 3, "each lost answer was looked up");
}

#[tokio::test]
async fn busy_provider_is_tried_again() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let id = taken(&desk, &twilio).await;
    twilio.play(&[Play::Refuse(429, 20429), Play::Refuse(500, 20500), Play::Refuse(503, 20503)]);
    answer(&desk.app, &id, "one").await;
    answer(&desk.app, &id, "two").await;
    all_delivered(&desk.app).await;
    assert_eq!(answers(&twilio), ["one", "two"]);
}

#[tokio::test]
async fn final_refusal_is_shown_and_not_repeated() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let id = taken(&desk, &twilio).await;
    twilio.play(&[Play::Refuse(400, 21610)]);
    answer(&desk.app, &id, "one").await;
    answer(&desk.app, &id, "two").await;
    all_delivered(&desk.app).await;
    assert_eq!((answers(&twilio), twilio.asked().0), (vec!["two".to_owned()], 3));
    let shown = deliveries(&desk.app, &id).await;
    assert_eq!(shown[1].1, json!({"status": "failed", "error": "21610"}));
    // A failure that is reported later, after a doubled report of success.
    let sent = twilio.sent().pop().unwrap();
    for (reported, error) in [("sent", None), ("sent", None), ("undelivered", Some(63016)), ("sent", None)] {
        assert_eq!(twilio.report(&desk.app, &sent, reported, error).await.status(), 200);
    }
    let (_, delivery) = deliveries(&desk.app, &id).await.pop().unwrap();
    assert_eq!(delivery, json!({"status": "failed", "error": "63016"}));
}

#[tokio::test]
async fn restart_delivers_stored_messages_once() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let id = taken(&desk, &twilio).await;
    // Twilio takes the first message, but the server never learns it; the second one is not tried.
    twilio.play(&[Play::Stall]);
    answer(&desk.app, &id, "one").await;
    answer(&desk.app, &id, "two").await;
    twilio.wait_for(2).await;
    let Shop { app, .. } = desk;
    let app = settings(app.stop().await, &twilio).start().await;
    all_delivered(&app).await;
    assert_eq!(answers(&twilio), ["one", "two"]);
    assert_eq!(twilio.asked().1, 1, "the first one was looked up");
}

#[tokio::test]
async fn delivery_without_a_job_delays_no_later_one() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let id = taken(&desk, &twilio).await;
    twilio.play(&[Play::Stall]);
    answer(&desk.app, &id, "one").await;
    twilio.wait_for(2).await;
    let (store, after_lease) = (&desk.app.inner.store, Utc::now() + TimeDelta::days(1));
    let jobs = store.lease_jobs(&["deliver_message"], after_lease, Duration::ZERO, 1).await.unwrap();
    assert_eq!(jobs.len(), 1);
    store.finish_jobs(&jobs).await.unwrap();
    let Shop { app, .. } = desk;
    let app = settings(app.stop().await, &twilio).start().await;
    answer(&app, &id, "two").await;
    all_delivered(&app).await;
    assert_eq!(answers(&twilio), ["one", "two"]);
}

/// A server on whose WhatsApp line a model begins every reply and never ends it.
async fn stalled_line(builder: TestAppBuilder, twilio: &ScriptedTwilio) -> (TestApp, ScriptedOllama) {
    let (app, ollama) = stalled(settings(builder.every_desk(), twilio)).await;
    app.inner.store.make_sample_tenants(&shops(Utc::now()).unwrap()).await.unwrap();
    connect(&app, twilio).await;
    let persona = "system_persona_vi";
    change(&app, SAVANNA, &[], |tenant| tenant.settings.whatsapp.persona = Some(persona.parse().unwrap())).await;
    (app, ollama)
}

/// Sends a question and waits for the beginning of the reply. Returns the conversation.
async fn begun(phone: &Phone<'_>) -> String {
    phone.send(QUESTION).await;
    let id = phone.conversation().await;
    Live::follow(phone.app, &id, Some("0.0")).await.until(BEGINNING).await;
    id
}

#[tokio::test]
async fn cut_message_is_not_sent() {
    let twilio = ScriptedTwilio::start().await;
    let (app, _ollama) = stalled_line(TestApp::builder(), &twilio).await;
    let id = begun(&Phone::new(&app)).await;
    let cancel = format!("/conversations/{id}/turns/1/cancel");
    assert_eq!(app.post(&cancel, &json!({})).send().await.unwrap().status(), 202);
    assert_eq!(ended(&app, &id, 1).await, "cancelled");
    all_delivered(&app).await;
    let said = deliveries(&app, &id).await;
    let (cut, _) = said.iter().find(|(text, _)| text.contains(BEGINNING)).unwrap();
    assert!(!twilio.bodies().contains(cut), "{:?}", twilio.bodies());
    assert!(said.iter().all(|(text, delivery)| delivery.is_null() == (text == cut)), "{said:?}");
}

#[tokio::test]
async fn interrupted_customer_is_asked_to_write_again() {
    let twilio = ScriptedTwilio::start().await;
    let (app, _ollama) = stalled_line(TestApp::builder().env("DRAIN_SECONDS", 0), &twilio).await;
    let (id, database) = (begun(&Phone::new(&app)).await, app.database_url.clone());
    let builder = settings(app.stop().await, &twilio);
    // A killed server leaves a turn that has only begun.
    let (shop, left) = (TenantId::default(), store::open(&database).await);
    store::accepted(&left, &shop, id.parse().unwrap(), 1).await;
    let start = Event::TurnStart { turn: 2, message_id: MessageId::now(), sender: Sender::User, text: "hi".to_owned() };
    let event = StoredEvent { id: EventId::new(2, 1), body: serde_json::to_string(&start).unwrap() };
    let (conversation, changes) = (id.parse().unwrap(), vec![Change::TurnStarted]);
    left.append(&[Entry { tenant: shop, conversation, event, at: Utc::now(), changes }]).await.unwrap();
    drop(left);
    let app = builder.start().await;
    for turn in 1..=2 {
        assert_eq!(ended(&app, &id, turn).await, "interrupted");
    }
    all_delivered(&app).await;
    let notices = twilio.bodies().iter().filter(|text| text.contains("nhắn lại sau ít phút")).count();
    assert_eq!(notices, 2, "{:?}", twilio.bodies());
}
