//! The entry point to the language model: queue, timeouts, circuit breaker and availability.

mod reply;

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::admission::{Admission, Full, Place};
use super::spoken::Spoken;
use super::{
    ChatModel, ChatRequest, Deltas, LlmConfig, LlmError, LlmMode, ModelStatus, Phase, Reply, ToolCall, ToolSpec,
    json_schema,
};
use crate::domain::text::{clean, clean_json};
use crate::providers::breaker::{self, Outcome, SharedBreaker};

/// The result of the last probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// Disabled by [`LlmMode::Offline`].
    Offline,
    /// Not probed yet; counts as down.
    Unknown,
    Up,
    /// The service does not answer.
    Down,
    /// The service answers and does not have the model.
    ModelMissing,
}

/// Wraps a [`ChatModel`] with a queue, timeouts, a circuit breaker and probes.
///
/// A call is [`Gateway::enter`], then [`Ticket::waiting`] for the positions, then [`Ticket::stream`] or
/// [`Ticket::answer`] or [`Ticket::call`]. Calls are not retried.
pub struct Gateway {
    model: Arc<dyn ChatModel>,
    config: LlmConfig,
    admission: Arc<Admission>,
    breaker: SharedBreaker,
    availability: watch::Sender<Availability>,
    look_now: Notify,
}

impl Gateway {
    /// Does not call the model yet. Until the first [`Gateway::look`], it counts as down.
    pub fn new(model: Arc<dyn ChatModel>, config: LlmConfig) -> Arc<Self> {
        let found = if config.mode == LlmMode::Offline { Availability::Offline } else { Availability::Unknown };
        let (failures, cool_down) = (config.breaker_failures, config.breaker_cool_down);
        Arc::new(Self {
            model,
            admission: Admission::new(config.max_concurrent, config.queue_max),
            breaker: SharedBreaker::new("the language model", "llm", failures, cool_down),
            availability: watch::Sender::new(found),
            look_now: Notify::new(),
            config,
        })
    }

    /// Returns whether a call can succeed now: the last probe found the model, and the breaker lets calls through.
    pub fn is_up(&self) -> bool {
        self.availability() == Availability::Up && self.breaker.lets_through()
    }

    /// Returns the result of the last probe, regardless of the breaker.
    pub fn availability(&self) -> Availability {
        *self.availability.borrow()
    }

    /// Probes the model and stores the result. Logs a change. Takes at most [`LlmConfig::probe_timeout`].
    pub async fn look(&self) -> Result<ModelStatus, LlmError> {
        if self.config.mode == LlmMode::Offline {
            return Err(disabled());
        }
        let probed = timeout(self.config.probe_timeout, self.model.probe()).await;
        let status = probed.unwrap_or(Err(LlmError::Timeout(Phase::Probe)));
        let found = match &status {
            Ok(status) if status.installed => Availability::Up,
            Ok(_) => Availability::ModelMissing,
            Err(_) => Availability::Down,
        };
        if self.availability.send_replace(found) != found {
            let model = &self.config.model;
            match &status {
                Ok(status) if status.installed => {
                    self.breaker.close();
                    info!(llm.model = %model, "The language model is up");
                }
                Ok(_) => warn!(llm.model = %model, "The language model is not installed"),
                Err(error) => warn!(llm.model = %model, %error, "The language model is down, replying without it"),
            }
        }
        status
    }

    /// Probes every [`LlmConfig::probe_every`], and immediately after a call could not reach the service, until the shutdown.
    pub async fn watch(self: Arc<Self>, shutdown: CancellationToken) {
        if self.config.mode == LlmMode::Offline {
            return;
        }
        let looking = async {
            loop {
                tokio::select! {
                    () = sleep(self.config.probe_every) => {}
                    () = self.look_now.notified() => {}
                }
                // The result is in `availability`.
                let _ = self.look().await;
            }
        };
        shutdown.run_until_cancelled(looking).await;
    }

    /// Enters the queue. Fails with [`LlmError::Unavailable`] if the model is down, and with [`LlmError::Overloaded`] if the queue is
    /// full.
    pub fn enter(self: &Arc<Self>) -> Result<Ticket, LlmError> {
        self.ready()?;
        if !self.breaker.lets_through() {
            return Err(breaker_open());
        }
        let place = self.admission.enter().map_err(|Full| LlmError::Overloaded)?;
        Ok(Ticket { gateway: Arc::clone(self), place, entered: Instant::now() })
    }

    /// Combines [`Gateway::enter`] and [`Ticket::stream`], for callers that do not show positions.
    pub async fn stream(self: &Arc<Self>, request: ChatRequest) -> Result<Deltas, LlmError> {
        self.enter()?.stream(request).await
    }

    /// Combines [`Gateway::enter`] and [`Ticket::answer`].
    pub async fn answer(
        self: &Arc<Self>,
        request: ChatRequest,
        schema: &Value,
        within: Duration,
    ) -> Result<Value, LlmError> {
        self.enter()?.answer(request, schema, within).await
    }

    /// Asks for a value of type `T`, whose JSON Schema the model is given.
    pub async fn extract<T: DeserializeOwned + JsonSchema>(
        self: &Arc<Self>,
        request: ChatRequest,
        within: Duration,
    ) -> Result<T, LlmError> {
        let answer = self.answer(request, &json_schema::<T>(), within).await?;
        serde_json::from_value(answer).map_err(|_| LlmError::WrongType)
    }

    fn ready(&self) -> Result<(), LlmError> {
        match self.availability() {
            Availability::Up => Ok(()),
            Availability::Offline => Err(disabled()),
            Availability::Unknown => Err(LlmError::Unavailable("it was not probed yet".to_owned())),
            Availability::Down => Err(LlmError::Unavailable("it was down at the last probe".to_owned())),
            Availability::ModelMissing => Err(LlmError::Unavailable("the model is not installed".to_owned())),
        }
    }
}

fn disabled() -> LlmError {
    LlmError::Unavailable("it is disabled".to_owned())
}

fn breaker_open() -> LlmError {
    LlmError::Unavailable("the circuit breaker is open".to_owned())
}

/// A place in the queue for one call. Dropping it leaves the queue.
pub struct Ticket {
    gateway: Arc<Gateway>,
    place: Place,
    entered: Instant,
}

impl Ticket {
    /// The gateway, for another call.
    pub fn gateway(&self) -> &Arc<Gateway> {
        &self.gateway
    }

    /// Returns the position in the queue, from 1: immediately at first, then on each change. Returns `None` once admitted. Cancel safe,
    /// and optional.
    pub async fn waiting(&mut self) -> Option<u32> {
        self.place.waiting().await
    }

    /// Waits in the queue and for the first piece of the answer. Fails if there is no text at all.
    ///
    /// The text starts with a word and contains no thinking. When the stream ends or is dropped, the next call is admitted and the
    /// model stops.
    pub async fn stream(mut self, request: ChatRequest) -> Result<Deltas, LlmError> {
        self.admitted().await;
        let attempt = Attempt::begin(&self.gateway)?;
        reply::start(attempt, self.place, request).await
    }

    /// Waits in the queue and for a JSON object, at most `within` this time. The object is not validated against the schema.
    pub async fn answer(mut self, request: ChatRequest, schema: &Value, within: Duration) -> Result<Value, LlmError> {
        let answered = timeout(within, async {
            self.admitted().await;
            let attempt = Attempt::begin(&self.gateway)?;
            let answer = self.gateway.model.answer(request, schema).await;
            attempt.end(answer.as_ref().err());
            answer
        });
        answered.await.unwrap_or(Err(LlmError::Timeout(Phase::Answer))).map(clean_json)
    }

    /// Waits in the queue, and then at most `within` this time for tool calls or an answer. Without tools, the model must answer. The text
    /// contains no thinking. A timeout counts as a failure of the model.
    pub async fn call(mut self, request: ChatRequest, tools: &[ToolSpec], within: Duration) -> Result<Reply, LlmError> {
        self.admitted().await;
        let attempt = Attempt::begin(&self.gateway)?;
        let replied = timeout(within, self.gateway.model.call(request, tools)).await;
        let reply = replied.unwrap_or(Err(LlmError::Timeout(Phase::Answer)));
        attempt.end(reply.as_ref().err());
        let reply = reply?;
        let mut spoken = Spoken::default();
        let text = spoken.push(reply.text) + &spoken.finish();
        let calls = reply
            .calls
            .into_iter()
            .map(|call| ToolCall { name: clean(&call.name).into_owned(), arguments: clean_json(call.arguments) });
        Ok(Reply { text, calls: calls.collect() })
    }

    async fn admitted(&mut self) {
        self.place.admitted().await;
        metrics::histogram!("frontdesk_llm_queue_seconds").record(self.entered.elapsed());
    }
}

/// A call that the breaker has admitted.
struct Attempt {
    gateway: Arc<Gateway>,
    call: breaker::Attempt,
}

impl Attempt {
    fn begin(gateway: &Arc<Gateway>) -> Result<Self, LlmError> {
        gateway.ready()?;
        let call = gateway.breaker.admit().ok_or_else(breaker_open)?;
        Ok(Self { gateway: Arc::clone(gateway), call })
    }

    /// Ends the call, successfully or with this error. Without this method, the outcome is unknown.
    fn end(mut self, error: Option<&LlmError>) {
        if matches!(error, Some(LlmError::Unavailable(_))) {
            self.gateway.look_now.notify_one();
        }
        self.call.outcome = outcome(error);
    }
}

/// Returns what the result of a call shows about the service.
fn outcome(error: Option<&LlmError>) -> Outcome {
    match error {
        None | Some(LlmError::TooLong | LlmError::NoObject | LlmError::WrongType | LlmError::WrongLanguage) => {
            Outcome::Worked
        }
        Some(
            LlmError::Timeout(_)
            | LlmError::Unavailable(_)
            | LlmError::Truncated
            | LlmError::Protocol(_)
            | LlmError::Model(_),
        ) => Outcome::Failed,
        // A busy service is up. A refused request, such as a mistyped model, and an empty answer are not its fault.
        Some(LlmError::Overloaded | LlmError::Refused(_) | LlmError::Empty) => Outcome::Unknown,
    }
}
