//! The description of personal data, compared with the schema, and customers who are known by their phone number.

use std::collections::{BTreeMap, BTreeSet};

use chrono::Utc;
use frontdesk::cli::seed::commerce::shops;
use frontdesk::domain::ConversationId;
use frontdesk::domain::commerce::CartLine;
use frontdesk::domain::commerce::payment::PaymentProvider;
use frontdesk::domain::commerce::tenant::PaymentMethod;
use frontdesk::domain::identity::e164::E164;
use frontdesk::store::payments::{Beginning, NewPayment};
use frontdesk::store::personal::TABLES;
use frontdesk::store::personal::erase::Erasure;
use frontdesk::store::personal::person::Named;
use frontdesk::store::sales::{Placing, SaleOwner};
use frontdesk::store::shoppers::{PreferenceChange, ShopperKey};

use super::{TestStore, open, tenant};
use crate::support::database;

#[tokio::test]
async fn every_text_column_has_its_erasure() {
    let folder = tempfile::tempdir().unwrap();
    let url = database::fresh(folder.path()).await;
    drop(open(&url).await);
    let described: BTreeMap<String, BTreeSet<String>> = TABLES
        .iter()
        .map(|table| {
            let erased = table.words.iter().chain(table.person).map(|(column, _)| *column);
            let columns = table.kept.iter().chain(table.hidden).copied().chain(erased);
            (table.name.to_owned(), columns.map(str::to_owned).collect())
        })
        .collect();
    assert_eq!(
        described,
        database::text_columns(&url).await,
        "src/store/personal/tables.rs (left) and the schema (right) differ"
    );
}

#[tokio::test]
async fn phone_is_erased_without_its_conversation() {
    let TestStore { store, _folder } = TestStore::open().await;
    let (shop, now) = (tenant("savanna"), Utc::now());
    let mut samples = shops(now).unwrap();
    samples[0].items[0].variants.clear();
    let (item, door) = (samples[0].items[0].id.clone(), store.tenant(&shop));
    store.make_sample_tenants(&samples).await.unwrap();
    let phones: [E164; 2] = ["+254700000001", "+254700000002"].map(|phone| phone.parse().unwrap());
    let (shopper, _) = door.find_or_create_shopper(&ShopperKey::Phone(phones[0].clone()), now).await.unwrap();
    let wish =
        PreferenceChange::Set { language: None, marketing: Some(!shopper.consent.marketing), notifications: None };
    door.change_preferences(shopper.id, wish, None, now).await.unwrap();
    let owner = SaleOwner { shopper: shopper.id, conversation: ConversationId::now() };
    let cart = [CartLine { item, quantity: 1, choices: BTreeMap::new() }];
    let placed = door.place_sale(owner, &cart, None, now).await.unwrap();
    let Placing::Done(sale) = placed else { panic!("{placed:?}") };
    // The customer pays with another number.
    let payment = NewPayment {
        sale: &sale.id,
        method: PaymentMethod::MpesaStk,
        phone: Some(&phones[1]),
        confirmed: sale.totals.total,
        provider: PaymentProvider::Sandbox,
    };
    let begun = door.begin_payment(owner, &payment, now).await.unwrap();
    assert!(matches!(begun, Beginning::Begun(_)), "{begun:?}");

    let named = phones.map(|phone| Named::User(phone.as_str().to_owned()));
    let tables = async |named| {
        let (_, tables) = door.export_person(named).await.unwrap();
        tables.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(tables(&named[1]).await, ["payment_requests"]);
    assert_eq!(tables(&named[0]).await, ["shoppers", "consent_changes", "sales", "payment_requests"]);
    let erased = door.erase_person(&named[0], "Ola", false, now).await.unwrap();
    assert!(matches!(&erased, Erasure::Done { erased, .. } if erased.len() == 2), "{erased:?}");
    for named in &named {
        assert_eq!(tables(named).await, Vec::<String>::new());
    }
    assert!(door.find_any_sale(&sale.id).await.unwrap().is_some());
}
