//! Conversations, and who answers in them.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use super::string_enum::string_enum;
use super::{Channel, ConversationId, EventId, Language, TenantId};

string_enum! {
    /// How a conversation got its language. A later variant overrides an earlier one.
    pub enum LanguageSource {
        /// Not settled yet: the persona's first language, or that of a short first message.
        Persona = "persona",
        /// Detected in a message.
        Detected = "detected",
        /// Requested, at creation or in a message. Only another request changes it.
        Requested = "requested",
    }
}

string_enum! {
    /// Who answers the customer.
    pub enum ConversationStatus {
        /// The desk.
        Bot = "bot",
        /// The desk, until a person has time: the customer asked for one, or the desk needs one.
        Waiting = "waiting",
        /// A person of the shop; the desk is silent.
        Taken = "taken",
        /// Nobody, until the customer writes again.
        Closed = "closed",
    }
}

/// A change of who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handoff {
    /// A person takes the conversation.
    Take {
        agent: Option<String>,
    },
    GiveBack,
    Close,
    Reopen,
}

impl Handoff {
    /// Returns the status after the handoff.
    pub fn status(&self) -> ConversationStatus {
        match self {
            Self::Take { .. } => ConversationStatus::Taken,
            Self::GiveBack | Self::Reopen => ConversationStatus::Bot,
            Self::Close => ConversationStatus::Closed,
        }
    }

    /// Returns the statuses that this handoff applies to, or `None` for all. With any other status it has no effect, so
    /// that an outdated page cannot undo a later change.
    pub fn from(&self) -> Option<&'static [ConversationStatus]> {
        match self {
            Self::GiveBack => Some(&[ConversationStatus::Taken, ConversationStatus::Waiting]),
            Self::Reopen => Some(&[ConversationStatus::Closed]),
            Self::Take { .. } | Self::Close => None,
        }
    }

    /// Returns the name of the person who takes the conversation.
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
    /// The customer's id in the shop's own system, if its back end sent one.
    pub user_id: Option<String>,
    /// The channel; `None` for the web. The customer's address there is the user's id.
    pub channel: Option<Channel>,
    /// The name of the persona's file under `prompts/`, without `.md`.
    pub persona: String,
    pub language: Language,
    pub language_source: LanguageSource,
    pub status: ConversationStatus,
    /// The name of the person who has taken it, as customers see it.
    pub agent: Option<String>,
    /// Since when the customer waits for a person.
    pub waiting_since: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    /// The time of the last message, end of a turn or handoff.
    pub last_activity_at: DateTime<Utc>,
    /// Data that the shop's back end attached at creation.
    pub metadata: Map<String, Value>,
    /// The number of the last accepted turn; 0 before the first.
    pub last_turn: u32,
    /// The last event of the last turn that ended; `0.0` before the first.
    pub last_event_id: EventId,
    /// The desk's memory between turns, in the desk's format.
    pub state: Value,
}
