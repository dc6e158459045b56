//! The sample shop can be created repeatedly, and never changes a real shop.

use chrono::{TimeDelta, Utc};
use frontdesk::cli::seed::sample;
use frontdesk::domain::commerce::{Order, OrderStatus};
use frontdesk::domain::returns::ListedOrder;
use frontdesk::store::samples::Sampling;

use super::returns::{Shop, ZONE, number};
use super::{TestStore, tenant};

#[tokio::test]
async fn sample_resets_and_refuses_a_real_shop() {
    let shop = Shop::open().await;
    shop.returned("77893").await;
    let door = shop.store().tenant(&shop.tenant);
    let sample = sample::shop(&shop.tenant, shop.now + TimeDelta::days(1), ZONE);
    assert_eq!(door.make_sample(&sample, false).await.unwrap(), Sampling::Done { policies: true });
    assert_eq!(shop.order("77893").await.status, OrderStatus::Delivered);
    assert_eq!(shop.waiting_jobs().await, 0);
    for order in &sample.orders {
        assert!(door.find_order(&order.number).await.unwrap().is_some(), "{}", order.number);
    }
    // An order that is not in the sample.
    let mut real = sample.clone();
    real.orders.truncate(1);
    real.orders[0].number = number("REAL-1");
    real.rmas.clear();
    door.make_sample(&real, true).await.unwrap();
    assert_eq!(door.make_sample(&sample, false).await.unwrap(), Sampling::RealOrders(1));
    assert_eq!(door.make_sample(&sample, true).await.unwrap(), Sampling::Done { policies: false });
    assert!(door.find_order(&number("REAL-1")).await.unwrap().is_some());
}

#[tokio::test]
async fn real_shop_gets_no_sample_policies() {
    let TestStore { store, _folder } = TestStore::open().await;
    let (shop, now) = (tenant("real"), Utc::now());
    let door = store.tenant(&shop);
    let sample = sample::shop(&shop, now, ZONE);
    let order = Order { number: number("REAL-1"), ..sample.orders[0].clone() };
    let own = ListedOrder { order, is_vip: None, fraud_flag: None };
    door.import_orders(&[own], false, now).await.unwrap();
    assert_eq!(door.make_sample(&sample, true).await.unwrap(), Sampling::Done { policies: false });
    assert_eq!(door.list_policies().await.unwrap(), []);
    assert!(door.find_order(&number("77893")).await.unwrap().is_some());
}
