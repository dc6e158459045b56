//! Conversations.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use super::{ConversationId, EventId, Language, TenantId};

/// Why a conversation has its language; a later member is stronger than an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LanguageSource {
    /// Nobody has said anything yet: the persona's first language.
    Persona,
    /// The first message decided.
    Detected,
    /// Asked for, at creation or by a request to switch: only another request changes it.
    Requested,
}

impl LanguageSource {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Persona => "persona",
            Self::Detected => "detected",
            Self::Requested => "requested",
        }
    }

    /// The member that `text` names; the weakest one for a name that is not known.
    pub fn parse(text: &str) -> Self {
        match text {
            "detected" => Self::Detected,
            "requested" => Self::Requested,
            _ => Self::Persona,
        }
    }
}

/// A conversation, without its messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    pub id: ConversationId,
    pub tenant: TenantId,
    /// The shop's own name for the customer, where its back end gave one.
    pub user_id: Option<String>,
    /// A file's stem under `prompts/`.
    pub persona: String,
    pub language: Language,
    pub language_source: LanguageSource,
    /// Who answers: `bot` for now.
    pub status: String,
    pub created_at: DateTime<Utc>,
    /// What the shop's back end wrote at creation.
    pub metadata: Map<String, Value>,
    /// The number of the last accepted turn, 0 before the first.
    pub last_turn: u32,
    /// The last event of the last ended turn, `0.0` before.
    pub last_event_id: EventId,
    /// What the desk remembers between turns; its own format.
    pub state: Value,
}
