//! Queries for messages.

use std::collections::HashMap;

use sea_orm::prelude::Expr;
use sea_orm::sea_query::ExprTrait;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, Iterable, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, Select, Statement, Value as Db,
};
use uuid::Uuid;

use super::entities::{conversations, messages};
use super::jobs::{LeasedJob, NewJob, enqueue};
use super::rows::{json, json_or_null, with_rows};
use super::transaction::Transaction;
use super::{Result, Store, TenantStore, from_db, object, to_db, unreadable};
use crate::domain::text::fold;
use crate::domain::{ConversationId, Message, MessageId, Metadata, Sender, TenantId};

impl TenantStore<'_> {
    /// Lists at most `limit` messages, oldest first, optionally after the position `after` (turn, position).
    pub async fn list_messages(
        &self,
        conversation: ConversationId,
        after: Option<(u32, u32)>,
        limit: u64,
    ) -> Result<Vec<Message>> {
        let mut query = self.messages_of(conversation);
        if let Some((turn, position)) = after {
            let later = messages::Column::Position.gt(to_db(position));
            let in_turn = messages::Column::Turn.eq(to_db(turn)).and(later);
            query = query.filter(messages::Column::Turn.gt(to_db(turn)).or(in_turn));
        }
        self.read_in_order(query.limit(limit)).await
    }

    /// Lists the conversation's messages with these ids, oldest first.
    pub async fn list_messages_by_id(&self, conversation: ConversationId, ids: &[MessageId]) -> Result<Vec<Message>> {
        let ids = messages::Column::Id.is_in(ids.iter().map(|id| id.0));
        self.read_in_order(self.messages_of(conversation).filter(ids)).await
    }

    /// Lists the messages of a turn in order.
    pub async fn list_messages_of_turn(&self, conversation: ConversationId, turn: u32) -> Result<Vec<Message>> {
        self.read_in_order(self.messages_of(conversation).filter(messages::Column::Turn.eq(to_db(turn)))).await
    }

    /// Counts the messages of the turns up to `turn`, without the greeting.
    pub async fn count_messages(&self, conversation: ConversationId, turn: u32) -> Result<u64> {
        let said = self.messages_of(conversation).filter(messages::Column::Turn.between(1, to_db(turn)));
        Ok(said.count(&self.store.read).await?)
    }

    fn messages_of(&self, conversation: ConversationId) -> Select<messages::Entity> {
        self.rows::<messages::Entity>().filter(messages::Column::ConversationId.eq(conversation.0))
    }

    async fn read_in_order(&self, selected: Select<messages::Entity>) -> Result<Vec<Message>> {
        let ordered = selected.order_by_asc(messages::Column::Turn).order_by_asc(messages::Column::Position);
        ordered.all(&self.store.read).await?.into_iter().map(read_message).collect()
    }

    /// Lists the last `limit` messages of the turns before `turn`, oldest first, without their receipts.
    pub async fn list_messages_before(
        &self,
        conversation: ConversationId,
        turn: u32,
        limit: u64,
    ) -> Result<Vec<Message>> {
        use messages::Column;
        // Receipts are long, and desks do not read them.
        let is_read = |column: &Column| !matches!(column, Column::Receipt | Column::Folded);
        let rows = self
            .messages_of(conversation)
            .select_only()
            .columns(Column::iter().filter(is_read))
            .expr_as(Expr::cust("NULL"), "receipt")
            .expr_as(Expr::cust("''"), "folded")
            .filter(messages::Column::Turn.lt(to_db(turn)))
            .order_by_desc(messages::Column::Turn)
            .order_by_desc(messages::Column::Position)
            .limit(limit)
            .all(&self.store.read)
            .await?;
        rows.into_iter().rev().map(read_message).collect()
    }
}

impl Store {
    /// Lists the ids of messages, with their conversations and shops.
    pub(super) async fn list_message_ids(
        &self,
        which: Select<messages::Entity>,
    ) -> Result<Vec<(MessageId, ConversationId, TenantId)>> {
        let ids = [messages::Column::Id, messages::Column::ConversationId, messages::Column::TenantId];
        let rows: Vec<(Uuid, Uuid, String)> = which.select_only().columns(ids).into_tuple().all(&self.read).await?;
        let read =
            |(id, of, tenant): (Uuid, Uuid, String)| Some((MessageId(id), ConversationId(of), tenant.parse().ok()?));
        Ok(rows.into_iter().filter_map(read).collect())
    }

    /// Lists the messages of these jobs, each with its shop and user. Deleted messages are left out.
    pub async fn list_messages_of_jobs(&self, jobs: &[LeasedJob]) -> Result<Vec<(TenantId, Option<String>, Message)>> {
        let ids = jobs.iter().map(|job| job.subject);
        let rows = messages::Entity::find().filter(messages::Column::Id.is_in(ids)).all(&self.read).await?;
        let of = rows.iter().map(|row| row.conversation_id);
        let users: HashMap<Uuid, Option<String>> = conversations::Entity::find()
            .select_only()
            .columns([conversations::Column::Id, conversations::Column::UserId])
            .filter(conversations::Column::Id.is_in(of))
            .into_tuple()
            .all(&self.read)
            .await?
            .into_iter()
            .collect();
        let unreadable = |_| unreadable("messages", "tenant_id");
        let owned = rows.into_iter().filter_map(|row| Some((users.get(&row.conversation_id)?.clone(), row)));
        owned.map(|(user, row)| Ok((row.tenant_id.parse().map_err(unreadable)?, user, read_message(row)?))).collect()
    }
}

/// Stores messages, and the jobs that embed them.
pub(super) async fn insert_messages(
    store: &Store,
    transaction: &Transaction,
    new: &[(&TenantId, &Message)],
) -> Result<()> {
    transaction.execute_raw(insert_statement(transaction.get_database_backend(), new, "")).await?;
    enqueue_embedding(store, transaction, new).await
}

/// Returns the statement that inserts the messages. `on_conflict` follows its values.
pub(super) fn insert_statement(backend: DbBackend, new: &[(&TenantId, &Message)], on_conflict: &str) -> Statement {
    let sql = "INSERT INTO messages (id, tenant_id, conversation_id, turn, position, sender, text, created_at, metadata, \
               receipt, folded) VALUES {rows} ";
    let rows = new.iter().map(|(tenant, message)| message_row(backend, tenant, message));
    with_rows(backend, &[sql, on_conflict].concat(), rows.collect(), [])
}

/// Stores the jobs that embed these messages, if messages are embedded.
pub(super) async fn enqueue_embedding(
    store: &Store,
    transaction: &Transaction,
    new: &[(&TenantId, &Message)],
) -> Result<()> {
    if !store.embeds {
        return Ok(());
    }
    let jobs = new
        .iter()
        .map(|(tenant, message)| NewJob::embed(tenant, message.conversation_id, message.id, message.created_at));
    enqueue(transaction, &jobs.collect::<Vec<_>>()).await
}

fn message_row(backend: DbBackend, tenant: &TenantId, message: &Message) -> [Db; 11] {
    [
        message.id.0.into(),
        tenant.as_str().into(),
        message.conversation_id.0.into(),
        to_db(message.turn).into(),
        to_db(message.position).into(),
        message.sender.as_str().into(),
        message.text.as_str().into(),
        message.created_at.into(),
        json(backend, &message.metadata.0),
        json_or_null(backend, message.receipt.as_ref()),
        fold(&message.text).into(),
    ]
}

pub(super) fn read_message(row: messages::Model) -> Result<Message> {
    Ok(Message {
        id: MessageId(row.id),
        conversation_id: ConversationId(row.conversation_id),
        turn: from_db(row.turn),
        position: from_db(row.position),
        sender: Sender::parse(&row.sender).ok_or_else(|| unreadable("messages", "sender"))?,
        text: row.text,
        created_at: row.created_at,
        metadata: Metadata(object(row.metadata)),
        receipt: row.receipt,
    })
}
