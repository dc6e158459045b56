//! What a person's decision changes: the returns that a ticket is about, and what the customer receives.

use frontdesk::domain::identity::Email;
use frontdesk::domain::returns::{Claim, Resolution};
use frontdesk::store::mails::MailOutcome;
use frontdesk::store::returns::escalate::{Escalated, NewEscalation};

use super::super::orders_import::listed;
use super::escalations::damage;
use super::*;

/// Imports a delivered order of two items, and creates a return of the first.
async fn half_returned(shop: &Shop) -> (OrderNumber, Rma) {
    let mut two = listed(shop, "77900").await;
    two.order.number = number("TWO-1");
    two.order.status = OrderStatus::Delivered;
    let order = two.order.number.clone();
    shop.store().tenant(&shop.tenant).import_orders(&[two], false, shop.now).await.unwrap();
    let made = shop.ask("TWO-1", &[1], Action::Return, "r", "x").await;
    let ReturnOutcome::Created { rma, .. } = made else { panic!("{made:?}") };
    (order, *rma)
}

/// Opens a ticket about the second item.
async fn claimed(shop: &Shop, order: &OrderNumber) -> String {
    let claim = Claim { action: Action::Return, lines: vec![2], reason: "arrived shattered".to_owned() };
    let new = NewEscalation { order: Some(order), claim: Some(&claim), ..damage(None) };
    shop.store().tenant(&shop.tenant).escalate(&new, &shop.desk()).await.unwrap().ticket().id.clone()
}

#[tokio::test]
async fn request_about_the_order_locks_no_return() {
    let shop = Shop::open().await;
    let (order, rma) = half_returned(&shop).await;
    let new = NewEscalation { order: Some(&order), locks_returns: false, reason: "an exchange", ..damage(None) };
    let opened = shop.store().tenant(&shop.tenant).escalate(&new, &shop.desk()).await.unwrap();
    assert!(!shop.rma(&rma).await.escalated);
    let waits = shop.ask("TWO-1", &[2], Action::Return, "r-2", "x").await;
    assert!(matches!(&waits, ReturnOutcome::Refused(decision) if decision.cause == Cause::UnderReview), "{waits:?}");
    shop.resolve(&opened.ticket().id, Resolution::Reject, "sold out").await;
    assert_eq!(shop.rma(&rma).await.status, RmaStatus::Initiated);
}

#[tokio::test]
async fn rejection_resumes_the_label_of_another_return() {
    let shop = Shop::open().await;
    let (order, rma) = half_returned(&shop).await;
    let ticket = claimed(&shop, &order).await;
    assert!(matches!(shop.labelled(&rma).await, LabelOutcome::Refused(NoStep::Locked { .. })));
    let label = async || {
        let jobs = shop.due_jobs().await;
        shop.store().finish_jobs(&jobs).await.unwrap();
        jobs.iter().any(|job| job.name == ISSUE_LABEL && job.subject == rma.id.0)
    };
    assert!(label().await, "the job that finds it locked is finished");
    shop.resolve(&ticket, Resolution::Reject, "worn").await;
    assert!(label().await);
}

#[tokio::test]
async fn damage_of_a_return_passes_its_lock() {
    let shop = Shop::open().await;
    let (order, rma) = half_returned(&shop).await;
    let of_other_item = claimed(&shop, &order).await;
    let door = shop.store().tenant(&shop.tenant);
    let opened = door.escalate(&damage(Some(&rma.number)), &shop.desk()).await.unwrap();
    let Escalated::Created(ticket) = opened else { panic!("{opened:?}") };
    shop.resolve(&of_other_item, Resolution::Reject, "worn").await;
    assert!(shop.rma(&rma).await.escalated, "a person has not decided about it");
    shop.resolve(&ticket.id, Resolution::Reject, "worn").await;
    assert_eq!(shop.rma(&rma).await.status, RmaStatus::Rejected);
}

#[tokio::test]
async fn decision_is_mailed_to_the_last_address() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let rma = shop.returned("77893").await;
    let first = door.list_mails_of(&rma.number).await.unwrap().remove(0);
    assert!(door.finish_mail(first.id, &first.to, &MailOutcome::Failed { error: "refused" }, shop.now).await.unwrap());
    let new: Email = "john@example.org".parse().unwrap();
    assert!(door.requeue_mail(first.id, Some(&new), "desk", shop.now).await.unwrap());
    let opened = door.escalate(&damage(Some(&rma.number)), &shop.desk()).await.unwrap();
    shop.resolve(&opened.ticket().id, Resolution::Reject, "worn").await;
    let mails = door.list_mails_of(&rma.number).await.unwrap();
    let rejected = mails.iter().find(|mail| mail.template == "return_rejected").unwrap();
    assert_eq!((&rejected.to, rejected.language), (&new, first.language));
}

#[tokio::test]
async fn every_order_is_in_the_summary() {
    let shop = Shop::open().await;
    let by = Actor { conversation: Some(opened(shop.store(), &shop.tenant).await), ..shop.desk() };
    let mut summaries = Vec::new();
    for summary in ["An invoice for 77893", "An invoice for 77895"] {
        let new = NewEscalation { reason: "an invoice", summary, ..damage(None) };
        let ticket = shop.store().tenant(&shop.tenant).escalate(&new, &by).await.unwrap();
        summaries.push(ticket.ticket().summary.clone());
    }
    assert_eq!(summaries[1], "An invoice for 77893\nAlso: An invoice for 77895");
}
