//! The wire format of event streams.

use serde_json::json;

use super::live::{BEGINNING, Live, QUESTION, delete, ended, stalled};
use super::raw;
use crate::support::app::TestApp;
use crate::support::sse::parse;

#[tokio::test]
async fn stream_starts_with_opening_frame_then_event_one() {
    let app = TestApp::builder().env("SSE_RETRY_MS", 1234).start().await;
    let id = app.open(&json!({})).await;
    let path = format!("/conversations/{id}/stream");
    for turn in 1..=3 {
        let request =
            app.post(&path, &json!({"text": "kiểm tra bảo hành ABC123"})).header("accept-encoding", "gzip, br");
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        for (name, value) in
            [("content-type", "text/event-stream"), ("cache-control", "no-cache"), ("x-accel-buffering", "no")]
        {
            assert_eq!(response.headers()[name], value);
        }
        assert!(response.headers().get("content-encoding").is_none());
        assert!(response.headers().contains_key("x-request-id"));
        let text = response.text().await.unwrap();
        let first = text.split("\n\n").next().unwrap();
        let mut lines: Vec<String> = first.lines().map(|line| line.replacen(": ", ":", 1)).collect();
        lines.sort();
        assert_eq!(lines, [r#"data:{"debug":"stream-open"}"#, "retry:1234"]);
        assert!(!text.contains("event:"));
        let ids: Vec<String> = parse(&text).0.into_iter().skip(1).map(|(id, _)| id.unwrap()).collect();
        let expected: Vec<String> = (1..=ids.len()).map(|n| format!("{turn}.{n}")).collect();
        assert_eq!(ids, expected);
        let kinds: Vec<String> =
            parse(&text).data().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
        assert_eq!((kinds.first().unwrap().as_str(), kinds.last().unwrap().as_str()), ("turn.start", "turn.done"));
        assert_eq!(kinds.iter().filter(|kind| *kind == "turn.done").count(), 1);
    }
}

#[tokio::test]
async fn opening_frame_precedes_the_turn() {
    let (app, _ollama) = stalled(TestApp::builder()).await;
    let id = app.open(&json!({})).await;
    let mut running = Live::say(&app, &id, QUESTION, None).await;
    running.until(BEGINNING).await;
    let mut waiting = Live::say(&app, &id, "hello", None).await;
    waiting.until("stream-open").await;
    assert_eq!(super::live::turn(&app, &id, 2).await["status"], "queued");
    delete(&app, &id).await;
}

#[tokio::test]
async fn idle_turn_stream_sends_keep_alive() {
    let (app, _ollama) = stalled(TestApp::builder().env("SSE_KEEP_ALIVE_SECONDS", 0.02)).await;
    let id = app.open(&json!({})).await;
    let mut stream = Live::say(&app, &id, QUESTION, None).await;
    stream.until("\n: keep-alive\n\n: keep-alive\n\n").await;
    delete(&app, &id).await;
    assert_eq!(stream.events().await.status(), "cancelled");
}

#[tokio::test]
async fn slow_reader_delays_no_other_reader() {
    let app = TestApp::start().await;
    let id = app.open(&json!({})).await;
    // Opens the turn's stream and never reads it.
    let mut slow = raw::connect(&app).await;
    let body = json!({"text": "kiểm tra bảo hành ABC123"}).to_string();
    let request = raw::post(&app, &format!("/conversations/{id}/stream"), "idempotency-key: k\r\n", body.as_bytes());
    tokio::io::AsyncWriteExt::write_all(&mut slow, &request).await.unwrap();
    let fast = Live::say(&app, &id, "kiểm tra bảo hành ABC123", Some("k")).await.text().await;
    assert_eq!(parse(&fast).status(), "completed");
    let mut late = Vec::new();
    tokio::io::AsyncReadExt::read_to_end(&mut slow, &mut late).await.unwrap();
    let late = String::from_utf8(late).unwrap();
    for line in fast.lines().filter(|line| line.starts_with("data") || line.starts_with("id")) {
        assert!(late.contains(line), "{line}");
    }
}

#[tokio::test]
async fn disconnect_does_not_end_the_turn() {
    let ollama = crate::support::ollama::ScriptedOllama::start().await;
    let pace = std::time::Duration::from_millis(20);
    ollama.play(crate::support::ollama::Play::reply("Dạ shop có nhiều mẫu ổ cứng cho quý khách chọn ạ.").paced(pace));
    let app = TestApp::builder().ollama(&ollama).start().await;
    let id = app.open(&json!({})).await;
    let mut leaving = Live::say(&app, &id, QUESTION, None).await;
    leaving.until("\"message.start\"").await;
    drop(leaving);
    assert_eq!(ended(&app, &id, 1).await, "completed");
    let history = app.history(&id).await;
    let reply = history.iter().find(|message| message["metadata"]["type"] == "reply").unwrap();
    assert_eq!(reply["text"], "Dạ shop có nhiều mẫu ổ cứng cho quý khách chọn ạ.");
    assert_eq!(reply["metadata"].get("cut"), None);
    assert_eq!(ollama.closed_early(), 0);
}

#[tokio::test]
async fn head_request_evicts_no_stream() {
    let app = TestApp::builder().env("STREAMS_PER_CONVERSATION", 1).start().await;
    let opened: serde_json::Value = app.post("/conversations", &json!({})).send().await.unwrap().json().await.unwrap();
    let (id, token) = (opened["id"].as_str().unwrap(), opened["token"].as_str().unwrap());
    let mut reader = Live::follow(&app, id, None).await;
    for query in [String::new(), format!("?token={token}")] {
        let head = app.request(reqwest::Method::HEAD, &format!("/conversations/{id}/events{query}"));
        let response = head.send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["content-type"]),
            (200, &"text/event-stream".parse().unwrap())
        );
    }
    app.ask(id, "kiểm tra bảo hành ABC123").await;
    reader.until_done(1).await;
}
