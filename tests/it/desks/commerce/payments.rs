//! Payments at the sandbox, from the yes to the result.

use frontdesk::domain::TenantId;
use frontdesk::domain::commerce::payment::PaymentStatus;
use frontdesk::domain::commerce::sale::SaleStatus;
use frontdesk::store::shoppers::ShopperKey;

use super::{Shop, ask, customer, open_desk, say_all, wait_for_results};

pub const BUY: [&str; 4] = ["canvas shoes size 40 black", "make it 2", "pay", "1"];

/// The customer's orders with the states of their payments.
pub async fn sales_of(desk: &Shop, phone: &str) -> Vec<(SaleStatus, i64, Vec<PaymentStatus>)> {
    let (store, tenant) = (&desk.app.inner.store, TenantId::default());
    let door = store.tenant(&tenant);
    let key = ShopperKey::Phone(phone.parse().unwrap());
    let (shopper, _) = door.find_or_create_shopper(&key, chrono::Utc::now()).await.unwrap();
    let mut found = Vec::new();
    for sale in door.list_sales(shopper.id).await.unwrap() {
        let payments = door.list_payments(&sale.id).await.unwrap();
        let states = payments.iter().map(|payment| payment.request.status).collect();
        found.push((sale.status, sale.totals.total.minor / 100, states));
    }
    found
}

async fn stock_of(desk: &Shop, item: &str) -> u32 {
    let (store, tenant) = (&desk.app.inner.store, TenantId::default());
    store.tenant(&tenant).find_catalog_item(&item.parse().unwrap()).await.unwrap().unwrap().stock
}

#[tokio::test]
async fn newcomer_buys_and_is_told_the_result() {
    let desk = open_desk().await;
    let phone = "+254700000001";
    let mut chat = customer(&desk, phone).await;
    let confirm = say_all(&mut chat, &BUY).await;
    assert!(confirm.contains("+254700000001") && confirm.contains("KSh 2,500"), "{confirm}");
    assert_eq!(sales_of(&desk, phone).await, [(SaleStatus::Draft, 2_500, vec![])]);
    let asked = say_all(&mut chat, &["yes"]).await;
    assert!(asked.contains("SANDBOX") && asked.contains("KSh 2,500"), "{asked}");
    assert_eq!(sales_of(&desk, phone).await, [(SaleStatus::Draft, 2_500, vec![PaymentStatus::Pending])]);
    ask(&desk.app, &chat.id, "1234").await;
    let results = wait_for_results(&desk.app, &chat.id, 1).await;
    assert!(results[0].contains("KSh 2,500 received, receipt SBX"), "{results:?}");
    assert_eq!(sales_of(&desk, phone).await, [(SaleStatus::Paid, 2_500, vec![PaymentStatus::Paid])]);
    assert_eq!(stock_of(&desk, "SV-101").await, 22);
}

#[tokio::test]
async fn second_yes_asks_for_no_second_payment() {
    let desk = open_desk().await;
    let phone = "+254700000002";
    let mut chat = customer(&desk, phone).await;
    say_all(&mut chat, &BUY).await;
    say_all(&mut chat, &["yes", "yes", "yes", "pay", "lipa"]).await;
    assert_eq!(sales_of(&desk, phone).await, [(SaleStatus::Draft, 2_500, vec![PaymentStatus::Pending])]);
}

#[tokio::test]
async fn wrong_pin_can_be_tried_again() {
    let desk = open_desk().await;
    let phone = "+254700000004";
    let mut chat = customer(&desk, phone).await;
    say_all(&mut chat, &BUY).await;
    say_all(&mut chat, &["yes"]).await;
    ask(&desk.app, &chat.id, "0000").await;
    let results = wait_for_results(&desk.app, &chat.id, 1).await;
    assert!(results[0].contains("did not go through"), "{results:?}");
    let confirm = ask(&desk.app, &chat.id, "again").await;
    assert!(confirm.contains("KSh 2,500") && confirm.contains("yes"), "{confirm}");
    ask(&desk.app, &chat.id, "yes").await;
    ask(&desk.app, &chat.id, "1234").await;
    let results = wait_for_results(&desk.app, &chat.id, 2).await;
    assert!(results[1].contains("received"), "{results:?}");
    let states = vec![PaymentStatus::Failed, PaymentStatus::Paid];
    assert_eq!(sales_of(&desk, phone).await, [(SaleStatus::Paid, 2_500, states)]);
}

#[tokio::test]
async fn late_payment_counts() {
    let desk = open_desk().await;
    let phone = "+254700000005";
    let mut chat = customer(&desk, phone).await;
    say_all(&mut chat, &BUY).await;
    say_all(&mut chat, &["yes"]).await;
    ask(&desk.app, &chat.id, "pin timeout").await;
    let results = wait_for_results(&desk.app, &chat.id, 1).await;
    assert!(results[0].contains("ran out of time"), "{results:?}");
    ask(&desk.app, &chat.id, "1234").await;
    let results = wait_for_results(&desk.app, &chat.id, 2).await;
    assert!(results[1].contains("received"), "{results:?}");
    assert_eq!(sales_of(&desk, phone).await, [(SaleStatus::Paid, 2_500, vec![PaymentStatus::Paid])]);
}

#[tokio::test]
async fn nothing_is_paid_without_a_clear_yes() {
    let desk = open_desk().await;
    let phone = "+254700000006";
    let mut chat = customer(&desk, phone).await;
    say_all(&mut chat, &BUY).await;
    for text in ["yes?", "yes but tomorrow", "how much", "yes 1250", "wait", "no", "yes 2500 or not", "2"] {
        say_all(&mut chat, &[text]).await;
        let sales = sales_of(&desk, phone).await;
        assert!(sales.iter().all(|(_, _, payments)| payments.is_empty()), "{text}: {sales:?}");
    }
}

#[tokio::test]
async fn restart_continues_an_open_payment() {
    let desk = open_desk().await;
    let phone = "+254700000007";
    let mut chat = customer(&desk, phone).await;
    say_all(&mut chat, &BUY).await;
    say_all(&mut chat, &["yes"]).await;
    let id = chat.id.clone();
    let Shop { app, .. } = desk;
    let app = app.stop().await.start().await;
    app.ask(&id, "1234").await;
    let results = wait_for_results(&app, &id, 1).await;
    assert!(results[0].contains("received"), "{results:?}");
}
