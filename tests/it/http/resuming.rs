//! Resuming a conversation's stream.

use chrono::{TimeDelta, Utc};
use frontdesk::domain::{ConversationId, EventId, TenantId};
use frontdesk::turn::{Item, Start, retention};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::events::WARRANTY;
use super::live::{BEGINNING, Live, QUESTION, stalled};
use crate::support::app::TestApp;

/// Runs retention as it would run this many hours from now.
async fn forget(app: &TestApp, hours: i64) {
    let now = Utc::now() + TimeDelta::hours(hours);
    retention::forget(&app.inner.engine, &app.inner.config, now, &CancellationToken::new()).await.unwrap();
}

async fn last_event_id(app: &TestApp, id: &str) -> String {
    let body: Value = app.get(&format!("/conversations/{id}")).send().await.unwrap().json().await.unwrap();
    body["last_event_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn stream_resumes_after_any_event() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let mut whole = app.ask(&id, WARRANTY).await.with_ids();
    whole.extend(app.ask(&id, "hello").await.with_ids());
    for (index, (after, _)) in whole.iter().enumerate().take(whole.len() - 1) {
        let mut stream = Live::follow(&app, &id, Some(after)).await;
        stream.until_done(2).await;
        assert_eq!(stream.so_far().await.with_ids(), whole[index + 1..], "after {after}");
    }
    let mut stream = Live::follow(&app, &id, Some("0.0")).await;
    stream.until_done(2).await;
    assert_eq!(stream.so_far().await.with_ids(), whole);
}

#[tokio::test]
async fn last_event_id_header_wins_over_query() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let whole = app.ask(&id, WARRANTY).await.with_ids();
    let path = format!("/conversations/{id}/events?last_event_id=0.0");
    let mut stream = Live::open(app.get(&path).header("last-event-id", "1.3")).await;
    stream.until_done(1).await;
    assert_eq!(stream.so_far().await.with_ids(), whole[3..]);
    let mut stream = Live::open(app.get(&path)).await;
    stream.until_done(1).await;
    assert_eq!(stream.so_far().await.with_ids(), whole);
}

#[tokio::test]
async fn up_to_date_reader_gets_no_reset() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let mut fresh = Live::follow(&app, &id, Some("0.0")).await;
    let first = app.ask(&id, WARRANTY).await.with_ids();
    fresh.until_done(1).await;
    assert_eq!(fresh.so_far().await.with_ids(), first);
    let last = last_event_id(&app, &id).await;
    assert_eq!(last, first.last().unwrap().0);
    forget(&app, 25).await;
    let mut stream = Live::follow(&app, &id, Some(&last)).await;
    let second = app.ask(&id, WARRANTY).await.with_ids();
    for stream in [&mut stream, &mut fresh] {
        stream.until_done(2).await;
    }
    assert_eq!(stream.so_far().await.with_ids(), second);
    assert_eq!(fresh.so_far().await.with_ids(), [first, second].concat());
}

#[tokio::test]
async fn unknown_event_id_gets_reset_then_live_events() {
    let app = TestApp::builder().env("STREAMS_PER_CONVERSATION", 100).start().await;
    let id = app.open(&json!({})).await;
    app.ask(&id, WARRANTY).await;
    let last = last_event_id(&app, &id).await;
    let mut streams = Vec::new();
    let unknown = ["x", "1", "1.", ".1", "1.0", "0.1", "1.99", "2.1", "9.1", "99999999999.1", "-1.1", "1.1.1", "1,1"];
    for after in unknown {
        streams.push((after, Live::follow(&app, &id, Some(after)).await));
    }
    for query in ["x", "", "%00", "%FF", "9.9&last_event_id=1.1", "9.9&seen=before", "%E2%82%AC"] {
        let path = format!("/conversations/{id}/events?last_event_id={query}");
        streams.push((query, Live::open(app.get(&path)).await.opened().await));
    }
    let bytes = reqwest::header::HeaderValue::from_bytes(b"1.\xFF").unwrap();
    let request = app.get(&format!("/conversations/{id}/events")).header("last-event-id", bytes);
    streams.push(("bytes", Live::open(request).await.opened().await));
    let next = app.ask(&id, WARRANTY).await.with_ids();
    for (after, mut stream) in streams {
        stream.until_done(2).await;
        let mut expected = vec![(last.clone(), json!({"type": "reset"}))];
        expected.extend(next.clone());
        assert_eq!(stream.so_far().await.with_ids(), expected, "after {after:?}");
    }
}

#[tokio::test]
async fn reset_during_turn_replays_it_from_its_start() {
    let (app, _ollama) = stalled(TestApp::builder()).await;
    let id = app.open(&json!({})).await;
    let mut running = Live::say(&app, &id, QUESTION, None).await;
    running.until(BEGINNING).await;
    let mut stream = Live::follow(&app, &id, Some("7.7")).await;
    stream.until(BEGINNING).await;
    let seen = stream.so_far().await;
    assert_eq!(seen.ids()[..2], ["0.0", "1.1"]);
    assert_eq!(seen.data()[0]["type"], "reset");
}

#[tokio::test]
async fn expired_events_get_reset_but_messages_stay() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    app.ask(&id, WARRANTY).await;
    app.ask(&id, "hello").await;
    let (last, history) = (last_event_id(&app, &id).await, app.history(&id).await);
    forget(&app, 23).await;
    let mut stream = Live::follow(&app, &id, Some("1.2")).await;
    stream.until_done(2).await;
    assert_eq!(stream.so_far().await.ids()[0], "1.3", "not yet too old");
    drop(stream);
    forget(&app, 25).await;
    let mut streams = Vec::new();
    for after in ["0.0", "1.2", "2.1"] {
        streams.push(Live::follow(&app, &id, Some(after)).await);
    }
    let next = app.ask(&id, WARRANTY).await.with_ids();
    for mut stream in streams {
        stream.until_done(3).await;
        let seen = stream.so_far().await.with_ids();
        assert_eq!(seen[0], (last.clone(), json!({"type": "reset"})));
        assert_eq!(seen[1..], next);
    }
    assert_eq!(app.history(&id).await[..history.len()], history);
}

#[tokio::test]
async fn lagging_reader_of_removed_events_gets_reset() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let first = app.ask(&id, WARRANTY).await.with_ids();
    let conversation: ConversationId = id.parse().unwrap();
    let mut reader = app.inner.engine.read(&TenantId::default(), conversation, Start::After(EventId::ZERO));
    let mut seen = Vec::new();
    for _ in &first {
        match reader.next().await {
            Some(Item::Event(frame)) => seen.push(frame.id.to_string()),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(seen, first.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>());
    for _ in 0..2 {
        app.ask(&id, WARRANTY).await;
    }
    forget(&app, 25).await;
    let last = last_event_id(&app, &id).await;
    // The reset arrives at once, not only with the next message.
    assert_eq!(reader.next().await, Some(Item::Reset(last.parse().unwrap())));
    let next = app.ask(&id, WARRANTY).await;
    match reader.next().await {
        Some(Item::Event(frame)) => assert_eq!(frame.id.to_string(), next.ids()[0]),
        other => panic!("{other:?}"),
    }
}
