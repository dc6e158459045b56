//! Requests as raw bytes, which a client library would normalize.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::problem::check_body;
use crate::support::app::TestApp;

/// A response as received.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// Asserts that it is a problem with this status and code.
    pub fn check(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        check_body(&serde_json::from_slice(&self.body).unwrap(), status, code, self.header("x-request-id"));
    }
}

pub async fn connect(app: &TestApp) -> TcpStream {
    TcpStream::connect(app.url.strip_prefix("http://").unwrap()).await.unwrap()
}

/// Sends the bytes and reads until the server closes. The request must ask for that.
pub async fn send(app: &TestApp, request: &[u8]) -> Answer {
    let mut stream = connect(app).await;
    // The server may respond and close before it has read everything.
    let _ = stream.write_all(request).await;
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a response");
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head, body: bytes[end + 4..].to_vec() }
}

/// Builds a request with a JSON body.
pub fn post(app: &TestApp, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let host = app.url.strip_prefix("http://").unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\n{headers}\
         content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// Builds a request without a body.
pub fn request(app: &TestApp, method: &str, path: &str, headers: &str) -> Vec<u8> {
    let host = app.url.strip_prefix("http://").unwrap();
    format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{headers}\r\n").into_bytes()
}
