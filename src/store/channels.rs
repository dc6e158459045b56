//! Customers of channels, and the conversations that they are in.

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};

use super::entities::{TenantEntity, channel_sessions, tenants};
use super::tenants::read_tenant;
use super::{Result, Store, TenantStore};
use crate::domain::commerce::Tenant;
use crate::domain::identity::e164::E164;
use crate::domain::{Channel, Conversation, ConversationId, Notice, TenantId};

use channel_sessions::Column as C;

/// A message that arrived over a channel.
#[derive(Clone, Debug)]
pub struct Inbound {
    pub channel: Channel,
    /// The customer.
    pub from: E164,
    /// The conversation to open with the message; `None`: it continues one.
    pub opens: Option<Box<Conversation>>,
    /// The sentence that answers it.
    pub notice: Option<Notice>,
}

/// A customer of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelSession {
    /// The customer's last conversation.
    pub conversation: ConversationId,
    /// When the customer last wrote.
    pub received_at: DateTime<Utc>,
}

impl Store {
    /// Returns the shop at which customers write to this WhatsApp number.
    pub async fn find_tenant_of_number(&self, number: &E164) -> Result<Option<Tenant>> {
        let found = tenants::Entity::find().filter(tenants::Column::WhatsappNumber.eq(number.as_str()));
        found.one(&self.read).await?.map(read_tenant).transpose()
    }
}

impl TenantStore<'_> {
    /// Returns the customer of the channel, if there was a message from this address.
    pub async fn find_channel_session(&self, channel: Channel, address: &E164) -> Result<Option<ChannelSession>> {
        let its = self.rows::<channel_sessions::Entity>().filter(C::Channel.eq(channel.as_str()));
        let row = its.filter(C::Address.eq(address.as_str())).one(&self.store.read).await?;
        let read = |row: channel_sessions::Model| ChannelSession {
            conversation: ConversationId(row.conversation_id),
            received_at: row.received_at,
        };
        Ok(row.map(read))
    }
}

/// Stores the customer's last conversation and message.
pub(super) async fn keep_session(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    inbound: &Inbound,
    conversation: ConversationId,
    now: DateTime<Utc>,
) -> Result<()> {
    let row = channel_sessions::ActiveModel {
        tenant_id: Set(tenant.to_string()),
        channel: Set(inbound.channel.as_str().to_owned()),
        address: Set(inbound.from.as_str().to_owned()),
        conversation_id: Set(conversation.0),
        received_at: Set(now),
    };
    let insert = channel_sessions::Entity::insert(row).on_conflict(channel_sessions::Entity::replace_existing());
    insert.exec_without_returning(connection).await?;
    Ok(())
}
