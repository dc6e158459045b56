//! The receipt of a turn, which explains to the shop what was decided and why.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Turn;
use crate::domain::Conversation;

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
