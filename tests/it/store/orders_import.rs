//! Bringing a list of orders in: what differs is written, and returns are left alone.

use frontdesk::domain::returns::{Action, ListedOrder, Money, OrderStatus};
use frontdesk::store::orders_import::OrderComparison;
use frontdesk::store::returns::create::ReturnOutcome;

use super::returns::{Shop, number};

/// What the shop's own system would list of that order.
async fn listed(shop: &Shop, order: &str) -> ListedOrder {
    let mut order = shop.order(order).await;
    order.items.iter_mut().for_each(|item| item.rma = None);
    ListedOrder { order, is_vip: None, fraud_flag: None }
}

#[tokio::test]
async fn what_differs_is_written_and_a_second_time_nothing_does() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let same = listed(&shop, "77893").await;
    let mut changed = listed(&shop, "77899").await;
    changed.order.status = OrderStatus::Delivered;
    changed.order.delivered_at = Some(shop.now);
    let mut new = listed(&shop, "77894").await;
    new.order.number = number("NEW-1");
    new.is_vip = Some(true);
    let list = [same, changed, new];
    let expected = OrderComparison { new: 1, changed: 1, unchanged: 1, conflicts: vec![] };
    assert_eq!(door.compare_orders(&list).await.unwrap(), expected);
    assert_eq!(door.find_order(&number("NEW-1")).await.unwrap(), None, "comparing writes nothing");
    assert_eq!(door.import_orders(&list, false).await.unwrap(), expected);
    assert_eq!(shop.order("77899").await.status, OrderStatus::Delivered);
    assert!(shop.order("77894").await.customer.is_vip, "a flag belongs to the customer");
    let again = OrderComparison { unchanged: 3, ..Default::default() };
    assert_eq!(door.import_orders(&list, false).await.unwrap(), again);
}

#[tokio::test]
async fn flags_that_a_list_says_nothing_of_stay_as_they_are() {
    let shop = Shop::open().await;
    let mut order = listed(&shop, "77897").await;
    order.order.customer.fraud_flag = false;
    order.order.tracking = Some("UPS-1".to_owned());
    shop.store().tenant(&shop.tenant).import_orders(&[order], false).await.unwrap();
    let there = shop.order("77897").await;
    assert_eq!((there.customer.fraud_flag, there.tracking.as_deref()), (true, Some("UPS-1")));
}

#[tokio::test]
async fn a_list_does_not_undo_a_return() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let before = listed(&shop, "77893").await;
    let rma = shop.returned("77893").await;
    let unchanged = OrderComparison { unchanged: 1, ..Default::default() };
    assert_eq!(door.import_orders(std::slice::from_ref(&before), false).await.unwrap(), unchanged);
    let order = shop.order("77893").await;
    assert_eq!((order.status, order.open_lines()), (OrderStatus::ReturnInitiated, vec![]));

    let mut dearer = before.clone();
    dearer.order.items[0].unit_price = Money { minor: 1, ..rma.refund };
    let mut other = listed(&shop, "77894").await;
    other.order.tracking = None;
    let conflict = OrderComparison { changed: 1, conflicts: vec![(number("77893"), 1)], ..Default::default() };
    let list = [dearer, other];
    assert_eq!(door.import_orders(&list, false).await.unwrap(), conflict);
    assert!(shop.order("77894").await.tracking.is_some(), "all or nothing");
    assert_eq!(door.import_orders(&list, true).await.unwrap(), conflict);
    assert!(shop.order("77894").await.tracking.is_none());
    assert_eq!(shop.order("77893").await.items[0].unit_price, rma.refund);
    let asked = shop.ask("77893", &[1], Action::Return, "r-2", "x").await;
    assert!(matches!(asked, ReturnOutcome::Duplicate(_)), "{asked:?}");
}
