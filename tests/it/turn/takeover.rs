//! Two servers on one database: only the one that took it last writes turns.

use std::time::Duration;

use serde_json::json;

use crate::http::live::{BEGINNING, Live, QUESTION, count_rows, ended};
use crate::http::problem::refused;
use crate::support::app::TestApp;
use crate::support::eventually;
use crate::support::ollama::{Play, ScriptedOllama};

#[tokio::test]
async fn late_server_writes_nothing_into_ended_turns() {
    let ollama = ScriptedOllama::start().await;
    let long = format!("{BEGINNING} {}", "có hàng ".repeat(10_000));
    ollama.play(Play::reply(&long).in_packets_of(400).paced(Duration::from_millis(50)));
    let late = TestApp::builder().ollama(&ollama).start().await;
    let id = late.open(&json!({})).await;
    let mut watched = Live::say(&late, &id, QUESTION, None).await;
    watched.until(BEGINNING).await;

    let next = TestApp::builder().beside(&late).start().await;
    assert_eq!(ended(&next, &id, 1).await, "interrupted");
    let events = count_rows(&next, "events", &id).await;
    // The late server's next event is refused. It ends its turn and closes the request to the model.
    eventually("the late server's turn has ended", || ollama.closed_early() == 1).await;
    let message = json!({"text": "hi"});
    refused(late.post(&format!("/conversations/{id}/messages"), &message), 503, "unavailable").await;
    assert_eq!(count_rows(&next, "events", &id).await, events);
    assert_eq!(ended(&next, &id, 1).await, "interrupted");
    // The other server has the stored text, and continues the conversation.
    let history = next.history(&id).await;
    let text = history.last().unwrap()["text"].as_str().unwrap();
    assert!(long.starts_with(text) && text.starts_with(BEGINNING), "{text}");
    assert_eq!(next.ask(&id, "kiểm tra bảo hành ABC123").await.status(), "completed");
}
