//! Conversations.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

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

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConversationStatus {
    /// The desk.
    Bot,
    /// The desk, until a person has time: the customer asked for one.
    Waiting,
    /// A person of the shop; the desk is silent.
    Taken,
    /// Nobody, until the customer writes again.
    Closed,
}

impl ConversationStatus {
    pub const ALL: [Self; 4] = [Self::Bot, Self::Waiting, Self::Taken, Self::Closed];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bot => "bot",
            Self::Waiting => "waiting",
            Self::Taken => "taken",
            Self::Closed => "closed",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// A conversation changes hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handoff {
    /// A person takes it, who may have a name.
    Take {
        agent: Option<String>,
    },
    GiveBack,
    Close,
    Reopen,
}

impl Handoff {
    /// Who answers from now on.
    pub fn status(&self) -> ConversationStatus {
        match self {
            Self::Take { .. } => ConversationStatus::Taken,
            Self::GiveBack | Self::Reopen => ConversationStatus::Bot,
            Self::Close => ConversationStatus::Closed,
        }
    }

    /// Who answers until now, for this to change anything; `None`: whoever. So a page that is behind does not undo what
    /// happened meanwhile.
    pub fn from(&self) -> Option<&'static [ConversationStatus]> {
        match self {
            Self::GiveBack => Some(&[ConversationStatus::Taken, ConversationStatus::Waiting]),
            Self::Reopen => Some(&[ConversationStatus::Closed]),
            Self::Take { .. } | Self::Close => None,
        }
    }

    /// The person who answers from now on.
    pub fn agent(&self) -> Option<&str> {
        match self {
            Self::Take { agent } => agent.as_deref(),
            Self::GiveBack | Self::Close | Self::Reopen => None,
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
    pub status: ConversationStatus,
    /// The person who has taken it, by the name that customers are told.
    pub agent: Option<String>,
    /// Since when the customer waits for a person.
    pub waiting_since: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    /// When somebody last said something, a turn ended or it changed hands.
    pub last_activity_at: DateTime<Utc>,
    /// What the shop's back end wrote at creation.
    pub metadata: Map<String, Value>,
    /// The number of the last accepted turn, 0 before the first.
    pub last_turn: u32,
    /// The last event of the last ended turn, `0.0` before.
    pub last_event_id: EventId,
    /// What the desk remembers between turns; its own format.
    pub state: Value,
}
