//! The JSON form of conversations and messages.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::domain::calendar::time;
use crate::domain::{
    Conversation, ConversationId, ConversationStatus, EventId, Language, Message, MessageId, Metadata, Sender,
};

/// A conversation, without its messages.
#[derive(Serialize, ToSchema)]
#[schema(as = Conversation)]
pub(super) struct ConversationView {
    id: ConversationId,
    user_id: Option<String>,
    persona: String,
    #[schema(value_type = String, example = "vi")]
    preferred_language: Language,
    /// Who answers: the bot (`bot`, and `waiting` while the customer waits for a person), a person (`taken`), or no one
    /// (`closed`).
    status: ConversationStatus,
    /// The person who has taken it, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(serialize_with = "time")]
    created_at: DateTime<Utc>,
    /// The last event of the last ended turn, or `0.0`.
    #[schema(value_type = String, example = "3.17")]
    last_event_id: EventId,
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
}

impl From<Conversation> for ConversationView {
    fn from(conversation: Conversation) -> Self {
        Self {
            id: conversation.id,
            user_id: conversation.user_id,
            persona: conversation.persona,
            preferred_language: conversation.language,
            status: conversation.status,
            agent: conversation.agent,
            created_at: conversation.created_at,
            last_event_id: conversation.last_event_id,
            metadata: conversation.metadata,
        }
    }
}

/// A message in the history.
#[derive(Serialize, ToSchema)]
#[schema(as = Message)]
pub(super) struct MessageView {
    id: MessageId,
    conversation_id: ConversationId,
    /// 0 for the greeting.
    turn: u32,
    sender: Sender,
    text: String,
    #[serde(serialize_with = "time")]
    created_at: DateTime<Utc>,
    metadata: Metadata,
    /// Who decided and why. Only for callers with an API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    receipt: Option<Value>,
}

impl MessageView {
    pub fn new(message: Message, with_receipt: bool) -> Self {
        Self {
            id: message.id,
            conversation_id: message.conversation_id,
            turn: message.turn,
            sender: message.sender,
            text: message.text,
            created_at: message.created_at,
            metadata: message.metadata,
            receipt: message.receipt.filter(|_| with_receipt),
        }
    }
}
