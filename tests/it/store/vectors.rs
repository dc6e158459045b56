use std::collections::BTreeMap;

use chrono::{TimeDelta, Utc};
use frontdesk::store::Store;
use frontdesk::store::jobs::FORGET_CONVERSATION;
use frontdesk::store::personal::erase::Erasure;
use frontdesk::store::personal::person::Named;
use frontdesk::store::vectors::{StoredVector, VectorRow, VectorScope};

use super::{TestStore, conversation, count_jobs, opened, tenant};

const NAME: &str = "knowledge";

fn row(id: &str, conversation_id: Option<&str>) -> VectorRow {
    VectorRow {
        id: id.to_owned(),
        conversation_id: conversation_id.map(str::to_owned),
        vector: vec![1.0, f32::MIN_POSITIVE, -0.1],
        text: "Đổi trả trong 30 ngày".to_owned(),
        labels: [("language".to_owned(), "vi".to_owned())].into(),
    }
}

async fn state(store: &Store, shop: &str) -> (i64, i64) {
    let found = store.tenant(&tenant(shop)).find_vector_collection(NAME).await.unwrap().unwrap();
    (found.version, found.removed_version)
}

async fn list(store: &Store, shop: &str, scope: VectorScope<'_>) -> Vec<String> {
    let rows = store.tenant(&tenant(shop)).list_vectors(NAME, scope, None, 100).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

#[tokio::test]
async fn vector_reads_back_exactly_in_pages() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let store = store.tenant(&shop);
    store.open_vector_collection(NAME, "bge-m3", 3).await.unwrap();
    assert!(store.upsert_vectors(NAME, &[row("a", Some("c")), row("b", None), row("đ", None)]).await.unwrap());
    let first = store.list_vectors(NAME, VectorScope::All, None, 2).await.unwrap();
    let VectorRow { vector, labels, .. } = row("a", None);
    assert_eq!(first[0], StoredVector { id: "a".to_owned(), conversation_id: Some("c".to_owned()), vector, labels });
    let rest = store.list_vectors(NAME, VectorScope::All, Some(&first[1].id), 2).await.unwrap();
    assert_eq!(rest.into_iter().map(|row| row.id).collect::<Vec<_>>(), ["đ"]);
    assert_eq!(store.count_vectors(NAME).await.unwrap(), 3);
    assert!(!store.upsert_vectors("nowhere", &[row("a", None)]).await.unwrap());
    assert_eq!(store.count_vectors("nowhere").await.unwrap(), 0);
}

#[tokio::test]
async fn every_write_takes_a_version() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let scoped = store.tenant(&shop);
    let made = scoped.open_vector_collection(NAME, "bge-m3", 3).await.unwrap();
    assert_eq!(scoped.open_vector_collection(NAME, "other", 4).await.unwrap(), made);
    scoped.upsert_vectors(NAME, &[row("a", None), row("b", None)]).await.unwrap();
    assert_eq!(state(&store, "acme").await, (1, 0));
    scoped.upsert_vectors(NAME, &[row("b", None)]).await.unwrap();
    assert_eq!(state(&store, "acme").await, (2, 0));
    assert_eq!(list(&store, "acme", VectorScope::Since(1)).await, ["b"]);
    scoped.delete_vectors(NAME, &["a".to_owned()]).await.unwrap();
    assert_eq!(state(&store, "acme").await, (3, 3));
    scoped
        .delete_labelled_vectors(NAME, None, &BTreeMap::from([("language".to_owned(), "en".to_owned())]))
        .await
        .unwrap();
    assert_eq!(state(&store, "acme").await, (3, 3), "nothing was removed");
    scoped.drop_vector_collection(NAME).await.unwrap();
    let again = scoped.open_vector_collection(NAME, "bge-m3", 3).await.unwrap();
    assert_eq!(again.version, made.version);
    assert_ne!(again.generation, made.generation);
    assert!(list(&store, "acme", VectorScope::All).await.is_empty());
}

#[tokio::test]
async fn deleted_conversation_removes_its_vectors() {
    let TestStore { store, _folder } = TestStore::open().await;
    let id = opened(&store, &tenant("acme")).await;
    let conversation = id.to_string();
    for shop in ["acme", "other"] {
        let shop = tenant(shop);
        let scoped = store.tenant(&shop);
        scoped.open_vector_collection(NAME, "bge-m3", 3).await.unwrap();
        scoped.upsert_vectors(NAME, &[row("its", Some(&conversation)), row("not its", None)]).await.unwrap();
    }
    assert!(!store.tenant(&tenant("other")).delete_conversation(id).await.unwrap());
    assert_eq!(list(&store, "acme", VectorScope::Conversation(&conversation)).await, ["its"]);
    assert!(store.tenant(&tenant("acme")).delete_conversation(id).await.unwrap());
    assert_eq!(list(&store, "acme", VectorScope::All).await, ["not its"]);
    assert_eq!(state(&store, "acme").await, (2, 2));
    assert_eq!(list(&store, "other", VectorScope::All).await, ["its", "not its"]);
    assert_eq!(state(&store, "other").await, (1, 0));
}

#[tokio::test]
async fn erased_customer_leaves_no_vectors() {
    let TestStore { store, _folder } = TestStore::open().await;
    let (store, shop) = (store.external_vectors(true), tenant("acme"));
    let its = opened(&store, &shop).await.to_string();
    let scoped = store.tenant(&shop);
    scoped.open_vector_collection(NAME, "bge-m3", 3).await.unwrap();
    scoped.upsert_vectors(NAME, &[row("its", Some(&its)), row("not its", Some("c"))]).await.unwrap();
    let customer = Named::User("u-1".to_owned());
    for (dry_run, left, jobs) in [(true, &["its", "not its"][..], 0), (false, &["not its"], 1)] {
        let done = scoped.erase_person(&customer, "Ola", dry_run, Utc::now()).await.unwrap();
        let Erasure::Done { erased, .. } = done else { panic!("{done:?}") };
        assert!(erased.iter().any(|of| of.table == "vectors" && of.rows == 1), "{erased:?}");
        assert_eq!(list(&store, "acme", VectorScope::All).await, left);
        // A job deletes them from an external index.
        assert_eq!(count_jobs(&store, &[FORGET_CONVERSATION]).await.waiting, jobs);
    }
    assert_eq!(state(&store, "acme").await, (2, 2), "copies in memory notice it");
}

#[tokio::test]
async fn expired_messages_lose_their_vectors() {
    let TestStore { store, _folder } = TestStore::open().await;
    let (shop, now) = (tenant("acme"), Utc::now());
    let (conversation, greeting) = conversation(&shop, now);
    let scoped = store.tenant(&shop);
    scoped.create_conversation(&conversation, &greeting, "", None).await.unwrap();
    scoped.open_vector_collection(NAME, "bge-m3", 3).await.unwrap();
    let its = conversation.id.to_string();
    let rows = [row(&greeting.id.to_string(), Some(&its)), row("newer", Some(&its)), row("page", None)];
    scoped.upsert_vectors(NAME, &rows).await.unwrap();
    assert!(store.forget_messages(now + TimeDelta::seconds(1)).await.unwrap());
    assert_eq!(list(&store, "acme", VectorScope::All).await, ["newer", "page"]);
    assert_eq!(state(&store, "acme").await, (2, 2), "copies in memory notice it");
}
