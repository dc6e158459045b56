//! Requests that are refused before their body is read.

use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::raw::connect;
use crate::support::app::TestApp;

/// How long the server reads the rest of a body.
const WAITED_FOR: Duration = Duration::from_secs(2);

/// Reads the next response: its status, and whether the connection closes.
async fn answer(stream: &mut BufReader<TcpStream>) -> Option<(u16, bool)> {
    let (mut status, mut closes, mut length) = (None, false, 0);
    let mut line = String::new();
    while stream.read_line(&mut line).await.ok()? > 2 {
        let text = line.trim_end().to_ascii_lowercase();
        status = status.or_else(|| text.split(' ').nth(1)?.parse().ok());
        closes |= text == "connection: close";
        if let Some(value) = text.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some((status?, closes))
}

fn post(path: &str, headers: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n"
    )
}

#[tokio::test]
async fn connection_stays_usable_after_unread_body() {
    let app = TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0").start().await;
    let mut stream = BufReader::new(connect(&app).await);
    for (path, headers, length, status) in [
        ("/nope", "", 60_000, 404),
        ("/healthz", "", 60_000, 405),
        ("/conversations", "", 60_000, 401),
        ("/conversations", "x-api-key: key-of-the-shop-0\r\n", 70_000, 413),
        ("/conversations", "x-api-key: key-of-the-shop-0\r\n", 2_000_000, 413),
    ] {
        let began = Instant::now();
        stream.write_all(post(path, headers, length).as_bytes()).await.unwrap();
        stream.write_all(&vec![b' '; length]).await.unwrap();
        let answered = answer(&mut stream).await;
        if answered == Some((status, true)) && began.elapsed() > WAITED_FOR {
            // On a slow machine the server may have stopped reading, which is correct.
            stream = BufReader::new(connect(&app).await);
            continue;
        }
        assert_eq!(answered, Some((status, false)), "{path} {length}");
    }
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    assert_eq!(answer(&mut stream).await, Some((200, false)));
}

#[tokio::test]
async fn unfinished_body_closes_connection() {
    let app = TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0").start().await;
    for headers in ["", "expect: 100-continue\r\n"] {
        let mut stream = BufReader::new(connect(&app).await);
        stream.write_all(post("/conversations", headers, 60_000).as_bytes()).await.unwrap();
        assert_eq!(answer(&mut stream).await, Some((401, true)), "{headers}");
    }
}
