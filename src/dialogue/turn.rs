//! A turn while a desk runs it.

mod receipt;
mod sink;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, SubsecRound, Utc};
use serde_json::{Map, Value, json};
use tracing::Instrument;

use crate::domain::{
    Conversation, ConversationStatus, ErrorCode, Event, GuardReason, IntentSource, Kind, Language, LanguageSource,
    Message, MessageId, Metadata, Sender, ShopperId, Timings, TurnFigures, TurnStatus,
};
use crate::persona::Persona;
use crate::store::journal::Change;

pub use receipt::Step;
use receipt::{Steps, begun_with, span};
pub use sink::{Sink, SinkClosed, Stored};

/// The sender of a message, for rate limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The address of a browser; `None` for a shop's back end, which sends for all its customers.
    pub address: Option<IpAddr>,
}

/// A message that is being written.
#[derive(Debug)]
struct Draft {
    id: MessageId,
    kind: Kind,
    text: String,
}

/// A turn while a desk runs it.
pub struct Turn {
    pub conversation: Conversation,
    /// The customer's message.
    pub message: Message,
    /// The messages before it, oldest first.
    pub history: Vec<Message>,
    pub persona: Arc<Persona>,
    pub caller: Caller,
    /// The desk's state between turns; stored when the turn ends.
    pub state: Value,
    /// Whether to wait until each message is stored, so that its consequences can happen immediately.
    pub stores_at_once: bool,
    steps: Steps,
    sink: Box<dyn Sink>,
    draft: Option<Draft>,
    /// The assistant messages of the turn, without receipts.
    said: Vec<Message>,
    /// Rows to store with the next event.
    pending: Vec<Change>,
    receipt: Map<String, Value>,
    /// Guards whose message has not started yet.
    guards: Vec<GuardReason>,
    error: Option<ErrorCode>,
    /// Figures for the statistics.
    figures: TurnFigures,
}

impl Turn {
    pub fn new(
        conversation: Conversation,
        message: Message,
        history: Vec<Message>,
        persona: Arc<Persona>,
        caller: Caller,
        sink: Box<dyn Sink>,
    ) -> Self {
        let state = conversation.state.clone();
        let receipt = begun_with(&conversation);
        Self {
            conversation,
            message,
            history,
            persona,
            caller,
            state,
            stores_at_once: false,
            steps: Steps::default(),
            sink,
            draft: None,
            said: Vec::new(),
            pending: Vec::new(),
            receipt,
            guards: Vec::new(),
            error: None,
            figures: TurnFigures::default(),
        }
    }

    /// The turn's number in its conversation.
    pub fn number(&self) -> u32 {
        self.message.turn
    }

    /// The conversation's language.
    pub fn language(&self) -> Language {
        self.conversation.language
    }

    /// Changes the conversation's language; stored with the next event.
    pub fn set_language(&mut self, language: Language, source: LanguageSource) {
        if (self.conversation.language, self.conversation.language_source) != (language, source) {
            self.conversation.language = language;
            self.conversation.language_source = source;
            self.pending.push(Change::Language(language, source));
        }
    }

    /// Emits an event that is not part of a message.
    pub async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        if let Event::Intent { intent, source, .. } = &event {
            self.figures.intent = Some(intent.clone());
            self.figures.model_failed |= *source == IntentSource::Fallback;
        }
        self.emit_with(event, Vec::new()).await
    }

    /// Reports what the customer wants, in the desk's own words.
    pub async fn report_intent(
        &mut self,
        intent: &str,
        confidence: f64,
        source: IntentSource,
        clarify_needed: bool,
    ) -> Result<(), SinkClosed> {
        self.report_route(intent, None, (confidence, source), clarify_needed).await
    }

    /// Reports what the customer wants, and which part of the desk answers.
    pub async fn report_route(
        &mut self,
        intent: &str,
        route: Option<&str>,
        (confidence, source): (f64, IntentSource),
        clarify_needed: bool,
    ) -> Result<(), SinkClosed> {
        let (intent, language, route) = (intent.to_owned(), self.language(), route.map(str::to_owned));
        self.emit(Event::Intent { intent, confidence, source, language, clarify_needed, route }).await
    }

    /// Sends a whole message.
    pub async fn say(&mut self, kind: Kind, text: &str) -> Result<(), SinkClosed> {
        self.say_with(kind, text, Metadata::of(kind)).await
    }

    /// Sends a whole message with metadata besides its kind.
    pub async fn say_with(&mut self, kind: Kind, text: &str, metadata: Metadata) -> Result<(), SinkClosed> {
        self.write(kind, text).await?;
        self.end_message(metadata).await
    }

    /// Writes the next piece of a message and starts the message with the first one. An empty piece writes nothing.
    pub async fn write(&mut self, kind: Kind, piece: &str) -> Result<(), SinkClosed> {
        if piece.is_empty() {
            return Ok(());
        }
        let id = match &self.draft {
            Some(draft) => draft.id,
            None => {
                let id = MessageId::now();
                self.emit(Event::MessageStart { message_id: id, kind }).await?;
                self.draft = Some(Draft { id, kind, text: String::new() });
                self.begun(kind);
                id
            }
        };
        self.emit(Event::Delta { message_id: id, text: piece.to_owned() }).await?;
        if let Some(draft) = &mut self.draft {
            draft.text.push_str(piece);
        }
        for reason in std::mem::take(&mut self.guards) {
            self.guard(reason).await?;
        }
        Ok(())
    }

    /// Reports that a guard removed something from the current message, or from the next one if there is none.
    pub async fn guard(&mut self, reason: GuardReason) -> Result<(), SinkClosed> {
        match &self.draft {
            Some(draft) => self.emit(Event::Guard { message_id: draft.id, reason }).await,
            None => {
                self.guards.push(reason);
                Ok(())
            }
        }
    }

    /// Ends the current message, if there is one, and stores it with this event.
    pub async fn end_message(&mut self, metadata: Metadata) -> Result<(), SinkClosed> {
        let Some(draft) = &self.draft else { return Ok(()) };
        let said = Message {
            id: draft.id,
            conversation_id: self.conversation.id,
            turn: self.number(),
            position: u32::try_from(self.said.len()).unwrap_or(u32::MAX).saturating_add(1),
            sender: Sender::Assistant,
            text: draft.text.clone(),
            // PostgreSQL stores microseconds.
            created_at: Utc::now().trunc_subsecs(6),
            metadata: metadata.clone(),
            receipt: None,
        };
        let message = Message { receipt: Some(self.receipt_so_far()), ..said.clone() };
        let mut changes = vec![Change::Message(message)];
        if self.conversation.channel.is_some() && !said.metadata.is_cut() {
            changes.push(Change::Deliver { message: said.id, position: said.position });
        }
        let event = Event::MessageEnd { message_id: draft.id, kind: draft.kind, metadata };
        let tracked = self.stores_at_once;
        let stored = self.queue_event(event, changes, tracked).await?;
        self.said.push(said);
        self.draft = None;
        // Before the wait: a turn that is cancelled here has ended its message and must not end it twice.
        match stored {
            Some(stored) => stored.await,
            None => Ok(()),
        }
    }

    /// Ends the current message as incomplete, if there is one.
    pub async fn cut_message(&mut self, reason: TurnStatus) -> Result<(), SinkClosed> {
        match &self.draft {
            Some(draft) => {
                let metadata = Metadata::of(draft.kind).cut(reason);
                self.end_message(metadata).await
            }
            None => Ok(()),
        }
    }

    /// Reports an error once; the turn will end as failed. `message` is for the customer.
    pub async fn fail(&mut self, code: ErrorCode, message: &str) -> Result<(), SinkClosed> {
        if self.error.is_some() {
            return Ok(());
        }
        self.error = Some(code);
        let retryable = !matches!(code, ErrorCode::Internal);
        self.emit(Event::Error { code, message: message.to_owned(), retryable }).await
    }

    /// Notes that this customer wrote the message; stored with the next event.
    pub fn note_seen(&mut self, shopper: ShopperId) {
        self.pending.push(Change::Seen(shopper, self.accepted_at()));
    }

    /// Lets the conversation wait for a person; stored with the next event.
    pub fn call_person(&mut self) {
        // A conversation that waits already is counted.
        self.figures.asked_person = self.conversation.status != ConversationStatus::Waiting;
        self.pending.push(Change::Waiting);
    }

    /// The reported error, if any.
    pub fn error(&self) -> Option<ErrorCode> {
        self.error
    }

    /// Whether a message is being written.
    pub fn is_writing(&self) -> bool {
        self.draft.is_some()
    }

    /// Whether a message was sent or started in this turn. Over a channel, an incomplete message is not delivered, and a greeting alone
    /// answers nothing.
    pub fn has_spoken(&self) -> bool {
        let answers = |said: &Message| !said.metadata.is_cut() && !said.metadata.kind().is_some_and(Kind::is_aside);
        self.said.iter().any(|said| self.conversation.channel.is_none() || answers(said)) || self.draft.is_some()
    }

    /// Names a step: `turn.step("retrieve").take(future).await` adds a span and a timing.
    pub fn step(&self, name: &'static str) -> Step {
        self.steps.next(name)
    }

    /// The durations of the steps so far.
    pub fn timings(&self) -> Timings {
        self.steps.timings()
    }

    /// The time since the message was accepted.
    pub fn age(&self) -> Duration {
        (Utc::now() - self.accepted_at()).to_std().unwrap_or_default()
    }

    /// The kind of the last message that is not an [aside](Kind::is_aside), else of the last message.
    pub fn main_kind(&self) -> Option<Kind> {
        self.figures.kind
    }

    /// The moment the message was accepted.
    pub fn accepted_at(&self) -> DateTime<Utc> {
        self.message.created_at
    }

    /// Returns the last message of this turn that has ended.
    pub fn last_said(&self) -> Option<&Message> {
        self.said.last()
    }

    /// Ends the turn with its status, its timings and the desk's state. For the engine.
    pub async fn end(&mut self, status: TurnStatus) -> Result<(), SinkClosed> {
        let state = Some(self.state.clone());
        let mut changes = std::mem::take(&mut self.pending);
        let timings = self.timings();
        changes.push(Change::TurnEnded { status, timings: timings.clone(), state, figures: self.figures.clone() });
        let done = Event::TurnDone { turn: self.number(), status, timings_ms: timings };
        self.sink.emit_last(done, changes).instrument(span("journal")).await
    }

    /// Returns the last `limit` messages before the next turn. For the engine.
    pub fn into_history(self, limit: usize) -> Vec<Message> {
        let mut messages = self.history;
        messages.push(self.message);
        messages.extend(self.said);
        messages.drain(..messages.len().saturating_sub(limit));
        messages
    }

    /// Begins the turn. For the engine.
    pub async fn start(&mut self) -> Result<(), SinkClosed> {
        let start = Event::TurnStart {
            turn: self.number(),
            message_id: self.message.id,
            sender: self.message.sender,
            text: self.message.text.clone(),
        };
        self.emit_with(start, vec![Change::TurnStarted]).await
    }

    /// Counts the start of a message.
    fn begun(&mut self, kind: Kind) {
        let earlier = self.figures.kind.filter(|earlier| !earlier.is_aside());
        if earlier.is_none() && !kind.is_aside() {
            let (desk, age) = (self.persona.desk.clone(), self.age());
            self.figures.first_text_ms = Some(u32::try_from(age.as_millis()).unwrap_or(u32::MAX));
            metrics::histogram!("frontdesk_turn_first_text_seconds", "desk" => desk).record(age);
        }
        if earlier.is_none() || !kind.is_aside() {
            self.figures.kind = Some(kind);
        }
    }

    fn receipt_so_far(&self) -> Value {
        let mut receipt = self.receipt.clone();
        receipt.insert("timings_ms".to_owned(), json!(self.timings()));
        Value::Object(receipt)
    }

    async fn emit_with(&mut self, event: Event, changes: Vec<Change>) -> Result<(), SinkClosed> {
        self.queue_event(event, changes, false).await.map(|_| ())
    }

    /// Queues an event with its rows. The rows stay pending if the future is dropped while it waits.
    async fn queue_event(
        &mut self,
        event: Event,
        changes: Vec<Change>,
        tracked: bool,
    ) -> Result<Option<Stored>, SinkClosed> {
        let pending = self.pending.len();
        let all = self.pending.iter().cloned().chain(changes).collect();
        let stored = if tracked {
            Some(self.sink.emit_tracked(event, all).await?)
        } else {
            self.sink.emit(event, all).await?;
            None
        };
        self.pending.drain(..pending);
        Ok(stored)
    }
}
