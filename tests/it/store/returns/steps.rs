//! The later steps of an RMA, and its label.

use super::*;

#[tokio::test]
async fn illegal_step_writes_nothing() {
    let shop = Shop::open().await;
    let rma = shop.returned("77893").await;
    let before = (shop.rma(&rma).await, shop.recorded("77893").await);
    match shop.advance(&rma, RmaStatus::Refunded).await {
        Advance::Refused(NoStep::Illegal(error)) => {
            assert_eq!((error.from.as_str(), error.to.as_str()), ("Initiated", "Refunded"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!((shop.rma(&rma).await, shop.recorded("77893").await), before);
    let unknown = "RMA-1-AAAA".parse().unwrap();
    let door = shop.store().tenant(&shop.tenant);
    assert_eq!(door.advance_rma(&unknown, RmaStatus::Received, &shop.person()).await.unwrap(), Advance::NotFound);
}

#[tokio::test]
async fn order_is_returned_after_its_last_refund() {
    let shop = Shop::open().await;
    let ReturnOutcome::Created { rma, .. } = shop.ask("77900", &[2], Action::Return, "r", "x").await else { panic!() };
    use RmaStatus::{Approved, InTransit, Inspected, Received, Refunded};
    shop.labelled(&rma).await;
    shop.walk(&rma, &[InTransit, Received, Inspected, Approved]).await;
    assert_eq!(shop.order("77900").await.status, OrderStatus::ReturnInitiated);
    shop.walk(&rma, &[Refunded]).await;
    assert_eq!(shop.order("77900").await.status, OrderStatus::Returned);
    let recorded = shop.recorded("77900").await;
    assert_eq!(recorded.iter().filter(|what| *what == "Thu rma.status").count(), 5);
    assert_eq!(recorded.last().unwrap(), "Thu order.status");
}

#[tokio::test]
async fn label_is_issued_once() {
    let shop = Shop::open().await;
    let rma = shop.returned("77893").await;
    let door = shop.store().tenant(&shop.tenant);
    let issue = async |random| door.issue_label(&rma.number, &TrackingNumber::new(random), &shop.desk()).await.unwrap();
    let LabelOutcome::Issued(first) = issue(1).await else { panic!() };
    assert_eq!(issue(2).await, LabelOutcome::Repeated(first.clone()));
    let stored = shop.rma(&rma).await;
    assert_eq!((stored.status, stored.label.map(|label| label.tracking)), (RmaStatus::LabelSent, Some(first.tracking)));
}

#[tokio::test]
async fn label_sent_requires_a_label() {
    let shop = Shop::open().await;
    let rma = shop.returned("77893").await;
    let refused = shop.advance(&rma, RmaStatus::LabelSent).await;
    assert_eq!(refused, Advance::Refused(NoStep::NoLabel));
    assert_eq!(shop.rma(&rma).await, rma);
    assert!(matches!(shop.labelled(&rma).await, LabelOutcome::Issued(_)));
    assert_eq!(shop.rma(&rma).await.status, RmaStatus::LabelSent);
}
