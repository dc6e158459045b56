//! Conversations of a customer, shops that share customers, and consent.

use chrono::{TimeDelta, Utc};
use frontdesk::domain::TenantId;
use frontdesk::domain::commerce::payment::PaymentReport;
use frontdesk::store::shoppers::ShopperKey;
use sea_orm::sqlx::{self, AssertSqlSafe};
use serde_json::json;

use super::{CUSTOMER, KIJANI, Phone, SAVANNA, all_delivered, change, deliveries, open, open_with, settings, status};
use crate::desks::retail::chat::Shop;
use crate::http::console::{answer, hand};
use crate::support::app::TestApp;
use crate::support::twilio::{Play, ScriptedTwilio};

const TEMPLATE: &str = "HXb5b62575e6e4ff6129ad7c8efe1f983e";

async fn set_template(app: &TestApp) {
    change(app, SAVANNA, &[], |tenant| tenant.settings.whatsapp.template = Some(TEMPLATE.parse().unwrap())).await;
}

/// Moves what the database knows of channels into the past.
async fn let_pass(app: &TestApp, hours: i64) {
    let then = (Utc::now() - TimeDelta::hours(hours)).to_rfc3339();
    let statements = [
        format!("UPDATE conversations SET last_activity_at = '{then}'"),
        format!("UPDATE channel_sessions SET received_at = '{then}'"),
    ];
    for statement in statements {
        let statement = AssertSqlSafe(statement);
        if app.database_url.starts_with("sqlite") {
            let pool = sqlx::SqlitePool::connect(&app.database_url).await.unwrap();
            sqlx::query(statement).execute(&pool).await.unwrap();
            pool.close().await;
        } else {
            let pool = sqlx::PgPool::connect(&app.database_url).await.unwrap();
            sqlx::query(statement).execute(&pool).await.unwrap();
            pool.close().await;
        }
    }
}

#[tokio::test]
async fn silence_of_a_day_opens_new_conversation() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let phone = Phone::new(&desk.app);
    phone.send("hi").await;
    phone.send("canvas shoes").await;
    all_delivered(&desk.app).await;
    assert_eq!(phone.conversations().await.len(), 1);
    let_pass(&desk.app, 23).await;
    phone.send("sandals").await;
    all_delivered(&desk.app).await;
    assert_eq!(phone.conversations().await.len(), 1);
    let_pass(&desk.app, 25).await;
    phone.send("boots").await;
    all_delivered(&desk.app).await;
    let listed = phone.conversations().await;
    assert_eq!(listed.len(), 2, "{listed:?}");
    // It is the same customer.
    let (store, tenant) = (&desk.app.inner.store, TenantId::default());
    let key = ShopperKey::Phone(CUSTOMER.parse().unwrap());
    let (_, is_new) = store.tenant(&tenant).find_or_create_shopper(&key, Utc::now()).await.unwrap();
    assert!(!is_new);
}

#[tokio::test]
async fn outside_the_window_only_a_template_goes_out() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let phone = Phone::new(&desk.app);
    phone.send("hi").await;
    all_delivered(&desk.app).await;
    let (id, before) = (phone.conversation().await, twilio.sent().len());
    hand(&desk.app, &id, "take").await;
    let_pass(&desk.app, 25).await;
    answer(&desk.app, &id, "Your shoes\nare here").await;
    all_delivered(&desk.app).await;
    assert_eq!(twilio.sent().len(), before);
    let (_, delivery) = deliveries(&desk.app, &id).await.pop().unwrap();
    assert_eq!(delivery, json!({"status": "failed", "error": "outside_window"}));
    let shown: serde_json::Value =
        desk.app.get(&format!("/conversations/{id}")).send().await.unwrap().json().await.unwrap();
    let until: chrono::DateTime<Utc> = shown["reply_until"].as_str().unwrap().parse().unwrap();
    assert!(until < Utc::now());

    set_template(&desk.app).await;
    answer(&desk.app, &id, "Your shoes\nare here").await;
    let sent = twilio.wait_for(before + 1).await;
    let fields = &sent[before].fields;
    assert_eq!((fields["ContentSid"].as_str(), fields.get("Body")), (TEMPLATE, None));
    assert_eq!(fields["ContentVariables"], r#"{"1":"Your shoes are here"}"#);
}

#[tokio::test]
async fn window_that_closes_between_parts_ends_the_message() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    set_template(&desk.app).await;
    let phone = Phone::new(&desk.app);
    phone.send("hi").await;
    all_delivered(&desk.app).await;
    let (id, before) = (phone.conversation().await, twilio.sent().len());
    hand(&desk.app, &id, "take").await;
    // The answer about the second of two parts is lost, and the window has closed when it is tried again.
    twilio.play(&[Play::Accept, Play::Stall]);
    answer(&desk.app, &id, &"Words and words. ".repeat(120)).await;
    twilio.wait_for(before + 2).await;
    let_pass(&desk.app, 25).await;
    let Shop { app, .. } = desk;
    let app = settings(app.stop().await, &twilio).start().await;
    answer(&app, &id, "Are you there?").await;
    all_delivered(&app).await;
    let shown = deliveries(&app, &id).await;
    let [.., (_, long), (_, next)] = &shown[..] else { panic!("{shown:?}") };
    assert_eq!((long, status(next)), (&json!({"status": "failed", "error": "outside_window"}), "accepted"));
    let sent = twilio.sent();
    assert_eq!(sent.len(), before + 3, "{sent:?}");
    assert_eq!(sent[before + 2].fields["ContentVariables"], r#"{"1":"Are you there?"}"#);
}

#[tokio::test]
async fn two_shops_with_one_customer_cross_nothing() {
    let twilio = ScriptedTwilio::start().await;
    let keys = "default:0123456789abcdef-savanna,kijani:0123456789abcdef-kijani";
    let desk = open_with(TestApp::builder().env("X_API_KEYS", keys), &twilio).await;
    let (savanna, kijani) = (Phone::new(&desk.app), Phone::of(&desk.app, KIJANI, CUSTOMER));
    savanna.send("canvas shoes size 40 black").await;
    kijani.send("canvas shoes size 40 green").await;
    all_delivered(&desk.app).await;
    for line in [SAVANNA, KIJANI] {
        let theirs: Vec<_> = twilio.sent().into_iter().filter(|sent| sent.account == line.account).collect();
        let from = format!("whatsapp:{}", line.number);
        assert!(!theirs.is_empty() && theirs.iter().all(|sent| sent.fields["From"] == from), "{theirs:?}");
        let price = if line.tenant == "kijani" { "KSh 1,450" } else { "KSh 1,250" };
        let other = if line.tenant == "kijani" { "KSh 1,250" } else { "KSh 1,450" };
        let said: String = theirs.iter().map(|sent| sent.body()).collect();
        assert!(said.contains(price) && !said.contains(other), "{said}");
    }
    // A report of one shop's account does not touch the other's messages.
    let sent = twilio.sent();
    let of_kijani = sent.iter().find(|sent| sent.account == KIJANI.account).unwrap();
    let mut forged = sent.iter().find(|sent| sent.account == SAVANNA.account).unwrap().clone();
    forged.fields.insert("StatusCallback".to_owned(), of_kijani.fields["StatusCallback"].clone());
    assert_eq!(twilio.report(&desk.app, &forged, "failed", Some(63016)).await.status(), 200);
    let tenant: TenantId = "kijani".parse().unwrap();
    let message = of_kijani.fields["StatusCallback"].split_once("delivery=").unwrap().1.split_once('.').unwrap().0;
    let found = desk.app.inner.store.tenant(&tenant).list_deliveries([message.parse().unwrap()]).await.unwrap();
    let found: Vec<_> = found.into_values().map(|delivered| delivered.status.as_str()).collect();
    assert_eq!(found, ["accepted"]);
}

#[tokio::test]
async fn stop_withholds_everything_but_replies() {
    let twilio = ScriptedTwilio::start().await;
    let desk = open(&twilio).await;
    let phone = Phone::new(&desk.app);
    for text in ["canvas shoes size 40 black", "pay", "1", "yes", "STOP"] {
        phone.send(text).await;
        all_delivered(&desk.app).await;
    }
    assert!(twilio.bodies().last().unwrap().contains("START"), "{:?}", twilio.bodies());
    let id = phone.conversation().await;
    // The end of the payment answers the customer; that the money goes back is the shop's own message.
    phone.send("1234").await;
    crate::desks::commerce::wait_for_results(&desk.app, &id, 1).await;
    all_delivered(&desk.app).await;
    let (text, delivery) = deliveries(&desk.app, &id).await.pop().unwrap();
    assert!(text.contains("received") && status(&delivery) == "accepted", "{text}: {delivery}");
    let tenant: TenantId = SAVANNA.tenant.parse().unwrap();
    let store = desk.app.inner.store.tenant(&tenant);
    let payment = store.find_last_payment(id.parse().unwrap()).await.unwrap().unwrap();
    store.report_payment(payment.id, &PaymentReport::Reversed { receipt: None }, Utc::now()).await.unwrap();
    desk.app.inner.jobs.wake();
    crate::desks::commerce::wait_for_results(&desk.app, &id, 2).await;
    all_delivered(&desk.app).await;
    let (text, delivery) = deliveries(&desk.app, &id).await.pop().unwrap();
    assert!(text.contains("reversed") && status(&delivery) == "withheld", "{text}: {delivery}");
    assert!(twilio.bodies().iter().all(|body| *body != text));
    phone.send("START").await;
    all_delivered(&desk.app).await;
    let (_, delivery) = deliveries(&desk.app, &id).await.pop().unwrap();
    assert_eq!(status(&delivery), "accepted");
}
