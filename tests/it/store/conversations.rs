//! Conversations and their separation by shop.

use chrono::{TimeDelta, Utc};
use frontdesk::domain::EventId;
use frontdesk::store::conversations::Creation;

use super::{TestStore, accepted, conversation, key, opened, tenant};

#[tokio::test]
async fn stored_conversation_reads_back_unchanged() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    // Databases store microseconds.
    let now = chrono::DateTime::from_timestamp_micros(Utc::now().timestamp_micros()).unwrap();
    let (conversation, greeting) = conversation(&shop, now);
    let door = store.tenant(&shop);
    assert_eq!(door.create_conversation(&conversation, &greeting, "", None).await.unwrap(), Creation::Created);
    assert_eq!(door.find_conversation(conversation.id).await.unwrap(), Some(conversation.clone()));
    assert_eq!(door.find_greeting(conversation.id).await.unwrap(), Some(greeting.clone()));
    assert_eq!(door.list_messages(conversation.id, None, 10).await.unwrap(), [greeting]);
}

#[tokio::test]
async fn creation_key_expires_after_24_hours() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let door = store.tenant(&shop);
    let now = Utc::now();
    let create = async |hours: i64, body: &str| {
        let (conversation, greeting) = conversation(&shop, now + TimeDelta::hours(hours));
        let created = door.create_conversation(&conversation, &greeting, "", Some(&key("k", body))).await.unwrap();
        (conversation.id, created)
    };
    let (first, created) = create(0, "a").await;
    assert_eq!(created, Creation::Created);
    assert_eq!(create(23, "a").await.1, Creation::Repeated(first));
    assert_eq!(create(23, "b").await.1, Creation::KeyReused);
    let (second, created) = create(24, "b").await;
    assert_eq!(created, Creation::Created);
    assert_eq!(create(25, "b").await.1, Creation::Repeated(second));
    assert_eq!(door.list_conversations(None, None, 10).await.unwrap().len(), 2);
}

#[tokio::test]
async fn no_door_shows_another_shops_rows() {
    let TestStore { store, _folder } = TestStore::open().await;
    let (acme, beta) = (tenant("acme"), tenant("beta"));
    let id = opened(&store, &acme).await;
    let turn = accepted(&store, &acme, id, 1).await;
    let door = store.tenant(&beta);
    assert_eq!(door.find_conversation(id).await.unwrap(), None);
    assert_eq!(door.find_greeting(id).await.unwrap(), None);
    assert_eq!(door.list_conversations(None, None, 10).await.unwrap(), []);
    assert_eq!(door.list_conversations(Some("u-1"), None, 10).await.unwrap(), []);
    assert_eq!(door.list_messages(id, None, 10).await.unwrap(), []);
    assert_eq!(door.list_messages_before(id, 99, 10).await.unwrap(), []);
    assert_eq!(door.find_turn(id, turn).await.unwrap(), None);
    assert!(door.find_open_turn(id).await.unwrap().is_none());
    assert_eq!(door.list_events(id, EventId::ZERO, None, 10).await.unwrap(), []);
    assert!(!door.delete_conversation(id).await.unwrap());
    assert!(store.tenant(&acme).find_turn(id, turn).await.unwrap().is_some());
}

#[tokio::test]
async fn deleting_removes_only_that_conversation() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let (gone, stays) = (opened(&store, &shop).await, opened(&store, &shop).await);
    accepted(&store, &shop, gone, 2).await;
    accepted(&store, &shop, stays, 2).await;
    let door = store.tenant(&shop);
    assert!(door.delete_conversation(gone).await.unwrap());
    assert!(!door.delete_conversation(gone).await.unwrap());
    assert_eq!(door.list_messages(gone, None, 10).await.unwrap(), []);
    assert_eq!(door.find_turn(gone, 1).await.unwrap(), None);
    assert_eq!(door.list_messages(stays, None, 10).await.unwrap().len(), 3);
    let unfinished = store.list_unfinished().await.unwrap();
    assert_eq!(unfinished, [(shop.clone(), stays, 2)]);
}
