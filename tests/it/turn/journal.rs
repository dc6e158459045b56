//! The journal: one writer for all turns.

use std::sync::Arc;
use std::time::Duration;

use frontdesk::desks::{Sink, SinkClosed};
use frontdesk::domain::{Event, EventId, MessageId, Timings, TurnFigures, TurnStatus};
use frontdesk::store::journal::Change;
use frontdesk::turn::feed::Feeds;
use frontdesk::turn::journal::{Journal, TurnSink};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::http::live::{ended, meddle};
use crate::store::{TestStore, accepted, opened, tenant};
use crate::support::app::TestApp;

fn delta(text: &str) -> Event {
    Event::Delta { message_id: MessageId::now(), text: text.to_owned() }
}

async fn done(sink: &mut TurnSink) -> Result<(), SinkClosed> {
    let (turn, status) = (1, TurnStatus::Completed);
    let event = Event::TurnDone { turn, status, timings_ms: Timings::new() };
    sink.emit_last(
        event,
        vec![Change::TurnEnded { status, timings: Timings::new(), state: None, figures: TurnFigures::default() }],
    )
    .await
}

#[tokio::test]
async fn refused_event_ends_only_its_own_turn() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let (journal, writer) = Journal::new(store.clone(), Duration::from_secs(30), Duration::ZERO);
    let feeds = Feeds::default();
    let mut turns = Vec::new();
    for _ in 0..3 {
        let id = opened(&store, &shop).await;
        accepted(&store, &shop, id, 1).await;
        let (feed, broken) = (feeds.get(id), CancellationToken::new());
        let sink = journal.sink(shop.clone(), id, 1, feed.clone(), broken.clone());
        turns.push((id, sink, broken, feed));
    }
    // The third event of the second turn has another writer's row in its place.
    let mut intruder = journal.sink(shop.clone(), turns[1].0, 1, turns[1].3.clone(), CancellationToken::new());
    let writing = tokio::spawn(writer);
    for _ in 0..3 {
        intruder.emit(delta("intruder"), vec![]).await.unwrap();
    }
    // All events wait for the writer, so that one commit would store them.
    for n in 0..20 {
        for (_, sink, _, _) in &mut turns {
            // The second turn is refused from its first event on, at some point.
            let _ = sink.emit(delta(&format!("piece {n}")), vec![]).await;
        }
    }
    for (index, (id, sink, broken, _)) in turns.iter_mut().enumerate() {
        let guilty = index == 1;
        assert_eq!(done(sink).await.is_err(), guilty);
        assert_eq!(broken.is_cancelled(), guilty);
        let stored = store.tenant(&shop).list_events(*id, EventId::ZERO, None, 100).await.unwrap();
        let ids: Vec<EventId> = stored.iter().map(|event| event.id).collect();
        let expected: Vec<EventId> = (1..=if guilty { 3 } else { 21 }).map(|n| EventId::new(1, n)).collect();
        assert_eq!(ids, expected);
        assert_eq!(stored[0].body.contains("intruder"), guilty);
        let status = store.tenant(&shop).find_turn(*id, 1).await.unwrap().unwrap().status;
        assert_eq!(status == TurnStatus::Completed, !guilty);
    }
    drop((journal, turns, intruder));
    writing.await.unwrap();
}

#[tokio::test]
async fn waiting_events_are_stored_and_published_in_order() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let id = opened(&store, &shop).await;
    accepted(&store, &shop, id, 1).await;
    let (journal, writer) = Journal::new(store.clone(), Duration::from_secs(30), Duration::ZERO);
    let feeds = Arc::new(Feeds::default());
    let mut sink = journal.sink(shop.clone(), id, 1, feeds.get(id), CancellationToken::new());
    for n in 0..1500 {
        sink.emit(delta(&n.to_string()), vec![]).await.unwrap();
    }
    let door = store.tenant(&shop);
    assert_eq!(door.list_events(id, EventId::ZERO, None, 10).await.unwrap(), [], "nothing before the writer writes");
    let writing = tokio::spawn(writer);
    done(&mut sink).await.unwrap();
    let stored = door.list_events(id, EventId::ZERO, None, 10_000).await.unwrap();
    assert_eq!(stored.len(), 1501);
    for (n, event) in stored[..1500].iter().enumerate() {
        assert!(event.body.contains(&format!("\"text\":\"{n}\"")), "{event:?}");
    }
    drop((journal, sink));
    writing.await.unwrap();
}

#[tokio::test]
async fn endless_turn_ends_at_its_byte_limit() {
    let TestStore { store, _folder } = TestStore::open().await;
    let shop = tenant("acme");
    let id = opened(&store, &shop).await;
    accepted(&store, &shop, id, 1).await;
    let (journal, writer) = Journal::new(store.clone(), Duration::from_secs(30), Duration::ZERO);
    let writing = tokio::spawn(writer);
    let mut sink = journal.sink(shop.clone(), id, 1, Feeds::default().get(id), CancellationToken::new());
    let full = sink.full();
    let mebibyte = "a".repeat(1024 * 1024);
    let endless = async { while sink.emit(delta(&mebibyte), vec![]).await.is_ok() {} };
    tokio::select! {
        () = endless => panic!("the journal broke"),
        () = full.cancelled() => {}
    }
    done(&mut sink).await.unwrap();
    let stored = store.tenant(&shop).list_events(id, EventId::ZERO, None, 100).await.unwrap();
    assert_eq!(stored.last().unwrap().id, EventId::new(1, 16), "15 deltas below 16 MiB, and the end");
    drop((journal, sink));
    writing.await.unwrap();
}

#[tokio::test]
async fn conversation_continues_after_a_refused_turn() {
    let app = TestApp::start().await;
    meddle(
        &app,
        "CREATE TRIGGER refuse BEFORE INSERT ON events WHEN NEW.body LIKE '%poison%' BEGIN SELECT RAISE(ABORT, 'no'); END",
        "ALTER TABLE events ADD CONSTRAINT refuse CHECK (body NOT LIKE '%poison%')",
    )
    .await;
    let (guilty, other) = (app.open(&json!({})).await, app.open(&json!({})).await);
    let post = async |id: &str, text: &str| {
        let response = app.post(&format!("/conversations/{id}/messages"), &json!({"text": text})).send().await.unwrap();
        assert_eq!(response.status(), 202);
    };
    for _ in 0..3 {
        post(&guilty, "poison").await;
        post(&other, "kiểm tra bảo hành ABC123").await;
        post(&guilty, "kiểm tra bảo hành ABC123").await;
    }
    for turn in 1..=3 {
        assert_eq!(ended(&app, &other, turn).await, "completed");
    }
    for turn in 1..=6 {
        let expected = if turn % 2 == 1 { "interrupted" } else { "completed" };
        assert_eq!(ended(&app, &guilty, turn).await, expected);
    }
}
