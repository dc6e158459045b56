//! Turns and their events, as they are read back.

use chrono::{DateTime, Utc};
use sea_orm::prelude::Expr;
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::columns::{from_db, to_db};
use super::conversations::read_conversation;
use super::entities::{conversations, events, messages, turns};
use super::messages::read_message;
use super::{Store, StoreError, TenantStore};
use crate::domain::{Conversation, ConversationId, EventId, Message, MessageId, TenantId, Timings, TurnStatus};

/// How a turn stands.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnRecord {
    pub turn: u32,
    pub message_id: MessageId,
    pub status: TurnStatus,
    pub started_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
    pub timings: Timings,
    /// How many events it had when it ended; 0 before.
    pub events: u32,
    /// Whether they are still in the store.
    pub events_kept: bool,
    /// Somebody wants it to stop.
    pub cancel_requested: bool,
}

/// A stored event: its place and its JSON as the client gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEvent {
    pub id: EventId,
    pub body: String,
}

/// The next turn of a conversation that has not ended, with all that is needed to run it.
#[derive(Clone, Debug)]
pub struct OpenTurn {
    pub record: TurnRecord,
    pub conversation: Conversation,
    pub message: Message,
}

impl TenantStore<'_> {
    pub async fn find_turn(&self, conversation: ConversationId, turn: u32) -> Result<Option<TurnRecord>, StoreError> {
        turns::Entity::find_by_id((conversation.0, to_db(turn)))
            .filter(turns::Column::TenantId.eq(self.tenant.as_str()))
            .one(&self.store.read)
            .await?
            .map(read_turn)
            .transpose()
    }

    /// The events behind `after`, in order, at most `limit`, of turn `only` where it is given.
    pub async fn list_events(
        &self,
        conversation: ConversationId,
        after: EventId,
        only: Option<u32>,
        limit: u64,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let mut query = events::Entity::find()
            .filter(events::Column::TenantId.eq(self.tenant.as_str()))
            .filter(events::Column::ConversationId.eq(conversation.0));
        query = match only {
            Some(turn) => {
                let from = if turn == after.turn { after.n } else { 0 };
                query.filter(events::Column::Turn.eq(to_db(turn))).filter(events::Column::N.gt(to_db(from)))
            }
            None => query.filter(
                Condition::any().add(events::Column::Turn.gt(to_db(after.turn))).add(
                    Condition::all()
                        .add(events::Column::Turn.eq(to_db(after.turn)))
                        .add(events::Column::N.gt(to_db(after.n))),
                ),
            ),
        };
        let rows = query
            .order_by_asc(events::Column::Turn)
            .order_by_asc(events::Column::N)
            .limit(limit)
            .all(&self.store.read)
            .await?;
        Ok(rows
            .into_iter()
            .map(|row| StoredEvent { id: EventId::new(from_db(row.turn), from_db(row.n)), body: row.body })
            .collect())
    }

    /// The number of the last event of the turn that is stored, 0 if there is none.
    pub async fn last_event(&self, conversation: ConversationId, turn: u32) -> Result<u32, StoreError> {
        let last = events::Entity::find()
            .filter(events::Column::TenantId.eq(self.tenant.as_str()))
            .filter(events::Column::ConversationId.eq(conversation.0))
            .filter(events::Column::Turn.eq(to_db(turn)))
            .order_by_desc(events::Column::N)
            .one(&self.store.read)
            .await?;
        Ok(last.map_or(0, |event| from_db(event.n)))
    }

    /// The number of the first turn of the conversation that has not ended; reads nothing else of it.
    pub async fn first_open_turn(&self, conversation: ConversationId) -> Result<Option<u32>, StoreError> {
        let turn: Option<i32> = turns::Entity::find()
            .select_only()
            .column(turns::Column::Turn)
            .filter(turns::Column::TenantId.eq(self.tenant.as_str()))
            .filter(turns::Column::ConversationId.eq(conversation.0))
            .filter(turns::Column::Status.is_in(OPEN))
            .order_by_asc(turns::Column::Turn)
            .into_tuple()
            .one(&self.store.read)
            .await?;
        Ok(turn.map(from_db))
    }

    /// The number of the last turn that has begun to run, 0 if none has.
    pub async fn last_begun_turn(&self, conversation: ConversationId) -> Result<u32, StoreError> {
        let last = turns::Entity::find()
            .filter(turns::Column::TenantId.eq(self.tenant.as_str()))
            .filter(turns::Column::ConversationId.eq(conversation.0))
            .filter(turns::Column::Status.ne(TurnStatus::Queued.as_str()))
            .order_by_desc(turns::Column::Turn)
            .one(&self.store.read)
            .await?;
        Ok(last.map_or(0, |turn| from_db(turn.turn)))
    }

    /// Stores the wish that the turn stops. `Err` inside: how it has ended already; `None`: no such turn.
    pub async fn request_cancel(
        &self,
        conversation: ConversationId,
        turn: u32,
    ) -> Result<Option<Result<(), TurnStatus>>, StoreError> {
        let changed = turns::Entity::update_many()
            .col_expr(turns::Column::CancelRequested, Expr::value(true))
            .filter(turns::Column::TenantId.eq(self.tenant.as_str()))
            .filter(turns::Column::ConversationId.eq(conversation.0))
            .filter(turns::Column::Turn.eq(to_db(turn)))
            .filter(turns::Column::Status.is_in(OPEN))
            .exec(self.store.writer()?)
            .await?;
        if changed.rows_affected > 0 {
            return Ok(Some(Ok(())));
        }
        let record = self.find_turn(conversation, turn).await?;
        Ok(record.map(|record| Err(record.status)))
    }

    /// The first turn of the conversation that has not ended.
    pub async fn find_open_turn(&self, conversation: ConversationId) -> Result<Option<OpenTurn>, StoreError> {
        let Some(turn) = turns::Entity::find()
            .filter(turns::Column::TenantId.eq(self.tenant.as_str()))
            .filter(turns::Column::ConversationId.eq(conversation.0))
            .filter(turns::Column::Status.is_in(OPEN))
            .order_by_asc(turns::Column::Turn)
            .one(&self.store.read)
            .await?
        else {
            return Ok(None);
        };
        let row = conversations::Entity::find_by_id(conversation.0).one(&self.store.read).await?;
        let message = messages::Entity::find_by_id(turn.message_id).one(&self.store.read).await?;
        match (row, message) {
            (Some(row), Some(message)) => Ok(Some(OpenTurn {
                record: read_turn(turn)?,
                conversation: read_conversation(row)?,
                message: read_message(message)?,
            })),
            // Deleted in between.
            _ => Ok(None),
        }
    }
}

/// The statuses of a turn that has not ended.
pub(super) const OPEN: [&str; 2] = ["queued", "running"];

impl Store {
    /// The number of the turn's last event, whatever rows hold it; 0 if there is none.
    pub async fn last_event_of_any(&self, conversation: ConversationId, turn: u32) -> Result<u32, StoreError> {
        let last: Option<i32> = events::Entity::find()
            .select_only()
            .column(events::Column::N)
            .filter(events::Column::ConversationId.eq(conversation.0))
            .filter(events::Column::Turn.eq(to_db(turn)))
            .order_by_desc(events::Column::N)
            .into_tuple()
            .one(&self.read)
            .await?;
        Ok(last.map_or(0, from_db))
    }

    /// Stores that the turn was interrupted, and nothing else; refused once another server has taken the database.
    pub async fn close_turn(
        &self,
        conversation: ConversationId,
        turn: u32,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let transaction = self.begin().await?;
        self.check_fence(&transaction).await?;
        turns::Entity::update_many()
            .col_expr(turns::Column::Status, Expr::value(TurnStatus::Interrupted.as_str()))
            .col_expr(turns::Column::EndedAt, Expr::value(now))
            .filter(turns::Column::ConversationId.eq(conversation.0))
            .filter(turns::Column::Turn.eq(to_db(turn)))
            .filter(turns::Column::Status.is_in(OPEN))
            .exec(&transaction)
            .await?;
        transaction.commit().await
    }

    /// The conversations that have turns which have not ended, with the number of those turns.
    pub async fn list_unfinished(&self) -> Result<Vec<(TenantId, ConversationId, u32)>, StoreError> {
        let rows: Vec<(String, uuid::Uuid, i64)> = turns::Entity::find()
            .select_only()
            .column(turns::Column::TenantId)
            .column(turns::Column::ConversationId)
            .column_as(turns::Column::Turn.count(), "open")
            .filter(turns::Column::Status.is_in(OPEN))
            .group_by(turns::Column::TenantId)
            .group_by(turns::Column::ConversationId)
            .into_tuple()
            .all(&self.read)
            .await?;
        rows.into_iter()
            .map(|(tenant, conversation, open)| {
                let tenant = tenant
                    .parse()
                    .map_err(|_| StoreError::Unreadable { table: "turns", reason: "tenant_id".to_owned() })?;
                Ok((tenant, ConversationId(conversation), u32::try_from(open).unwrap_or(u32::MAX)))
            })
            .collect()
    }
}

pub(super) fn read_turn(row: turns::Model) -> Result<TurnRecord, StoreError> {
    let unreadable = |reason: &str| StoreError::Unreadable { table: "turns", reason: reason.to_owned() };
    Ok(TurnRecord {
        turn: from_db(row.turn),
        message_id: MessageId(row.message_id),
        status: TurnStatus::parse(&row.status).ok_or_else(|| unreadable("status"))?,
        started_at: row.started_at,
        ended_at: row.ended_at,
        timings: serde_json::from_value(row.timings).map_err(|_| unreadable("timings"))?,
        events: from_db(row.events),
        events_kept: row.events_kept,
        cancel_requested: row.cancel_requested,
    })
}
