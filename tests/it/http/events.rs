//! `GET …/events`: the events of a conversation, live.

use serde_json::json;

use super::live::{BEGINNING, Live, QUESTION, stalled, turn};
use crate::support::app::TestApp;
use crate::support::sse::Events;

pub const WARRANTY: &str = "kiểm tra bảo hành ABC123";

/// Asserts that each id follows the previous one: the next event of the turn, or the first one of the next turn.
fn check_that_ids_rise_without_gaps(events: &Events) {
    let mut last = (0, 0);
    let mut ended = true;
    for (id, data) in events.with_ids() {
        let (turn, n) = id.split_once('.').unwrap();
        let id: (u32, u32) = (turn.parse().unwrap(), n.parse().unwrap());
        assert!(id == (last.0, last.1 + 1) || (ended && id == (last.0 + 1, 1)), "{id:?} follows {last:?}");
        (last, ended) = (id, data["type"] == "turn.done");
    }
}

#[tokio::test]
async fn stream_shows_turn_while_it_runs() {
    let (app, _ollama) = stalled(TestApp::builder()).await;
    let id = app.open(&json!({})).await;
    let mut stream = Live::follow(&app, &id, None).await;
    for (name, value) in
        [("content-type", "text/event-stream"), ("cache-control", "no-cache"), ("x-accel-buffering", "no")]
    {
        assert_eq!(stream.headers()[name], value);
    }
    let opening = stream.so_far().await;
    assert_eq!(opening.0, [(None, json!({"debug": "stream-open"}))]);
    let mut running = Live::say(&app, &id, QUESTION, None).await;
    stream.until(BEGINNING).await;
    assert_eq!(turn(&app, &id, 1).await["status"], "running");
    running.until(BEGINNING).await;
    app.post(&format!("/conversations/{id}/turns/1/cancel"), &json!({})).send().await.unwrap();
    stream.until_done(1).await;
    let seen = stream.so_far().await;
    assert_eq!(seen.with_ids(), running.events().await.with_ids());
    check_that_ids_rise_without_gaps(&seen);
}

#[tokio::test]
async fn without_event_id_stream_starts_at_next_turn() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    app.ask(&id, "hello").await;
    // Repeated, because a message right after the opening frame must not be missed.
    for turn in 2..=9 {
        let mut stream = Live::follow(&app, &id, None).await;
        let said = app.ask(&id, WARRANTY).await;
        stream.until_done(turn).await;
        assert_eq!(stream.so_far().await.with_ids(), said.with_ids());
    }
}

#[tokio::test]
async fn without_event_id_running_turn_is_skipped() {
    let (app, _ollama) = stalled(TestApp::builder()).await;
    let id = app.open(&json!({})).await;
    let mut running = Live::say(&app, &id, QUESTION, None).await;
    running.until(BEGINNING).await;
    let mut stream = Live::follow(&app, &id, None).await;
    let waiting = Live::say(&app, &id, WARRANTY, None).await;
    app.post(&format!("/conversations/{id}/turns/1/cancel"), &json!({})).send().await.unwrap();
    stream.until_done(2).await;
    assert_eq!(stream.so_far().await.with_ids(), waiting.events().await.with_ids());
}

#[tokio::test]
async fn burst_of_messages_runs_in_order() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let mut tabs = Vec::new();
    for after in [None, Some("0.0"), None] {
        tabs.push(Live::follow(&app, &id, after).await);
    }
    let path = format!("/conversations/{id}/messages");
    let burst = ["hello", WARRANTY, "laptop gaming dưới 20 triệu"].map(|text| app.post(&path, &json!({"text": text})));
    for answer in futures_util::future::join_all(burst.map(reqwest::RequestBuilder::send)).await {
        assert_eq!(answer.unwrap().status(), 202);
    }
    let mut seen = Vec::new();
    for tab in &mut tabs {
        tab.until_done(3).await;
        let events = tab.so_far().await;
        check_that_ids_rise_without_gaps(&events);
        assert_eq!(events.data().iter().filter(|event| event["type"] == "turn.done").count(), 3);
        seen.push(events.with_ids());
    }
    assert!(seen.iter().all(|tab| *tab == seen[0]));
}

#[tokio::test]
async fn ninth_stream_closes_only_the_oldest() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    let mut streams = Vec::new();
    for _ in 0..9 {
        streams.push(Live::follow(&app, &id, None).await);
    }
    let oldest = streams.remove(0).events().await;
    assert!(oldest.data().is_empty(), "it ended, and nothing was said");
    // Streams of another conversation count separately.
    let other = app.open(&json!({})).await;
    let mut elsewhere = Live::follow(&app, &other, None).await;
    let path = format!("/conversations/{id}/messages");
    assert_eq!(app.post(&path, &json!({"text": WARRANTY})).send().await.unwrap().status(), 202);
    for stream in &mut streams {
        stream.until_done(1).await;
    }
    app.ask(&other, "hello").await;
    elsewhere.until_done(1).await;
}
