//! What the desk remembers of a conversation between two turns.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::intent::Intent;

/// Stored with the end of every turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Memory {
    /// The last intent that was clear.
    pub last_intent: Option<Intent>,
    /// How often the desk had to ask what the customer wants. No ceiling.
    pub clarify_attempts: u32,
}

impl Memory {
    /// What the state says; a state that cannot be read is a fresh start.
    pub fn of(state: &Value) -> Self {
        Self::deserialize(state).unwrap_or_default()
    }

    pub fn into_state(self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
