//! Payments that customers make by themselves, to the shop's paybill or till.

mod faults;
mod orders;

use frontdesk::domain::ConversationStatus;
use frontdesk::domain::commerce::payment::{CallbackPurpose, PaymentStatus};
use serde_json::{Value, json};

use super::super::super::retail::chat::Chat;
use super::super::{ask, customer, give_credentials, wait_for_results};
use super::{DEFAULT, Desk, ORDER, PHONE, settle};
use crate::support::database::assert_clean;
use crate::support::payments::{Daraja, receipt_result};
use crate::support::{eventually, eventually_async};

/// What M-PESA reports of a payment to the paybill.
fn confirmation(receipt: &str, account: &str, amount: &str) -> Value {
    json!({
        "TransactionType": "Pay Bill", "TransID": receipt, "TransTime": "20261121013005", "TransAmount": amount,
        "BusinessShortCode": "174379", "BillRefNumber": account, "InvoiceNumber": "", "OrgAccountBalance": "1.00",
        "ThirdPartyTransID": "", "MSISDN": "2547*****001", "FirstName": "JOHN",
    })
}

impl Desk {
    /// Reports a payment to the paybill, as M-PESA does.
    async fn confirm(&self, body: &Value) {
        let url = self.daraja.state().registered[0]["ConfirmationURL"].clone();
        let (status, answer) = self.call_back(&url, body).await;
        assert_eq!((status, &answer["ResultCode"]), (200, &json!("0")));
    }

    /// Waits until Daraja was asked for this receipt so often. Returns the last question.
    async fn asked_receipt(&self, receipt: &str, times: usize) -> Value {
        let mut question = None;
        eventually("Daraja is asked for the receipt", || {
            let asked = self.daraja.state().asked_receipts.clone();
            question = asked.into_iter().filter(|question| question["TransactionID"] == receipt).nth(times - 1);
            question.is_some()
        })
        .await;
        question.unwrap()
    }

    /// Answers the question about a receipt.
    async fn answer(&self, receipt: &str, result: &Value) {
        let asked = self.asked_receipt(receipt, 1).await;
        let (status, _) = self.call_back(&asked["ResultURL"], result).await;
        assert_eq!(status, 200);
        settle(self.app()).await;
    }

    async fn order_of(&self, chat: &Chat<'_>) -> String {
        self.payments(chat).await[0].sale.to_string()
    }

    /// Pays the order at the paybill, without instructions.
    async fn pay_unasked(&self, order: &str) {
        self.confirm(&confirmation("QKJ41HAY6L", order, "2500.00")).await;
        self.answer("QKJ41HAY6L", &receipt_result("QKJ41HAY6L", "174379", "2500.0", "Completed")).await;
    }

    /// Orders once more in the conversation, and accepts a prompt.
    async fn buy_again(&self, chat: &Chat<'_>) {
        for text in [ORDER[0], ORDER[1], "pay", "1", "yes"] {
            ask(self.app(), &chat.id, text).await;
        }
    }

    async fn loose_tickets(&self) -> Vec<String> {
        let tickets = self.app().inner.store.list_loose_tickets().await.unwrap();
        tickets.into_iter().map(|(_, ticket)| ticket.summary).collect()
    }
}

#[tokio::test]
async fn confirmed_receipt_pays_the_order() {
    let desk = Desk::open().await;
    let (chat, said) = desk.buy(PHONE, "paybill").await;
    let order = desk.order_of(&chat).await;
    assert!(said.contains("Paybill 174379") && said.contains(&order), "{said}");
    desk.confirm(&confirmation("QKJ41HAY6L", &order, "2500.00")).await;
    assert_eq!(desk.asked_receipt("QKJ41HAY6L", 1).await["PartyA"], "174379");
    // The confirmation itself decides nothing.
    assert_eq!(desk.payments(&chat).await[0].request.status, PaymentStatus::Pending);
    let result = receipt_result("QKJ41HAY6L", "174379", "2500.0", "Completed");
    desk.answer("QKJ41HAY6L", &result).await;
    desk.answer("QKJ41HAY6L", &result).await;
    desk.confirm(&confirmation("QKJ41HAY6L", &order, "2500.00")).await;
    let results = wait_for_results(desk.app(), &chat.id, 1).await;
    assert!(results[0].contains("KSh 2,500 received, receipt QKJ41HAY6L"), "{results:?}");
    settle(desk.app()).await;
    let payments = desk.payments(&chat).await;
    assert_eq!((payments.len(), payments[0].request.status), (1, PaymentStatus::Paid));
    assert_eq!(desk.tickets(&chat).await, Vec::<String>::new());
    let daraja = desk.daraja.state();
    assert_eq!((daraja.registered.len(), daraja.wrong.len()), (1, 0));
}

#[tokio::test]
async fn refused_registration_is_tried_again() {
    for (why, is_elsewhere) in [("Internal Server Error", false), ("URLs are already registered", true)] {
        let desk = Desk::open().await;
        desk.daraja.state().refuses_registration = Some(why);
        let (_, said) = desk.buy(PHONE, "paybill").await;
        assert!(said.contains("Paybill 174379"), "{said}");
        let door = desk.app().inner.store.tenant(&DEFAULT);
        let callback = door.find_callback(CallbackPurpose::C2bConfirmation, "174379 https://shop.example");
        assert_eq!(callback.await.unwrap().unwrap().detail.is_elsewhere, is_elsewhere, "{why}");
        desk.daraja.state().refuses_registration = None;
        desk.buy("+254700000002", "paybill").await;
        let daraja = desk.daraja.state();
        assert_eq!((daraja.registrations, daraja.registered.len()), (2, 1), "{why}");
    }
}

#[tokio::test]
async fn short_and_excess_payments_are_for_people() {
    for (amount, problem) in [("2400.0", "short"), ("2600.0", "excess")] {
        let desk = Desk::open().await;
        let (chat, _) = desk.buy(PHONE, "paybill").await;
        let order = desk.order_of(&chat).await;
        desk.confirm(&confirmation("QKJ41HAY6L", &order, amount)).await;
        desk.answer("QKJ41HAY6L", &receipt_result("QKJ41HAY6L", "174379", amount, "Completed")).await;
        let results = wait_for_results(desk.app(), &chat.id, 1).await;
        assert!(results[0].contains("A colleague"), "{results:?}");
        let tickets = desk.tickets(&chat).await;
        assert_eq!(tickets.len(), 1, "{tickets:?}");
        assert!(tickets[0].contains(problem), "{tickets:?}");
        let door = desk.app().inner.store.tenant(&DEFAULT);
        let conversation = door.find_conversation(chat.id.parse().unwrap()).await.unwrap().unwrap();
        assert_eq!(conversation.status, ConversationStatus::Waiting);
    }
}

#[tokio::test]
async fn second_payment_gets_one_ticket() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "paybill").await;
    let order = desk.order_of(&chat).await;
    for receipt in ["QKJ41HAY6L", "QKJ41HAY7M"] {
        desk.confirm(&confirmation(receipt, &order, "2500.00")).await;
        desk.answer(receipt, &receipt_result(receipt, "174379", "2500.0", "Completed")).await;
    }
    let tickets = desk.tickets(&chat).await;
    assert_eq!(tickets.len(), 1, "{tickets:?}");
    assert!(tickets[0].contains("double"), "{tickets:?}");
}

#[tokio::test]
async fn payment_without_known_order_is_for_people() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "paybill").await;
    for _ in 0..2 {
        desk.confirm(&confirmation("QKJ41HAY6L", "RENT\0 \u{202e}12", "900.00")).await;
    }
    desk.answer("QKJ41HAY6L", &receipt_result("QKJ41HAY6L", "174379", "900.0", "Completed")).await;
    let tickets = desk.loose_tickets().await;
    assert_eq!(tickets.len(), 1, "{tickets:?}");
    assert!(tickets[0].contains("QKJ41HAY6L") && tickets[0].contains("RENT 12"), "{tickets:?}");
    assert_clean(&desk.app().database_url).await;
    assert_eq!(desk.payments(&chat).await[0].request.status, PaymentStatus::Pending);
}

#[tokio::test]
async fn next_order_is_followed_after_an_unasked_payment() {
    let desk = Desk::open().await;
    // The addresses are registered by the first customer who asks.
    desk.buy("+254700000009", "paybill").await;
    let (chat, _) = desk.buy(PHONE, "1").await;
    desk.daraja.decide(0, "1032");
    wait_for_results(desk.app(), &chat.id, 1).await;
    desk.pay_unasked(&desk.order_of(&chat).await).await;
    let results = wait_for_results(desk.app(), &chat.id, 2).await;
    assert!(results[1].contains("receipt QKJ41HAY6L"), "{results:?}");
    // The customer enters a wrong PIN for the next order, and then the right one.
    desk.buy_again(&chat).await;
    desk.daraja.decide(1, "2001");
    wait_for_results(desk.app(), &chat.id, 3).await;
    let said = ask(desk.app(), &chat.id, "again").await;
    assert!(said.contains("KSh 2,500") && said.contains("**yes**"), "{said}");
    ask(desk.app(), &chat.id, "yes").await;
    desk.daraja.decide(2, "0");
    let results = wait_for_results(desk.app(), &chat.id, 4).await;
    assert!(results[3].contains("KSh 2,500 received"), "{results:?}");
    let said = ask(desk.app(), &chat.id, "pay").await;
    assert!(said.contains("paid already"), "{said}");
}

#[tokio::test]
async fn unasked_payment_does_not_hide_the_open_one() {
    let desk = Desk::open().await;
    desk.buy("+254700000009", "paybill").await;
    let (chat, _) = desk.buy(PHONE, "1").await;
    let first = desk.order_of(&chat).await;
    desk.buy_again(&chat).await;
    // The prompt of the first order fails, and its payment comes after the prompt of the second order.
    desk.daraja.decide(0, "1032");
    wait_for_results(desk.app(), &chat.id, 1).await;
    desk.pay_unasked(&first).await;
    wait_for_results(desk.app(), &chat.id, 2).await;
    desk.daraja.decide(1, "2001");
    wait_for_results(desk.app(), &chat.id, 3).await;
    let said = ask(desk.app(), &chat.id, "again").await;
    assert!(said.contains("KSh 2,500") && said.contains("**yes**"), "{said}");
}

#[tokio::test]
async fn confirmation_of_a_prompt_counts_once() {
    let desk = Desk::open().await;
    desk.buy("+254700000009", "paybill").await;
    let (chat, _) = desk.buy(PHONE, "1").await;
    let order = desk.order_of(&chat).await;
    // M-PESA also reports a paid prompt as a payment to the paybill, here before the prompt's own callback.
    desk.confirm(&confirmation("QKJ41HAY6L", &order, "2500.00")).await;
    let asked = desk.asked_receipt("QKJ41HAY6L", 1).await;
    desk.call_back(&asked["ResultURL"], &receipt_result("QKJ41HAY6L", "174379", "2500.0", "Completed")).await;
    desk.daraja.decide(0, "0");
    let url = desk.daraja.pushes()[0]["CallBackURL"].clone();
    desk.call_back(&url, &Daraja::callback(0, Some("QKJ41HAY6L"))).await;
    wait_for_results(desk.app(), &chat.id, 1).await;
    settle(desk.app()).await;
    let payments = desk.payments(&chat).await;
    assert_eq!((payments.len(), &payments[0].request.receipts), (1, &vec!["QKJ41HAY6L".to_owned()]));
    assert_eq!(desk.tickets(&chat).await, Vec::<String>::new());
}

#[tokio::test]
async fn till_customer_sends_the_receipt_code() {
    let desk = Desk::open().await;
    let till = [("daraja_type", "till".to_owned()), ("daraja_till_number", "555001".to_owned())];
    give_credentials(desk.app(), "default", &till).await;
    let (chat, said) = desk.buy(PHONE, "paybill").await;
    assert!(said.contains("Buy Goods, till 555001"), "{said}");
    // A till's confirmation names no account, so nothing follows from it.
    desk.confirm(&confirmation("QKJ41HAY6L", "", "2500.00")).await;
    // A code that M-PESA does not know.
    let said = ask(desk.app(), &chat.id, "AAAAAAAA1A").await;
    assert!(said.contains("AAAAAAAA1A"), "{said}");
    desk.answer("AAAAAAAA1A", &json!({"Result": {"ResultCode": 2032, "ResultDesc": "…", "ResultType": 0}})).await;
    let results = wait_for_results(desk.app(), &chat.id, 1).await;
    assert!(results[0].contains("knows no payment"), "{results:?}");
    // Money that went to somebody else.
    ask(desk.app(), &chat.id, "BBBBBBBB1B").await;
    desk.answer("BBBBBBBB1B", &receipt_result("BBBBBBBB1B", "999999", "2500.0", "Completed")).await;
    wait_for_results(desk.app(), &chat.id, 2).await;
    let said = ask(desk.app(), &chat.id, "the code is qkj41hay6l").await;
    assert!(said.contains("QKJ41HAY6L"), "{said}");
    desk.answer("QKJ41HAY6L", &receipt_result("QKJ41HAY6L", "555001", "2500.0", "Completed")).await;
    let results = wait_for_results(desk.app(), &chat.id, 3).await;
    assert!(results[2].contains("KSh 2,500 received, receipt QKJ41HAY6L"), "{results:?}");
    // The same receipt pays no other order.
    let (other, _) = desk.buy("+254700000002", "paybill").await;
    let said = ask(desk.app(), &other.id, "QKJ41HAY6L").await;
    assert!(said.contains("counted already"), "{said}");
    settle(desk.app()).await;
    assert_eq!(desk.payments(&other).await[0].request.status, PaymentStatus::Pending);
}

/// Opens a shop with a till.
async fn open_till() -> Desk {
    let desk = Desk::open().await;
    give_credentials(desk.app(), "default", &[("daraja_type", "till".to_owned())]).await;
    desk
}

/// Types the code of a receipt from the till, and checks that the result, number `nth` in the conversation, is about this order.
async fn code_counts(desk: &Desk, conversation: &str, nth: usize, order: &str) {
    let said = ask(desk.app(), conversation, "QKJ41HAY6L").await;
    assert!(said.contains("asking M-PESA about QKJ41HAY6L"), "{said}");
    desk.answer("QKJ41HAY6L", &receipt_result("QKJ41HAY6L", "174379", "2500.0", "Completed")).await;
    let result = wait_for_results(desk.app(), conversation, nth).await.remove(nth - 1);
    assert!(result.contains("receipt QKJ41HAY6L") && result.contains(order), "{result}");
}

#[tokio::test]
async fn till_code_counts_for_an_earlier_order() {
    let desk = open_till().await;
    let (chat, _) = desk.buy(PHONE, "paybill").await;
    let first = desk.order_of(&chat).await;
    desk.buy_again(&chat).await;
    // The callback names the receipt of the prompt, so that the code is of another payment.
    let url = desk.daraja.pushes()[0]["CallBackURL"].clone();
    desk.call_back(&url, &Daraja::callback(0, Some("QKJ41HAY7M"))).await;
    desk.daraja.decide(0, "0");
    wait_for_results(desk.app(), &chat.id, 1).await;
    code_counts(&desk, &chat.id, 2, &first).await;
}

#[tokio::test]
async fn till_code_counts_in_a_later_conversation() {
    let desk = open_till().await;
    let (chat, _) = desk.buy(PHONE, "paybill").await;
    let order = desk.order_of(&chat).await;
    let later = customer(&desk.shop, PHONE).await;
    code_counts(&desk, &later.id, 1, &order).await;
}

#[tokio::test]
async fn receipt_belongs_to_the_order_it_names() {
    let desk = Desk::open().await;
    let (owner, _) = desk.buy(PHONE, "paybill").await;
    let (other, _) = desk.buy("+254700000002", "paybill").await;
    let order = desk.order_of(&owner).await;
    desk.confirm(&confirmation("QKJ41HAY6L", &order, "2500.00")).await;
    desk.asked_receipt("QKJ41HAY6L", 1).await;
    let said = ask(desk.app(), &other.id, "QKJ41HAY6L").await;
    assert!(said.contains("counted already"), "{said}");
    desk.answer("QKJ41HAY6L", &receipt_result("QKJ41HAY6L", "174379", "2500.0", "Completed")).await;
    wait_for_results(desk.app(), &owner.id, 1).await;
    assert_eq!(desk.payments(&owner).await[0].request.status, PaymentStatus::Paid);
    assert_eq!(desk.payments(&other).await[0].request.status, PaymentStatus::Pending);
}

#[tokio::test]
async fn old_receipt_is_for_people() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "paybill").await;
    ask(desk.app(), &chat.id, "QKJ41HAY6L").await;
    let mut result = receipt_result("QKJ41HAY6L", "174379", "2500.0", "Completed");
    let parameters = result["Result"]["ResultParameters"]["ResultParameter"].as_array_mut().unwrap();
    let time = parameters.iter_mut().find(|item| item["Key"] == "FinalisedTime").unwrap();
    time["Value"] = json!(20_200_101_120_000_i64);
    desk.answer("QKJ41HAY6L", &result).await;
    let results = wait_for_results(desk.app(), &chat.id, 1).await;
    assert!(results[0].contains("A colleague"), "{results:?}");
    // Sent again, the code is answered at once.
    let said = ask(desk.app(), &chat.id, "QKJ41HAY6L").await;
    assert!(said.contains("A colleague"), "{said}");
    assert_eq!(desk.payments(&chat).await[0].request.status, PaymentStatus::Pending);
    assert_eq!(desk.tickets(&chat).await.len(), 1);
}

#[tokio::test]
async fn missing_result_is_asked_for_again() {
    let desk = Desk::open_with(crate::support::app::TestApp::builder()).await;
    let (chat, _) = desk.buy(PHONE, "paybill").await;
    ask(desk.app(), &chat.id, "QKJ41HAY6L").await;
    desk.asked_receipt("QKJ41HAY6L", 2).await;
    desk.answer("QKJ41HAY6L", &receipt_result("QKJ41HAY6L", "174379", "2500.0", "Completed")).await;
    wait_for_results(desk.app(), &chat.id, 1).await;
    assert_eq!(desk.payments(&chat).await[0].request.status, PaymentStatus::Paid);
}

#[tokio::test]
async fn receipt_without_usable_account_gets_a_ticket() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "paybill").await;
    give_credentials(desk.app(), "default", &[("daraja_consumer_key", String::new())]).await;
    ask(desk.app(), &chat.id, "QKJ41HAY6L").await;
    eventually_async("a ticket", async || !desk.tickets(&chat).await.is_empty()).await;
    let tickets = desk.tickets(&chat).await;
    assert!(tickets.len() == 1 && tickets[0].contains("gave no result"), "{tickets:?}");
}

#[tokio::test]
async fn validation_refuses_wrong_orders_only() {
    let desk = Desk::open().await;
    let (chat, _) = desk.buy(PHONE, "paybill").await;
    let order = desk.order_of(&chat).await;
    let unknown = if order == "K00000" { "K00001" } else { "K00000" };
    let url = desk.daraja.state().registered[0]["ValidationURL"].clone();
    for (account, amount, code) in [
        (order.as_str(), "2500.00", "0"),
        (&order.to_lowercase(), "2500", "0"),
        (&order, "2499.00", "C2B00013"),
        (unknown, "2500.00", "C2B00012"),
        ("RENT 12", "2500.00", "0"),
        ("", "2500.00", "0"),
    ] {
        let (status, answer) = desk.call_back(&url, &confirmation("QKJ41HAY6L", account, amount)).await;
        assert_eq!((status, &answer["ResultCode"]), (200, &json!(code)), "{account} {amount}");
    }
    assert!(desk.daraja.state().asked_receipts.is_empty());
}
