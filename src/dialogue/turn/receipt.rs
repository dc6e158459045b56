//! The receipt of a turn, which explains to the shop what was decided and why. Its steps: each a span among the traces, and a timing.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Map, Value, json};
use tracing::{Instrument, Span, info_span};

use super::Turn;
use crate::domain::{Conversation, Timings};

impl Turn {
    /// Adds a value to the receipt.
    pub fn note(&mut self, name: &str, value: impl Serialize) {
        if let Ok(value) = serde_json::to_value(value) {
            self.receipt.insert(name.to_owned(), value);
        }
    }

    /// Appends a value to a list in the receipt.
    pub fn note_one_more(&mut self, name: &str, value: impl Serialize) {
        let list = self.receipt.entry(name).or_insert_with(|| json!([]));
        if let (Ok(value), Value::Array(list)) = (serde_json::to_value(value), list) {
            list.push(value);
        }
    }

    /// Notes that a language model did not answer completely.
    pub fn note_model_error(&mut self, error: impl ToString) {
        self.figures.model_failed = true;
        self.note("model_error", error.to_string());
    }

    /// Notes a duration that is not a step of the desk.
    pub fn note_time(&self, name: &str, took: Duration) {
        self.steps.note(name, took);
    }
}

/// Returns the conversation's state before the turn, for replays.
pub(super) fn begun_with(conversation: &Conversation) -> Map<String, Value> {
    let Conversation { language, language_source, status, state, .. } = conversation;
    let source = language_source.as_str();
    let before = json!({ "language": language, "language_source": source, "status": status, "state": state });
    Map::from_iter([("before".to_owned(), before)])
}

/// The durations of a turn's steps. Shared, so that a step can borrow the turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps(Arc<Mutex<Timings>>);

/// A named step.
#[derive(Debug)]
pub struct Step {
    name: &'static str,
    steps: Steps,
}

impl Steps {
    pub fn next(&self, name: &'static str) -> Step {
        Step { name, steps: self.clone() }
    }

    pub fn note(&self, name: &str, took: Duration) {
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), ms);
    }

    pub fn timings(&self) -> Timings {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Step {
    /// Runs the future as this step. A future that is dropped has a span but no timing.
    pub async fn take<T>(self, work: impl Future<Output = T>) -> T {
        let started = Instant::now();
        let output = work.instrument(span(self.name)).await;
        self.steps.note(self.name, started.elapsed());
        output
    }
}

/// Returns the span of a step. `otel.name` is its name in traces, since `tracing` span names are static.
pub(super) fn span(name: &'static str) -> Span {
    info_span!("step", otel.name = name)
}
