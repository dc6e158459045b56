//! Messages: what was said, by whom, and what is known about it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{ConversationId, MessageId, TurnStatus};

/// Who wrote a message. `Agent` is a person of the shop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sender {
    User,
    Assistant,
    Agent,
}

impl Sender {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Agent => "agent",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::User, Self::Assistant, Self::Agent].into_iter().find(|sender| sender.as_str() == text)
    }
}

/// What an assistant message is for: `metadata.type` in the history, `kind` in the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Greeting,
    LanguageAck,
    CuteGreeting,
    Clarify,
    Social,
    WarrantyPrompt,
    WarrantyPromptInvalid,
    WarrantyResult,
    Reply,
    FollowUp,
    ErrorNotice,
    /// A person's answer.
    Agent,
    /// The returns desk asks for an order number, or for whose order it is.
    OrderPrompt,
    OrderStatus,
    /// Is it this order?
    OrderConfirm,
    /// A return, a refund, or calling the order off?
    ActionPrompt,
    /// Whether the goods may come back.
    ReturnDecision,
    ReturnTicket,
    /// A person takes over.
    Escalation,
}

impl Kind {
    /// Whether a message of this kind goes along with another one, and is not what its turn is about.
    pub fn is_aside(self) -> bool {
        matches!(self, Self::LanguageAck | Self::CuteGreeting | Self::FollowUp)
    }

    /// The kind as clients see it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Greeting => "greeting",
            Self::LanguageAck => "language_ack",
            Self::CuteGreeting => "cute_greeting",
            Self::Clarify => "clarify",
            Self::Social => "social",
            Self::WarrantyPrompt => "warranty_prompt",
            Self::WarrantyPromptInvalid => "warranty_prompt_invalid",
            Self::WarrantyResult => "warranty_result",
            Self::Reply => "reply",
            Self::FollowUp => "follow_up",
            Self::ErrorNotice => "error_notice",
            Self::OrderPrompt => "order_prompt",
            Self::OrderStatus => "order_status",
            Self::OrderConfirm => "order_confirm",
            Self::ActionPrompt => "action_prompt",
            Self::ReturnDecision => "return_decision",
            Self::ReturnTicket => "return_ticket",
            Self::Escalation => "escalation",
            Self::Agent => "agent",
        }
    }
}

/// Who writes a message that becomes a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Author {
    Customer,
    /// A person of the shop who has taken the conversation, and the name that customers are told.
    Agent {
        name: Option<String>,
    },
    /// The shop: the message reports a person's decision, in a conversation of any status.
    Shop {
        metadata: Metadata,
    },
}

impl Author {
    pub fn sender(&self) -> Sender {
        match self {
            Self::Customer => Sender::User,
            Self::Agent { .. } | Self::Shop { .. } => Sender::Agent,
        }
    }

    /// What is known of a message of this author before anybody has read it.
    pub fn metadata(&self) -> Metadata {
        match self {
            Self::Customer => Metadata::default(),
            Self::Agent { name: None } => Metadata::of(Kind::Agent),
            Self::Agent { name: Some(name) } => Metadata::of(Kind::Agent).with("name", name),
            Self::Shop { metadata } => metadata.clone(),
        }
    }
}

/// What is known of a message besides its text, as a JSON object that clients see.
///
/// An assistant message has its [`Kind`] under `type`; a text that is not complete has `cut: true` and
/// `cut_reason`: `cancelled`, `failed` or `interrupted`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(value_type = Object)]
#[serde(transparent)]
pub struct Metadata(pub Map<String, Value>);

impl Metadata {
    pub fn of(kind: Kind) -> Self {
        Self::default().with("type", kind)
    }

    /// The same with `key` set. A value that cannot be written as JSON leaves it unset.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Serialize) -> Self {
        if let Ok(value) = serde_json::to_value(value) {
            self.0.insert(key.to_owned(), value);
        }
        self
    }

    /// Marks a text that is not complete, and how its turn ends because of that.
    #[must_use]
    pub fn cut(self, reason: TurnStatus) -> Self {
        self.with("cut", true).with("cut_reason", reason.as_str())
    }

    pub fn kind(&self) -> Option<Kind> {
        self.0.get("type").and_then(|kind| Kind::deserialize(kind).ok())
    }
}

/// One message of a conversation, as it is stored and shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub id: MessageId,
    pub conversation_id: ConversationId,
    /// The turn it belongs to; 0 for the greeting.
    pub turn: u32,
    /// Its place in the turn: 0 for the message that began it, then 1, 2, … for the answers.
    pub position: u32,
    pub sender: Sender,
    pub text: String,
    pub created_at: DateTime<Utc>,
    pub metadata: Metadata,
    /// Who decided and why, for the shop's own eyes: never shown to a customer.
    pub receipt: Option<Value>,
}
