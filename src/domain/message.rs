//! Messages, their authors and their metadata.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::commerce::consent::MessagePurpose;
use super::string_enum::string_enum;
use super::{ConversationId, MessageId, Notice, TurnStatus};

string_enum! {
    /// Who wrote a message. `Agent` is a person of the shop.
    pub enum Sender {
        User = "user",
        Assistant = "assistant",
        Agent = "agent",
    }
}

/// The purpose of an assistant message: `metadata.type` in the history, `kind` in the events.
///
/// A desk's own kinds are [`Kind::Desk`], declared by its factory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Greeting,
    LanguageAck,
    CuteGreeting,
    Clarify,
    Social,
    Reply,
    FollowUp,
    ErrorNotice,
    /// A person's answer.
    Agent,
    /// A person takes over.
    Escalation,
    /// A kind of one desk.
    #[serde(untagged)]
    Desk(DeskKind),
}

/// The name of a kind that only one desk sends, such as `warranty_result`: at most 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeskKind {
    bytes: [u8; Self::MAX_BYTES],
    length: usize,
}

impl DeskKind {
    const MAX_BYTES: usize = 32;

    /// Keeps the first 32 bytes of an ASCII name.
    const fn new(name: &str) -> Self {
        let (name, mut bytes, mut at) = (name.as_bytes(), [0; Self::MAX_BYTES], 0);
        while at < name.len() && at < Self::MAX_BYTES {
            bytes[at] = name[at];
            at += 1;
        }
        Self { bytes, length: at }
    }

    fn as_str(&self) -> &str {
        // Only whole names are kept, so this is valid UTF-8.
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl fmt::Debug for DeskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for DeskKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for DeskKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if name.is_empty() || name.len() > Self::MAX_BYTES || !name.chars().all(is_name) {
            return Err(D::Error::custom(format!("'{name}' is not a kind of message")));
        }
        Ok(Self::new(&name))
    }
}

/// A string; `http::docs` adds the names.
impl PartialSchema for Kind {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).build().into()
    }
}

impl ToSchema for Kind {}

impl Kind {
    /// The kinds that any desk may send.
    pub const SHARED: [Self; 10] = [
        Self::Greeting,
        Self::LanguageAck,
        Self::CuteGreeting,
        Self::Clarify,
        Self::Social,
        Self::Reply,
        Self::FollowUp,
        Self::ErrorNotice,
        Self::Agent,
        Self::Escalation,
    ];

    /// Declares a kind of one desk: lowercase letters, digits and underscores, at most 32.
    pub const fn desk(name: &str) -> Self {
        Self::Desk(DeskKind::new(name))
    }

    /// Whether a message of this kind only accompanies the main message of its turn.
    pub fn is_aside(self) -> bool {
        matches!(self, Self::LanguageAck | Self::CuteGreeting | Self::FollowUp)
    }

    /// Returns the name on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Desk(name) => name.as_str(),
            Self::Greeting => "greeting",
            Self::LanguageAck => "language_ack",
            Self::CuteGreeting => "cute_greeting",
            Self::Clarify => "clarify",
            Self::Social => "social",
            Self::Reply => "reply",
            Self::FollowUp => "follow_up",
            Self::ErrorNotice => "error_notice",
            Self::Escalation => "escalation",
            Self::Agent => "agent",
        }
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

    /// Why the message is sent. The shop's own messages are notifications, unless their metadata says otherwise.
    pub fn purpose(&self) -> MessagePurpose {
        match self {
            Self::Customer | Self::Agent { .. } => MessagePurpose::Reply,
            Self::Shop { metadata } => {
                let named = metadata.0.get("purpose").and_then(Value::as_str).and_then(MessagePurpose::parse);
                named.unwrap_or(MessagePurpose::Notification)
            }
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
/// `cancelled`, `failed` or `interrupted`. `by_model: true` marks a text that a language model worded; it supports no later one.
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

    /// Marks the text as worded by a language model.
    #[must_use]
    pub fn worded_by_model(self) -> Self {
        self.with("by_model", true)
    }

    pub fn is_worded_by_model(&self) -> bool {
        self.0.get("by_model") == Some(&Value::Bool(true))
    }

    /// Marks a customer's message that a fixed sentence answers.
    #[must_use]
    pub fn noticed(self, notice: Notice) -> Self {
        self.with("notice", notice)
    }

    pub fn notice(&self) -> Option<Notice> {
        Notice::parse(self.0.get("notice")?.as_str()?)
    }

    pub fn is_cut(&self) -> bool {
        self.0.get("cut") == Some(&Value::Bool(true))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kinds_are_their_names_in_json() {
        for (kind, name) in [(Kind::FollowUp, "follow_up"), (Kind::desk("order_prompt"), "order_prompt")] {
            assert_eq!(json!(kind), json!(name));
            assert_eq!(serde_json::from_value::<Kind>(json!(name)).unwrap(), kind);
            assert_eq!(kind.as_str(), name);
        }
        for name in ["", "Order", "đơn", "a_name_that_is_longer_than_thirty_two_bytes"] {
            assert!(serde_json::from_value::<Kind>(json!(name)).is_err(), "{name}");
        }
    }
}
