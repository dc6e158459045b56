//! The desk's state between turns.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::intent::Intent;
use crate::dialogue::shown::Shown;

/// Stored when a turn ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Memory {
    /// The last clear intent.
    pub last_intent: Option<Intent>,
    /// How often the desk asked what the customer wants.
    pub clarify_attempts: u32,
    /// How often it asked so in a row.
    pub unclear: u32,
    /// The products that were shown last.
    pub shown: Option<Shown>,
}

impl Memory {
    /// Reads the state; the default if it cannot be read.
    pub fn of(state: &Value) -> Self {
        Self::deserialize(state).unwrap_or_default()
    }

    pub fn into_state(self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
