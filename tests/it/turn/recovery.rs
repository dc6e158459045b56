//! Recovery of turns that a killed server left unfinished.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::Utc;
use frontdesk::desks::{Desk, DeskError, DeskFactory, OpenDesk, Turn};
use frontdesk::domain::{Event, EventId, Kind, Language, MessageId, Sender, TenantId};
use frontdesk::persona::{PromptError, Prompts};
use frontdesk::store::journal::{Change, Entry};
use frontdesk::store::turns::StoredEvent;
use frontdesk::turn::feed::Feeds;
use frontdesk::turn::recover;
use serde_json::json;
use tokio::sync::Notify;

use crate::http::live::{Live, ended, meddle};
use crate::http::unavailable::Held;
use crate::store;
use crate::support::app::TestApp;

#[tokio::test]
async fn recovery_ends_running_and_runs_queued_turns() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    app.ask(&id, "hello").await;
    let database = app.database_url.clone();
    let builder = app.stop().await;
    // A killed server leaves a turn with half a reply, and two queued turns.
    let shop = TenantId::default();
    let conversation = id.parse().unwrap();
    let left = store::open(&database).await;
    let last = store::accepted(&left, &shop, conversation, 3).await;
    assert_eq!(last, 4);
    let message_id = MessageId::now();
    let events = [
        Event::TurnStart { turn: 2, message_id: MessageId::now(), sender: Sender::User, text: "hi".to_owned() },
        Event::MessageStart { message_id, kind: Kind::Reply },
        Event::Delta { message_id, text: "Dạ shop ".to_owned() },
        Event::Delta { message_id, text: "có ế".to_owned() },
    ];
    let entries: Vec<Entry> = (1..)
        .zip(&events)
        .map(|(n, event)| Entry {
            tenant: shop.clone(),
            conversation,
            event: StoredEvent { id: EventId::new(2, n), body: serde_json::to_string(event).unwrap() },
            at: Utc::now(),
            changes: if n == 1 { vec![Change::TurnStarted] } else { vec![] },
        })
        .collect();
    left.append(&entries).await.unwrap();
    drop(left);

    let app = builder.start().await;
    assert_eq!(ended(&app, &id, 4).await, "completed");
    assert_eq!(ended(&app, &id, 3).await, "completed");
    assert_eq!(ended(&app, &id, 2).await, "interrupted");
    let left = store::open(&database).await;
    let events = left.tenant(&shop).list_events(conversation, EventId::new(2, 0), Some(2), 100).await.unwrap();
    let ids: Vec<String> = events.iter().map(|event| event.id.to_string()).collect();
    assert_eq!(ids, ["2.1", "2.2", "2.3", "2.4", "2.5", "2.6"]);
    let end: serde_json::Value = serde_json::from_str(&events[4].body).unwrap();
    let metadata = json!({"type": "reply", "cut": true, "cut_reason": "interrupted"});
    assert_eq!(end, json!({"type": "message.end", "message_id": message_id, "kind": "reply", "metadata": metadata}));
    let done: serde_json::Value = serde_json::from_str(&events[5].body).unwrap();
    assert_eq!(done, json!({"type": "turn.done", "turn": 2, "status": "interrupted", "timings_ms": {}}));
    let history = app.history(&id).await;
    let cut: Vec<_> =
        history.iter().filter(|message| message["turn"] == 2 && message["sender"] == "assistant").collect();
    assert_eq!(cut.len(), 1);
    assert_eq!((&cut[0]["text"], &cut[0]["metadata"]), (&json!("Dạ shop có ế"), &metadata));
    let events = app.ask(&id, "kiểm tra bảo hành XYZ789").await;
    assert!(events.0[1].0.as_deref() == Some("5.1") && events.status() == "completed");
}

#[tokio::test]
async fn second_start_has_nothing_to_recover() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let first = Live::say(&app, &id, "kiểm tra bảo hành ABC123", Some("k")).await.text().await;
    let app = app.stop().await.start().await;
    let app = app.stop().await.start().await;
    assert_eq!(Live::say(&app, &id, "kiểm tra bảo hành ABC123", Some("k")).await.text().await, first);
}

#[tokio::test]
async fn turn_ends_whatever_the_database_refuses() {
    // What the database refuses, and the last events of the turn.
    let cases = [
        (
            "CREATE TRIGGER refuse BEFORE INSERT ON messages WHEN NEW.sender = 'assistant' BEGIN SELECT RAISE(ABORT, 'no'); END",
            "ALTER TABLE messages ADD CONSTRAINT refuse CHECK (sender != 'assistant') NOT VALID",
            Some(["message.end", "turn.done"]),
        ),
        (
            "CREATE TRIGGER refuse BEFORE INSERT ON events WHEN NEW.body LIKE '%message.end%' BEGIN SELECT RAISE(ABORT, 'no'); END",
            "ALTER TABLE events ADD CONSTRAINT refuse CHECK (body NOT LIKE '%message.end%') NOT VALID",
            Some(["delta", "turn.done"]),
        ),
        (
            "CREATE TRIGGER refuse BEFORE INSERT ON events WHEN NEW.body LIKE '%turn.done%' BEGIN SELECT RAISE(ABORT, 'no'); END",
            "ALTER TABLE events ADD CONSTRAINT refuse CHECK (body NOT LIKE '%turn.done%') NOT VALID",
            None,
        ),
    ];
    for (sqlite, postgres, last) in cases {
        let app = TestApp::start().await;
        let id = app.open(&json!({})).await;
        meddle(&app, sqlite, postgres).await;
        // The turn's event stream ends as well.
        let shown = Live::say(&app, &id, "kiểm tra bảo hành ABC123", None).await.text().await;
        assert_eq!(shown.contains("turn.done"), last.is_some(), "only stored events are published: {shown}");
        for turn in 1..=2 {
            assert_eq!(ended(&app, &id, turn).await, "interrupted", "{sqlite}");
            let cancel =
                app.post(&format!("/conversations/{id}/turns/{turn}/cancel"), &json!({})).send().await.unwrap();
            assert_eq!(cancel.status(), 409);
            if turn == 1 {
                Live::say(&app, &id, "kiểm tra bảo hành ABC123", None).await.text().await;
            }
        }
        let Some(last) = last else {
            // Without the end of a turn, a client must read the history again.
            let events = app.get(&format!("/conversations/{id}/events")).header("last-event-id", "0.0");
            let mut stream = Live::open(events).await.opened().await;
            stream.until(r#""type":"reset""#).await;
            continue;
        };
        let store = store::open(&app.database_url).await;
        let events = store
            .tenant(&TenantId::default())
            .list_events(id.parse().unwrap(), EventId::ZERO, Some(1), 100)
            .await
            .unwrap();
        let kinds: Vec<String> = events
            .iter()
            .map(|event| {
                serde_json::from_str::<serde_json::Value>(&event.body).unwrap()["type"].as_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(kinds[kinds.len() - 2..], last, "{sqlite}");
    }
}

#[tokio::test]
async fn turn_ends_after_another_writers_event() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let (shop, conversation, other) = (TenantId::default(), id.parse().unwrap(), store::open(&app.database_url).await);
    // The third event of the first turn has another writer's row in its place.
    let event = Event::Delta { message_id: MessageId::now(), text: "of another writer".to_owned() };
    let event = StoredEvent { id: EventId::new(1, 3), body: serde_json::to_string(&event).unwrap() };
    other
        .append(&[Entry { tenant: shop.clone(), conversation, event, at: Utc::now(), changes: vec![] }])
        .await
        .unwrap();
    for (turn, status) in [(1, "interrupted"), (2, "completed")] {
        let message = json!({"text": "kiểm tra bảo hành ABC123"});
        let response = app.post(&format!("/conversations/{id}/messages"), &message).send().await.unwrap();
        assert_eq!(response.status(), 202);
        assert_eq!(ended(&app, &id, turn).await, status);
    }
    let events = other.tenant(&shop).list_events(conversation, EventId::ZERO, Some(1), 100).await.unwrap();
    let ids: Vec<EventId> = events.iter().map(|event| event.id).collect();
    let expected: Vec<EventId> = (1..).map(|n| EventId::new(1, n)).take(ids.len()).collect();
    assert_eq!(ids, expected);
    assert!(events[2].body.contains("of another writer"), "{events:?}");
    assert!(events.last().unwrap().body.contains("turn.done"), "{events:?}");
}

#[tokio::test]
async fn unreadable_turn_is_ended_at_the_start() {
    let unreadable = "UPDATE turns SET timings = '\"x\"' WHERE turn = 1";
    // As the retention does at a start, while the turn still waits.
    let forgotten = "DELETE FROM messages WHERE turn = 1";
    for damage in [unreadable, forgotten] {
        let app = TestApp::start().await;
        let id = app.open(&json!({})).await;
        let (shop, conversation, database) = (TenantId::default(), id.parse().unwrap(), app.database_url.clone());
        store::accepted(&store::open(&database).await, &shop, conversation, 2).await;
        meddle(&app, damage, damage).await;
        let app = app.stop().await.start().await;
        assert_eq!(ended(&app, &id, 2).await, "completed", "{damage}");
        assert_eq!(ended(&app, &id, 1).await, "interrupted", "{damage}");
    }
}

#[tokio::test]
async fn turn_ends_once_without_a_confirmation() {
    let app = TestApp::start().await;
    let (shop, conversation) = (TenantId::default(), app.open(&json!({})).await.parse().unwrap());
    let (store, parsed, feed) = (&app.inner.store, app.inner.shops.get(&shop), Feeds::default().get(conversation));
    store::accepted(store, &shop, conversation, 1).await;
    let question = store.tenant(&shop).list_messages_of_turn(conversation, 1).await.unwrap().remove(0);
    // The server repeats what it could not confirm.
    for _ in 0..2 {
        recover::end_interrupted(store, &parsed, &shop, &question, &feed, Utc::now()).await.unwrap();
    }
    recover::end_bare(store, &shop, conversation, 1, &feed, Utc::now()).await.unwrap();
    let events = store.tenant(&shop).list_events(conversation, EventId::ZERO, None, 100).await.unwrap();
    let ends = events.iter().filter(|event| event.body.contains("turn.done")).count();
    assert_eq!((events.len(), ends), (2, 1), "{events:?}");
}

/// A desk that speaks when `speak` is notified, and then waits for ever. Takes the place of the retail desk.
#[derive(Clone, Default)]
struct WaitingFactory {
    speak: Arc<Notify>,
    stopped: Arc<Notify>,
}

struct WaitingDesk(WaitingFactory);

impl DeskFactory for WaitingFactory {
    fn name(&self) -> &'static str {
        "retail"
    }

    fn load(&self, _: &Prompts, _: &[Language]) -> Result<OpenDesk, PromptError> {
        let desk = self.clone();
        Ok(Box::new(move |_| Arc::new(WaitingDesk(desk.clone()))))
    }
}

/// Notifies when it is dropped.
struct Stopped<'a>(&'a Notify);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[async_trait]
impl Desk for WaitingDesk {
    async fn play(&self, turn: &mut Turn) -> Result<(), DeskError> {
        let _stopped = Stopped(&self.0.stopped);
        self.0.speak.notified().await;
        turn.say(Kind::Reply, "a").await?;
        std::future::pending().await
    }
}

#[tokio::test]
async fn turn_that_stored_nothing_still_starts() {
    let desk = WaitingFactory::default();
    let builder = TestApp::builder().desk(desk.clone()).env("STORE_TIMEOUT_SECONDS", 5);
    // The start waits for the desk's text.
    let app = builder.env("TURN_START_HOLD_MS", 600_000).start().await;
    // On PostgreSQL, a lock is no outage.
    if !app.database_url.starts_with("sqlite:") {
        return;
    }
    let id = app.open(&json!({})).await;
    let path = format!("/conversations/{id}/messages");
    assert_eq!(app.post(&path, &json!({"text": "hello"})).send().await.unwrap().status(), 202);
    let held = Held::by_somebody_else(&app).await;
    desk.speak.notify_one();
    desk.stopped.notified().await;
    drop(held);
    assert_eq!(ended(&app, &id, 1).await, "interrupted");
    let tenant = TenantId::default();
    let store = app.inner.store.tenant(&tenant);
    let events = store.list_events(id.parse().unwrap(), EventId::ZERO, Some(1), 100).await.unwrap();
    assert!(events.len() == 2 && events[0].body.contains("turn.start"), "{events:?}");
    assert!(events[1].body.contains("turn.done"), "{events:?}");
}
