//! Events and the rows that change with them.

use chrono::Utc;
use frontdesk::domain::{
    ConversationId, EventId, Kind, Message, MessageId, Metadata, Sender, TenantId, Timings, TurnFigures, TurnStatus,
};
use frontdesk::store::StoreError;
use frontdesk::store::journal::{Change, Entry};
use frontdesk::store::turns::StoredEvent;

use super::{TestStore, accepted, opened, tenant};

fn entry(tenant: &TenantId, conversation: ConversationId, n: u32, body: &str, changes: Vec<Change>) -> Entry {
    let event = StoredEvent { id: EventId::new(1, n), body: body.to_owned() };
    Entry { tenant: tenant.clone(), conversation, event, at: Utc::now(), changes }
}

fn message(conversation: ConversationId, position: u32, text: &str) -> Message {
    Message {
        id: MessageId::now(),
        conversation_id: conversation,
        turn: 1,
        position,
        sender: Sender::Assistant,
        text: text.to_owned(),
        created_at: Utc::now(),
        metadata: Metadata::of(Kind::Reply),
        receipt: None,
    }
}

fn ended() -> Change {
    Change::TurnEnded {
        status: TurnStatus::Completed,
        timings: Timings::new(),
        state: None,
        figures: TurnFigures::default(),
    }
}

#[tokio::test]
async fn repeated_batch_changes_nothing() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let id = opened(&store, &shop).await;
    accepted(&store, &shop, id, 1).await;
    let batch = [
        entry(&shop, id, 1, "{\"a\":1}", vec![Change::TurnStarted]),
        entry(&shop, id, 2, "{\"b\":\"ế\"}", vec![]),
        entry(&shop, id, 3, "{}", vec![Change::Message(message(id, 1, "hi")), ended()]),
    ];
    let door = store.tenant(&shop);
    for _ in 0..3 {
        store.append(&batch).await.unwrap();
        let events = door.list_events(id, EventId::ZERO, None, 10).await.unwrap();
        assert_eq!(events, batch.clone().map(|entry| entry.event));
        assert_eq!(door.list_messages(id, None, 10).await.unwrap().len(), 3);
        assert_eq!(door.find_turn(id, 1).await.unwrap().unwrap().status, TurnStatus::Completed);
        assert_eq!(door.find_conversation(id).await.unwrap().unwrap().last_event_id, EventId::new(1, 3));
    }
    store.append(&batch[1..2]).await.unwrap();
}

#[tokio::test]
async fn conflicting_batch_stores_nothing() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let id = opened(&store, &shop).await;
    accepted(&store, &shop, id, 1).await;
    store.append(&[entry(&shop, id, 1, "mine", vec![Change::Message(message(id, 1, "mine"))])]).await.unwrap();
    let door = store.tenant(&shop);
    let other_event = [entry(&shop, id, 2, "fine", vec![ended()]), entry(&shop, id, 1, "other", vec![])];
    let other_message = [entry(&shop, id, 2, "fine", vec![Change::Message(message(id, 1, "other")), ended()])];
    let other_shop = [entry(&tenant("beta"), id, 1, "mine", vec![])];
    for batch in [&other_event[..], &other_message[..], &other_shop[..]] {
        let refused = store.append(batch).await.unwrap_err();
        assert!(matches!(refused, StoreError::Conflict { .. } | StoreError::Refused(_)), "{refused:?}");
        assert_eq!(door.list_events(id, EventId::ZERO, None, 10).await.unwrap().len(), 1);
        assert_eq!(door.find_turn(id, 1).await.unwrap().unwrap().status, TurnStatus::Queued);
    }
    assert_eq!(door.list_messages(id, None, 10).await.unwrap()[2].text, "mine");
}

#[tokio::test]
async fn events_are_listed_by_number_after_any_position() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let id = opened(&store, &shop).await;
    let place = |turn, n| Entry {
        event: StoredEvent { id: EventId::new(turn, n), body: "{}".to_owned() },
        ..entry(&shop, id, 1, "", vec![])
    };
    let mut all: Vec<Entry> =
        (1..=12).flat_map(|turn| (1..=11).map(move |n| (turn, n))).map(|(turn, n)| place(turn, n)).collect();
    all.reverse();
    store.append(&all).await.unwrap();
    let ids: Vec<EventId> = all.iter().rev().map(|entry| entry.event.id).collect();
    let door = store.tenant(&shop);
    for after in [EventId::ZERO, EventId::new(1, 0), EventId::new(2, 9), EventId::new(9, 11), EventId::new(12, 11)] {
        let listed = door.list_events(id, after, None, 1000).await.unwrap();
        let expected: Vec<EventId> = ids.iter().copied().filter(|id| *id > after).collect();
        assert_eq!(listed.iter().map(|event| event.id).collect::<Vec<_>>(), expected);
        let of_turn = door.list_events(id, after, Some(10), 1000).await.unwrap();
        assert!(of_turn.iter().all(|event| event.id.turn == 10));
        assert_eq!(of_turn.len(), if after.turn == 10 { 0 } else { 11 });
    }
    assert_eq!(door.list_events(id, EventId::new(2, 9), None, 3).await.unwrap().len(), 3);
}
