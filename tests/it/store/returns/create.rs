//! Creating returns.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use frontdesk::domain::commerce::{Money, OrderStatus};
use frontdesk::domain::returns::ticket::idempotency_key;
use frontdesk::domain::returns::{Action, Cause, RmaStatus};
use frontdesk::store::audit::Actor;
use frontdesk::store::mails::MailStatus;
use frontdesk::store::returns::create::{NewReturn, ReturnOutcome};

use super::{Shop, number};

#[tokio::test]
async fn return_creates_ticket_jobs_mail_and_audit() {
    let shop = Shop::open().await;
    let rma = shop.returned("77893").await;
    assert_eq!((rma.status, rma.refund.to_string()), (RmaStatus::Initiated, "129.99 USD".to_owned()));
    assert_eq!(shop.rma(&rma).await.lines, rma.lines);
    let order = shop.order("77893").await;
    assert_eq!((order.status, order.open_lines()), (OrderStatus::ReturnInitiated, vec![]));
    assert_eq!(order.items[0].rma.as_ref().map(|item| &item.number), Some(&rma.number));
    let door = shop.store().tenant(&shop.tenant);
    let ticket = door.find_ticket(rma.number.as_str()).await.unwrap().unwrap();
    assert_eq!((ticket.rma.as_ref(), ticket.order), (Some(&rma.number), Some(number("77893"))));
    let mails = door.list_mails_of(&rma.number).await.unwrap();
    assert_eq!((mails.len(), mails[0].status, mails[0].to.as_str()), (1, MailStatus::Queued, "john.doe@example.com"));
    assert_eq!(shop.recorded("77893").await, ["desk rma.created", "desk order.status", "desk mail.queued"]);
    let jobs = shop.due_jobs().await;
    let found: BTreeSet<_> = jobs.iter().map(|job| (job.name.as_str(), job.subject)).collect();
    assert_eq!(found, BTreeSet::from([("issue_label", rma.id.0), ("send_mail", mails[0].id.0)]));
}

#[tokio::test]
async fn concurrent_requests_create_one_return() {
    let shop = Arc::new(Shop::open().await);
    let asking = (0..50).map(|n| {
        let shop = shop.clone();
        tokio::spawn(async move { shop.ask("77893", &[1], Action::Return, &format!("r-{n}"), "too small").await })
    });
    let asking: Vec<_> = asking.collect();
    let (mut created, mut numbers) = (0, BTreeSet::new());
    for asked in asking {
        match asked.await.unwrap() {
            ReturnOutcome::Created { rma, .. } => {
                created += 1;
                numbers.insert(rma.number);
            }
            ReturnOutcome::Duplicate { rma, .. } => drop(numbers.insert(rma.number)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((created, numbers.len()), (1, 1));
    let door = shop.store().tenant(&shop.tenant);
    assert_eq!(door.list_rmas_of(&number("77893")).await.unwrap().len(), 1);
    assert_eq!(shop.waiting_jobs().await, 2);
    assert_eq!(shop.recorded("77893").await.len(), 3);
}

#[tokio::test]
async fn repeated_request_is_created_another_is_duplicate() {
    let shop = Shop::open().await;
    let first = shop.returned("77893").await;
    for (request, is_new) in [("r-1", true), ("r-2", false)] {
        let again = shop.ask("77893", &[1], Action::Return, request, "too small").await;
        assert_eq!(matches!(&again, ReturnOutcome::Created { rma, .. } if rma.number == first.number), is_new);
        assert_eq!(matches!(&again, ReturnOutcome::Duplicate { rma, .. } if rma.number == first.number), !is_new);
    }
}

#[tokio::test]
async fn item_is_in_at_most_one_rma() {
    let shop = Arc::new(Shop::open().await);
    let asks: [(&[u32], Action); 4] =
        [(&[1], Action::Return), (&[1], Action::Refund), (&[1, 1], Action::Return), (&[1], Action::Refund)];
    let asking = asks.into_iter().cycle().take(24).enumerate().map(|(n, (lines, action))| {
        let shop = shop.clone();
        // The electronics of this order may be returned and refunded.
        tokio::spawn(async move { shop.ask("ABC-100003", lines, action, &format!("r-{n}"), "x").await })
    });
    for asked in asking.collect::<Vec<_>>() {
        let asked = asked.await.unwrap();
        assert!(!matches!(asked, ReturnOutcome::BadAmounts));
    }
    let rmas = shop.store().tenant(&shop.tenant).list_rmas_of(&number("ABC-100003")).await.unwrap();
    assert_eq!(rmas.len(), 1, "{rmas:?}");
}

#[tokio::test]
async fn refused_return_stores_nothing() {
    let shop = Shop::open().await;
    for (order, lines, action, reason, why) in [
        ("77894", &[1][..], Action::Return, "x", Cause::WindowOver),
        ("77896", &[1], Action::Return, "x", Cause::FinalSale),
        ("77897", &[1], Action::Return, "x", Cause::FraudFlag),
        ("77898", &[1], Action::Return, "x", Cause::ReturnsTooFrequent),
        ("77899", &[1], Action::Return, "x", Cause::NotDelivered),
        ("77900", &[1], Action::Return, "x", Cause::AlreadyInRma),
        ("77893", &[1], Action::Return, "they are shattered", Cause::Damaged),
        ("77893", &[2], Action::Return, "x", Cause::ItemsUnknown),
        ("77893", &[], Action::Return, "x", Cause::ItemsUnknown),
        // The return window is open, the refund window has ended.
        ("77893", &[1], Action::Refund, "x", Cause::Approved),
        ("00000", &[1], Action::Return, "x", Cause::OrderNotFound),
    ] {
        match shop.ask(order, lines, action, "r-1", reason).await {
            ReturnOutcome::Refused(decision) => assert_eq!(decision.cause, why, "{order}"),
            other => panic!("{order} {other:?}"),
        }
        assert_eq!(shop.recorded(order).await, [""; 0], "{order}");
    }
    assert_eq!(shop.waiting_jobs().await, 0);
    assert!(matches!(shop.ask("77895", &[1], Action::Return, "r", "x").await, ReturnOutcome::Created { .. }));
    assert!(matches!(shop.ask("77900", &[2], Action::Return, "r", "x").await, ReturnOutcome::Created { .. }));
}

#[tokio::test]
async fn rejected_return_may_be_requested_again() {
    let shop = Shop::open().await;
    let first = shop.returned("77893").await;
    use RmaStatus::{InTransit, Inspected, Received, Rejected};
    shop.labelled(&first).await;
    shop.walk(&first, &[InTransit, Received, Inspected, Rejected]).await;
    let second = shop.ask("77893", &[1], Action::Return, "r-1", "too small").await;
    let ReturnOutcome::Created { rma: second, key } = second else { panic!("{second:?}") };
    assert_ne!(second.number, first.number);
    assert_eq!(key, idempotency_key(&first.order, Action::Return, None, 1), "the first attempt's key is taken");
    let third = shop.ask("77893", &[1], Action::Return, "r-9", "x").await;
    assert_eq!(third, ReturnOutcome::Duplicate { rma: Box::new(shop.rma(&second).await), key });
}

#[tokio::test]
async fn return_is_decided_by_its_request_day() {
    let shop = Shop::open().await;
    let order = number("77893");
    let made_at = shop.now + TimeDelta::days(20);
    let ask = async |asked_at: DateTime<Utc>| {
        let new = NewReturn { asked_at, mail: &|_, _| None, ..shop.new_return(&order) };
        let by = Actor { now: made_at, ..shop.desk() };
        shop.store().tenant(&shop.tenant).create_return(&new, &by).await.unwrap()
    };
    // 35 days after delivery.
    let late = ask(made_at).await;
    assert!(matches!(&late, ReturnOutcome::Refused(decision) if decision.cause == Cause::WindowOver), "{late:?}");
    let in_time = ask(shop.now).await;
    let ReturnOutcome::Created { rma, .. } = in_time else { panic!("{in_time:?}") };
    assert_eq!((rma.created_at, rma.number.made_at()), (made_at, made_at.timestamp()));
}

#[tokio::test]
async fn changed_amount_is_not_returned() {
    let shop = Shop::open().await;
    let store = shop.store().tenant(&shop.tenant);
    let order = number("77893");
    let paid = shop.order("77893").await.paid;
    let less = Money::new(paid.minor - 1, paid.currency);
    let ask = async |agreed: Option<Money>| {
        let new = NewReturn { agreed, mail: &|_, _| None, ..shop.new_return(&order) };
        store.create_return(&new, &shop.desk()).await.unwrap()
    };
    assert_eq!(ask(Some(less)).await, ReturnOutcome::OtherAmount(paid));
    assert_eq!(store.list_rmas_of(&order).await.unwrap(), []);
    let ReturnOutcome::Created { rma, .. } = ask(Some(paid)).await else { panic!() };
    assert_eq!(rma.refund, paid);
    let repeated = ask(Some(less)).await;
    assert!(matches!(repeated, ReturnOutcome::Created { .. }), "a repeated request finds what it made: {repeated:?}");
}
