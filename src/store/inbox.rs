//! Conversations as the shop's own people look at them: the longest wait first, then newest activity; by who answers, by
//! what was said, by the customer's name.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sea_orm::sea_query::{Expr, ExprTrait, LikeExpr, Order, Query};
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::Value;
use uuid::Uuid;

use super::columns::to_db;
use super::conversations::read_conversation;
use super::entities::{audit, conversations, customers, messages, orders};
use super::messages::read_message;
use super::{StoreError, TenantStore};
use crate::domain::text::fold;
use crate::domain::{Conversation, ConversationId, ConversationStatus, Message, Sender};

/// Which conversations to list.
#[derive(Clone, Debug, Default)]
pub struct InboxQuery<'a> {
    pub status: Option<ConversationStatus>,
    /// Words that each occur in a message, the user's name or the customer's name; marks and capitals make no difference.
    pub text: Option<&'a str>,
    /// After this place.
    pub after: Option<Place>,
    pub limit: u64,
}

/// Where a conversation is in the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A customer who has waited since then; the longest wait first.
    Waiting(DateTime<Utc>, ConversationId),
    /// Any other conversation, by its last activity; the newest first.
    Other(DateTime<Utc>, ConversationId),
}

impl Place {
    pub fn of(conversation: &Conversation) -> Self {
        let since = conversation.waiting_since.filter(|_| conversation.status == ConversationStatus::Waiting);
        match since {
            Some(since) => Self::Waiting(since, conversation.id),
            None => Self::Other(conversation.last_activity_at, conversation.id),
        }
    }
}

/// A longer search counts by its first words.
const WORDS_AT_MOST: usize = 10;
/// So many conversations are found by the name of their customer at most.
const NAMED_AT_MOST: usize = 500;

impl TenantStore<'_> {
    /// The longest wait first, then newest activity, each with its last message.
    pub async fn list_inbox(&self, query: &InboxQuery<'_>) -> Result<Vec<(Conversation, Option<Message>)>, StoreError> {
        let matching = self.matching(query.text).await?;
        let waits = conversations::Column::Status.eq(ConversationStatus::Waiting.as_str());
        let own = || {
            let tenant = conversations::Column::TenantId.eq(self.tenant.as_str());
            conversations::Entity::find().filter(tenant).filter(matching.clone())
        };
        let mut rows = Vec::new();
        let wanted = query.status.is_none_or(|status| status == ConversationStatus::Waiting);
        if wanted && !matches!(query.after, Some(Place::Other(..))) {
            let mut select = own().filter(waits.clone());
            if let Some(Place::Waiting(since, id)) = query.after {
                let tied = conversations::Column::WaitingSince.eq(since).and(conversations::Column::Id.gt(id.0));
                select = select.filter(conversations::Column::WaitingSince.gt(since).or(tied));
            }
            let select = select
                .order_by_asc(conversations::Column::WaitingSince)
                .order_by_asc(conversations::Column::Id)
                .limit(query.limit);
            rows = select.all(&self.store.read).await?;
        }
        let left = query.limit.saturating_sub(rows.len() as u64);
        if left > 0 && query.status != Some(ConversationStatus::Waiting) {
            let mut select = own().filter(match query.status {
                Some(status) => conversations::Column::Status.eq(status.as_str()),
                None => waits.not(),
            });
            if let Some(Place::Other(at, id)) = query.after {
                let tied = conversations::Column::LastActivityAt.eq(at).and(conversations::Column::Id.lt(id.0));
                select = select.filter(conversations::Column::LastActivityAt.lt(at).or(tied));
            }
            let select = select
                .order_by_desc(conversations::Column::LastActivityAt)
                .order_by_desc(conversations::Column::Id)
                .limit(left);
            rows.extend(select.all(&self.store.read).await?);
        }
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

    /// How many conversations have each status, among those that a search for `text` finds.
    pub async fn count_by_status(&self, text: Option<&str>) -> Result<HashMap<ConversationStatus, u64>, StoreError> {
        let rows: Vec<(String, i64)> = conversations::Entity::find()
            .select_only()
            .column(conversations::Column::Status)
            .column_as(conversations::Column::Id.count(), "conversations")
            .filter(conversations::Column::TenantId.eq(self.tenant.as_str()))
            .filter(self.matching(text).await?)
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

    /// The last message of the customer in each conversation.
    pub async fn last_customer_messages(
        &self,
        conversations: &[Conversation],
    ) -> Result<HashMap<ConversationId, Message>, StoreError> {
        let ids = || conversations.iter().map(|conversation| conversation.id.0);
        let own = Condition::all()
            .add(messages::Column::TenantId.eq(self.tenant.as_str()))
            .add(messages::Column::Sender.eq(Sender::User.as_str()));
        let last: Vec<(Uuid, i32)> = messages::Entity::find()
            .select_only()
            .column(messages::Column::ConversationId)
            .column_as(messages::Column::Turn.max(), "last")
            .filter(own.clone().add(messages::Column::ConversationId.is_in(ids())))
            .group_by(messages::Column::ConversationId)
            .into_tuple()
            .all(&self.store.read)
            .await?;
        if last.is_empty() {
            return Ok(HashMap::new());
        }
        let any = last.into_iter().fold(Condition::any(), |any, (id, turn)| {
            any.add(messages::Column::ConversationId.eq(id).and(messages::Column::Turn.eq(turn)))
        });
        let rows = messages::Entity::find().filter(own.add(any)).all(&self.store.read).await?;
        rows.into_iter().map(|row| read_message(row).map(|message| (message.conversation_id, message))).collect()
    }

    /// The names of the customers, as far as they are known: the shop says who the user is, or an order was shown to them.
    pub async fn customer_names(
        &self,
        among: Option<&[Conversation]>,
    ) -> Result<HashMap<ConversationId, String>, StoreError> {
        let (audit, orders, customers) = (audit::Entity, orders::Entity, customers::Entity);
        let mut by_order = Query::select()
            .column((audit, audit::Column::ConversationId))
            .column((audit, audit::Column::After))
            .column((customers, customers::Column::Name))
            .from(audit)
            .inner_join(
                orders,
                Expr::col((orders, orders::Column::TenantId))
                    .equals((audit, audit::Column::TenantId))
                    .and(Expr::col((orders, orders::Column::Number)).equals((audit, audit::Column::OrderNumber))),
            )
            .inner_join(
                customers,
                Expr::col((customers, customers::Column::Id)).equals((orders, orders::Column::CustomerId)),
            )
            .and_where(Expr::col((audit, audit::Column::TenantId)).eq(self.tenant.as_str()))
            .and_where(Expr::col((audit, audit::Column::What)).ne("order.locked"))
            .and_where(Expr::col((audit, audit::Column::ConversationId)).is_not_null())
            .order_by((audit, audit::Column::Id), Order::Asc)
            .to_owned();
        let conversations = conversations::Entity;
        let mut by_user = Query::select()
            .expr_as(Expr::col((conversations, conversations::Column::Id)), "conversation_id")
            .column((customers, customers::Column::Name))
            .from(conversations)
            .inner_join(
                customers,
                Expr::col((customers, customers::Column::TenantId))
                    .equals((conversations, conversations::Column::TenantId))
                    .and(
                        Expr::col((customers, customers::Column::UserId))
                            .equals((conversations, conversations::Column::UserId)),
                    ),
            )
            .and_where(Expr::col((conversations, conversations::Column::TenantId)).eq(self.tenant.as_str()))
            .to_owned();
        if let Some(among) = among {
            let ids = || among.iter().map(|conversation| conversation.id.0);
            by_order.and_where(Expr::col((audit, audit::Column::ConversationId)).is_in(ids()));
            by_user.and_where(Expr::col((conversations, conversations::Column::Id)).is_in(ids()));
        }
        let mut names = HashMap::new();
        for row in self.store.read.query_all(&by_order).await? {
            let after: Option<Value> = row.try_get("", "after")?;
            // An order that the customer only named may be anybody's.
            if after.and_then(|after| after.get("found").cloned()) != Some(Value::Bool(false)) {
                names.insert(ConversationId(row.try_get("", "conversation_id")?), row.try_get("", "name")?);
            }
        }
        for row in self.store.read.query_all(&by_user).await? {
            names.insert(ConversationId(row.try_get("", "conversation_id")?), row.try_get("", "name")?);
        }
        Ok(names)
    }

    /// Conversations in which each word of the text was said, or is part of the name of the user or the customer.
    async fn matching(&self, text: Option<&str>) -> Result<Condition, StoreError> {
        let Some(text) = text else { return Ok(Condition::all()) };
        let names = self.customer_names(None).await?;
        let names: Vec<_> = names.into_iter().map(|(id, name)| (id.0, fold(&name))).collect();
        let each = fold(text)
            .split_whitespace()
            .take(WORDS_AT_MOST)
            .map(|word| self.contains(word, &names))
            .collect::<Vec<_>>();
        Ok(each.into_iter().fold(Condition::all(), Condition::add))
    }

    fn contains(&self, word: &str, names: &[(Uuid, String)]) -> Condition {
        let pattern = || LikeExpr::new(containing(word)).escape('\\');
        let said = Query::select()
            .column(messages::Column::ConversationId)
            .from(messages::Entity)
            .and_where(messages::Column::TenantId.eq(self.tenant.as_str()))
            .and_where(messages::Column::Folded.into_expr().like(pattern()))
            .to_owned();
        let named = names.iter().filter(|(_, name)| name.contains(word)).map(|(id, _)| *id).take(NAMED_AT_MOST);
        Condition::any()
            .add(conversations::Column::FoldedUser.into_expr().like(pattern()))
            .add(conversations::Column::Id.in_subquery(said))
            .add(conversations::Column::Id.is_in(named))
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
