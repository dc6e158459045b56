//! Reports that are refused, missing or late.

use frontdesk::domain::commerce::payment::{CallbackPurpose, PaymentStatus};
use serde_json::{Value, json};

use super::super::super::super::retail::chat::Chat;
use super::super::super::{ask, wait_for_results};
use super::super::{DEFAULT, Desk, PHONE, settle};
use super::confirmation;
use crate::support::app::TestApp;
use crate::support::payments::{Daraja, Push, receipt_result};
use crate::support::{eventually, eventually_async};

const RECEIPT: &str = "QKJ41HAY6L";

/// A result that names no payment.
fn refusal(code: u32) -> Value {
    json!({"Result": {"ResultCode": code, "ResultDesc": "…", "ResultType": 0}})
}

fn completed() -> Value {
    receipt_result(RECEIPT, "174379", "2500.0", "Completed")
}

impl Desk {
    /// Waits for a ticket, in the conversation or in none. Returns all of them.
    async fn wait_for_tickets(&self, chat: &Chat<'_>) -> Vec<String> {
        let all = async || {
            let mut tickets = self.tickets(chat).await;
            tickets.extend(self.loose_tickets().await);
            tickets
        };
        eventually_async("a ticket", async || !all().await.is_empty()).await;
        all().await
    }

    /// Buys by paybill; Daraja reports the payment. Returns the order, too.
    async fn buy_and_pay(&self) -> (Chat<'_>, String) {
        let (chat, _) = self.buy(PHONE, "paybill").await;
        let order = self.order_of(&chat).await;
        self.confirm(&confirmation(RECEIPT, &order, "2500.00")).await;
        (chat, order)
    }
}

#[tokio::test]
async fn refused_initiator_leads_to_one_ticket() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy_and_pay().await;
    ask(desk.app(), &chat.id, RECEIPT).await;
    desk.answer(RECEIPT, &refusal(2001)).await;
    desk.asked_receipt(RECEIPT, 2).await;
    let tickets = desk.wait_for_tickets(&chat).await;
    assert!(tickets.len() == 1 && tickets[0].contains("gave no result"), "{tickets:?}");
    let results = wait_for_results(desk.app(), &chat.id, 0).await;
    assert!(results.iter().all(|text| !text.contains("knows no payment")), "{results:?}");
}

#[tokio::test]
async fn denied_payment_that_was_reported_gets_a_ticket() {
    let desk = Desk::open().await;
    let (chat, order) = desk.buy_and_pay().await;
    desk.answer(RECEIPT, &refusal(2032)).await;
    desk.confirm(&confirmation(RECEIPT, &order, "2500.00")).await;
    let said = ask(desk.app(), &chat.id, RECEIPT).await;
    assert!(said.contains("A colleague"), "{said}");
    let tickets = desk.wait_for_tickets(&chat).await;
    assert!(tickets.len() == 1 && tickets[0].contains(RECEIPT) && tickets[0].contains(&order), "{tickets:?}");
}

#[tokio::test]
async fn silent_paybill_asks_for_the_code() {
    let desk = Desk::open_with(TestApp::builder().env("CHECKOUT_WAIT_SECONDS", "0")).await;
    let (chat, _) = desk.buy(PHONE, "paybill").await;
    let results = wait_for_results(desk.app(), &chat.id, 1).await;
    assert!(results[0].contains("the code") && !results[0].contains("charged"), "{results:?}");
}

#[tokio::test]
async fn typed_code_counts_for_a_closed_prompt() {
    let desk = Desk::open_with(TestApp::builder().env("STK_WAIT_SECONDS", "0")).await;
    desk.daraja.state().push = Push::LoseAnswer;
    let (chat, _) = desk.buy(PHONE, "1").await;
    let results = wait_for_results(desk.app(), &chat.id, 1).await;
    assert!(results[0].contains("the code") && !results[0].contains("charged"), "{results:?}");
    let said = ask(desk.app(), &chat.id, "where is my order").await;
    assert!(said.contains("no word of its payment"), "{said}");
    let said = ask(desk.app(), &chat.id, RECEIPT).await;
    assert!(said.contains("asking M-PESA"), "{said}");
    desk.answer(RECEIPT, &completed()).await;
    let results = wait_for_results(desk.app(), &chat.id, 2).await;
    assert!(results[1].contains("KSh 2,500 received, receipt QKJ41HAY6L"), "{results:?}");
}

#[tokio::test]
async fn closed_prompt_paid_late_counts_once() {
    let desk = Desk::open_with(TestApp::builder().env("STK_WAIT_SECONDS", "0")).await;
    desk.buy("+254700000009", "paybill").await;
    let (chat, _) = desk.buy(PHONE, "1").await;
    desk.wait_for(&chat, PaymentStatus::Timeout).await;
    let order = desk.order_of(&chat).await;
    // The payment to the paybill is reported and confirmed before Daraja tells the prompt's result.
    desk.confirm(&confirmation(RECEIPT, &order, "2500.00")).await;
    let asked = desk.asked_receipt(RECEIPT, 1).await;
    desk.call_back(&asked["ResultURL"], &completed()).await;
    let queries = desk.daraja.state().queries;
    eventually("three more queries", || desk.daraja.state().queries >= queries + 3).await;
    desk.daraja.decide(0, "0");
    let url = desk.daraja.pushes()[0]["CallBackURL"].clone();
    desk.call_back(&url, &Daraja::callback(0, Some(RECEIPT))).await;
    settle(desk.app()).await;
    let payments = desk.payments(&chat).await;
    let found: Vec<_> = payments.iter().map(|payment| (payment.request.status, &payment.request.receipts)).collect();
    assert_eq!(found, [(PaymentStatus::Paid, &vec![RECEIPT.to_owned()])]);
    assert_eq!(desk.tickets(&chat).await, Vec::<String>::new());
}

#[tokio::test]
async fn confirmation_proves_the_registration() {
    let desk = Desk::open().await;
    desk.daraja.state().refuses_registration = Some("URLs are already registered");
    let (chat, _) = desk.buy(PHONE, "paybill").await;
    let (callbacks, subject) = (&desk.app().inner.payment_callbacks, "174379 https://shop.example");
    let opened = callbacks.open(&DEFAULT, CallbackPurpose::C2bConfirmation, subject, None).await.unwrap().unwrap();
    let order = desk.order_of(&chat).await;
    desk.call_back(&json!(opened.url), &confirmation(RECEIPT, &order, "2500.00")).await;
    desk.buy("+254700000002", "paybill").await;
    assert_eq!(desk.daraja.state().registrations, 1);
}
