//! Messages over Twilio's API.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;
use serde_json::json;

use super::{Accepted, Account, Content, MessageGateway, Outgoing, SendError};
use crate::config::MessagingConfig;
use crate::domain::{DeliveryStatus, TenantId};
use crate::providers::address::{body, client, reason};
use crate::providers::breaker::{Outcome, SharedBreaker};

/// Lets Twilio repeat a report that failed. Neither sent nor signed.
const RETRIES: &str = "#rc=3&rp=all";
/// The longest response that is read, in bytes.
const MAX_RESPONSE: usize = 1024 * 1024;
/// The newest messages that are compared with one whose answer was lost.
const COMPARED: &str = "100";
/// How much Twilio's clock may be behind.
const CLOCK_SKEW: TimeDelta = TimeDelta::minutes(1);
/// Consecutive failures after which the requests of an account pause, and for how long.
const BREAKER_FAILURES: u32 = 5;
const BREAKER_PAUSE: std::time::Duration = std::time::Duration::from_secs(30);

/// Twilio's API.
pub struct Twilio {
    http: reqwest::Client,
    base: Url,
    breakers: Mutex<HashMap<TenantId, SharedBreaker>>,
}

/// A message as Twilio shows it.
#[derive(Deserialize)]
struct MessageResource {
    sid: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    error_code: Option<i64>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    date_created: Option<String>,
}

#[derive(Deserialize)]
struct MessageList {
    messages: Vec<MessageResource>,
}

#[derive(Deserialize)]
struct ErrorResource {
    code: i64,
}

/// Why a client cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum InvalidTwilio {
    #[error("TWILIO_URL cannot be used: {0}")]
    Address(String),
    #[error(transparent)]
    Client(#[from] reqwest::Error),
}

impl Twilio {
    /// Does not connect yet.
    pub fn new(config: &MessagingConfig) -> Result<Self, InvalidTwilio> {
        let base = Url::parse(&config.twilio_url).map_err(|error| InvalidTwilio::Address(error.to_string()))?;
        let http = client(&base, config.timeout).timeout(config.timeout).build()?;
        Ok(Self { http, base, breakers: Mutex::default() })
    }

    fn messages_url(&self, account: &Account) -> Result<Url, SendError> {
        let mut url = self.base.clone();
        let mut path = url.path_segments_mut().map_err(|()| SendError::NotSent("TWILIO_URL is no base".to_owned()))?;
        path.pop_if_empty().extend(["2010-04-01", "Accounts", account.id.as_str(), "Messages.json"]);
        drop(path);
        Ok(url)
    }

    /// Sends a request with each of the account's tokens until one is accepted, and returns the body of a success.
    async fn ask(&self, account: &Account, request: impl Fn() -> RequestBuilder) -> Result<Vec<u8>, SendError> {
        let admitted = self.breaker(&account.shop).admit();
        let mut attempt = admitted.ok_or_else(|| SendError::NotSent("earlier requests failed".to_owned()))?;
        let mut answer = Err((None, SendError::NotSent("the account has no token".to_owned())));
        for token in &account.tokens {
            let sent = request().basic_auth(&account.id, Some(token)).send().await;
            answer = read(sent).await;
            if !matches!(answer, Err((Some(StatusCode::UNAUTHORIZED), _))) {
                break;
            }
        }
        attempt.outcome = match &answer {
            Ok(_) => Outcome::Worked,
            Err((Some(status), _)) if status.is_client_error() && *status != StatusCode::TOO_MANY_REQUESTS => {
                Outcome::Worked
            }
            Err(_) => Outcome::Failed,
        };
        answer.map_err(|(_, cause)| cause)
    }

    fn breaker(&self, shop: &TenantId) -> SharedBreaker {
        let mut breakers = self.breakers.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || SharedBreaker::of_tenant("Twilio", shop, BREAKER_FAILURES, BREAKER_PAUSE);
        breakers.entry(shop.clone()).or_insert_with(new).clone()
    }
}

type Failed = (Option<StatusCode>, SendError);

/// Returns the body of a success.
async fn read(sent: reqwest::Result<Response>) -> Result<Vec<u8>, Failed> {
    let response = match sent {
        Ok(response) => response,
        Err(error) if error.is_connect() => return Err((None, SendError::NotSent(reason(error)))),
        Err(error) => return Err((None, SendError::Lost(reason(error)))),
    };
    let status = response.status();
    let body = match body(response, MAX_RESPONSE).await {
        Ok(body) => body.unwrap_or_default(),
        Err(error) => return Err((None, SendError::Lost(reason(error)))),
    };
    if status.is_success() {
        return Ok(body);
    }
    let code = serde_json::from_slice::<ErrorResource>(&body).ok().map(|error| error.code.to_string());
    let shown = code.clone().unwrap_or_else(|| format!("status {}", status.as_u16()));
    Err((
        Some(status),
        match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                SendError::NotSent(shown)
            }
            status if status.is_client_error() && status != StatusCode::REQUEST_TIMEOUT => SendError::Refused(shown),
            _ => SendError::Lost(shown),
        },
    ))
}

#[async_trait]
impl MessageGateway for Twilio {
    async fn send(&self, account: &Account, message: &Outgoing<'_>) -> Result<Accepted, SendError> {
        let url = self.messages_url(account)?;
        let mut form = vec![("To", whatsapp(message.to.as_str())), ("From", whatsapp(message.from.as_str()))];
        form.extend(message.report_to.map(|address| ("StatusCallback", format!("{address}{RETRIES}"))));
        match message.content {
            Content::Text(text) => form.push(("Body", text.to_owned())),
            Content::Template { id, text } => {
                form.push(("ContentSid", id.to_owned()));
                form.push(("ContentVariables", json!({ "1": text }).to_string()));
            }
        }
        let body = self.ask(account, || self.http.post(url.clone()).form(&form)).await?;
        let created: MessageResource =
            serde_json::from_slice(&body).map_err(|_| SendError::Lost("the answer is not a message".to_owned()))?;
        Ok(created.into())
    }

    async fn find(
        &self,
        account: &Account,
        message: &Outgoing<'_>,
        since: DateTime<Utc>,
    ) -> Result<Vec<Accepted>, SendError> {
        let url = self.messages_url(account)?;
        let (to, from) = (whatsapp(message.to.as_str()), whatsapp(message.from.as_str()));
        // Twilio's own filter of dates leaves out messages that are not sent yet.
        let query = [("To", to.as_str()), ("From", from.as_str()), ("PageSize", COMPARED)];
        let body = self.ask(account, || self.http.get(url.clone()).query(&query)).await?;
        let list: MessageList =
            serde_json::from_slice(&body).map_err(|_| SendError::Lost("the answer is not a list".to_owned()))?;
        let is_it = |found: &MessageResource| {
            let created = found.date_created.as_deref().and_then(|date| DateTime::parse_from_rfc2822(date).ok());
            let is_late_enough = created.is_some_and(|created| created >= since - CLOCK_SKEW);
            let is_same = match message.content {
                Content::Text(text) => found.body.as_deref() == Some(text),
                // Twilio shows the template's text, which is not known here.
                Content::Template { .. } => true,
            };
            is_late_enough && is_same
        };
        // Twilio lists the newest first.
        Ok(list.messages.into_iter().rev().filter(is_it).map(Accepted::from).collect())
    }
}

impl From<MessageResource> for Accepted {
    fn from(message: MessageResource) -> Self {
        let status = status_of(&message.status).unwrap_or(DeliveryStatus::Accepted);
        Self { reference: message.sid, status, error: message.error_code.map(|code| code.to_string()) }
    }
}

/// Reads a status of Twilio's. `None`: an unknown one.
pub fn status_of(name: &str) -> Option<DeliveryStatus> {
    Some(match name {
        "accepted" | "scheduled" | "queued" | "sending" => DeliveryStatus::Accepted,
        "sent" => DeliveryStatus::Sent,
        "delivered" => DeliveryStatus::Delivered,
        "read" => DeliveryStatus::Read,
        "failed" | "undelivered" | "canceled" => DeliveryStatus::Failed,
        _ => return None,
    })
}

/// Returns Twilio's address of a number on WhatsApp.
fn whatsapp(number: &str) -> String {
    format!("whatsapp:{number}")
}
