//! The one door to the language model: who may ask, how long an answer may take, and what is known of the model's
//! health.

mod reply;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
use crate::providers::breaker::{Breaker, Change, Outcome, Pass};

/// What the last look at the model found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// Switched off by [`LlmMode::Offline`].
    Offline,
    /// Nobody has looked yet; counts as down.
    Unknown,
    Up,
    /// The service does not answer.
    Down,
    /// The service answers and does not have the model.
    ModelMissing,
}

/// Wraps a [`ChatModel`] with everything that a turn must not have to think of: a place in the waiting line, deadlines,
/// a circuit breaker, and whether the model is up at all.
///
/// A call is [`Gateway::enter`], then [`Ticket::waiting`] for the positions, then [`Ticket::stream`] or
/// [`Ticket::answer`] or [`Ticket::call`]. Nothing is tried twice.
pub struct Gateway {
    model: Arc<dyn ChatModel>,
    config: LlmConfig,
    admission: Arc<Admission>,
    breaker: Mutex<Breaker>,
    availability: watch::Sender<Availability>,
    look_now: Notify,
}

impl Gateway {
    /// Asks the model nothing yet: until the first [`Gateway::look`] it counts as down.
    pub fn new(model: Arc<dyn ChatModel>, config: LlmConfig) -> Arc<Self> {
        let found = if config.mode == LlmMode::Offline { Availability::Offline } else { Availability::Unknown };
        Arc::new(Self {
            model,
            admission: Admission::new(config.max_concurrent, config.queue_max),
            breaker: Mutex::new(Breaker::new("llm", config.breaker_failures, config.breaker_cool_down)),
            availability: watch::Sender::new(found),
            look_now: Notify::new(),
            config,
        })
    }

    /// Whether a call has a chance now: the model was found, and the breaker lets calls through. Costs nothing.
    pub fn is_up(&self) -> bool {
        self.availability() == Availability::Up && self.breaker().lets_through(Instant::now())
    }

    /// What the last look found. Unlike [`Gateway::is_up`] it does not know the breaker.
    pub fn availability(&self) -> Availability {
        *self.availability.borrow()
    }

    /// Looks at the model now, and remembers what it found; a change is one line in the log. At most
    /// [`LlmConfig::probe_timeout`].
    pub async fn look(&self) -> Result<ModelStatus, LlmError> {
        if self.config.mode == LlmMode::Offline {
            return Err(switched_off());
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
                    self.breaker().close();
                    info!(llm.model = %model, "The language model is up");
                }
                Ok(_) => warn!(llm.model = %model, "The language model's service does not have this model"),
                Err(error) => warn!(llm.model = %model, %error, "The language model is down, replies go on without it"),
            }
        }
        status
    }

    /// Looks again every [`LlmConfig::probe_every`], and at once when a call finds nobody there, until the shutdown.
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
                // The outcome is in `availability`.
                let _ = self.look().await;
            }
        };
        shutdown.run_until_cancelled(looking).await;
    }

    /// Takes a place in the line. Fails at once: [`LlmError::Unavailable`] if the model is down,
    /// [`LlmError::Overloaded`] if the line is full.
    pub fn enter(self: &Arc<Self>) -> Result<Ticket, LlmError> {
        self.ready()?;
        if !self.breaker().lets_through(Instant::now()) {
            return Err(breaker_open());
        }
        let place = self.admission.enter().map_err(|Full| LlmError::Overloaded)?;
        Ok(Ticket { gateway: Arc::clone(self), place, entered: Instant::now() })
    }

    /// [`Gateway::enter`] and [`Ticket::stream`], for a caller who does not show positions.
    pub async fn stream(self: &Arc<Self>, request: ChatRequest) -> Result<Deltas, LlmError> {
        self.enter()?.stream(request).await
    }

    /// [`Gateway::enter`] and [`Ticket::answer`].
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
            Availability::Offline => Err(switched_off()),
            Availability::Unknown => Err(LlmError::Unavailable("nobody has looked for it yet".to_owned())),
            Availability::Down => Err(LlmError::Unavailable("it was down when last looked at".to_owned())),
            Availability::ModelMissing => Err(LlmError::Unavailable("its service does not have the model".to_owned())),
        }
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn switched_off() -> LlmError {
    LlmError::Unavailable("it is switched off".to_owned())
}

fn breaker_open() -> LlmError {
    LlmError::Unavailable("the circuit breaker is open".to_owned())
}

/// A place in the line for one call. Dropping it leaves the line.
pub struct Ticket {
    gateway: Arc<Gateway>,
    place: Place,
    entered: Instant,
}

impl Ticket {
    /// The position in the line, counted from 1: at once the first time, then each time that it changes; `None` once it
    /// is this call's turn. Can be cancelled and called again; need not be called at all.
    pub async fn waiting(&mut self) -> Option<u32> {
        self.place.waiting().await
    }

    /// Waits for its turn and for the first piece of the answer. An error means that nothing was said.
    ///
    /// The pieces begin with a word, not with white space, and hold no thoughts. The place is given back when the
    /// stream ends or is dropped, which also makes the model stop.
    pub async fn stream(mut self, request: ChatRequest) -> Result<Deltas, LlmError> {
        self.admitted().await;
        let attempt = Attempt::begin(&self.gateway)?;
        reply::start(attempt, self.place, request).await
    }

    /// Waits for its turn and for one JSON object of the schema, all `within` this time. Only that it is an object is
    /// checked.
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

    /// Waits for its turn, and then, `within` this time, for what the model does next with these tools. Without tools it has to
    /// answer. The text holds no thoughts. Silence counts against the model.
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

/// One call that the breaker has let through and is to be told the outcome of.
struct Attempt {
    gateway: Arc<Gateway>,
    pass: Pass,
    outcome: Outcome,
}

impl Attempt {
    fn begin(gateway: &Arc<Gateway>) -> Result<Self, LlmError> {
        gateway.ready()?;
        let pass = gateway.breaker().admit(Instant::now()).ok_or_else(breaker_open)?;
        Ok(Self { gateway: Arc::clone(gateway), pass, outcome: Outcome::Unknown })
    }

    /// The first words have come.
    fn speaks(&self) {
        let change = self.gateway.breaker().speaks(self.pass);
        log(change);
    }

    /// It is over, well or with this error. Without this call, the caller has left and nothing is known.
    fn end(mut self, error: Option<&LlmError>) {
        if matches!(error, Some(LlmError::Unavailable(_))) {
            self.gateway.look_now.notify_one();
        }
        self.outcome = outcome(error);
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let change = self.gateway.breaker().report(self.pass, self.outcome, Instant::now());
        log(change);
    }
}

/// What the end of a call tells about the service's health.
fn outcome(error: Option<&LlmError>) -> Outcome {
    match error {
        None | Some(LlmError::TooLong | LlmError::NoObject | LlmError::WrongType) => Outcome::Worked,
        Some(
            LlmError::Timeout(_)
            | LlmError::Unavailable(_)
            | LlmError::Truncated
            | LlmError::Protocol(_)
            | LlmError::Model(_),
        ) => Outcome::Failed,
        // A busy service is alive; a refused request (one persona's mistyped model) and an empty answer are not its
        // fault.
        Some(LlmError::Overloaded | LlmError::Refused(_) | LlmError::Empty) => Outcome::Unknown,
    }
}

fn log(change: Change) {
    match change {
        Change::None => {}
        Change::Opened => warn!("The language model fails again and again: circuit breaker open"),
        Change::Closed => info!("The language model answers again: circuit breaker closed"),
    }
}
