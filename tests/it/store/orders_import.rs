//! Importing a list of orders.

use frontdesk::domain::commerce::{Money, OrderStatus};
use frontdesk::domain::returns::{Action, ListedOrder};
use frontdesk::store::orders_import::{Conflict, OrderComparison};
use frontdesk::store::returns::create::ReturnOutcome;

use super::returns::{Shop, number};
use crate::support::audit;

/// Returns the order as the shop's own system would list it.
pub async fn listed(shop: &Shop, order: &str) -> ListedOrder {
    let mut order = shop.order(order).await;
    order.items.iter_mut().for_each(|item| item.rma = None);
    order.status = order.status.min(OrderStatus::Delivered);
    ListedOrder { order, is_vip: None, fraud_flag: None }
}

#[tokio::test]
async fn import_writes_only_differences() {
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
    assert_eq!(door.import_orders(&list, false, shop.now).await.unwrap(), expected);
    assert_eq!(shop.order("77899").await.status, OrderStatus::Delivered);
    assert!(shop.order("77894").await.customer.is_vip, "a flag belongs to the customer");
    let again = OrderComparison { unchanged: 3, ..Default::default() };
    assert_eq!(door.import_orders(&list, false, shop.now).await.unwrap(), again);
}

#[tokio::test]
async fn import_keeps_returns() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let before = listed(&shop, "77893").await;
    let rma = shop.returned("77893").await;
    let unchanged = OrderComparison { unchanged: 1, ..Default::default() };
    assert_eq!(door.import_orders(std::slice::from_ref(&before), false, shop.now).await.unwrap(), unchanged);
    let order = shop.order("77893").await;
    assert_eq!((order.status, order.open_lines()), (OrderStatus::ReturnInitiated, vec![]));

    let mut dearer = before.clone();
    dearer.order.items[0].unit_price = Money { minor: 1, ..rma.refund };
    let mut other = listed(&shop, "77894").await;
    other.order.tracking = None;
    let conflict =
        OrderComparison { changed: 1, conflicts: vec![(number("77893"), Conflict::InRma(1))], ..Default::default() };
    let list = [dearer, other];
    assert_eq!(door.import_orders(&list, false, shop.now).await.unwrap(), conflict);
    assert!(shop.order("77894").await.tracking.is_some(), "all or nothing");
    assert_eq!(door.import_orders(&list, true, shop.now).await.unwrap(), conflict);
    assert!(shop.order("77894").await.tracking.is_none());
    assert_eq!(shop.order("77893").await.items[0].unit_price, rma.refund);
    let asked = shop.ask("77893", &[1], Action::Return, "r-2", "x").await;
    assert!(matches!(asked, ReturnOutcome::Duplicate { .. }), "{asked:?}");
}

#[tokio::test]
async fn new_order_keeps_its_customers_flags() {
    let shop = Shop::open().await;
    let mut order = listed(&shop, "77897").await;
    order.order.number = number("NEW-1");
    order.order.customer.fraud_flag = false;
    order.order.customer.user_id = None;
    let known = shop.order("77897").await.customer;
    assert!(known.fraud_flag);
    shop.store().tenant(&shop.tenant).import_orders(&[order], false, shop.now).await.unwrap();
    assert_eq!(shop.order("NEW-1").await.customer, known);
    assert_eq!(shop.order("77897").await.customer, known);
}

#[tokio::test]
async fn customer_change_affects_all_their_orders() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    // More orders of one customer than are compared at a time.
    let first = listed(&shop, "77894").await;
    let many = |is_vip| {
        let order = |n: u32| {
            let mut order = first.clone();
            order.order.number = number(&format!("MANY-{n:04}"));
            order.is_vip = is_vip;
            order
        };
        (0..450).map(order).collect::<Vec<_>>()
    };
    door.import_orders(&many(None), false, shop.now).await.unwrap();
    let flagged = many(Some(true));
    let expected = OrderComparison { changed: 450, ..Default::default() };
    assert_eq!(door.compare_orders(&flagged).await.unwrap(), expected);
    assert_eq!(door.import_orders(&flagged, false, shop.now).await.unwrap(), expected);
    let settled = OrderComparison { unchanged: 450, ..Default::default() };
    assert_eq!(door.compare_orders(&flagged).await.unwrap(), settled);
}

#[tokio::test]
async fn imported_status_is_recorded_and_never_goes_back() {
    let shop = Shop::open().await;
    let door = shop.store().tenant(&shop.tenant);
    let mut arrived = listed(&shop, "77899").await;
    arrived.order.status = OrderStatus::Delivered;
    arrived.order.delivered_at = Some(shop.now);
    let same_state = listed(&shop, "77894").await;
    door.import_orders(&[arrived, same_state], false, shop.now).await.unwrap();
    assert_eq!(shop.recorded("77894").await, [""; 0]);
    let recorded = audit::of_order(&door, &number("77899")).await;
    assert_eq!(recorded.len(), 1);
    let entry = &recorded[0];
    assert_eq!((entry.who.as_str(), entry.what.as_str(), entry.at), ("import", "order.status", shop.now));
    let state = |value: &Option<serde_json::Value>| value.as_ref().unwrap()["status"].as_str().unwrap().to_owned();
    assert_eq!((state(&entry.before), state(&entry.after)), ("Shipped".to_owned(), "Delivered".to_owned()));

    shop.returned("77893").await;
    let recorded = shop.recorded("77893").await;
    for (order, from, to) in [
        ("77899", OrderStatus::Delivered, OrderStatus::Shipped),
        ("77894", OrderStatus::Delivered, OrderStatus::Pending),
        ("77893", OrderStatus::ReturnInitiated, OrderStatus::Shipped),
    ] {
        let mut back = listed(&shop, order).await;
        back.order.status = to;
        let expected =
            OrderComparison { conflicts: vec![(number(order), Conflict::Backward { from, to })], ..Default::default() };
        assert_eq!(door.import_orders(&[back], true, shop.now).await.unwrap(), expected);
        assert_eq!(shop.order(order).await.status, from);
    }
    assert_eq!(shop.recorded("77893").await, recorded);
}
