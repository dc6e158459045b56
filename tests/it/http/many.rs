//! Many customers at once.

use std::time::Instant;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::live::Live;
use crate::support::app::TestApp;

const CONVERSATIONS: usize = 100;
const SERIALS: [&str; 3] = ["ABC123", "XYZ789", "FUT-2099"];

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_conversations_lose_no_events() {
    let app = TestApp::start().await;
    let begun = Instant::now();
    let events: usize = join_all((0..CONVERSATIONS).map(|_| burst(&app))).await.into_iter().sum();
    let seconds = begun.elapsed().as_secs_f64();
    let turns = CONVERSATIONS * SERIALS.len();
    println!("{turns} turns of {CONVERSATIONS} conversations, {events} events: {seconds:.2} s");
    let ready: Value = app.get("/readyz").send().await.unwrap().json().await.unwrap();
    assert_eq!(ready["store"], "ok");
}

/// Opens a conversation, sends three messages without waiting, and returns the number of events.
async fn burst(app: &TestApp) -> usize {
    let id = app.open(&json!({})).await;
    let mut streams = Vec::new();
    for serial in SERIALS {
        streams.push(Live::say(app, &id, &format!("kiểm tra bảo hành {serial}"), None).await);
    }
    let mut count = 0;
    for (turn, (stream, serial)) in (1..).zip(streams.into_iter().zip(SERIALS)) {
        let events = stream.events().await;
        assert_eq!(events.status(), "completed");
        assert!(events.text("warranty_result").contains(serial), "turns run in order: {events:?}");
        let ids: Vec<String> = events.0.iter().filter_map(|(id, _)| id.clone()).collect();
        let expected: Vec<String> = (1..=ids.len()).map(|n| format!("{turn}.{n}")).collect();
        assert_eq!(ids, expected);
        count += ids.len();
    }
    let history = app.history(&id).await;
    let said: Vec<&str> = history
        .iter()
        .filter(|message| message["sender"] == "user")
        .map(|message| message["text"].as_str().unwrap())
        .collect();
    assert_eq!(said, SERIALS.map(|serial| format!("kiểm tra bảo hành {serial}")));
    let results = history.iter().filter(|message| message["metadata"]["type"] == "warranty_result").count();
    assert_eq!(results, SERIALS.len());
    count
}
