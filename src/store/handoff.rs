//! A conversation changes hands.

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::conversations::read_conversation;
use super::entities::conversations;
use super::{StoreError, TenantStore};
use crate::domain::{Conversation, ConversationId, Handoff};

impl TenantStore<'_> {
    /// Stores who answers from now on; nobody is waited for any more. A handoff that does not fit how the conversation stands
    /// changes nothing. Gives the conversation as it is then; `None`: there is no such conversation.
    pub async fn hand_over(
        &self,
        id: ConversationId,
        handoff: &Handoff,
        now: DateTime<Utc>,
    ) -> Result<Option<Conversation>, StoreError> {
        let transaction = self.store.begin().await?;
        self.store.check_fence(&transaction).await?;
        let mut update = conversations::Entity::update_many();
        if let Some(from) = handoff.from() {
            update = update.filter(conversations::Column::Status.is_in(from.iter().map(|status| status.as_str())));
        }
        let changed = update
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
        if !changed.is_empty() {
            self.record_act(&transaction).await?;
        }
        transaction.commit().await?;
        match changed.into_iter().next() {
            Some(row) => read_conversation(row).map(Some),
            None => self.find_conversation(id).await,
        }
    }
}
