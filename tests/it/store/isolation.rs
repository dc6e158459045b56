//! Whatever two shops write about the same customer, neither finds a row of the other.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use frontdesk::cli::seed::commerce::shops;
use frontdesk::domain::commerce::payment::PaymentProvider;
use frontdesk::domain::commerce::tenant::PaymentMethod;
use frontdesk::domain::commerce::{CartLine, ItemId, SaleId};
use frontdesk::domain::{ConversationId, PaymentId, TenantId};
use frontdesk::store::Store;
use frontdesk::store::payments::{Beginning, NewPayment};
use frontdesk::store::sales::{Placing, SaleOwner};
use frontdesk::store::shoppers::{PreferenceChange, ShopperKey};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{TestStore, tenant};

/// What a customer does in a shop.
#[derive(Clone, Debug)]
enum Deed {
    Order { item: usize, pieces: u32, pays: bool },
    Prefer { marketing: bool, notifications: bool },
}

fn deed() -> impl Strategy<Value = (usize, Deed)> {
    let order =
        (0..8_usize, 1..3_u32, any::<bool>()).prop_map(|(item, pieces, pays)| Deed::Order { item, pieces, pays });
    let prefer =
        (any::<bool>(), any::<bool>()).prop_map(|(marketing, notifications)| Deed::Prefer { marketing, notifications });
    (0..2_usize, prop_oneof![order, prefer])
}

/// What one shop wrote.
#[derive(Debug, Default)]
struct Written {
    sales: Vec<SaleId>,
    payments: Vec<PaymentId>,
    changes: usize,
}

struct Customer<'a> {
    store: &'a Store,
    key: ShopperKey,
    goods: BTreeMap<TenantId, Vec<ItemId>>,
    conversation: ConversationId,
    now: DateTime<Utc>,
}

impl Customer<'_> {
    async fn act(&self, shop: &TenantId, deed: &Deed, written: &mut Written) {
        let door = self.store.tenant(shop);
        let shopper = door.find_or_create_shopper(&self.key, self.now).await.unwrap().0.id;
        let owner = SaleOwner { shopper, conversation: self.conversation };
        match deed {
            Deed::Prefer { marketing, notifications } => {
                let (marketing, notifications) = (Some(*marketing), Some(*notifications));
                let change = PreferenceChange::Set { language: None, marketing, notifications };
                let changed = door.change_preferences(shopper, change, None, self.now).await.unwrap().unwrap();
                written.changes += usize::from(changed.1.is_some());
            }
            Deed::Order { item, pieces, pays } => {
                let item = self.goods[shop][*item].clone();
                let cart = [CartLine { item, quantity: *pieces, choices: BTreeMap::new() }];
                let Placing::Done(sale) = door.place_sale(owner, &cart, None, self.now).await.unwrap() else { return };
                if *pays {
                    let (method, provider) = (PaymentMethod::MpesaStk, PaymentProvider::Sandbox);
                    let confirmed = sale.totals.total;
                    let new = NewPayment { sale: &sale.id, method, phone: None, confirmed, provider };
                    let begun = door.begin_payment(owner, &new, self.now).await.unwrap();
                    let Beginning::Begun(payment) = begun else { panic!("{begun:?}") };
                    written.payments.push(payment.id);
                }
                written.sales.push(sale.id);
            }
        }
    }

    /// Checks that a shop finds all that it wrote, and nothing that the other one did.
    async fn check(&self, shop: &TenantId, own: &Written, other: &Written) {
        let door = self.store.tenant(shop);
        let shopper = door.find_shopper(&self.key).await.unwrap();
        assert!(shopper.is_some() || own.changes + own.sales.len() == 0);
        if let Some(shopper) = shopper {
            assert_eq!(door.list_consent_changes(shopper.id).await.unwrap().len(), own.changes);
            let listed = door.list_sales(shopper.id).await.unwrap();
            assert!(listed.iter().all(|sale| own.sales.contains(&sale.id)), "{listed:?}");
        }
        for sale in &own.sales {
            assert!(door.find_any_sale(sale).await.unwrap().is_some());
        }
        for sale in other.sales.iter().filter(|sale| !own.sales.contains(sale)) {
            // An earlier case may have drawn the same number in this shop, in another conversation.
            let found = door.find_any_sale(sale).await.unwrap();
            if found.as_ref().is_some_and(|found| found.conversation != Some(self.conversation)) {
                continue;
            }
            assert_eq!(found, None);
            assert_eq!(door.list_payments(sale).await.unwrap(), []);
            assert_eq!(door.find_shopper_of_sale(sale).await.unwrap(), None);
        }
        for payment in &own.payments {
            assert!(door.find_payment(*payment).await.unwrap().is_some());
        }
        for payment in &other.payments {
            assert_eq!(door.find_payment(*payment).await.unwrap(), None);
        }
        let last = door.find_last_payment(self.conversation).await.unwrap().map(|payment| payment.id);
        assert!(last.is_none_or(|last| own.payments.contains(&last)));
    }
}

// Feature: tulia-ai-v2-langgraph-refactor, Property 3: Tenant Isolation Enforcement
#[tokio::test]
async fn shops_never_find_rows_of_each_other() {
    let TestStore { store, _folder } = TestStore::open().await;
    let now = Utc::now();
    let mut samples = shops(now).unwrap();
    // Every item can be ordered without choices, and is never sold out.
    for item in samples.iter_mut().flat_map(|sample| &mut sample.items) {
        item.variants.clear();
        item.stock = 100_000;
    }
    store.make_sample_tenants(&samples).await.unwrap();
    let [savanna, kijani] = [tenant("savanna"), tenant("kijani")];
    let goods: BTreeMap<TenantId, Vec<ItemId>> = samples
        .iter()
        .map(|sample| (sample.id.clone(), sample.items.iter().map(|item| item.id.clone()).collect()))
        .collect();
    let handle = tokio::runtime::Handle::current();
    let cases = (prop::collection::vec(deed(), 1..8), 10_000_000..99_999_999_u32);
    let run = move || {
        let config = Config { cases: 100, failure_persistence: None, ..Config::default() };
        TestRunner::new(config).run(&cases, |(deeds, phone)| {
            let key = ShopperKey::Phone(format!("+2547{phone}").parse().unwrap());
            // The rows of both shops name the same conversation, too: only the shop tells them apart.
            let conversation = ConversationId::now();
            let customer = Customer { store: &store, key, goods: goods.clone(), conversation, now };
            handle.block_on(async {
                let shops = [&savanna, &kijani];
                let mut written = [Written::default(), Written::default()];
                for (shop, deed) in &deeds {
                    customer.act(shops[*shop], deed, &mut written[*shop]).await;
                }
                customer.check(&savanna, &written[0], &written[1]).await;
                customer.check(&kijani, &written[1], &written[0]).await;
            });
            Ok(())
        })
    };
    tokio::task::spawn_blocking(run).await.unwrap().unwrap();
}
