//! The console's list of conversations: sorted by wait and activity, filtered by status and text.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sea_orm::sea_query::{Expr, ExprTrait, LikeExpr, Order, Query};
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use serde_json::Value;
use uuid::Uuid;

use super::conversations::read_conversation;
use super::entities::{conversations, messages};
use super::messages::read_message;
use super::{Result, TenantStore, to_db};
use crate::domain::text::fold;
use crate::domain::{Conversation, ConversationId, ConversationStatus, Message, Sender};

/// Which conversations to list.
#[derive(Clone, Debug, Default)]
pub struct InboxQuery<'a> {
    pub status: Option<ConversationStatus>,
    /// Words that must each occur in a message, the user's id or the customer's name. Case and diacritics are ignored.
    pub text: Option<&'a str>,
    /// Lists only conversations after this place.
    pub after: Option<Place>,
    pub limit: u64,
}

/// The position of a conversation in the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The customer has waited since this time. The longest wait comes first.
    Waiting(DateTime<Utc>, ConversationId),
    /// Any other conversation, by its last activity. The newest comes first.
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

/// The number of words that a search uses; the rest is ignored.
const WORDS_AT_MOST: usize = 10;
/// The maximum number of conversations found by their customer's name.
const NAMED_AT_MOST: usize = 500;

impl TenantStore<'_> {
    /// Lists conversations, each with its last message: first those that wait, longest first, then by newest activity.
    pub async fn list_inbox(&self, query: &InboxQuery<'_>) -> Result<Vec<(Conversation, Option<Message>)>> {
        let matching = self.matching(query.text).await?;
        let waits = conversations::Column::Status.eq(ConversationStatus::Waiting.as_str());
        let own = || self.rows::<conversations::Entity>().filter(matching.clone());
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

    /// Returns one conversation with its last message.
    pub async fn find_in_inbox(&self, id: ConversationId) -> Result<Option<(Conversation, Option<Message>)>> {
        let Some(conversation) = self.find_conversation(id).await? else { return Ok(None) };
        let last = self.last_messages(std::slice::from_ref(&conversation)).await?.remove(&id);
        Ok(Some((conversation, last)))
    }

    /// Counts the conversations that a search for `text` finds, by status.
    pub async fn count_by_status(&self, text: Option<&str>) -> Result<HashMap<ConversationStatus, u64>> {
        let rows: Vec<(String, i64)> = self
            .rows::<conversations::Entity>()
            .select_only()
            .column(conversations::Column::Status)
            .column_as(conversations::Column::Id.count(), "conversations")
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

    /// Returns the last message of each conversation. It belongs to the last turn, because every turn starts with a
    /// message.
    async fn last_messages(&self, conversations: &[Conversation]) -> Result<HashMap<ConversationId, Message>> {
        let turns = conversations.iter().map(|conversation| (conversation.id.0, to_db(conversation.last_turn)));
        self.last_of_turns(self.rows::<messages::Entity>(), turns.collect()).await
    }

    /// Returns the customer's last message in each conversation.
    pub async fn last_customer_messages(
        &self,
        conversations: &[Conversation],
    ) -> Result<HashMap<ConversationId, Message>> {
        let ids = conversations.iter().map(|conversation| conversation.id.0);
        let own = || self.rows::<messages::Entity>().filter(messages::Column::Sender.eq(Sender::User.as_str()));
        let last: Vec<(Uuid, i32)> = own()
            .select_only()
            .column(messages::Column::ConversationId)
            .column_as(messages::Column::Turn.max(), "last")
            .filter(messages::Column::ConversationId.is_in(ids))
            .group_by(messages::Column::ConversationId)
            .into_tuple()
            .all(&self.store.read)
            .await?;
        self.last_of_turns(own(), last).await
    }

    /// Returns the last one of these messages in each of the turns, which are of different conversations.
    async fn last_of_turns(
        &self,
        among: Select<messages::Entity>,
        turns: Vec<(Uuid, i32)>,
    ) -> Result<HashMap<ConversationId, Message>> {
        if turns.is_empty() {
            return Ok(HashMap::new());
        }
        let any = turns.into_iter().fold(Condition::any(), |any, (id, turn)| {
            any.add(messages::Column::ConversationId.eq(id).and(messages::Column::Turn.eq(turn)))
        });
        let rows = among.filter(any).order_by_asc(messages::Column::Position).all(&self.store.read).await?;
        // A later message replaces an earlier one.
        rows.into_iter().map(|row| read_message(row).map(|message| (message.conversation_id, message))).collect()
    }

    /// Returns the known names of customers: from the shop's customer with that `user_id`, or from an order that was
    /// shown in the conversation.
    pub async fn customer_names(&self, among: Option<&[Conversation]>) -> Result<HashMap<ConversationId, String>> {
        let mut by_order = Query::select()
            .columns([("audit", "conversation_id"), ("audit", "after"), ("customers", "name")])
            .from("audit")
            .inner_join(
                "orders",
                Expr::cust("orders.tenant_id = audit.tenant_id AND orders.number = audit.order_number"),
            )
            .inner_join("customers", Expr::cust("customers.id = orders.customer_id"))
            .and_where(Expr::col(("audit", "tenant_id")).eq(self.tenant.as_str()))
            .and_where(Expr::col(("audit", "what")).ne("order.locked"))
            .and_where(Expr::col(("audit", "conversation_id")).is_not_null())
            .order_by(("audit", "id"), Order::Asc)
            .to_owned();
        let is_user = "customers.tenant_id = conversations.tenant_id AND customers.user_id = conversations.user_id";
        let mut by_user = Query::select()
            .expr_as(Expr::col(("conversations", "id")), "conversation_id")
            .column(("customers", "name"))
            .from("conversations")
            .inner_join("customers", Expr::cust(is_user))
            .and_where(Expr::col(("conversations", "tenant_id")).eq(self.tenant.as_str()))
            .to_owned();
        if let Some(among) = among {
            let ids = || among.iter().map(|conversation| conversation.id.0);
            by_order.and_where(Expr::col(("audit", "conversation_id")).is_in(ids()));
            by_user.and_where(Expr::col(("conversations", "id")).is_in(ids()));
        }
        let mut names = HashMap::new();
        for row in self.store.read.query_all(&by_order).await? {
            let after: Option<Value> = row.try_get("", "after")?;
            // The customer may have named somebody else's order.
            if after.and_then(|after| after.get("found").cloned()) != Some(Value::Bool(false)) {
                names.insert(ConversationId(row.try_get("", "conversation_id")?), row.try_get("", "name")?);
            }
        }
        for row in self.store.read.query_all(&by_user).await? {
            names.insert(ConversationId(row.try_get("", "conversation_id")?), row.try_get("", "name")?);
        }
        Ok(names)
    }

    /// Returns the condition for conversations in which each word occurs in a message, the user's id or the customer's
    /// name.
    async fn matching(&self, text: Option<&str>) -> Result<Condition> {
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

/// Returns the `LIKE` pattern of texts that contain these words, with special characters escaped.
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
