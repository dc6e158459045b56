//! A client of the HTTP API.

use std::time::Duration;

use anyhow::Context;
use futures_util::{Stream, TryStreamExt};
use reqwest::{RequestBuilder, Response, StatusCode, Url, header};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::events::{self, Frame};
use crate::domain::Language;
use crate::domain::identity::e164::E164;

/// The read timeout, longer than the interval of keep-alive comments.
const READ_TIMEOUT: Duration = Duration::from_secs(90);

/// A client of one server.
pub(super) struct Client {
    http: reqwest::Client,
    base: String,
    key: Option<String>,
}

/// An opened conversation.
#[derive(Debug, Deserialize)]
pub(super) struct Opened {
    pub id: String,
    pub persona: String,
    pub greeting: Message,
}

/// A message of the history.
#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub sender: String,
    pub text: String,
}

#[derive(Deserialize)]
struct History {
    messages: Vec<Message>,
    next: Option<String>,
}

/// A problem response. Servers other than frontdesk may leave fields out.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Problem {
    code: String,
    detail: String,
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The server does not answer, or the connection broke. The request can be retried.
    #[error("{0}")]
    Lost(String),
    /// The server asks for a retry.
    #[error("{detail}")]
    Later { detail: String, after: Duration },
    #[error("{detail}")]
    Refused { detail: String },
    /// The server is not frontdesk.
    #[error("the server is not frontdesk: {0}")]
    Strange(&'static str),
}

impl Client {
    pub fn new(address: &str, key: Option<String>) -> anyhow::Result<Self> {
        let url =
            Url::parse(address).with_context(|| format!("{address} is not a URL, such as http://127.0.0.1:8080"))?;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let local = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
        let mut http = reqwest::Client::builder()
            .user_agent(concat!("frontdesk-chat/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(5))
            .read_timeout(READ_TIMEOUT)
            // Never send the key to another server.
            .redirect(reqwest::redirect::Policy::none());
        if local {
            http = http.no_proxy();
        }
        let base = url.as_str().trim_end_matches('/').to_owned();
        Ok(Self { http: http.build().context("cannot create an HTTP client")?, base, key })
    }

    /// Returns whether the server answers.
    pub async fn is_up(&self) -> bool {
        let asked = self.http.get(format!("{}/healthz", self.base)).timeout(Duration::from_secs(2)).send().await;
        asked.is_ok_and(|response| response.status().is_success())
    }

    /// Opens a conversation of the customer with this number.
    pub async fn open(
        &self,
        persona: Option<&str>,
        language: Option<Language>,
        phone: Option<&E164>,
    ) -> Result<Opened, Failure> {
        let wish = json!({ "user_id": phone.map(E164::as_str), "persona": persona, "language": language });
        let request = self.http.post(format!("{}/conversations", self.base)).json(&wish);
        read(self.send(request).await?).await
    }

    /// Sends a message and returns the turn's events. Repeating a `key` returns the events of the same turn.
    pub async fn send_message(
        &self,
        conversation: &str,
        text: &str,
        key: &str,
    ) -> Result<impl Stream<Item = Result<Frame, Failure>> + Unpin + use<>, Failure> {
        let request = self
            .http
            .post(format!("{}/conversations/{conversation}/stream", self.base))
            .header("idempotency-key", key)
            .json(&json!({ "text": text }));
        let response = self.send(request).await?;
        let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("text/event-stream") {
            return Err(Failure::Strange("the response is not an event stream"));
        }
        Ok(frames(response))
    }

    /// Returns the events of the conversation from now on, including turns that the shop starts.
    pub async fn listen(
        &self,
        conversation: &str,
    ) -> Result<impl Stream<Item = Result<Frame, Failure>> + Unpin + use<>, Failure> {
        let request = self.http.get(format!("{}/conversations/{conversation}/events", self.base));
        Ok(frames(self.send(request).await?))
    }

    /// Lists all messages, oldest first.
    pub async fn history(&self, conversation: &str) -> Result<Vec<Message>, Failure> {
        let mut messages = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let mut request =
                self.http.get(format!("{}/conversations/{conversation}/history", self.base)).query(&[("limit", "200")]);
            if let Some(after) = &after {
                request = request.query(&[("after", after)]);
            }
            let page: History = read(self.send(request).await?).await?;
            messages.extend(page.messages);
            if page.next.is_none() || page.next == after {
                return Ok(messages);
            }
            after = page.next;
        }
    }

    async fn send(&self, mut request: RequestBuilder) -> Result<Response, Failure> {
        if let Some(key) = &self.key {
            request = request.header("x-api-key", key);
        }
        let response = request.send().await.map_err(lost)?;
        if response.status().is_success() { Ok(response) } else { Err(refusal(response).await) }
    }
}

/// Returns the events of an event stream.
fn frames(response: Response) -> impl Stream<Item = Result<Frame, Failure>> + Unpin {
    let body = response.bytes_stream().map_err(std::io::Error::other);
    let lost = |_| Failure::Lost("lost the connection to the server".to_owned());
    Box::pin(events::read(body).map_err(lost))
}

async fn read<T: DeserializeOwned>(response: Response) -> Result<T, Failure> {
    let body = response.bytes().await.map_err(lost)?;
    serde_json::from_slice(&body).map_err(|_| Failure::Strange("the response has an unknown format"))
}

fn lost(error: reqwest::Error) -> Failure {
    // The innermost cause is the clearest, such as "Connection refused".
    let mut cause: &dyn std::error::Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    Failure::Lost(format!("cannot reach the server ({cause})"))
}

async fn refusal(response: Response) -> Failure {
    let status = response.status();
    let after = response.headers().get(header::RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse().ok());
    let body = response.bytes().await.unwrap_or_default();
    let Problem { code, detail } = serde_json::from_slice(&body).unwrap_or_default();
    let detail = match (status, detail.is_empty()) {
        (StatusCode::UNAUTHORIZED, _) => {
            format!("the server refused the API key: set X_API_KEYS to one of its keys. {detail}")
        }
        (_, false) => detail,
        (_, true) => format!("the server answered {status}"),
    };
    match after {
        Some(seconds) => Failure::Later { detail, after: Duration::from_secs(seconds) },
        None if code == "conflict" => Failure::Later { detail, after: Duration::from_millis(500) },
        None => Failure::Refused { detail },
    }
}
