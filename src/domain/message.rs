//! Messages, their authors and their metadata.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::string_enum::string_enum;
use super::{ConversationId, MessageId, TurnStatus};

string_enum! {
    /// Who wrote a message. `Agent` is a person of the shop.
    pub enum Sender {
        User = "user",
        Assistant = "assistant",
        Agent = "agent",
    }
}

string_enum! {
    /// The purpose of an assistant message: `metadata.type` in the history, `kind` in the events.
    pub enum Kind {
        Greeting = "greeting",
        LanguageAck = "language_ack",
        CuteGreeting = "cute_greeting",
        Clarify = "clarify",
        Social = "social",
        WarrantyPrompt = "warranty_prompt",
        WarrantyPromptInvalid = "warranty_prompt_invalid",
        WarrantyResult = "warranty_result",
        Reply = "reply",
        FollowUp = "follow_up",
        ErrorNotice = "error_notice",
        /// A person's answer.
        Agent = "agent",
        /// Asks for an order number, or for proof of whose order it is.
        OrderPrompt = "order_prompt",
        OrderStatus = "order_status",
        /// Asks whether this is the right order.
        OrderConfirm = "order_confirm",
        /// Asks whether the customer wants a return, a refund or a cancellation.
        ActionPrompt = "action_prompt",
        /// Reports whether the goods may be returned.
        ReturnDecision = "return_decision",
        ReturnTicket = "return_ticket",
        /// Reports that a person takes over.
        Escalation = "escalation",
    }
}

impl Kind {
    /// Whether a message of this kind only accompanies the main message of its turn.
    pub fn is_aside(self) -> bool {
        matches!(self, Self::LanguageAck | Self::CuteGreeting | Self::FollowUp)
    }
}

/// The author of a message that starts a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Author {
    Customer,
    /// A person of the shop who has taken the conversation. Customers see the name.
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

    /// Returns the metadata of a new message of this author.
    pub fn metadata(&self) -> Metadata {
        match self {
            Self::Customer => Metadata::default(),
            Self::Agent { name: None } => Metadata::of(Kind::Agent),
            Self::Agent { name: Some(name) } => Metadata::of(Kind::Agent).with("name", name),
            Self::Shop { metadata } => metadata.clone(),
        }
    }
}

/// A message's metadata: a JSON object that clients see.
///
/// An assistant message has its [`Kind`] under `type`. An incomplete text has `cut: true` and a `cut_reason`:
/// `cancelled`, `failed` or `interrupted`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(value_type = Object)]
#[serde(transparent)]
pub struct Metadata(pub Map<String, Value>);

impl Metadata {
    pub fn of(kind: Kind) -> Self {
        Self::default().with("type", kind)
    }

    /// Sets `key` to `value`. A value that cannot be serialized is left out.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Serialize) -> Self {
        if let Ok(value) = serde_json::to_value(value) {
            self.0.insert(key.to_owned(), value);
        }
        self
    }

    /// Marks the text as incomplete. `reason` is how the turn ended.
    #[must_use]
    pub fn cut(self, reason: TurnStatus) -> Self {
        self.with("cut", true).with("cut_reason", reason.as_str())
    }

    pub fn kind(&self) -> Option<Kind> {
        self.0.get("type").and_then(|kind| Kind::deserialize(kind).ok())
    }
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub id: MessageId,
    pub conversation_id: ConversationId,
    /// The turn it belongs to; 0 for the greeting.
    pub turn: u32,
    /// The position in the turn: 0 for the message that started it, then 1, 2, … for the answers.
    pub position: u32,
    pub sender: Sender,
    pub text: String,
    pub created_at: DateTime<Utc>,
    pub metadata: Metadata,
    /// How the answer was made. Only the shop sees it, never a customer.
    pub receipt: Option<Value>,
}
