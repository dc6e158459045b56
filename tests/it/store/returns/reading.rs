//! What shops and conversations see of orders and returns.

use frontdesk::domain::identity::Email;
use frontdesk::domain::returns::{RmaStatus, TrackingNumber};
use frontdesk::domain::{AuditEntry, AuditKind};
use frontdesk::store::audit::Actor;
use frontdesk::store::mails::MailOutcome;
use frontdesk::store::returns::advance::{Advance, LabelOutcome};
use frontdesk::store::returns::create::ReturnOutcome;

use super::{Shop, number};
use crate::store::{opened, tenant};
use crate::support::audit;

#[tokio::test]
async fn other_shop_sees_and_changes_nothing() {
    let shop = Shop::open().await;
    let rma = shop.returned("77893").await;
    let other = tenant("bcme");
    let door = shop.store().tenant(&other);
    let by = shop.person();
    let mail = shop.store().tenant(&shop.tenant).list_mails_of(&rma.number).await.unwrap().remove(0);
    assert_eq!(door.find_order(&number("77893")).await.unwrap(), None);
    assert_eq!(door.list_orders_by_email(&mail.to).await.unwrap(), []);
    assert_eq!(door.list_orders_of(shop.order("77893").await.customer.id).await.unwrap(), []);
    assert_eq!(door.list_policies().await.unwrap(), []);
    assert_eq!(door.find_rma(&rma.number).await.unwrap(), None);
    assert_eq!(door.find_rma_by_id(rma.id).await.unwrap(), None);
    assert_eq!(door.list_rmas_of(&rma.order).await.unwrap(), []);
    assert_eq!(door.find_ticket(rma.number.as_str()).await.unwrap(), None);
    assert_eq!(door.find_mail(mail.id).await.unwrap(), None);
    assert_eq!(door.list_mails_of(&rma.number).await.unwrap(), []);
    assert_eq!(audit::of_order(&door, &rma.order).await, []);
    assert_eq!(door.advance_rma(&rma.number, RmaStatus::LabelSent, &by).await.unwrap(), Advance::NotFound);
    let tracking = TrackingNumber::new(1);
    assert_eq!(door.issue_label(&rma.number, &tracking, &by).await.unwrap(), LabelOutcome::NotFound);
    assert!(!door.finish_mail(mail.id, &mail.to, &MailOutcome::Sent { preview: "" }, shop.now).await.unwrap());
    assert_eq!(shop.rma(&rma).await, rma);
}

#[tokio::test]
async fn ten_newest_orders_are_listed() {
    let shop = Shop::open().await;
    let email: Email = "buyer-77898@example.com".parse().unwrap();
    let orders = shop.store().tenant(&shop.tenant).list_orders_by_email(&email).await.unwrap();
    let numbers: Vec<&str> = orders.iter().map(|order| order.number.as_str()).collect();
    assert_eq!(numbers, ["77898", "77913", "77912", "77911"]);
}

#[tokio::test]
async fn return_outlives_its_conversation() {
    let shop = Shop::open().await;
    let conversation = opened(shop.store(), &shop.tenant).await;
    let order = number("77893");
    let new = shop.new_return(&order);
    let by = Actor { conversation: Some(conversation), ..shop.desk() };
    let door = shop.store().tenant(&shop.tenant);
    assert!(matches!(door.create_return(&new, &by).await.unwrap(), ReturnOutcome::Created { .. }));
    assert_eq!(door.list_rmas_of(&order).await.unwrap()[0].conversation, Some(conversation));
    assert_eq!(door.list_tickets_in(conversation).await.unwrap().len(), 1);
    let asked = AuditEntry {
        kind: AuditKind::Tool,
        who: "desk".to_owned(),
        what: "tool.get_order_details".to_owned(),
        before: None,
        after: None,
        conversation: Some(conversation),
        order: None,
        rma: None,
        at: shop.now,
        account: None,
    };
    door.record(&asked).await.unwrap();
    assert_eq!(audit::of_conversation(&door, conversation).await.len(), 4);
    assert!(door.delete_conversation(conversation).await.unwrap());
    assert_eq!(shop.waiting_jobs().await, 2);
    assert_eq!(door.list_rmas_of(&order).await.unwrap().len(), 1);
    assert_eq!(shop.recorded("77893").await.len(), 3);
    assert_eq!(audit::of_conversation(&door, conversation).await.len(), 3, "what concerned no order went with it");
}
