//! Which order a payment is for, and whether it still costs what was paid.

use chrono::{TimeDelta, Utc};
use frontdesk::domain::commerce::payment::PaymentStatus;
use frontdesk::domain::commerce::sale::SaleStatus;
use frontdesk::domain::commerce::{Sale, SaleId};
use frontdesk::store::sales::{Placing, SaleOwner};
use frontdesk::store::shoppers::ShopperKey;
use serde_json::{Value, json};

use super::super::super::super::retail::chat::Chat;
use super::super::super::{ask, customer, say_all, wait_for_results};
use super::super::{DEFAULT, Desk, ORDER, PHONE};
use super::{code_counts, confirmation, open_till};
use crate::support::app::TestApp;
use crate::support::payments::receipt_result;

const RECEIPT: &str = "QKJ41HAY6L";

/// The order was paid so long ago.
fn paid_before(age: TimeDelta) -> Value {
    let mut result = receipt_result(RECEIPT, "174379", "2500.0", "Completed");
    let time = (Utc::now() + TimeDelta::hours(3) - age).format("%Y%m%d%H%M%S").to_string();
    let parameters = result["Result"]["ResultParameters"]["ResultParameter"].as_array_mut().unwrap();
    parameters.iter_mut().find(|item| item["Key"] == "FinalisedTime").unwrap()["Value"] = json!(time);
    result
}

impl Desk {
    /// An unpaid order whose prices expired ten minutes ago.
    async fn expired_order(&self) -> (Chat<'_>, SaleId) {
        // The addresses are registered by the first customer who asks.
        self.buy("+254700000009", "paybill").await;
        let mut chat = customer(&self.shop, PHONE).await;
        say_all(&mut chat, &ORDER).await;
        let door = self.app().inner.store.tenant(&DEFAULT);
        let key = ShopperKey::Phone(PHONE.parse().unwrap());
        let shopper = door.find_or_create_shopper(&key, Utc::now()).await.unwrap().0.id;
        let sale = door.list_sales(shopper).await.unwrap().remove(0);
        let owner = SaleOwner { shopper, conversation: chat.id.parse().unwrap() };
        let placed = Utc::now() - TimeDelta::minutes(40);
        let placed = door.place_sale(owner, &sale.cart(), Some(&sale.id), placed).await;
        assert!(matches!(placed, Ok(Placing::Done(_))), "{placed:?}");
        (chat, sale.id)
    }

    /// The states of the payments of an order.
    async fn states(&self, order: &str) -> Vec<PaymentStatus> {
        let door = self.app().inner.store.tenant(&DEFAULT);
        let payments = door.list_payments(&order.parse().unwrap()).await.unwrap();
        payments.iter().map(|payment| payment.request.status).collect()
    }

    /// The customer of an order, in this conversation.
    async fn owner_of(&self, order: &SaleId, chat: &Chat<'_>) -> SaleOwner {
        let shopper = self.app().inner.store.tenant(&DEFAULT).find_shopper_of_sale(order).await.unwrap().unwrap().id;
        SaleOwner { shopper, conversation: chat.id.parse().unwrap() }
    }

    async fn sale(&self, order: &SaleId) -> Sale {
        self.app().inner.store.tenant(&DEFAULT).find_any_sale(order).await.unwrap().unwrap()
    }

    /// Asks, as M-PESA does, whether to take KSh 2,500 for an order. Returns the code of the answer.
    async fn validate(&self, order: &str) -> Value {
        let url = self.daraja.state().registered[0]["ValidationURL"].clone();
        self.call_back(&url, &confirmation(RECEIPT, order, "2500.00")).await.1["ResultCode"].take()
    }
}

#[tokio::test]
async fn payment_at_expired_prices_is_refused() {
    let desk = Desk::open().await;
    let (_, order) = desk.expired_order().await;
    assert_eq!(desk.validate(order.as_str()).await, "C2B00016");
}

#[tokio::test]
async fn money_at_expired_prices_is_for_people() {
    let desk = Desk::open().await;
    let (chat, order) = desk.expired_order().await;
    desk.pay_unasked(order.as_str()).await;
    let results = wait_for_results(desk.app(), &chat.id, 1).await;
    assert!(results[0].contains("A colleague"), "{results:?}");
    let tickets = desk.tickets(&chat).await;
    assert!(tickets.len() == 1 && tickets[0].contains("price_expired"), "{tickets:?}");
    assert_eq!(desk.sale(&order).await.status, SaleStatus::Draft);
    let payments = desk.payments(&chat).await;
    let found: Vec<_> = payments.iter().map(|payment| (payment.request.status, &payment.request.receipts)).collect();
    assert_eq!(found, [(PaymentStatus::Paid, &vec![RECEIPT.to_owned()])]);
}

#[tokio::test]
async fn money_in_time_counts_when_reported_late() {
    let desk = Desk::open().await;
    let (chat, order) = desk.expired_order().await;
    desk.confirm(&confirmation(RECEIPT, order.as_str(), "2500.00")).await;
    desk.answer(RECEIPT, &paid_before(TimeDelta::minutes(20))).await;
    let results = wait_for_results(desk.app(), &chat.id, 1).await;
    assert!(results[0].contains("KSh 2,500 received, receipt QKJ41HAY6L"), "{results:?}");
    assert_eq!(desk.sale(&order).await.status, SaleStatus::Paid);
    assert_eq!(desk.tickets(&chat).await, Vec::<String>::new());
}

#[tokio::test]
async fn code_counts_for_the_order_that_was_paid() {
    let desk = open_till().await;
    let (chat, _) = desk.buy(PHONE, "paybill").await;
    let older = desk.order_of(&chat).await;
    for text in [ORDER[0], "pay", "1", "yes"] {
        ask(desk.app(), &chat.id, text).await;
    }
    let newer = desk.order_of(&chat).await;
    assert_eq!(desk.daraja.pushes()[0]["Amount"], 1_250);
    code_counts(&desk, &chat.id, 1, &older).await;
    assert_eq!(desk.states(&older).await, [PaymentStatus::Paid]);
    assert_eq!(desk.states(&newer).await, [PaymentStatus::Pending]);
}

#[tokio::test]
async fn account_number_decides_before_the_newest_order() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "paybill").await;
    let older = desk.order_of(&chat).await;
    for text in [ORDER[0], ORDER[1], "pay", "paybill", "yes"] {
        ask(desk.app(), &chat.id, text).await;
    }
    let newer = desk.order_of(&chat).await;
    desk.confirm(&confirmation(RECEIPT, &older, "2500.00")).await;
    desk.asked_receipt(RECEIPT, 1).await;
    code_counts(&desk, &chat.id, 1, &older).await;
    assert_eq!(desk.states(&older).await, [PaymentStatus::Paid]);
    assert_eq!(desk.states(&newer).await, [PaymentStatus::Pending]);
}

#[tokio::test]
async fn second_payment_during_review_is_refused() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "paybill").await;
    let order = desk.order_of(&chat).await;
    assert_eq!(desk.validate(&order).await, "0");
    desk.confirm(&confirmation("QKJ41HAY7M", &order, "2400.00")).await;
    desk.answer("QKJ41HAY7M", &receipt_result("QKJ41HAY7M", "174379", "2400.0", "Completed")).await;
    assert_eq!(desk.validate(&order).await, "C2B00016");
}

#[tokio::test]
async fn code_of_a_paid_prompt_is_answered() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "paybill").await;
    for text in [ORDER[0], "pay", "1", "yes"] {
        ask(desk.app(), &chat.id, text).await;
    }
    // The callback that names the receipt is lost.
    desk.daraja.decide(0, "0");
    wait_for_results(desk.app(), &chat.id, 1).await;
    let said = ask(desk.app(), &chat.id, RECEIPT).await;
    assert!(said.contains("asking M-PESA"), "{said}");
    desk.answer(RECEIPT, &receipt_result(RECEIPT, "174379", "1250.0", "Completed")).await;
    let results = wait_for_results(desk.app(), &chat.id, 2).await;
    assert!(results[1].contains("QKJ41HAY6L is counted already"), "{results:?}");
    assert_eq!(desk.payments(&chat).await[0].request.receipts, [RECEIPT]);
}

#[tokio::test]
async fn second_payment_is_not_the_prompts_name() {
    let desk = Desk::open().await;
    // The addresses are registered by the first customer who asks.
    desk.buy("+254700000009", "paybill").await;
    let (chat, _) = desk.buy(PHONE, "1").await;
    desk.daraja.decide(0, "0");
    wait_for_results(desk.app(), &chat.id, 1).await;
    desk.confirm(&confirmation(RECEIPT, &desk.order_of(&chat).await, "2500.00")).await;
    desk.answer(RECEIPT, &paid_before(TimeDelta::minutes(20))).await;
    wait_for_results(desk.app(), &chat.id, 2).await;
    let tickets = desk.tickets(&chat).await;
    assert!(tickets.len() == 1 && tickets[0].contains("double"), "{tickets:?}");
}

#[tokio::test]
async fn payment_of_a_changed_total_settles() {
    let desk = Desk::open_with(TestApp::builder().env("CHECKOUT_WAIT_SECONDS", "0")).await;
    let mut chat = customer(&desk.shop, PHONE).await;
    say_all(&mut chat, &[ORDER[0], "pay", "paybill", "yes"]).await;
    wait_for_results(desk.app(), &chat.id, 1).await;
    let order: SaleId = desk.order_of(&chat).await.parse().unwrap();
    let mut cart = desk.sale(&order).await.cart();
    cart[0].quantity = 2;
    let owner = desk.owner_of(&order, &chat).await;
    let placed = desk.app().inner.store.tenant(&DEFAULT).place_sale(owner, &cart, Some(&order), Utc::now()).await;
    assert!(matches!(placed, Ok(Placing::Done(_))), "{placed:?}");
    desk.pay_unasked(order.as_str()).await;
    let results = wait_for_results(desk.app(), &chat.id, 2).await;
    assert!(results[1].contains("KSh 2,500 received, receipt QKJ41HAY6L"), "{results:?}");
    assert_eq!(desk.sale(&order).await.status, SaleStatus::Paid);
}

#[tokio::test]
async fn unpaid_order_comes_before_a_cancelled_one() {
    let desk = open_till().await;
    let (chat, _) = desk.buy(PHONE, "paybill").await;
    let older = desk.order_of(&chat).await;
    desk.buy_again(&chat).await;
    desk.daraja.decide(0, "1037");
    wait_for_results(desk.app(), &chat.id, 1).await;
    let newer: SaleId = desk.order_of(&chat).await.parse().unwrap();
    let owner = desk.owner_of(&newer, &chat).await;
    assert!(desk.app().inner.store.tenant(&DEFAULT).cancel_sale(owner, &newer, Utc::now()).await.unwrap());
    code_counts(&desk, &chat.id, 2, &older).await;
}
