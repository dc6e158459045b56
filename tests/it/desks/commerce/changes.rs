//! Payments of orders that changed meanwhile.

use chrono::Utc;
use frontdesk::domain::TenantId;
use frontdesk::domain::commerce::payment::{Payment, PaymentReport, PaymentStatus, SandboxState};
use frontdesk::domain::commerce::sale::SaleStatus;
use frontdesk::domain::commerce::{Money, Sale};
use frontdesk::store::catalog::Unlisted;
use frontdesk::store::sales::SaleOwner;
use frontdesk::store::shoppers::{Shopper, ShopperKey};

use super::payments::{BUY, sales_of};
use super::{Shop, ask, customer, open_desk, say_all, wait_for_results};

async fn shopper_of(desk: &Shop, phone: &str) -> Shopper {
    let tenant = TenantId::default();
    let door = desk.app.inner.store.tenant(&tenant);
    let key = ShopperKey::Phone(phone.parse().unwrap());
    door.find_or_create_shopper(&key, Utc::now()).await.unwrap().0
}

async fn order_of(desk: &Shop, phone: &str) -> Sale {
    let tenant = TenantId::default();
    let shopper = shopper_of(desk, phone).await;
    desk.app.inner.store.tenant(&tenant).list_sales(shopper.id).await.unwrap().remove(0)
}

async fn payment_of(desk: &Shop, phone: &str) -> Payment {
    let tenant = TenantId::default();
    let order = order_of(desk, phone).await;
    desk.app.inner.store.tenant(&tenant).list_payments(&order.id).await.unwrap().remove(0)
}

async fn report(desk: &Shop, payment: &Payment, report: &PaymentReport) {
    let tenant = TenantId::default();
    desk.app.inner.store.tenant(&tenant).report_payment(payment.id, report, Utc::now()).await.unwrap();
}

/// Sets the stock of an item, as an import of the shop does.
async fn restock(desk: &Shop, item: &str, stock: u32) {
    let tenant = TenantId::default();
    let door = desk.app.inner.store.tenant(&tenant);
    let mut item = door.find_catalog_item(&item.parse().unwrap()).await.unwrap().unwrap();
    item.stock = stock;
    door.import_catalog(&[item], Unlisted::Keep, "test", Utc::now()).await.unwrap();
}

#[tokio::test]
async fn late_payment_of_changed_order_settles_nothing() {
    let desk = open_desk().await;
    let phone = "+254700000001";
    let mut chat = customer(&desk, phone).await;
    say_all(&mut chat, &BUY).await;
    say_all(&mut chat, &["yes"]).await;
    ask(&desk.app, &chat.id, "pin timeout").await;
    wait_for_results(&desk.app, &chat.id, 1).await;
    let cart = ask(&desk.app, &chat.id, "make it 10").await;
    assert!(cart.contains("KSh 12,500"), "{cart}");
    let said = ask(&desk.app, &chat.id, "1234").await;
    assert!(said.contains("PIN accepted") && !said.contains("is paid"), "{said}");
    let results = wait_for_results(&desk.app, &chat.id, 2).await;
    assert!(results[1].contains("question about the payment"), "{results:?}");
    assert_eq!(sales_of(&desk, phone).await, [(SaleStatus::Draft, 12_500, vec![PaymentStatus::Paid])]);
    let said = ask(&desk.app, &chat.id, "pay").await;
    assert!(said.contains("Please don't pay again"), "{said}");
}

#[tokio::test]
async fn yes_pays_no_other_amount_by_paybill() {
    let desk = open_desk().await;
    let phone = "+254700000002";
    let mut chat = customer(&desk, phone).await;
    say_all(&mut chat, &["canvas shoes size 40 black", "make it 2", "paybill"]).await;
    let (tenant, order) = (TenantId::default(), order_of(&desk, phone).await);
    let owner = SaleOwner { shopper: shopper_of(&desk, phone).await.id, conversation: chat.id.parse().unwrap() };
    let mut cart = order.cart();
    cart[0].quantity = 3;
    let door = desk.app.inner.store.tenant(&tenant);
    door.place_sale(owner, &cart, Some(&order.id), Utc::now()).await.unwrap();
    say_all(&mut chat, &["yes"]).await;
    let sales = sales_of(&desk, phone).await;
    assert!(sales.iter().all(|(_, _, payments)| payments.is_empty()), "{sales:?}");
}

#[tokio::test]
async fn goods_that_left_are_not_paid() {
    let desk = open_desk().await;
    let phone = "+254700000003";
    let mut chat = customer(&desk, phone).await;
    say_all(&mut chat, &BUY).await;
    restock(&desk, "SV-101", 1).await;
    let said = say_all(&mut chat, &["yes"]).await;
    assert!(said.contains("Only 1") && !said.contains("SANDBOX"), "{said}");
    assert_eq!(sales_of(&desk, phone).await, [(SaleStatus::Draft, 1_250, vec![])]);
}

#[tokio::test]
async fn paid_goods_that_left_call_a_person() {
    let desk = open_desk().await;
    let phone = "+254700000004";
    let mut chat = customer(&desk, phone).await;
    say_all(&mut chat, &BUY).await;
    say_all(&mut chat, &["yes"]).await;
    restock(&desk, "SV-101", 1).await;
    ask(&desk.app, &chat.id, "1234").await;
    let results = wait_for_results(&desk.app, &chat.id, 1).await;
    assert!(results[0].contains("question about the payment"), "{results:?}");
    let (tenant, id) = (TenantId::default(), chat.id.parse().unwrap());
    assert_eq!(desk.app.inner.store.tenant(&tenant).list_tickets_in(id).await.unwrap().len(), 1);
}

#[tokio::test]
async fn short_payment_is_not_called_paid() {
    let desk = open_desk().await;
    let phone = "+254700000005";
    let mut chat = customer(&desk, phone).await;
    say_all(&mut chat, &BUY).await;
    say_all(&mut chat, &["yes"]).await;
    let payment = payment_of(&desk, phone).await;
    let amount = Money::new(100_000, payment.request.amount.currency);
    report(&desk, &payment, &PaymentReport::Paid { amount, receipt: "SHORT".to_owned(), paid_at: None }).await;
    let said = ask(&desk.app, &chat.id, "pay").await;
    assert!(said.contains("colleague") && !said.contains("paid already"), "{said}");
    let said = ask(&desk.app, &chat.id, "where is my order").await;
    assert!(said.contains("looking at the payment"), "{said}");
}

#[tokio::test]
async fn stopped_customer_gets_no_reversal_notice() {
    let desk = open_desk().await;
    let mut chats = Vec::new();
    for phone in ["+254700000006", "+254700000007"] {
        let mut chat = customer(&desk, phone).await;
        say_all(&mut chat, &BUY).await;
        say_all(&mut chat, &["yes"]).await;
        ask(&desk.app, &chat.id, "1234").await;
        wait_for_results(&desk.app, &chat.id, 1).await;
        chats.push((chat.id.clone(), payment_of(&desk, phone).await));
    }
    ask(&desk.app, &chats[0].0, "STOP").await;
    // Jobs of one queue run one after another: the second result follows the first one.
    for (_, payment) in &chats {
        report(&desk, payment, &PaymentReport::Reversed { receipt: None }).await;
    }
    desk.app.inner.jobs.wake();
    let told = wait_for_results(&desk.app, &chats[1].0, 2).await;
    assert!(told[1].contains("reversed"), "{told:?}");
    assert_eq!(wait_for_results(&desk.app, &chats[0].0, 1).await.len(), 1);
}

#[tokio::test]
async fn shopping_continues_while_a_payment_is_open() {
    let desk = open_desk().await;
    let phone = "+254700000008";
    let mut chat = customer(&desk, phone).await;
    say_all(&mut chat, &BUY).await;
    let said = say_all(&mut chat, &["yes", "show me sandals"]).await;
    assert!(said.contains("2. Sandals"), "{said}");
    let said = ask(&desk.app, &chat.id, "1234").await;
    assert!(said.contains("is paid: KSh 2,500"), "{said}");
    wait_for_results(&desk.app, &chat.id, 1).await;
    let said = ask(&desk.app, &chat.id, "2").await;
    assert!(said.contains("**Sandals**"), "{said}");
    let said = ask(&desk.app, &chat.id, "38 black").await;
    assert!(said.contains("KSh 800") && !said.contains("Canvas"), "{said}");
}

#[tokio::test]
async fn expired_time_keeps_an_accepted_pin() {
    let desk = open_desk().await;
    let (tenant, id) = (TenantId::default(), frontdesk::domain::PaymentId::now());
    let door = desk.app.inner.store.tenant(&tenant);
    door.ask_sandbox(id, Utc::now()).await.unwrap();
    door.answer_sandbox(id, SandboxState::Paid, Some("SBX1")).await.unwrap();
    door.expire_sandbox(id).await.unwrap();
    assert_eq!(door.find_sandbox_payment(id).await.unwrap().unwrap().state, SandboxState::Paid);
}
