//! Cancelling orders that are not shipped.

use frontdesk::domain::commerce::{Money, OrderStatus};
use frontdesk::domain::returns::ticket::idempotency_key;
use frontdesk::domain::returns::{Action, Resolution};
use frontdesk::store::returns::create::CancelOutcome;

use super::{Shop, number};

#[tokio::test]
async fn pending_order_is_cancelled_by_one_ticket() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let cancel = async |order: &str, request: &str| {
        door.create_cancellation(&number(order), None, "changed my mind", request, &shop.desk()).await.unwrap()
    };
    let CancelOutcome::Created { ticket, key } = cancel("ABC-100001", "r-1").await else { panic!() };
    assert!(ticket.id.starts_with("TICKET-"), "{ticket:?}");
    let repeated = CancelOutcome::Created { ticket: ticket.clone(), key: key.clone() };
    assert_eq!(cancel("ABC-100001", "r-1").await, repeated);
    assert_eq!(cancel("ABC-100001", "r-2").await, CancelOutcome::Duplicate { ticket, key });
    assert_eq!(cancel("77899", "r-1").await, CancelOutcome::TooLate(OrderStatus::Shipped));
    assert_eq!(cancel("00000", "r-1").await, CancelOutcome::NotFound);
    assert_eq!(shop.recorded("ABC-100001").await, ["desk cancel.asked"]);
}

#[tokio::test]
async fn changed_amount_is_not_cancelled() {
    let shop = Shop::open().await;
    let store = shop.store().tenant(&shop.tenant);
    let pending = number("ABC-100001");
    let paid = shop.order("ABC-100001").await.paid;
    let less = Money::new(paid.minor - 1, paid.currency);
    let cancel = async |agreed: Option<Money>| {
        store.create_cancellation(&pending, agreed, "changed my mind", "r-1", &shop.desk()).await.unwrap()
    };
    assert_eq!(cancel(Some(less)).await, CancelOutcome::OtherAmount(paid));
    assert!(matches!(cancel(Some(paid)).await, CancelOutcome::Created { .. }));
}

#[tokio::test]
async fn rejected_cancellation_may_be_requested_again() {
    let shop = Shop::open().await;
    let store = shop.store().tenant(&shop.tenant);
    let pending = number("ABC-100001");
    let cancel = async |request: &str| {
        store.create_cancellation(&pending, None, "changed my mind", request, &shop.desk()).await.unwrap()
    };
    let CancelOutcome::Created { ticket: first, .. } = cancel("r-1").await else { panic!() };
    shop.resolve(&first.id, Resolution::Reject, "already packed").await;
    let repeated = cancel("r-1").await;
    assert!(matches!(&repeated, CancelOutcome::Created { ticket, .. } if ticket.id == first.id), "{repeated:?}");
    let CancelOutcome::Created { ticket: second, key } = cancel("r-2").await else { panic!() };
    assert_ne!(second.id, first.id);
    assert_eq!(key, idempotency_key(&pending, Action::Cancel, None, 1), "the first attempt's key is taken");
    shop.resolve(&second.id, Resolution::Approve, "stopped").await;
    let third = cancel("r-3").await;
    assert!(matches!(&third, CancelOutcome::Duplicate { ticket, .. } if ticket.id == second.id), "{third:?}");
}
