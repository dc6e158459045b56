//! A conversation changes hands.

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::conversations::read_conversation;
use super::entities::conversations;
use super::{StoreError, TenantStore};
use crate::domain::{Conversation, ConversationId, Handoff};

impl TenantStore<'_> {
    /// Stores who answers from now on; nobody is waited for any more. `None`: there is no such conversation.
    pub async fn hand_over(
        &self,
        id: ConversationId,
        handoff: &Handoff,
        now: DateTime<Utc>,
    ) -> Result<Option<Conversation>, StoreError> {
        let transaction = self.store.begin().await?;
        self.store.check_fence(&transaction).await?;
        let changed = conversations::Entity::update_many()
            .set(conversations::ActiveModel {
                status: Set(handoff.status().as_str().to_owned()),
                agent: Set(handoff.agent().map(str::to_owned)),
                waiting_since: Set(None),
                last_activity_at: Set(now),
                ..Default::default()
            })
            .filter(conversations::Column::Id.eq(id.0))
            .filter(conversations::Column::TenantId.eq(self.tenant.as_str()))
            .exec_with_returning(&transaction)
            .await?;
        transaction.commit().await?;
        changed.into_iter().next().map(read_conversation).transpose()
    }
}
