//! Connections that send nothing, or too slowly.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::raw;
use crate::support::app::TestApp;
use crate::support::eventually_async;

async fn rest_of(mut connection: tokio::net::TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = connection.read_to_end(&mut bytes).await;
    bytes
}

#[tokio::test]
async fn incomplete_request_head_closes_connection() {
    let app = TestApp::builder().env("REQUEST_HEAD_SECONDS", 0.2).start().await;
    let silent = raw::connect(&app).await;
    assert!(rest_of(silent).await.is_empty());
    let mut half = raw::connect(&app).await;
    half.write_all(b"GET /healthz HTTP/1.1\r\nhost: lo").await.unwrap();
    assert!(rest_of(half).await.is_empty());
    // On a slow machine, a complete head may miss the deadline, too.
    eventually_async("an idle connection is answered, then left", async || {
        let mut idle = raw::connect(&app).await;
        let _ = idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
        rest_of(idle).await.starts_with(b"HTTP/1.1 200 ")
    })
    .await;
}

#[tokio::test]
async fn stream_outlives_request_head_deadline() {
    let other = TestApp::start().await;
    let id = other.open(&json!({})).await;
    let builder = TestApp::builder().beside(&other).env("REQUEST_HEAD_SECONDS", 0.2);
    let app = builder.env("SSE_KEEP_ALIVE_SECONDS", 0.3).start().await;
    let request = format!("GET /conversations/{id}/events HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let mut stream = None;
    // On a slow machine, the head itself may miss the deadline.
    eventually_async("the stream begins", async || {
        let mut connection = raw::connect(&app).await;
        let _ = connection.write_all(request.as_bytes()).await;
        let begins = connection.read(&mut [0; 8]).await.is_ok_and(|read| read > 0);
        stream = Some(connection);
        begins
    })
    .await;
    let (mut stream, mut seen) = (stream.unwrap(), String::new());
    while seen.matches(": keep-alive").count() < 3 {
        let mut bytes = [0; 1024];
        let read = stream.read(&mut bytes).await.unwrap();
        assert_ne!(read, 0, "the stream ended: {seen}");
        seen.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
}

#[tokio::test]
async fn garbage_gets_400() {
    let app = TestApp::start().await;
    assert_eq!(raw::send(&app, b"hello\r\n\r\n").await.status, 400);
}

#[tokio::test]
async fn connection_is_kept_alive() {
    let app = TestApp::start().await;
    let mut connection = raw::connect(&app).await;
    for close in ["", "", "connection: close\r\n"] {
        let request = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{close}\r\n");
        connection.write_all(request.as_bytes()).await.unwrap();
    }
    let answers = String::from_utf8(rest_of(connection).await).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 3, "{answers}");
}

/// Sends the head, then single bytes of the body at intervals, and returns the response when the server closes.
async fn drip(app: &TestApp, path: &str, kind: &str) -> String {
    let (mut reading, mut writing) = raw::connect(app).await.into_split();
    let head =
        format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\ncontent-length: 60000\r\n\r\n");
    let mut answer = Vec::new();
    let dripping = async {
        writing.write_all(head.as_bytes()).await.unwrap();
        while writing.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        std::future::pending().await
    };
    tokio::select! {
        () = dripping => {}
        // A reset also ends the connection.
        _ = reading.read_to_end(&mut answer) => {}
    }
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn every_route_times_out_unfinished_bodies() {
    let other = TestApp::start().await;
    let id = other.open(&json!({})).await;
    let builder = TestApp::builder().beside(&other).env("REQUEST_BODY_SECONDS", 0.2);
    let app = builder.env("CONSOLE_CSV_SECONDS", 0.2).start().await;
    for (path, kind, status) in [
        ("/conversations", "application/json", 408),
        (&format!("/conversations/{id}/messages"), "application/json", 408),
        (&format!("/conversations/{id}/stream"), "application/json", 408),
        ("/console/api/warranty-files", "text/csv", 408),
        ("/console/api/warranty-files", "application/json", 415),
        ("/nothing", "application/json", 404),
    ] {
        let answer = drip(&app, path, kind).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
        assert!(answer.contains("connection: close\r\n"), "{path}: {answer}");
        assert_eq!(answer.contains(r#""code":"request_timeout""#), status == 408, "{path}: {answer}");
    }
}

#[tokio::test]
async fn connections_above_the_limit_are_closed() {
    let app = TestApp::builder().env("CONNECTIONS_MAX", 2).start().await;
    let request = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut connection = raw::connect(&app).await;
        connection.write_all(request).await.unwrap();
        // A connection counts once it has a response.
        assert_ne!(connection.read(&mut [0; 64]).await.unwrap(), 0);
        open.push(connection);
    }
    assert!(rest_of(raw::connect(&app).await).await.is_empty());
    drop(open);
    // The server notices the closed connections a moment later.
    eventually_async("a new connection is served", async || {
        let mut connection = raw::connect(&app).await;
        let _ = connection.write_all(request).await;
        connection.read(&mut [0; 64]).await.is_ok_and(|read| read > 0)
    })
    .await;
}
