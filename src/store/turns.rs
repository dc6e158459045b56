//! Queries for turns and their events.

use chrono::{DateTime, Utc};
use sea_orm::prelude::Expr;
use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Serialize;
use utoipa::ToSchema;

use super::conversations::read_conversation;
use super::entities::{TenantEntity, conversations, events, messages, turns};
use super::messages::read_message;
use super::{Result, Store, TenantStore, from_db, to_db, unreadable};
use crate::domain::calendar::optional_time;
use crate::domain::figures::CountedTurn;
use crate::domain::{
    Conversation, ConversationId, EventId, Kind, Message, MessageId, Sender, TenantId, Timings, TurnStatus,
};

/// The state of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = TurnView)]
pub struct TurnRecord {
    pub turn: u32,
    #[serde(skip)]
    pub message_id: MessageId,
    pub status: TurnStatus,
    #[serde(serialize_with = "optional_time")]
    pub started_at: Option<DateTime<Utc>>,
    #[serde(serialize_with = "optional_time")]
    pub ended_at: Option<DateTime<Utc>>,
    /// The duration of each step, by name.
    #[serde(rename = "timings_ms")]
    #[schema(value_type = Object)]
    pub timings: Timings,
    /// The number of events, 0 until the turn has ended.
    #[serde(skip)]
    pub events: u32,
    /// Whether the events are still stored.
    #[serde(skip)]
    pub events_kept: bool,
    #[serde(skip)]
    pub cancel_requested: bool,
}

/// A stored event. `body` is its JSON exactly as clients receive it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEvent {
    pub id: EventId,
    pub body: String,
}

/// A turn that has not ended, with everything needed to run it.
#[derive(Clone, Debug)]
pub struct OpenTurn {
    pub record: TurnRecord,
    pub conversation: Conversation,
    pub message: Message,
}

impl TurnRecord {
    /// The turn of a message that was just accepted.
    pub(super) fn queued(message: &Message) -> Self {
        Self {
            turn: message.turn,
            message_id: message.id,
            status: TurnStatus::Queued,
            started_at: None,
            ended_at: None,
            timings: Timings::new(),
            events: 0,
            events_kept: true,
            cancel_requested: false,
        }
    }
}

impl TenantStore<'_> {
    pub async fn find_turn(&self, conversation: ConversationId, turn: u32) -> Result<Option<TurnRecord>> {
        let of_conversation = self.rows::<turns::Entity>().filter(turns::Column::ConversationId.eq(conversation.0));
        let found = of_conversation.filter(turns::Column::Turn.eq(to_db(turn))).one(&self.store.read).await?;
        found.map(read_turn).transpose()
    }

    /// Lists at most `limit` events after `after` in order, of all turns or of turn `only`.
    pub async fn list_events(
        &self,
        conversation: ConversationId,
        after: EventId,
        only: Option<u32>,
        limit: u64,
    ) -> Result<Vec<StoredEvent>> {
        let mut query = self.rows::<events::Entity>().filter(events::Column::ConversationId.eq(conversation.0));
        query = match only {
            Some(turn) => {
                let from = if turn == after.turn { after.n } else { 0 };
                query.filter(events::Column::Turn.eq(to_db(turn))).filter(events::Column::N.gt(to_db(from)))
            }
            None => {
                let in_turn = events::Column::Turn.eq(to_db(after.turn)).and(events::Column::N.gt(to_db(after.n)));
                query.filter(events::Column::Turn.gt(to_db(after.turn)).or(in_turn))
            }
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

    /// Returns the number of the turn's last stored event, or 0.
    pub async fn last_event(&self, conversation: ConversationId, turn: u32) -> Result<u32> {
        let last: Option<i32> = self
            .rows::<events::Entity>()
            .select_only()
            .column(events::Column::N)
            .filter(events::Column::ConversationId.eq(conversation.0))
            .filter(events::Column::Turn.eq(to_db(turn)))
            .order_by_desc(events::Column::N)
            .into_tuple()
            .one(&self.store.read)
            .await?;
        Ok(last.map_or(0, from_db))
    }

    /// Returns the number of the first turn that has not ended.
    pub async fn first_open_turn(&self, conversation: ConversationId) -> Result<Option<u32>> {
        let turn: Option<i32> = self
            .rows::<turns::Entity>()
            .select_only()
            .column(turns::Column::Turn)
            .filter(turns::Column::ConversationId.eq(conversation.0))
            .filter(turns::Column::Status.is_in(OPEN))
            .order_by_asc(turns::Column::Turn)
            .into_tuple()
            .one(&self.store.read)
            .await?;
        Ok(turn.map(from_db))
    }

    /// Returns the number of the last turn that has started, or 0.
    pub async fn last_begun_turn(&self, conversation: ConversationId) -> Result<u32> {
        let last = self
            .rows::<turns::Entity>()
            .filter(turns::Column::ConversationId.eq(conversation.0))
            .filter(turns::Column::Status.ne(TurnStatus::Queued.as_str()))
            .order_by_desc(turns::Column::Turn)
            .one(&self.store.read)
            .await?;
        Ok(last.map_or(0, |turn| from_db(turn.turn)))
    }

    /// Requests that the turn stops. Returns `Err` with the final status if it has already ended, and `None` if it does
    /// not exist.
    pub async fn request_cancel(
        &self,
        conversation: ConversationId,
        turn: u32,
    ) -> Result<Option<Result<(), TurnStatus>>> {
        let changed = turns::Entity::update_of(self.tenant)
            .col_expr(turns::Column::CancelRequested, Expr::value(true))
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

    /// Returns the first turn of the conversation that has not ended.
    pub async fn find_open_turn(&self, conversation: ConversationId) -> Result<Option<OpenTurn>> {
        let Some(turn) = self
            .rows::<turns::Entity>()
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
            // Its age deletes a message, also if its turn has not ended: the turn must be ended without it.
            (Some(_), None) => Err(unreadable("messages", "deleted")),
            // Deleted between the queries.
            (None, _) => Ok(None),
        }
    }

    /// Lists the customers' turns that were accepted at or after `since`.
    pub async fn list_counted_turns(&self, since: DateTime<Utc>) -> Result<Vec<CountedTurn>> {
        let rows: Vec<FiguresRow> = self
            .rows::<turns::Entity>()
            .select_only()
            .columns([
                turns::Column::AcceptedAt,
                turns::Column::Status,
                turns::Column::Intent,
                turns::Column::Kind,
                turns::Column::FirstTextMs,
                turns::Column::AskedPerson,
                turns::Column::ModelFailed,
            ])
            .filter(turns::Column::AcceptedAt.gte(since))
            .filter(turns::Column::Sender.eq(Sender::User.as_str()))
            .into_tuple()
            .all(&self.store.read)
            .await?;
        rows.into_iter().map(read_figures).collect()
    }
}

/// The selected columns, in the order of the query below.
type FiguresRow = (DateTime<Utc>, String, Option<String>, Option<String>, Option<i32>, bool, bool);

/// The statuses of a turn that has not ended.
pub(super) const OPEN: [&str; 2] = ["queued", "running"];

impl Store {
    /// Marks the turn of this event as interrupted. The event is the last that is stored, or number 0. Fails if another server has
    /// taken over the database.
    pub async fn close_turn(&self, conversation: ConversationId, last: EventId, now: DateTime<Utc>) -> Result<()> {
        let (turn, n) = (to_db(last.turn), to_db(last.n));
        let transaction = self.begin_fenced().await?;
        // Readers and the next turn continue after it.
        conversations::Entity::update_many()
            .col_expr(conversations::Column::LastEventTurn, Expr::value(turn))
            .col_expr(conversations::Column::LastEventN, Expr::value(n))
            .filter(conversations::Column::Id.eq(conversation.0))
            .filter(conversations::Column::LastEventTurn.lt(turn))
            .exec(&transaction)
            .await?;
        turns::Entity::update_many()
            .col_expr(turns::Column::Status, Expr::value(TurnStatus::Interrupted.as_str()))
            .col_expr(turns::Column::EndedAt, Expr::value(now))
            .col_expr(turns::Column::Events, Expr::value(n))
            .filter(turns::Column::ConversationId.eq(conversation.0))
            .filter(turns::Column::Turn.eq(turn))
            .filter(turns::Column::Status.is_in(OPEN))
            .exec(&transaction)
            .await?;
        transaction.commit().await
    }

    /// Lists the conversations with turns that have not ended, and how many there are.
    pub async fn list_unfinished(&self) -> Result<Vec<(TenantId, ConversationId, u32)>> {
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
                let tenant = tenant.parse().map_err(|_| unreadable("turns", "tenant_id"))?;
                Ok((tenant, ConversationId(conversation), u32::try_from(open).unwrap_or(u32::MAX)))
            })
            .collect()
    }
}

pub(super) fn read_turn(row: turns::Model) -> Result<TurnRecord> {
    let unreadable = |reason| unreadable("turns", reason);
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

fn read_figures(row: FiguresRow) -> Result<CountedTurn> {
    let (accepted_at, status, intent, kind, first_text_ms, asked_person, model_failed) = row;
    let status = TurnStatus::parse(&status).ok_or_else(|| unreadable("turns", "status"))?;
    Ok(CountedTurn {
        accepted_at,
        status,
        intent,
        answered: kind.is_some_and(|kind| kind != Kind::ErrorNotice.as_str()),
        first_text_ms: first_text_ms.map(from_db),
        asked_person,
        model_failed,
    })
}
