//! The sample shop: made as often as one likes, and never to a real shop's cost.

use chrono::{TimeDelta, Utc};
use frontdesk::cli::seed::sample;
use frontdesk::domain::commerce::Order;
use frontdesk::domain::commerce::OrderStatus;
use frontdesk::domain::returns::ListedOrder;
use frontdesk::store::sample_shop::Sampling;

use super::returns::{Shop, ZONE, number};
use super::{TestStore, tenant};

#[tokio::test]
async fn the_sample_made_again_starts_over_and_stays_out_of_a_real_shop() {
    let shop = Shop::open().await;
    shop.returned("77893").await;
    let door = shop.store().tenant(&shop.tenant);
    let sample = sample::shop(&shop.tenant, shop.now + TimeDelta::days(1), ZONE);
    assert_eq!(door.make_sample(&sample, false).await.unwrap(), Sampling::Done { policies: true });
    assert_eq!(shop.order("77893").await.status, OrderStatus::Delivered);
    assert_eq!(shop.waiting_jobs().await, 0);
    assert_eq!(door.count_orders().await.unwrap(), sample.orders.len() as u64);
    // As if it were the shop's own.
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
async fn a_shop_with_orders_of_its_own_gets_no_policies_of_the_samples() {
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
