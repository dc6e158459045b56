//! Messages: what was said, in order.

use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::Value;

use super::columns::{from_db, object, to_db};
use super::entities::messages;
use super::{StoreError, TenantStore};
use crate::domain::{ConversationId, Message, MessageId, Metadata, Sender, TenantId};

impl TenantStore<'_> {
    /// Oldest first, at most `limit`, behind the place `after` (turn, position) where it is given.
    pub async fn list_messages(
        &self,
        conversation: ConversationId,
        after: Option<(u32, u32)>,
        limit: u64,
    ) -> Result<Vec<Message>, StoreError> {
        let mut query = messages::Entity::find()
            .filter(messages::Column::TenantId.eq(self.tenant.as_str()))
            .filter(messages::Column::ConversationId.eq(conversation.0));
        if let Some((turn, position)) = after {
            query = query.filter(
                Condition::any().add(messages::Column::Turn.gt(to_db(turn))).add(
                    Condition::all()
                        .add(messages::Column::Turn.eq(to_db(turn)))
                        .add(messages::Column::Position.gt(to_db(position))),
                ),
            );
        }
        let rows = query
            .order_by_asc(messages::Column::Turn)
            .order_by_asc(messages::Column::Position)
            .limit(limit)
            .all(&self.store.read)
            .await?;
        rows.into_iter().map(read_message).collect()
    }

    /// The last `limit` messages of the turns before `turn`, oldest first.
    pub async fn list_messages_before(
        &self,
        conversation: ConversationId,
        turn: u32,
        limit: u64,
    ) -> Result<Vec<Message>, StoreError> {
        let rows = messages::Entity::find()
            .filter(messages::Column::TenantId.eq(self.tenant.as_str()))
            .filter(messages::Column::ConversationId.eq(conversation.0))
            .filter(messages::Column::Turn.lt(to_db(turn)))
            .order_by_desc(messages::Column::Turn)
            .order_by_desc(messages::Column::Position)
            .limit(limit)
            .all(&self.store.read)
            .await?;
        rows.into_iter().rev().map(read_message).collect()
    }
}

pub(super) fn message_row(tenant: &TenantId, message: &Message) -> messages::ActiveModel {
    messages::ActiveModel {
        id: Set(message.id.0),
        tenant_id: Set(tenant.to_string()),
        conversation_id: Set(message.conversation_id.0),
        turn: Set(to_db(message.turn)),
        position: Set(to_db(message.position)),
        sender: Set(message.sender.as_str().to_owned()),
        text: Set(message.text.clone()),
        created_at: Set(message.created_at),
        metadata: Set(Value::Object(message.metadata.0.clone())),
        receipt: Set(message.receipt.clone()),
    }
}

pub(super) fn read_message(row: messages::Model) -> Result<Message, StoreError> {
    Ok(Message {
        id: MessageId(row.id),
        conversation_id: ConversationId(row.conversation_id),
        turn: from_db(row.turn),
        position: from_db(row.position),
        sender: Sender::parse(&row.sender)
            .ok_or_else(|| StoreError::Unreadable { table: "messages", reason: "sender".to_owned() })?,
        text: row.text,
        created_at: row.created_at,
        metadata: Metadata(object(row.metadata)),
        receipt: row.receipt,
    })
}
