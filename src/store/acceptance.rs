//! Accepts messages, several in one transaction, so that an acknowledged message is stored exactly once.
//!
//! One statement counts the turn if no limit is reached. Only if it counts nothing, the reason is read.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Timelike, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::Expr;
use sea_orm::sea_query::{ExprTrait, OnConflict};
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, FromQueryResult, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
    Statement,
};
use tokio::sync::MutexGuard;

use super::channels::Inbound;
use super::entities::{conversations, daily_turns, idempotency_keys, turns};
use super::settings::SERVING;
use super::transaction::Transaction;
use super::turns::OpenTurn;
use super::{Result, Store, TenantStore, from_db, to_db};
use crate::domain::{Author, ConversationId, ConversationStatus, Message, MessageId, Sender, TenantId, TurnStatus};

mod batch;

use batch::Batch;

/// How long an `Idempotency-Key` is kept, as the wire contract promises.
pub const IDEMPOTENCY_HOURS: i64 = 24;

/// A message to accept as a turn.
#[derive(Clone, Copy, Debug)]
pub struct NewTurn<'a> {
    pub conversation: ConversationId,
    pub message_id: MessageId,
    pub author: &'a Author,
    pub text: &'a str,
    pub idempotency: Option<&'a IdempotencyKey>,
    /// What a message over a channel brings along. Its customer's limits do not refuse it.
    pub inbound: Option<&'a Inbound>,
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

/// What became of a message. Only an accepted one is stored.
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

impl Acceptance {
    /// Whether the customer wrote too much.
    fn is_customers_limit(self) -> bool {
        matches!(self, Self::TooManyWaiting | Self::TooManyPerMinute { .. } | Self::TooManyPerDay { .. })
    }
}

/// Takes the next turn number of the conversation, unless a limit is reached, a person answers in a conversation that is not taken,
/// the key was used, or another server has claimed the database, with the condition of `Fence::holds`. `{lock}` makes
/// a new claim wait for this transaction.
///
/// Turns run in order, so those that wait come after the last one that ended.
const NUMBER_TURN: &str = "\
UPDATE conversations SET last_turn = last_turn + 1, last_activity_at = $3, \
status = CASE WHEN status = 'closed' THEN $4 ELSE status END \
WHERE id = $1 AND tenant_id = $2 AND ($5 OR status = 'taken') \
AND NOT EXISTS (SELECT 1 FROM idempotency_keys WHERE tenant_id = $2 AND scope = $6 AND key = $7) \
AND (SELECT COUNT(*) FROM turns WHERE conversation_id = $1 AND turn > conversations.last_event_turn \
AND sender = 'user' AND status = 'queued' AND NOT cancel_requested) < $8 \
AND NOT EXISTS (SELECT 1 FROM (SELECT accepted_at FROM turns WHERE conversation_id = $1 AND sender = 'user' \
ORDER BY turn DESC LIMIT 1 OFFSET $9) AS earlier WHERE accepted_at > $10) \
AND COALESCE((SELECT turns FROM daily_turns WHERE tenant_id = $2 AND day = $11), 0) < CAST($12 AS bigint) \
AND ($13 OR EXISTS (SELECT 1 FROM settings WHERE tenant_id = 'default' AND name = $14 AND value = $15 {lock})) \
RETURNING *";

/// Later than every turn.
const FAR_FUTURE: TimeDelta = TimeDelta::days(36_500);

/// Attempts to number a turn if nothing is found that refused it: on PostgreSQL, the reason may have passed.
const ATTEMPTS: usize = 3;

/// The result for one message, and its turn if no other turn of the conversation waits or runs before it.
pub type Decision = (Acceptance, Option<OpenTurn>);

impl TenantStore<'_> {
    /// Takes the next turn number, or returns why the message is refused. A refusal changes nothing but an expired key.
    async fn number_turn(
        &self,
        transaction: &Transaction,
        new: &NewTurn<'_>,
    ) -> Result<Result<conversations::Model, Acceptance>> {
        for _ in 0..ATTEMPTS {
            if !new.full
                && let Some(row) = transaction.query_one_raw(self.number_statement(transaction, new)).await?
            {
                let row = conversations::Model::from_query_result(&row, "")?;
                if new.per_day.is_some() {
                    self.count_of_the_day(transaction, new).await?;
                }
                return Ok(Ok(row));
            }
            self.store.check_fence(transaction).await?;
            if let Some(refusal) = self.refusal(transaction, new).await? {
                return Ok(Err(refusal));
            }
        }
        Ok(Err(Acceptance::Full))
    }

    fn number_statement(&self, transaction: &Transaction, new: &NewTurn<'_>) -> Statement {
        let lock = if self.store.is_sqlite() { "" } else { "FOR SHARE" };
        let is_agent = matches!(new.author, Author::Agent { .. });
        let to_bigint = |limit: u64| i64::try_from(limit).unwrap_or(i64::MAX);
        let fence = self.store.fence.as_ref().map(|fence| fence.name().to_owned());
        let values = [
            new.conversation.0.into(),
            self.tenant.as_str().into(),
            new.now.into(),
            new.reopened().as_str().into(),
            (!is_agent).into(),
            new.conversation.to_string().into(),
            new.idempotency.map(|key| key.key.clone()).into(),
            to_bigint(new.waiting_max).into(),
            to_bigint(new.per_minute.map_or(0, |limit| limit.saturating_sub(1))).into(),
            new.per_minute.map_or(new.now + FAR_FUTURE, |_| new.minute_ago()).into(),
            new.now.date_naive().into(),
            to_bigint(new.per_day.unwrap_or(u64::MAX)).into(),
            fence.is_none().into(),
            SERVING.into(),
            fence.into(),
        ];
        Statement::from_sql_and_values(transaction.get_database_backend(), NUMBER_TURN.replace("{lock}", lock), values)
    }

    /// Returns why the turn got no number.
    async fn refusal(&self, transaction: &Transaction, new: &NewTurn<'_>) -> Result<Option<Acceptance>> {
        let found = self.rows::<conversations::Entity>().filter(conversations::Column::Id.eq(new.conversation.0));
        let Some(conversation) = found.one(transaction).await? else { return Ok(Some(Acceptance::NotFound)) };
        if let Some(key) = new.idempotency {
            match find_key(transaction, self.tenant, &new.conversation.to_string(), &key.key).await? {
                Some(row) if row.created_at + TimeDelta::hours(IDEMPOTENCY_HOURS) <= new.now => {
                    let id = (row.tenant_id, row.scope, row.key);
                    idempotency_keys::Entity::delete_by_id(id).exec(transaction).await?;
                }
                Some(row) if row.body_hash == key.body_hash => {
                    let (turn, message_id) = (from_db(row.turn), MessageId(row.message_id));
                    return Ok(Some(Acceptance::Repeated { turn, message_id }));
                }
                Some(_) => return Ok(Some(Acceptance::KeyReused)),
                None => {}
            }
        }
        let is_taken = conversation.status == ConversationStatus::Taken.as_str();
        if matches!(new.author, Author::Agent { .. }) && !is_taken {
            return Ok(Some(Acceptance::NotTaken));
        }
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
        if let Some(per_day) = new.per_day {
            let day = (self.tenant.to_string(), new.now.date_naive());
            let counted = daily_turns::Entity::find_by_id(day).one(transaction).await?;
            if counted.is_some_and(|counted| u64::from(from_db(counted.turns)) >= per_day) {
                let seconds = 86_400 - i64::from(new.now.time().num_seconds_from_midnight());
                return Ok(Some(Acceptance::TooManyPerDay { retry_after: u64::try_from(seconds).unwrap_or(1) }));
            }
        }
        let Some(per_minute) = new.per_minute else { return Ok(None) };
        let oldest = of_conversation()
            .order_by_desc(turns::Column::Turn)
            .offset(per_minute.saturating_sub(1))
            .limit(1)
            .one(transaction)
            .await?;
        let Some(oldest) = oldest.filter(|turn| turn.accepted_at > new.minute_ago()) else { return Ok(None) };
        let wait = (oldest.accepted_at - new.minute_ago()).num_seconds() + 1;
        Ok(Some(Acceptance::TooManyPerMinute { retry_after: u64::try_from(wait).unwrap_or(1) }))
    }

    /// Counts the turn as one of the day's.
    async fn count_of_the_day(&self, transaction: &Transaction, new: &NewTurn<'_>) -> Result<()> {
        let row = daily_turns::ActiveModel {
            tenant_id: Set(self.tenant.to_string()),
            day: Set(new.now.date_naive()),
            turns: Set(1),
        };
        let mut count = OnConflict::columns([daily_turns::Column::TenantId, daily_turns::Column::Day]);
        let turns = (daily_turns::Entity, daily_turns::Column::Turns);
        count.value(daily_turns::Column::Turns, Expr::col(turns).add(1));
        daily_turns::Entity::insert(row).on_conflict(count).exec_without_returning(transaction).await?;
        Ok(())
    }
}

impl Store {
    /// Waits for the right to accept messages. On PostgreSQL, a batch then waits for a locked row as long as `lock_wait`, for example
    /// while the journal commits events of that conversation, or a customer is erased.
    pub async fn acceptor(&self, lock_wait: Duration) -> Acceptor<'_> {
        Acceptor { store: self, lock_wait, _one_batch: self.accepting.lock().await }
    }
}

/// Accepts messages. There is one at a time: the limits are exact only if no other transaction counts turns, which on
/// PostgreSQL would not see these.
#[derive(Debug)]
pub struct Acceptor<'a> {
    store: &'a Store,
    lock_wait: Duration,
    _one_batch: MutexGuard<'a, ()>,
}

impl Acceptor<'_> {
    /// Stores each message, its queued turn and its idempotency key, or refuses it, in one transaction. A customer's message reopens
    /// a closed conversation; a message of the shop does not.
    pub async fn accept_all(&self, new: &[(TenantStore<'_>, &NewTurn<'_>)]) -> Result<Vec<Decision>> {
        self.store.in_time(self.accept_batch(new)).await
    }

    async fn accept_batch(&self, new: &[(TenantStore<'_>, &NewTurn<'_>)]) -> Result<Vec<Decision>> {
        let mut batch = Batch::begin(self.store, self.lock_wait).await?;
        // In the order in which the journal and an erasure lock conversations.
        let mut order: Vec<usize> = (0..new.len()).collect();
        order.sort_by_key(|at| new[*at].1.conversation);
        let mut results = Vec::with_capacity(new.len());
        for at in order {
            let (shop, new) = new[at];
            results.push((at, batch.decide(shop, new).await?));
        }
        batch.commit().await?;
        results.sort_by_key(|(at, _)| *at);
        Ok(results.into_iter().map(|(_, decision)| decision).collect())
    }
}

impl NewTurn<'_> {
    fn minute_ago(&self) -> DateTime<Utc> {
        self.now - TimeDelta::seconds(60)
    }

    /// The status of a closed conversation after this message.
    fn reopened(&self) -> ConversationStatus {
        match self.author {
            Author::Customer => ConversationStatus::Bot,
            _ => ConversationStatus::Closed,
        }
    }

    fn message(&self, turn: u32) -> Message {
        Message {
            id: self.message_id,
            conversation_id: self.conversation,
            turn,
            position: 0,
            sender: self.author.sender(),
            text: self.text.to_owned(),
            created_at: self.now,
            metadata: self.author.metadata(),
            receipt: None,
        }
    }
}

/// The `Idempotency-Key` of a request, with a hash of its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub key: String,
    /// The same key with another hash is the client's mistake.
    pub body_hash: String,
}

impl IdempotencyKey {
    /// Returns the row that remembers the result of the request: a message and its turn.
    pub(super) fn row(&self, tenant: &TenantId, scope: &str, message: &Message) -> idempotency_keys::ActiveModel {
        idempotency_keys::ActiveModel {
            tenant_id: Set(tenant.to_string()),
            scope: Set(scope.to_owned()),
            key: Set(self.key.clone()),
            body_hash: Set(self.body_hash.clone()),
            conversation_id: Set(message.conversation_id.0),
            turn: Set(to_db(message.turn)),
            message_id: Set(message.id.0),
            created_at: Set(message.created_at),
        }
    }
}

pub(super) async fn find_key(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    scope: &str,
    key: &str,
) -> Result<Option<idempotency_keys::Model>> {
    let id = (tenant.to_string(), scope.to_owned(), key.to_owned());
    Ok(idempotency_keys::Entity::find_by_id(id).one(connection).await?)
}
