//! Customers of the commerce desk.

use std::sync::Arc;

use chrono::Utc;
use frontdesk::store::shoppers::ShopperKey;

use super::{TestStore, tenant};

#[tokio::test]
async fn concurrent_messages_create_one_customer() {
    let (test, tenant) = (Arc::new(TestStore::open().await), tenant("acme"));
    let finding = (0..20).map(|_| {
        let (test, tenant) = (test.clone(), tenant.clone());
        tokio::spawn(async move {
            let key = ShopperKey::Phone("+254700000001".parse().unwrap());
            test.store.tenant(&tenant).find_or_create_shopper(&key, Utc::now()).await.unwrap()
        })
    });
    let mut found = Vec::new();
    for asked in finding.collect::<Vec<_>>() {
        found.push(asked.await.unwrap());
    }
    assert!(found.iter().all(|(shopper, _)| shopper.id == found[0].0.id));
    assert_eq!(found.iter().filter(|(_, is_new)| *is_new).count(), 1);
}
