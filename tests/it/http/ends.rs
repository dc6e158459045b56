//! How a conversation's streams end.

use serde_json::json;

use super::live::{BEGINNING, Live, QUESTION, stalled};
use crate::support::app::TestApp;
use crate::support::eventually_async;

#[tokio::test]
async fn shutdown_completes_open_streams() {
    let (app, _ollama) = stalled(TestApp::builder().env("DRAIN_SECONDS", 0.2)).await;
    let (id, idle) = (app.open(&json!({})).await, app.open(&json!({})).await);
    let mut streams = Vec::new();
    for _ in 0..4 {
        streams.push(Live::follow(&app, &id, None).await);
    }
    let quiet = Live::follow(&app, &idle, None).await;
    let mut running = Live::say(&app, &id, QUESTION, None).await;
    running.until(BEGINNING).await;
    app.begin_shutdown();
    let expected = running.events().await;
    assert_eq!(expected.status(), "interrupted");
    for stream in streams {
        assert_eq!(stream.events().await.with_ids(), expected.with_ids());
    }
    assert!(quiet.events().await.data().is_empty());
    // The server has ended too, and the next one resumes after the last event.
    let next = app.stop().await.start().await;
    let seen = expected.ids();
    let mut stream = Live::follow(&next, &id, seen.last().copied()).await;
    let said = next.ask(&id, "kiểm tra bảo hành ABC123").await;
    stream.until_done(2).await;
    assert_eq!(stream.so_far().await.with_ids(), said.with_ids());
}

#[tokio::test]
async fn streams_are_accepted_while_draining() {
    let (app, _ollama) = stalled(TestApp::builder().env("DRAIN_SECONDS", 600)).await;
    let id = app.open(&json!({})).await;
    let mut running = Live::say(&app, &id, QUESTION, None).await;
    running.until(BEGINNING).await;
    app.begin_shutdown();
    eventually_async("the server drains", async || app.get("/readyz").send().await.unwrap().status() != 200).await;
    let late = Live::follow(&app, &id, Some("0.0")).await;
    let response = app.post(&format!("/conversations/{id}/turns/1/cancel"), &json!({})).send().await.unwrap();
    assert_eq!(response.status(), 202);
    assert_eq!(late.events().await.with_ids(), running.events().await.with_ids());
    app.stop().await;
}
