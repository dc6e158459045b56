//! What a desk holds while it plays a turn.

mod step;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tracing::Instrument;

use crate::domain::{
    Conversation, ErrorCode, Event, GuardReason, IntentSource, Kind, Language, LanguageSource, Message, MessageId,
    Metadata, Sender, Timings, TurnFigures, TurnStatus,
};
use crate::persona::Persona;
use crate::store::journal::Change;

pub use step::Step;
use step::Steps;

/// Where a turn's events go. One event is stored, with the rows it speaks of, before anybody sees it.
#[async_trait]
pub trait Sink: Send + Sync {
    /// Hands the event over; waits for room, not for the commit. May be dropped while it waits: nothing is then lost.
    async fn emit(&mut self, event: Event, changes: Vec<Change>) -> Result<(), SinkClosed>;

    /// The same; what it gives waits for the commit, and may be dropped as well.
    async fn emit_tracked(&mut self, event: Event, changes: Vec<Change>) -> Result<Stored, SinkClosed>;

    /// Hands an event over, as the turn's last one, and waits until it is stored.
    async fn emit_last(&mut self, event: Event, changes: Vec<Change>) -> Result<(), SinkClosed> {
        self.emit_tracked(event, changes).await?.await
    }
}

/// Ends when an event is stored, or never will be.
pub type Stored = BoxFuture<'static, Result<(), SinkClosed>>;

/// The journal takes no more events of this turn.
#[derive(Debug, thiserror::Error)]
#[error("the journal takes no more events of this turn")]
pub struct SinkClosed;

/// Who sent the message, as far as limits need to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The address of a browser; `None` for a shop's back end, whose address stands for all its customers.
    pub address: Option<IpAddr>,
}

/// A message that is being written.
#[derive(Debug)]
struct Draft {
    id: MessageId,
    kind: Kind,
    text: String,
}

/// A turn while it is played.
pub struct Turn {
    pub conversation: Conversation,
    /// What the customer said.
    pub message: Message,
    /// The last messages before it, oldest first.
    pub history: Vec<Message>,
    pub persona: Arc<Persona>,
    pub caller: Caller,
    /// What the desk remembers between turns; stored when the turn ends.
    pub state: Value,
    /// Whether the end of a message is waited for until it is stored, so that what follows from it can be done at once.
    pub stores_at_once: bool,
    steps: Steps,
    sink: Box<dyn Sink>,
    draft: Option<Draft>,
    /// The place of the last assistant message in the turn.
    position: u32,
    /// Rows that go with the next event.
    pending: Vec<Change>,
    receipt: Map<String, Value>,
    /// Guards that wait for their message to begin.
    guards: Vec<GuardReason>,
    error: Option<ErrorCode>,
    /// What is counted of the turn; its kind is what it was mainly about.
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
            position: 0,
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

    /// The language of everything that is said from now on.
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

    /// Tells the world something that is no message.
    pub async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        if let Event::Intent { intent, source, .. } = &event {
            self.figures.intent = Some(intent.clone());
            self.figures.model_failed |= *source == IntentSource::Fallback;
        }
        self.emit_with(event, Vec::new()).await
    }

    /// Says a whole message.
    pub async fn say(&mut self, kind: Kind, text: &str) -> Result<(), SinkClosed> {
        self.say_with(kind, text, Metadata::of(kind)).await
    }

    /// Says a whole message that carries more than its kind.
    pub async fn say_with(&mut self, kind: Kind, text: &str, metadata: Metadata) -> Result<(), SinkClosed> {
        self.write(kind, text).await?;
        self.end_message(metadata).await
    }

    /// Writes the next piece of a message, which begins with its first piece. Nothing is written for an empty piece.
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

    /// Says that something was held back from the message that is being written, or from the next one if none is.
    pub async fn guard(&mut self, reason: GuardReason) -> Result<(), SinkClosed> {
        match &self.draft {
            Some(draft) => self.emit(Event::Guard { message_id: draft.id, reason }).await,
            None => {
                self.guards.push(reason);
                Ok(())
            }
        }
    }

    /// Ends the message that is being written, if one is; it is stored with this event.
    pub async fn end_message(&mut self, metadata: Metadata) -> Result<(), SinkClosed> {
        let Some(draft) = &self.draft else { return Ok(()) };
        let message = Message {
            id: draft.id,
            conversation_id: self.conversation.id,
            turn: self.number(),
            position: self.position + 1,
            sender: Sender::Assistant,
            text: draft.text.clone(),
            created_at: Utc::now(),
            metadata: metadata.clone(),
            receipt: Some(self.receipt_so_far()),
        };
        let event = Event::MessageEnd { message_id: draft.id, kind: draft.kind, metadata };
        let tracked = self.stores_at_once;
        let stored = self.hand_over(event, vec![Change::Message(message)], tracked).await?;
        self.position += 1;
        self.draft = None;
        // Only now: a turn that is cut off while it waits here has ended its message, and must not end it again.
        match stored {
            Some(stored) => stored.await,
            None => Ok(()),
        }
    }

    /// Ends a message that was cut off, if one was begun.
    pub async fn cut_message(&mut self, reason: TurnStatus) -> Result<(), SinkClosed> {
        match &self.draft {
            Some(draft) => {
                let metadata = Metadata::of(draft.kind).cut(reason);
                self.end_message(metadata).await
            }
            None => Ok(()),
        }
    }

    /// Says, once, that something went wrong; the turn will end as failed. `message` is for the customer.
    pub async fn fail(&mut self, code: ErrorCode, message: &str) -> Result<(), SinkClosed> {
        if self.error.is_some() {
            return Ok(());
        }
        self.error = Some(code);
        let retryable = !matches!(code, ErrorCode::Internal);
        self.emit(Event::Error { code, message: message.to_owned(), retryable }).await
    }

    /// The customer wants a person: stored with the next event.
    pub fn ask_for_person(&mut self) {
        self.figures.asked_person = true;
        self.call_person();
    }

    /// A person of the shop is to see the conversation, whether or not the customer wants one: stored with the next event.
    pub fn call_person(&mut self) {
        self.pending.push(Change::Waiting);
    }

    /// Notes that a language model was asked and did not answer, or not to the end.
    pub fn note_model_error(&mut self, error: impl ToString) {
        self.figures.model_failed = true;
        self.note("model_error", error.to_string());
    }

    /// What went wrong, if anything did.
    pub fn error(&self) -> Option<ErrorCode> {
        self.error
    }

    /// Whether a message is being written.
    pub fn is_writing(&self) -> bool {
        self.draft.is_some()
    }

    /// Whether a message was said or begun in this turn.
    pub fn has_spoken(&self) -> bool {
        self.position > 0 || self.draft.is_some()
    }

    /// Notes for the shop's own eyes why the turn went as it did.
    pub fn note(&mut self, name: &str, value: impl Serialize) {
        if let Ok(value) = serde_json::to_value(value) {
            self.receipt.insert(name.to_owned(), value);
        }
    }

    /// The same for what may come several times: a list.
    pub fn note_one_more(&mut self, name: &str, value: impl Serialize) {
        let list = self.receipt.entry(name).or_insert_with(|| json!([]));
        if let (Ok(value), Value::Array(list)) = (serde_json::to_value(value), list) {
            list.push(value);
        }
    }

    /// The turn's next step: `turn.step("retrieve").take(work).await` is the work with a span and a timing of its own.
    pub fn step(&self, name: &'static str) -> Step {
        self.steps.next(name)
    }

    /// Notes how long something took that is no step of the desk.
    pub fn note_time(&self, name: &str, took: Duration) {
        self.steps.note(name, took);
    }

    /// How long the steps took so far.
    pub fn timings(&self) -> Timings {
        self.steps.timings()
    }

    /// How long ago the message was accepted.
    pub fn age(&self) -> Duration {
        (Utc::now() - self.accepted_at()).to_std().unwrap_or_default()
    }

    /// What the turn was mainly about: the kind of its last message that is no [aside](Kind::is_aside), else of its last.
    pub fn main_kind(&self) -> Option<Kind> {
        self.figures.kind
    }

    /// The moment the message was accepted.
    pub fn accepted_at(&self) -> DateTime<Utc> {
        self.message.created_at
    }

    /// Ends the turn: its last event, with its status, its timings and what the desk remembers, which is whatever it had
    /// settled when the turn was stopped. For the engine.
    pub async fn end(&mut self, status: TurnStatus) -> Result<(), SinkClosed> {
        let state = Some(self.state.clone());
        let mut changes = std::mem::take(&mut self.pending);
        let timings = self.timings();
        changes.push(Change::TurnEnded { status, timings: timings.clone(), state, figures: self.figures.clone() });
        let done = Event::TurnDone { turn: self.number(), status, timings_ms: timings };
        self.sink.emit_last(done, changes).instrument(step::span("journal")).await
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

    /// A message of this kind has begun.
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
        self.hand_over(event, changes, false).await.map(|_| ())
    }

    /// The rows go with the event; they stay pending if the wait for room is given up.
    async fn hand_over(
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

/// What the turn began with, so that it can be played again: the rest of the conversation is in its messages.
fn begun_with(conversation: &Conversation) -> Map<String, Value> {
    let Conversation { language, language_source, status, state, .. } = conversation;
    let source = language_source.as_str();
    let before = json!({ "language": language, "language_source": source, "status": status, "state": state });
    Map::from_iter([("before".to_owned(), before)])
}
