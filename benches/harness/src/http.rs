//! HTTP/1.1 over one connection, and the lines of a response as they arrive.

use anyhow::{Context, Result, ensure};
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};

/// The key that `scripts/lib/child.py` gives the server.
const KEY: &str = "key-of-the-crash-test";

/// One connection to a server on this machine.
pub struct Connection {
    send: SendRequest<Full<Bytes>>,
    host: String,
}

impl Connection {
    /// Opens a connection to `HOST:PORT`.
    pub async fn open(host: &str) -> Result<Self> {
        let socket = TcpStream::connect(host).await.with_context(|| format!("cannot connect to {host}"))?;
        socket.set_nodelay(true)?;
        let (send, connection) = handshake(TokioIo::new(socket)).await?;
        tokio::spawn(connection);
        Ok(Self { send, host: host.to_owned() })
    }

    /// Sends JSON and returns the response with its body unread.
    pub async fn post(&mut self, path: &str, body: &Value) -> Result<Response<Incoming>> {
        self.send.ready().await?;
        let request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header("host", &self.host)
            .header("content-type", "application/json")
            .header("x-api-key", KEY)
            .body(Full::from(body.to_string()))?;
        Ok(self.send.send_request(request).await?)
    }

    /// Sends JSON and returns the JSON of a response that must be a success.
    pub async fn post_json(&mut self, path: &str, body: &Value) -> Result<Value> {
        let response = self.post(path, body).await?;
        let status = response.status();
        let text = response.into_body().collect().await?.to_bytes();
        ensure!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&text));
        Ok(serde_json::from_slice(&text)?)
    }
}

/// The lines of a body. A line is returned as soon as its end has arrived.
pub struct Lines {
    body: Incoming,
    rest: BytesMut,
    /// How much of `rest` has no line break.
    seen: usize,
}

impl Lines {
    pub fn new(body: Incoming) -> Self {
        Self { body, rest: BytesMut::new(), seen: 0 }
    }

    /// Returns the next line without its break, or `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>> {
        loop {
            if let Some(at) = self.rest[self.seen..].iter().position(|byte| *byte == b'\n') {
                let mut line = self.rest.split_to(self.seen + at + 1);
                line.truncate(line.len() - 1);
                self.seen = 0;
                return Ok(Some(line.freeze()));
            }
            self.seen = self.rest.len();
            let Some(frame) = self.body.frame().await.transpose()? else { return Ok(None) };
            if let Ok(data) = frame.into_data() {
                self.rest.extend_from_slice(&data);
            }
        }
    }
}

/// Listens on a free port and prints its address, for the program that started this one.
pub async fn listen() -> Result<TcpListener> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on {}", listener.local_addr()?);
    Ok(listener)
}
