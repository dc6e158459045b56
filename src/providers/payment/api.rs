//! Calls to the API of a payment provider.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde_json::Value;
use tokio::time::Instant;

use crate::config::PaymentProvidersConfig;
use crate::domain::TenantId;
use crate::providers::address;
use crate::providers::breaker::{Outcome, SharedBreaker};

/// Failures in a row after which a shop's calls are refused for a while.
const FAILURES: u32 = 3;
const COOL_DOWN: Duration = Duration::from_secs(30);
/// A token is replaced so long before it expires.
const RENEW_BEFORE: Duration = Duration::from_secs(30);
/// The longest answer, in bytes.
const ANSWER_MAX: usize = 1024 * 1024;

/// The API of one provider, for every shop. Shops share nothing but the connections.
pub(super) struct Api {
    name: &'static str,
    base: Url,
    http: Client,
    tenants: Mutex<BTreeMap<TenantId, Arc<TenantState>>>,
}

struct TenantState {
    breaker: SharedBreaker,
    token: tokio::sync::Mutex<Option<Token>>,
}

struct Token {
    value: String,
    /// The account that it belongs to. A shop may get other credentials.
    account: String,
    until: Instant,
}

/// How to get a token.
pub(super) struct Login {
    /// Identifies the credentials.
    pub account: String,
    pub request: RequestBuilder,
    /// Reads the token and how long it lives.
    pub read: fn(&Value) -> Option<(String, Duration)>,
}

/// A provider's answer, whatever it says.
#[derive(Debug)]
pub(super) struct Answer {
    pub status: StatusCode,
    pub body: Value,
}

impl Answer {
    /// Whether the provider is overloaded or broken. Daraja answers some requests with 500 and an error code: "still running".
    fn is_outage(&self) -> bool {
        let has_code = self.body.get("errorCode").is_some();
        self.status == StatusCode::TOO_MANY_REQUESTS || (self.status.is_server_error() && !has_code)
    }
}

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// The provider did not get the request.
    #[error("the request was not sent: {0}")]
    NotSent(String),
    /// The provider may have got the request.
    #[error("the answer was lost: {0}")]
    Lost(String),
}

impl Answer {
    /// Returns a field as a text, also if it is a number.
    pub fn text(&self, field: &str) -> Option<String> {
        text_of(&self.body[field])
    }

    /// Whether the token is not valid any more.
    fn refuses_token(&self) -> bool {
        let code = self.text("errorCode");
        self.status == StatusCode::UNAUTHORIZED
            || self.text("status").as_deref() == Some("401")
            || matches!(code.as_deref(), Some("404.001.03" | "400.003.01"))
    }
}

/// Returns a text or a number as a text.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

impl Api {
    /// # Errors
    /// The system's certificates cannot be used.
    pub fn new(name: &'static str, base: Url, config: &PaymentProvidersConfig) -> reqwest::Result<Self> {
        let http = address::client(&base, config.connect_timeout).timeout(config.timeout).build()?;
        Ok(Self { name, base, http, tenants: Mutex::default() })
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.http.get(self.url(path))
    }

    pub fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.http.post(self.url(path)).json(body)
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Sends a request with a token. If the provider does not take the token, a new one is tried once: it has done nothing then.
    pub async fn call(&self, tenant: &TenantId, login: &Login, request: RequestBuilder) -> Result<Answer, Unanswered> {
        let again = request.try_clone();
        let token = self.token(tenant, login).await?;
        let answer = self.send(tenant, request.bearer_auth(&token)).await?;
        match again.filter(|_| answer.refuses_token()) {
            Some(again) => {
                let state = self.state(tenant);
                state.token.lock().await.take_if(|known| known.value == token);
                let token = self.token(tenant, login).await?;
                self.send(tenant, again.bearer_auth(&token)).await
            }
            None => Ok(answer),
        }
    }

    /// Returns the shop's token, and gets a new one shortly before it expires.
    pub async fn token(&self, tenant: &TenantId, login: &Login) -> Result<String, Unanswered> {
        let state = self.state(tenant);
        let mut known = state.token.lock().await;
        if let Some(token) =
            known.as_ref().filter(|token| token.account == login.account && Instant::now() < token.until)
        {
            return Ok(token.value.clone());
        }
        let not_sent = |why: String| Unanswered::NotSent(format!("no token: {why}"));
        let request = login.request.try_clone().ok_or_else(|| not_sent("the request cannot be made".to_owned()))?;
        let answer = self.send(tenant, request).await.map_err(|cause| not_sent(cause.to_string()))?;
        let Some((value, lives)) = (login.read)(&answer.body).filter(|_| answer.status.is_success()) else {
            return Err(not_sent(format!("{} does not accept the shop's credentials ({})", self.name, answer.status)));
        };
        let until = Instant::now() + lives.saturating_sub(RENEW_BEFORE);
        *known = Some(Token { value: value.clone(), account: login.account.clone(), until });
        Ok(value)
    }

    /// Sends a request, unless the shop's last ones failed.
    pub async fn send(&self, tenant: &TenantId, request: RequestBuilder) -> Result<Answer, Unanswered> {
        let state = self.state(tenant);
        let Some(mut attempt) = state.breaker.admit() else {
            return Err(Unanswered::NotSent(format!("{} has failed repeatedly for this shop", self.name)));
        };
        let answer = read_answer(request).await;
        attempt.outcome =
            if answer.as_ref().is_ok_and(|answer| !answer.is_outage()) { Outcome::Worked } else { Outcome::Failed };
        answer
    }

    fn state(&self, tenant: &TenantId) -> Arc<TenantState> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let breaker = SharedBreaker::of_tenant(self.name, tenant, FAILURES, COOL_DOWN);
            Arc::new(TenantState { breaker, token: tokio::sync::Mutex::default() })
        };
        tenants.entry(tenant.clone()).or_insert_with(new).clone()
    }
}

/// Sends a request and reads the answer. One that is not JSON may be of a proxy in between, so it counts as lost, unless it refuses.
async fn read_answer(request: RequestBuilder) -> Result<Answer, Unanswered> {
    let response = request.send().await.map_err(|error| {
        let is_not_sent = error.is_connect() || error.is_builder();
        let why = address::reason(error);
        if is_not_sent { Unanswered::NotSent(why) } else { Unanswered::Lost(why) }
    })?;
    let status = response.status();
    let body = address::body(response, ANSWER_MAX).await.map_err(|error| Unanswered::Lost(address::reason(error)))?;
    match serde_json::from_slice::<Value>(&body.unwrap_or_default()) {
        Ok(body) if body.is_object() => Ok(Answer { status, body }),
        _ if status.is_client_error() => Ok(Answer { status, body: Value::Null }),
        _ => Err(Unanswered::Lost(format!("the answer is not JSON ({status})"))),
    }
}
