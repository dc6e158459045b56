//! The desk's state between turns.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::intent::Intent;
use super::topics::Candidate;
use crate::dialogue::shown::Shown;
use crate::retrieval::{Passage, Subject};

/// What the last answer was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Current {
    /// Products of the catalogue.
    Products,
    /// A section of a document.
    Page,
    /// A warranty record.
    Record,
}

/// Products that a page sells together: a computer of listed parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Bundle {
    pub name: String,
    pub price: u64,
    /// The categories of its parts.
    pub parts: Vec<String>,
    /// Its parts in the catalogue, where their prices add up to its price.
    #[serde(default)]
    pub products: Vec<String>,
    /// The parts that the customer replaces, each with what takes its place.
    #[serde(default)]
    pub swaps: Vec<(String, String)>,
    /// The page that sells it.
    #[serde(default)]
    pub file: String,
    #[serde(default)]
    pub section: String,
}

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
    /// The set of products with one price that a page described last.
    pub bundle: Option<Bundle>,
    /// The products that were shown last.
    pub shown: Option<Shown>,
    /// What the last answer was about. It stays until another subject is named.
    pub subject: Option<Subject>,
    /// The kind of that answer.
    pub current: Option<Current>,
    /// How many pieces of a product the customer wants, where it is not one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pieces: BTreeMap<String, u64>,
    /// The topics that the last reply offered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<Candidate>,
}

impl Memory {
    /// Reads the state; the default if it cannot be read.
    pub fn of(state: &Value) -> Self {
        Self::deserialize(state).unwrap_or_default()
    }

    /// Remembers what an answer was about.
    pub fn follow(&mut self, quoted: &[Passage], are_products: bool, asked: &str) {
        let Some(first) = quoted.first() else { return };
        self.current = Some(if are_products { Current::Products } else { Current::Page });
        self.subject = Some(Subject::of(first, asked));
    }

    pub fn into_state(self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
