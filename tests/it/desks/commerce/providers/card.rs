//! Payments by card, on PesaPal's page.

use chrono::{TimeDelta, Utc};
use frontdesk::domain::commerce::payment::{PaymentReport, PaymentStatus};
use frontdesk::domain::commerce::sale::SaleStatus;
use reqwest::redirect::Policy;
use serde_json::{Value, json};

use super::super::{ask, wait_for_results};
use super::{DEFAULT, Desk, PHONE};
use crate::support::app::TestApp;
use crate::support::eventually_async;
use crate::support::payments::path_of;

impl Desk {
    /// Sends the shop's notification about the n-th order.
    async fn notify(&self, order: usize) -> Value {
        let url = self.pesapal.state().registered[0]["url"].clone();
        let (status, answer) = self.call_back(&url, &self.pesapal.notice(order, "IPNCHANGE")).await;
        assert_eq!(status, 200);
        answer
    }
}

#[tokio::test]
async fn card_payment_is_paid() {
    let desk = Desk::open().await;
    let (chat, said) = desk.buy(PHONE, "card").await;
    assert!(said.contains("https://pay.example/iframe"), "{said}");
    let said = ask(desk.app(), &chat.id, "pay").await;
    assert!(said.contains("https://pay.example/iframe"), "{said}");
    // Nothing is paid yet.
    desk.notify(0).await;
    desk.settle().await;
    assert_eq!(desk.payments(&chat).await[0].request.status, PaymentStatus::Pending);
    desk.pesapal.state().status = 1;
    let answer = desk.notify(0).await;
    assert_eq!((&answer["status"], &answer["orderNotificationType"]), (&json!(200), &json!("IPNCHANGE")));
    let results = wait_for_results(desk.app(), &chat.id, 1).await;
    assert!(results[0].contains("KSh 2,500 received, receipt CARD0"), "{results:?}");
    let state = desk.pesapal.state();
    assert_eq!((state.registered.len(), state.orders.len(), state.wrong.len(), state.logins), (1, 1, 0, 1));
}

#[tokio::test]
async fn browser_comes_back_to_the_shop() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "card").await;
    desk.pesapal.state().status = 1;
    let path = path_of(&desk.pesapal.orders()[0]["callback_url"]);
    let notice = desk.pesapal.notice(0, "CALLBACK\0URL\u{202e}");
    let client = reqwest::Client::builder().no_proxy().redirect(Policy::none()).build().unwrap();
    let response = client.get(format!("{}{path}", desk.app().url)).query(&notice).send().await.unwrap();
    assert_eq!(response.status(), 303);
    assert_eq!(response.headers()["location"], "https://savanna.example/shop");
    wait_for_results(desk.app(), &chat.id, 1).await;
    assert_eq!(desk.payments(&chat).await[0].request.status, PaymentStatus::Paid);
}

#[tokio::test]
async fn refused_card_can_be_tried_again() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "card").await;
    desk.pesapal.state().status = 2;
    desk.notify(0).await;
    let results = wait_for_results(desk.app(), &chat.id, 1).await;
    assert!(results[0].contains("did not go through"), "{results:?}");
    ask(desk.app(), &chat.id, "again").await;
    desk.pesapal.state().status = 0;
    let said = ask(desk.app(), &chat.id, "yes").await;
    assert!(said.contains("https://pay.example/iframe"), "{said}");
    assert_eq!((desk.pesapal.orders().len(), desk.pesapal.state().registered.len()), (2, 1));
}

#[tokio::test]
async fn callback_is_followed_until_it_is_answered() {
    let desk = Desk::open_with(TestApp::builder().env("OUTBOX_BACK_OFF_SECONDS", "0.05")).await;
    let (chat, _) = desk.buy(PHONE, "card").await;
    desk.pesapal.state().status = 2;
    desk.notify(0).await;
    desk.wait_for(&chat, PaymentStatus::Failed).await;
    // The job that polls ends with the refusal.
    eventually_async("no poll waits", async || {
        desk.app().inner.store.count_jobs().await.unwrap().get("poll_payment").is_none_or(|of| of.waiting == 0)
    })
    .await;
    // The customer pays on the same page, and PesaPal does not answer the query that follows its notification.
    desk.pesapal.state().lost_answers = 1;
    desk.pesapal.state().status = 1;
    desk.notify(0).await;
    desk.wait_for(&chat, PaymentStatus::Paid).await;
}

#[tokio::test]
async fn reversed_card_payment_gets_one_ticket() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "card").await;
    desk.pesapal.state().status = 1;
    desk.notify(0).await;
    wait_for_results(desk.app(), &chat.id, 1).await;
    desk.pesapal.state().status = 3;
    for _ in 0..3 {
        desk.notify(0).await;
        desk.settle().await;
    }
    let results = wait_for_results(desk.app(), &chat.id, 2).await;
    assert!(results[1].contains("was reversed"), "{results:?}");
    let tickets = desk.tickets(&chat).await;
    assert_eq!(tickets.len(), 1, "{tickets:?}");
    let payments = desk.payments(&chat).await;
    let sale = desk.app().inner.store.tenant(&DEFAULT).find_any_sale(&payments[0].sale).await.unwrap().unwrap();
    assert_eq!((payments[0].request.status, sale.status), (PaymentStatus::Reversed, SaleStatus::Paid));
}

#[tokio::test]
async fn card_in_time_counts_when_reported_late() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "card").await;
    let payment = desk.payments(&chat).await.remove(0);
    let report = PaymentReport::Paid { amount: payment.request.amount, receipt: "CARD0".to_owned(), paid_at: None };
    let door = desk.app().inner.store.tenant(&DEFAULT);
    // The prices have expired by then.
    door.report_payment(payment.id, &report, Utc::now() + TimeDelta::hours(1)).await.unwrap();
    let sale = door.find_any_sale(&payment.sale).await.unwrap().unwrap();
    assert_eq!(sale.status, SaleStatus::Paid);
}

#[tokio::test]
async fn short_card_payment_does_not_settle() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "card").await;
    desk.pesapal.state().status = 1;
    desk.pesapal.state().amount = Some(25.0);
    desk.notify(0).await;
    wait_for_results(desk.app(), &chat.id, 1).await;
    let payments = desk.payments(&chat).await;
    let sale = desk.app().inner.store.tenant(&DEFAULT).find_any_sale(&payments[0].sale).await.unwrap().unwrap();
    assert_eq!(sale.status, SaleStatus::Draft);
    assert!(desk.tickets(&chat).await[0].contains("short"));
}
