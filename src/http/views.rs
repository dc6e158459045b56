//! The JSON form of conversations and messages.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::domain::calendar::{optional_time, time};
use crate::domain::{
    Channel, Conversation, ConversationId, ConversationStatus, EventId, Language, Message, MessageId, Metadata, Sender,
};
use crate::jobs::deliver::WINDOW;
use crate::store::deliveries::Delivered;
use crate::store::{StoreError, TenantStore};

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
    /// The channel of its messages; absent on the web.
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<Channel>,
    /// Until when the channel delivers texts: 24 hours after the customer's last message. Only for the shop, in a conversation with a
    /// channel.
    #[serde(serialize_with = "optional_time", skip_serializing_if = "Option::is_none")]
    pub reply_until: Option<DateTime<Utc>>,
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
            channel: conversation.channel,
            reply_until: None,
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
    /// How far its delivery over a channel has come. Only for callers with an API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<Delivered>,
}

impl ConversationView {
    /// Describes the conversation to the shop.
    pub async fn for_shop(store: &TenantStore<'_>, conversation: Conversation) -> Result<Self, StoreError> {
        let reply_until = reply_until(store, &conversation).await?;
        Ok(Self { reply_until, ..conversation.into() })
    }
}

async fn reply_until(
    store: &TenantStore<'_>,
    conversation: &Conversation,
) -> Result<Option<DateTime<Utc>>, StoreError> {
    let customer = conversation.user_id.as_ref().and_then(|user| user.parse().ok());
    let (Some(channel), Some(customer)) = (conversation.channel, customer) else { return Ok(None) };
    let session = store.find_channel_session(channel, &customer).await?;
    Ok(session.map(|session| session.received_at + WINDOW))
}

impl MessageView {
    pub fn new(message: Message, with_receipt: bool, delivery: Option<Delivered>) -> Self {
        Self {
            id: message.id,
            conversation_id: message.conversation_id,
            turn: message.turn,
            sender: message.sender,
            text: message.text,
            created_at: message.created_at,
            metadata: message.metadata,
            receipt: message.receipt.filter(|_| with_receipt),
            delivery,
        }
    }
}
