//! Conversations as the shop's own people look at them: newest activity first, by who answers, by what was said.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sea_orm::sea_query::{ExprTrait, LikeExpr, Query};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::columns::to_db;
use super::conversations::read_conversation;
use super::entities::{conversations, messages};
use super::messages::read_message;
use super::{StoreError, TenantStore};
use crate::domain::text::fold;
use crate::domain::{Conversation, ConversationId, ConversationStatus, Message};

/// Which conversations to list.
#[derive(Clone, Debug, Default)]
pub struct InboxQuery<'a> {
    pub status: Option<ConversationStatus>,
    /// Said in any message, or part of the user's name; marks and capitals make no difference.
    pub text: Option<&'a str>,
    /// Behind this place: the last activity and the id of a conversation.
    pub after: Option<(DateTime<Utc>, ConversationId)>,
    pub limit: u64,
}

impl TenantStore<'_> {
    /// Newest activity first, each with its last message.
    pub async fn list_inbox(&self, query: &InboxQuery<'_>) -> Result<Vec<(Conversation, Option<Message>)>, StoreError> {
        let mut select = conversations::Entity::find().filter(conversations::Column::TenantId.eq(self.tenant.as_str()));
        if let Some(status) = query.status {
            select = select.filter(conversations::Column::Status.eq(status.as_str()));
        }
        if let Some(text) = query.text {
            select = select.filter(self.says(text));
        }
        if let Some((at, id)) = query.after {
            select = select.filter(
                Condition::any().add(conversations::Column::LastActivityAt.lt(at)).add(
                    Condition::all()
                        .add(conversations::Column::LastActivityAt.eq(at))
                        .add(conversations::Column::Id.lt(id.0)),
                ),
            );
        }
        let rows = select
            .order_by_desc(conversations::Column::LastActivityAt)
            .order_by_desc(conversations::Column::Id)
            .limit(query.limit)
            .all(&self.store.read)
            .await?;
        let conversations = rows.into_iter().map(read_conversation).collect::<Result<Vec<_>, _>>()?;
        let mut last = self.last_messages(&conversations).await?;
        let with_last = |conversation: Conversation| {
            let last = last.remove(&conversation.id);
            (conversation, last)
        };
        Ok(conversations.into_iter().map(with_last).collect())
    }

    /// One conversation, with its last message.
    pub async fn find_in_inbox(
        &self,
        id: ConversationId,
    ) -> Result<Option<(Conversation, Option<Message>)>, StoreError> {
        let Some(conversation) = self.find_conversation(id).await? else { return Ok(None) };
        let last = self.last_messages(std::slice::from_ref(&conversation)).await?.remove(&id);
        Ok(Some((conversation, last)))
    }

    /// How many conversations stand so.
    pub async fn count_by_status(&self) -> Result<HashMap<ConversationStatus, u64>, StoreError> {
        let rows: Vec<(String, i64)> = conversations::Entity::find()
            .select_only()
            .column(conversations::Column::Status)
            .column_as(conversations::Column::Id.count(), "conversations")
            .filter(conversations::Column::TenantId.eq(self.tenant.as_str()))
            .group_by(conversations::Column::Status)
            .into_tuple()
            .all(&self.store.read)
            .await?;
        let read = |(status, count): (String, i64)| {
            Some((ConversationStatus::parse(&status)?, u64::try_from(count).unwrap_or_default()))
        };
        Ok(rows.into_iter().filter_map(read).collect())
    }

    /// The last message of each conversation, in one query: it stands in the last turn, which begins with one.
    async fn last_messages(
        &self,
        conversations: &[Conversation],
    ) -> Result<HashMap<ConversationId, Message>, StoreError> {
        if conversations.is_empty() {
            return Ok(HashMap::new());
        }
        let in_last_turn = conversations.iter().fold(Condition::any(), |any, conversation| {
            let own = messages::Column::ConversationId.eq(conversation.id.0);
            any.add(own.and(messages::Column::Turn.eq(to_db(conversation.last_turn))))
        });
        let rows = messages::Entity::find()
            .filter(messages::Column::TenantId.eq(self.tenant.as_str()))
            .filter(in_last_turn)
            .order_by_asc(messages::Column::Position)
            .all(&self.store.read)
            .await?;
        // A later one takes the place of an earlier one.
        rows.into_iter().map(|row| read_message(row).map(|message| (message.conversation_id, message))).collect()
    }

    /// Conversations in which the text was said, or whose user is called so.
    fn says(&self, text: &str) -> Condition {
        let pattern = || LikeExpr::new(containing(&fold(text))).escape('\\');
        let said = Query::select()
            .column(messages::Column::ConversationId)
            .from(messages::Entity)
            .and_where(messages::Column::TenantId.eq(self.tenant.as_str()))
            .and_where(messages::Column::Folded.into_expr().like(pattern()))
            .to_owned();
        Condition::any()
            .add(conversations::Column::FoldedUser.into_expr().like(pattern()))
            .add(conversations::Column::Id.in_subquery(said))
    }
}

/// The pattern of texts that contain these words, whatever signs of patterns stand in them.
fn containing(words: &str) -> String {
    let mut pattern = String::from("%");
    for c in words.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}
