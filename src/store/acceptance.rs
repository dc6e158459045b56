//! Accepts a message in one transaction, so that an acknowledged message is stored exactly once.

use chrono::{DateTime, TimeDelta, Timelike, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::Expr;
use sea_orm::sea_query::{ExprTrait, OnConflict};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder};
use serde_json::json;

use super::entities::{TenantEntity, conversations, daily_turns, idempotency_keys, turns};
use super::idempotency::{IDEMPOTENCY_HOURS, IdempotencyKey, find_key, forget_key};
use super::{Result, TenantStore, from_db, to_db};
use crate::domain::{Author, ConversationId, ConversationStatus, Message, MessageId, Sender, TurnStatus};

/// A message to accept as a turn.
#[derive(Debug)]
pub struct NewTurn<'a> {
    pub conversation: ConversationId,
    pub message_id: MessageId,
    pub author: &'a Author,
    pub text: &'a str,
    pub idempotency: Option<&'a IdempotencyKey>,
    pub now: DateTime<Utc>,
    /// The maximum number of the customer's turns that may wait in the conversation.
    pub waiting_max: u64,
    /// The maximum number of the customer's turns in the conversation in any 60 seconds.
    pub per_minute: Option<u64>,
    /// The maximum number of the shop's turns on a day (UTC).
    pub per_day: Option<u64>,
    /// The server is at its limit of waiting turns. Only a repeated request succeeds.
    pub full: bool,
}

/// The result of [`TenantStore::accept`]. Only `Accepted` changes the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance {
    Accepted {
        turn: u32,
        message_id: MessageId,
    },
    /// The same key and body were accepted before.
    Repeated {
        turn: u32,
        message_id: MessageId,
    },
    /// The key was accepted before with another body.
    KeyReused,
    /// Too many turns wait in the conversation.
    TooManyWaiting,
    /// The limit per minute is reached. `retry_after` is in seconds.
    TooManyPerMinute {
        retry_after: u64,
    },
    /// The limit per day is reached. `retry_after` is in seconds.
    TooManyPerDay {
        retry_after: u64,
    },
    /// The server is at its limit of waiting turns.
    Full,
    /// A person answers in a conversation that is not taken.
    NotTaken,
    /// The shop has no such conversation.
    NotFound,
}

impl TenantStore<'_> {
    /// Stores the message, its queued turn and its idempotency key. A customer's message reopens a closed conversation;
    /// a message of the shop does not.
    pub async fn accept(&self, new: &NewTurn<'_>) -> Result<Acceptance> {
        let transaction = self.store.begin_fenced().await?;
        // The update locks the conversation's row, so that concurrent requests are counted exactly below.
        let (status, closed) = (conversations::Column::Status, ConversationStatus::Closed.as_str());
        let is_customer = *new.author == Author::Customer;
        let reopened = if is_customer { ConversationStatus::Bot.as_str() } else { closed };
        let opened = Expr::case(Expr::col(status).eq(closed), reopened);
        let bumped = conversations::Entity::update_of(self.tenant)
            .col_expr(conversations::Column::LastTurn, Expr::col(conversations::Column::LastTurn).add(1))
            .col_expr(conversations::Column::LastActivityAt, Expr::value(new.now))
            .col_expr(status, opened.finally(Expr::col(status)).into())
            .filter(conversations::Column::Id.eq(new.conversation.0))
            .exec_with_returning(&transaction)
            .await?;
        let Some(conversation) = bumped.into_iter().next() else {
            return Ok(Acceptance::NotFound);
        };
        let scope = new.conversation.to_string();
        if let Some(key) = new.idempotency {
            match find_key(&transaction, self.tenant, &scope, &key.key).await? {
                Some(row) if row.created_at + TimeDelta::hours(IDEMPOTENCY_HOURS) <= new.now => {
                    forget_key(&transaction, &row).await?;
                }
                Some(row) if row.body_hash == key.body_hash => {
                    return Ok(Acceptance::Repeated { turn: from_db(row.turn), message_id: MessageId(row.message_id) });
                }
                Some(_) => return Ok(Acceptance::KeyReused),
                None => {}
            }
        }
        let is_taken = conversation.status == ConversationStatus::Taken.as_str();
        if matches!(new.author, Author::Agent { .. }) && !is_taken {
            return Ok(Acceptance::NotTaken);
        }
        if let Some(refusal) = self.refusal(&transaction, new).await? {
            return Ok(refusal);
        }
        let turn = from_db(conversation.last_turn);
        self.insert_turn(&transaction, new, turn, &scope).await?;
        self.record_act(&transaction).await?;
        transaction.commit().await?;
        Ok(Acceptance::Accepted { turn, message_id: new.message_id })
    }

    /// Returns the limit that is reached, if any.
    async fn refusal(&self, transaction: &DatabaseTransaction, new: &NewTurn<'_>) -> Result<Option<Acceptance>> {
        if new.full {
            return Ok(Some(Acceptance::Full));
        }
        let of_conversation = || {
            turns::Entity::find()
                .filter(turns::Column::ConversationId.eq(new.conversation.0))
                .filter(turns::Column::Sender.eq(Sender::User.as_str()))
        };
        let waiting = of_conversation()
            .filter(turns::Column::Status.eq(TurnStatus::Queued.as_str()))
            .filter(turns::Column::CancelRequested.eq(false))
            .count(transaction)
            .await?;
        if waiting >= new.waiting_max {
            return Ok(Some(Acceptance::TooManyWaiting));
        }
        if let Some(refusal) = self.refusal_of_the_day(transaction, new).await? {
            return Ok(Some(refusal));
        }
        let Some(per_minute) = new.per_minute else { return Ok(None) };
        let minute_ago = new.now - TimeDelta::seconds(60);
        let recent = of_conversation()
            .filter(turns::Column::AcceptedAt.gt(minute_ago))
            .order_by_asc(turns::Column::Turn)
            .all(transaction)
            .await?;
        let over = recent.len().saturating_sub(usize::try_from(per_minute).unwrap_or(usize::MAX).saturating_sub(1));
        let Some(oldest) = over.checked_sub(1).and_then(|index| recent.get(index)) else { return Ok(None) };
        let wait = (oldest.accepted_at - minute_ago).num_seconds() + 1;
        Ok(Some(Acceptance::TooManyPerMinute { retry_after: u64::try_from(wait).unwrap_or(1) }))
    }

    /// Counts the turn as one of the day's, in the transaction that a refusal rolls back.
    async fn refusal_of_the_day(
        &self,
        transaction: &DatabaseTransaction,
        new: &NewTurn<'_>,
    ) -> Result<Option<Acceptance>> {
        let Some(per_day) = new.per_day else { return Ok(None) };
        let row = daily_turns::ActiveModel {
            tenant_id: Set(self.tenant.to_string()),
            day: Set(new.now.date_naive()),
            turns: Set(1),
        };
        let mut count = OnConflict::columns([daily_turns::Column::TenantId, daily_turns::Column::Day]);
        let turns = (daily_turns::Entity, daily_turns::Column::Turns);
        count.value(daily_turns::Column::Turns, Expr::col(turns).add(1));
        let counted = daily_turns::Entity::insert(row).on_conflict(count).exec_with_returning(transaction).await?;
        if u64::from(from_db(counted.turns)) <= per_day {
            return Ok(None);
        }
        let seconds = 86_400 - i64::from(new.now.time().num_seconds_from_midnight());
        Ok(Some(Acceptance::TooManyPerDay { retry_after: u64::try_from(seconds).unwrap_or(1) }))
    }

    async fn insert_turn(
        &self,
        transaction: &DatabaseTransaction,
        new: &NewTurn<'_>,
        turn: u32,
        scope: &str,
    ) -> Result<()> {
        let message = Message {
            id: new.message_id,
            conversation_id: new.conversation,
            turn,
            position: 0,
            sender: new.author.sender(),
            text: new.text.to_owned(),
            created_at: new.now,
            metadata: new.author.metadata(),
            receipt: None,
        };
        self.insert_message(transaction, &message).await?;
        turns::Entity::insert(turns::ActiveModel {
            conversation_id: Set(new.conversation.0),
            turn: Set(to_db(turn)),
            tenant_id: Set(self.tenant.to_string()),
            message_id: Set(new.message_id.0),
            status: Set(TurnStatus::Queued.as_str().to_owned()),
            accepted_at: Set(new.now),
            timings: Set(json!({})),
            events: Set(0),
            cancel_requested: Set(false),
            events_kept: Set(true),
            sender: Set(new.author.sender().as_str().to_owned()),
            asked_person: Set(false),
            model_failed: Set(false),
            ..Default::default()
        })
        .exec_without_returning(transaction)
        .await?;
        if let Some(key) = new.idempotency {
            let row = key.row(self.tenant, scope, &message);
            idempotency_keys::Entity::insert(row).exec_without_returning(transaction).await?;
        }
        Ok(())
    }
}
