//! Shops of the commerce desk: settings, credentials and goods, each visible to one shop only.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::Utc;
use frontdesk::cli::seed::commerce::shops;
use frontdesk::domain::TenantId;
use frontdesk::domain::commerce::catalog::search::{CatalogFilters, CatalogQuery, SearchWords, search};
use frontdesk::domain::commerce::catalog::{CATALOG_CURRENCY, CatalogItem};
use frontdesk::domain::commerce::tenant::CredentialName;
use frontdesk::domain::commerce::{Money, Tenant, TenantSettings};
use frontdesk::domain::identity::e164::E164;
use frontdesk::store::catalog::{ListComparison, Unlisted};
use frontdesk::store::samples::SampledTenants;
use frontdesk::store::tenants::{CredentialChanges, Saving};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{TestStore, tenant};
use crate::support::{audit, database};

fn query(words: &str, filters: CatalogFilters) -> CatalogQuery {
    CatalogQuery { words: SearchWords::of(words), filters, limit: 6.try_into().unwrap() }
}

fn item(id: &str, name: &str, shillings: i64) -> CatalogItem {
    let sample = &shops(chrono::Utc::now()).unwrap()[0].items[0];
    let price = Money::new(shillings * 100, CATALOG_CURRENCY);
    CatalogItem { id: id.parse().unwrap(), name: name.to_owned(), price, ..sample.clone() }
}

fn number(text: &str) -> E164 {
    text.parse().unwrap()
}

/// Two sample shops with like-named goods.
async fn two_shops() -> (TestStore, [TenantId; 2]) {
    let test = TestStore::open().await;
    assert_eq!(
        test.store.make_sample_tenants(&shops(chrono::Utc::now()).unwrap()).await.unwrap(),
        SampledTenants::Done
    );
    (test, [tenant("savanna"), tenant("kijani")])
}

#[tokio::test]
async fn catalog_of_other_shop_is_not_found() {
    let (TestStore { store, _folder }, [savanna, kijani]) = two_shops().await;
    let samples = shops(chrono::Utc::now()).unwrap();
    for (shop, sample, other) in [(&savanna, &samples[0], &samples[1]), (&kijani, &samples[1], &samples[0])] {
        let door = store.tenant(shop);
        let found = door.search_catalog(&query("canvas shoes", CatalogFilters::default())).await.unwrap();
        assert_eq!(found.items.iter().map(|item| item.name.as_str()).collect::<Vec<_>>(), ["Canvas shoes"]);
        assert!(sample.items.contains(&found.items[0]) && !other.items.contains(&found.items[0]));
        for item in &sample.items {
            assert_eq!(door.find_catalog_item(&item.id).await.unwrap().as_ref(), Some(item));
        }
        for item in &other.items {
            assert_eq!(door.find_catalog_item(&item.id).await.unwrap(), None);
        }
    }
    let unknown = tenant("unknown");
    assert_eq!(store.tenant(&unknown).search_catalog(&query("", CatalogFilters::default())).await.unwrap().items, []);
}

/// The database only preselects rows: the result equals a search through all items of the shop.
// Feature: tulia-ai-v2-langgraph-refactor, Property 3: Tenant Isolation Enforcement
#[tokio::test]
async fn search_finds_what_a_full_scan_finds() {
    const WORDS: [&str; 9] = ["canvas", "boots", "shoe", "Sandals", "40", "red", "wool", "savanna", "cotton sock"];
    let (TestStore { store, _folder }, tenants) = two_shops().await;
    let samples = shops(chrono::Utc::now()).unwrap();
    let words = prop::collection::vec(prop::sample::select(&WORDS[..]), 0..4);
    let category = prop::option::of(prop::sample::select(vec!["boots", "FOOTWEAR", "Hats"]));
    let prices = (prop::option::of(1..5_000_i64), prop::option::of(1..5_000_i64));
    let colour = prop::option::of(prop::sample::select(vec!["black", "green", "pink"]));
    let queries = (words, category, prices, any::<bool>(), colour, 1..=6_u8);
    let handle = tokio::runtime::Handle::current();
    let run = move || {
        TestRunner::new(Config { cases: 150, failure_persistence: None, ..Config::default() }).run(
            &queries,
            |(words, category, (least, most), in_stock, colour, limit)| {
                let filters = CatalogFilters {
                    category: category.map(str::to_owned),
                    min_price: least,
                    max_price: most,
                    in_stock,
                    attributes: colour.map(|colour| ("colour".to_owned(), colour.to_owned())).into_iter().collect(),
                    ..CatalogFilters::default()
                };
                let query = CatalogQuery { limit: limit.try_into().unwrap(), ..query(&words.join(" "), filters) };
                for (tenant, sample) in tenants.iter().zip(&samples) {
                    let found = handle.block_on(store.tenant(tenant).search_catalog(&query)).unwrap();
                    prop_assert!(found.items.iter().all(|item| sample.items.contains(item)));
                    prop_assert_eq!(found, search(sample.items.clone(), &query));
                }
                Ok(())
            },
        )
    };
    tokio::task::spawn_blocking(run).await.unwrap().unwrap();
}

#[tokio::test]
async fn catalog_import_writes_what_it_compared() {
    let (TestStore { store, _folder }, [savanna, kijani]) = two_shops().await;
    let door = store.tenant(&savanna);
    let before = shops(chrono::Utc::now()).unwrap()[0].items.clone();
    let list = [item("SV-101", "Canvas shoes", 1_300), item("NEW-1", "Wool hat", 700), before[2].clone()];
    for (unlisted, removed) in [(Unlisted::Keep, 0), (Unlisted::Remove, 10)] {
        let compared = door.compare_catalog(&list, unlisted).await.unwrap();
        assert_eq!(compared, ListComparison { new: 1, changed: 1, unchanged: 1, removed }, "{unlisted:?}");
    }
    assert_eq!(door.find_catalog_item(&before[0].id).await.unwrap().as_ref(), Some(&before[0]));
    let written = door.import_catalog(&list, Unlisted::Keep, "import", Utc::now()).await.unwrap();
    assert_eq!(written, ListComparison { new: 1, changed: 1, unchanged: 1, removed: 0 });
    for item in &list {
        assert_eq!(door.find_catalog_item(&item.id).await.unwrap().as_ref(), Some(item));
    }
    let again = door.import_catalog(&list, Unlisted::Remove, "import", Utc::now()).await.unwrap();
    assert_eq!(again, ListComparison { unchanged: 3, removed: 10, ..ListComparison::default() });
    let all = door.search_catalog(&query("", CatalogFilters::default())).await.unwrap();
    assert_eq!(all.total_matches_estimate, 3);
    let untouched = store.tenant(&kijani).search_catalog(&query("", CatalogFilters::default())).await.unwrap();
    assert_eq!(untouched.total_matches_estimate, 12);
    let recorded = audit::of_shop(&door).await;
    let counts: Vec<_> = recorded.iter().filter(|entry| entry.what == "catalog.imported").collect();
    assert_eq!(counts.len(), 2);
    assert_eq!(counts[0].after, Some(serde_json::json!({"new": 1, "changed": 1, "removed": 0})));
}

/// The words are the same value in memory as long as the rows are not read again.
#[tokio::test]
async fn catalog_is_read_once_until_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let url = database::fresh(folder.path()).await;
    let (store, other_server) = (super::open(&url).await, super::open(&url).await);
    store.make_sample_tenants(&shops(Utc::now()).unwrap()).await.unwrap();
    let (savanna, kijani) = (tenant("savanna"), tenant("kijani"));
    let (door, other, neighbour) = (store.tenant(&savanna), other_server.tenant(&savanna), store.tenant(&kijani));
    let (first, seen) = (door.catalog_words().await.unwrap(), other.catalog_words().await.unwrap());
    let theirs = neighbour.catalog_words().await.unwrap();
    for _ in 0..20 {
        let again = [door.catalog_words().await.unwrap(), neighbour.catalog_words().await.unwrap()];
        assert!(Arc::ptr_eq(&again[0], &first) && Arc::ptr_eq(&again[1], &theirs));
    }
    assert_eq!(first, seen);
    let list = [item("NEW-1", "Wool hat", 700)];
    door.import_catalog(&list, Unlisted::Keep, "import", Utc::now()).await.unwrap();
    for door in [&door, &other] {
        let words = door.catalog_words().await.unwrap();
        assert!(words.names.contains("hat") && words.names.contains("canvas"));
        assert!(Arc::ptr_eq(&words, &door.catalog_words().await.unwrap()));
    }
    assert!(Arc::ptr_eq(&neighbour.catalog_words().await.unwrap(), &theirs));
    // The same list again changes nothing; a list without the others removes them.
    let before = other.catalog_words().await.unwrap();
    door.import_catalog(&list, Unlisted::Keep, "import", Utc::now()).await.unwrap();
    assert!(Arc::ptr_eq(&other.catalog_words().await.unwrap(), &before));
    door.import_catalog(&list, Unlisted::Remove, "import", Utc::now()).await.unwrap();
    assert!(!other.catalog_words().await.unwrap().names.contains("canvas"));
    store.make_sample_tenants(&shops(Utc::now()).unwrap()[1..2]).await.unwrap();
    assert!(!Arc::ptr_eq(&neighbour.catalog_words().await.unwrap(), &theirs));
}

#[tokio::test]
async fn tenant_settings_are_saved_per_shop() {
    let (TestStore { store, _folder }, [savanna, kijani]) = two_shops().await;
    let names = |store: Vec<frontdesk::domain::commerce::Tenant>| {
        store.into_iter().map(|tenant| tenant.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(store.list_tenants().await.unwrap()), ["default", "kijani", "savanna"]);
    let door = store.tenant(&savanna);
    let settings = TenantSettings::new("Savanna".parse().unwrap());
    let mine = number("+254700000001");
    let none = CredentialChanges::new();
    let new = Tenant { id: savanna.clone(), settings: settings.clone(), whatsapp_number: Some(mine.clone()) };
    for _ in 0..2 {
        let saved = door.save_tenant(|_| Ok(new.clone()), &none, "operator", Utc::now()).await;
        assert_eq!(saved.unwrap(), Saving::Done(Box::new(new.clone())));
    }
    assert_eq!(audit::of_shop(&door).await.len(), 1, "the second time changed nothing");
    let exists =
        door.save_tenant(|found| found.map_or(Ok(new.clone()), |_| Err(Saving::Exists)), &none, "operator", Utc::now());
    assert_eq!(exists.await.unwrap(), Saving::Exists);
    let found = door.find_tenant().await.unwrap().unwrap();
    assert_eq!((found.id.as_str(), found.settings, found.whatsapp_number), ("savanna", settings, Some(mine.clone())));
    let other = store.tenant(&kijani).find_tenant().await.unwrap().unwrap();
    assert_eq!(other.settings, shops(chrono::Utc::now()).unwrap()[1].settings);
    let taken = store.tenant(&kijani);
    let with_number = |found: Option<Tenant>| Ok(Tenant { whatsapp_number: Some(mine.clone()), ..found.unwrap() });
    let taken = taken.save_tenant(with_number, &none, "operator", Utc::now()).await;
    assert_eq!(taken.unwrap(), Saving::NumberTaken(savanna.clone()));
    assert_eq!(store.tenant(&kijani).find_tenant().await.unwrap().unwrap().whatsapp_number, None);
    assert_eq!(store.tenant(&tenant("unknown")).find_tenant().await.unwrap(), None);
}

#[tokio::test]
async fn credentials_are_stored_per_shop_and_not_recorded() {
    let (TestStore { store, _folder }, [savanna, kijani]) = two_shops().await;
    let door = store.tenant(&savanna);
    let save = async |changes: &[(CredentialName, Option<&[u8]>)]| {
        let changes = changes.iter().map(|(name, sealed)| (*name, sealed.map(<[u8]>::to_vec))).collect();
        let saved = door.save_tenant(|found| Ok(found.unwrap()), &changes, "operator", Utc::now()).await.unwrap();
        assert!(matches!(saved, Saving::Done(_)));
        door.list_credentials().await.unwrap().into_iter().collect::<Vec<_>>()
    };
    use CredentialName::{DarajaPasskey, TwilioAuthToken};
    let both = save(&[(TwilioAuthToken, Some(b"sealed-one")), (DarajaPasskey, Some(b"sealed-two"))]).await;
    assert_eq!(both, [(TwilioAuthToken, b"sealed-one".to_vec()), (DarajaPasskey, b"sealed-two".to_vec())]);
    let one = save(&[(TwilioAuthToken, Some(b"replaced")), (DarajaPasskey, None)]).await;
    assert_eq!(one, [(TwilioAuthToken, b"replaced".to_vec())]);
    assert_eq!(save(&[]).await.len(), 1);
    assert!(store.tenant(&kijani).list_credentials().await.unwrap().is_empty());
    let recorded = format!("{:?}", audit::of_shop(&door).await);
    assert!(!recorded.contains("sealed"), "{recorded}");
    let last = audit::of_shop(&door).await.pop().unwrap().after.unwrap();
    let credentials = serde_json::json!({"stored": ["twilio_auth_token"], "removed": ["daraja_passkey"]});
    assert_eq!(last["credentials"], credentials, "a change of nothing is not recorded");
    let what: BTreeSet<String> = audit::of_shop(&door).await.into_iter().map(|entry| entry.what).collect();
    assert_eq!(what, ["tenant.changed".to_owned()].into());
}

#[tokio::test]
async fn sample_shops_never_replace_real_ones() {
    let (TestStore { store, _folder }, [savanna, kijani]) = two_shops().await;
    let samples = shops(chrono::Utc::now()).unwrap();
    let changed = [item("SV-101", "Canvas shoes", 1)];
    store.tenant(&savanna).import_catalog(&changed, Unlisted::Remove, "import", Utc::now()).await.unwrap();
    assert_eq!(store.make_sample_tenants(&samples).await.unwrap(), SampledTenants::Done);
    let found = store.tenant(&savanna).find_catalog_item(&samples[0].items[0].id).await.unwrap();
    assert_eq!(found.as_ref(), Some(&samples[0].items[0]));
    let own = [item("OWN-1", "Own goods", 1)];
    store.tenant(&kijani).import_catalog(&own, Unlisted::Keep, "import", Utc::now()).await.unwrap();
    store.tenant(&savanna).import_catalog(&changed, Unlisted::Keep, "import", Utc::now()).await.unwrap();
    assert_eq!(store.make_sample_tenants(&samples).await.unwrap(), SampledTenants::RealShop(kijani.clone()));
    let kept = store.tenant(&savanna).find_catalog_item(&changed[0].id).await.unwrap();
    assert_eq!(kept.as_ref(), Some(&changed[0]), "a refused seed changes no shop");
    let (TestStore { store, _folder }, [savanna, _]) = two_shops().await;
    let renamed = |found: Option<Tenant>| {
        let mut found = found.unwrap();
        found.settings.name = "A real shop".parse().unwrap();
        Ok(found)
    };
    let door = store.tenant(&savanna);
    door.save_tenant(renamed, &CredentialChanges::new(), "operator", Utc::now()).await.unwrap();
    assert_eq!(store.make_sample_tenants(&samples).await.unwrap(), SampledTenants::RealShop(savanna.clone()));
}
