//! Background jobs: work to do after a commit, stored in that commit, so that a killed process forgets none of it.
//!
//! A job is identified by its name and its subject, so storing it twice stores it once. A worker leases a job before it
//! runs it. The lease of a worker that died ends by itself, or at the next start. Running a job must therefore be
//! idempotent. A job that fails is retried later. A job that fails too often becomes a dead letter: it stays in the
//! table for people to look at.
//!
//! The store knows nothing about what a job does: a name is any string. Names without a handler stay untouched.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::Expr;
use sea_orm::sea_query::{ExprTrait, LockBehavior, LockType, Query, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::entities::{jobs, messages};
use super::{Result, Store, TenantStore, from_db, unreadable};
use crate::domain::{ConversationId, MessageId, TenantId};

/// Messages that get a job in one statement.
const MESSAGES_AT_ONCE: u64 = 500;

/// Embeds a message; the subject is the message's id.
pub const EMBED_MESSAGE: &str = "embed_message";
/// Removes the vectors of a deleted conversation; the subject is the conversation's id.
pub const FORGET_CONVERSATION: &str = "forget_conversation";
/// Removes the vector of a deleted message; the subject is the message's id.
pub const FORGET_MESSAGE: &str = "forget_message";
/// Delivers the next part of a conversation's messages over its channel; the subject is a message's id.
pub const DELIVER_MESSAGE: &str = "deliver_message";
/// The jobs that keep the vectors of messages up to date.
pub const EMBEDDING_JOBS: [&str; 3] = [EMBED_MESSAGE, FORGET_CONVERSATION, FORGET_MESSAGE];

/// A job that a worker has leased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedJob {
    pub name: String,
    pub subject: Uuid,
    pub tenant: TenantId,
    /// The job is deleted with this conversation.
    pub conversation: Option<ConversationId>,
    /// How often the job was started, including this time.
    pub attempts: u32,
    /// Distinguishes the job from a later one with the same name and subject, which the worker must not finish or retry.
    pub created_at: DateTime<Utc>,
    pub payload: Option<Value>,
}

impl LeasedJob {
    /// The payload as a `T`; `None` if there is none, or if it is not a `T`.
    pub fn payload<T: DeserializeOwned>(&self) -> Option<T> {
        self.payload.as_ref().and_then(|payload| T::deserialize(payload).ok())
    }
}

/// The number of jobs with one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// Jobs that run now or later.
    pub waiting: u64,
    /// Dead letters.
    pub dead: u64,
}

/// A job to store.
#[derive(Clone, Debug)]
pub struct NewJob<'a> {
    pub name: &'a str,
    pub subject: Uuid,
    pub tenant: &'a TenantId,
    /// The job is deleted with this conversation.
    pub conversation: Option<ConversationId>,
    pub payload: Option<Value>,
    pub now: DateTime<Utc>,
}

impl<'a> NewJob<'a> {
    /// A job that belongs to no conversation and has no payload.
    pub fn new(name: &'a str, subject: Uuid, tenant: &'a TenantId, now: DateTime<Utc>) -> Self {
        Self { name, subject, tenant, conversation: None, payload: None, now }
    }

    pub fn in_conversation(self, conversation: ConversationId) -> Self {
        Self { conversation: Some(conversation), ..self }
    }

    pub fn with_payload(self, payload: Value) -> Self {
        Self { payload: Some(payload), ..self }
    }

    pub(super) fn embed(
        tenant: &'a TenantId,
        conversation: ConversationId,
        message: MessageId,
        now: DateTime<Utc>,
    ) -> Self {
        Self::new(EMBED_MESSAGE, message.0, tenant, now).in_conversation(conversation)
    }
}

/// Returns the subject of a job that is identified by a text.
pub(super) fn subject_of(text: &str) -> Uuid {
    let mut id = [0; 16];
    id.copy_from_slice(&Sha256::digest(text)[..16]);
    Uuid::from_bytes(id)
}

/// Jobs that this process has inserted, including those of transactions that were rolled back.
static STORED: AtomicU64 = AtomicU64::new(0);

/// Counts the jobs that this process has inserted, including those of transactions that were rolled back.
pub fn count_stored() -> u64 {
    STORED.load(Ordering::SeqCst)
}

/// Stores jobs in a transaction of the caller. A job that exists already stays unchanged.
pub(super) async fn enqueue(connection: &impl ConnectionTrait, new: &[NewJob<'_>]) -> Result<()> {
    if new.is_empty() {
        return Ok(());
    }
    let rows = new.iter().map(|job| jobs::ActiveModel {
        kind: Set(job.name.to_owned()),
        subject: Set(job.subject.to_string()),
        tenant_id: Set(job.tenant.to_string()),
        conversation_id: Set(job.conversation.map(|id| id.0)),
        created_at: Set(job.now),
        run_at: Set(job.now),
        leased: Set(false),
        attempts: Set(0),
        dead: Set(false),
        error: Set(None),
        payload: Set(job.payload.clone()),
    });
    jobs::Entity::insert_many(rows).on_conflict_do_nothing().exec_without_returning(connection).await?;
    STORED.fetch_add(new.len() as u64, Ordering::SeqCst);
    Ok(())
}

/// Deletes a job, so that a dead or running one does not keep a new one with the same subject out.
pub(super) async fn delete_job(connection: &impl ConnectionTrait, name: &str, subject: Uuid) -> Result<()> {
    jobs::Entity::delete_by_id((name.to_owned(), subject.to_string())).exec(connection).await?;
    Ok(())
}

impl TenantStore<'_> {
    /// Stores a job of a desk. A job with the same name and subject stays unchanged.
    pub async fn enqueue_job(&self, new: &NewJob<'_>) -> Result<()> {
        enqueue(self.store.writer()?, std::slice::from_ref(new)).await
    }
}

impl Store {
    /// Leases due jobs with these names, oldest first, at most `limit`. Nobody else gets them until the lease ends.
    pub async fn lease_jobs(
        &self,
        names: &[&str],
        now: DateTime<Utc>,
        lease: Duration,
        limit: u64,
    ) -> Result<Vec<LeasedJob>> {
        self.lease(with_any_name(names).add(jobs::Column::RunAt.lte(now)).add(in_order(now)), now, lease, limit).await
    }

    /// Leases jobs of a conversation that were not started yet, for a caller that waits for them.
    pub async fn lease_jobs_of(
        &self,
        conversation: ConversationId,
        name: &str,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u64,
    ) -> Result<Vec<LeasedJob>> {
        let its = jobs::Column::ConversationId.eq(conversation.0).and(jobs::Column::Leased.eq(false));
        self.lease(with_name(name).add(its).add(jobs::Column::Error.is_null()), now, lease, limit).await
    }

    /// Whether jobs of the conversation are new or running. Jobs that failed and are retried later do not count.
    pub async fn has_jobs_of(&self, conversation: ConversationId, name: &str) -> Result<bool> {
        let fresh = jobs::Column::Leased.eq(true).or(jobs::Column::Error.is_null());
        let first = jobs::Entity::find()
            .filter(with_name(name))
            .filter(jobs::Column::ConversationId.eq(conversation.0))
            .filter(jobs::Column::Dead.eq(false))
            .filter(fresh)
            .limit(1)
            .all(&self.read)
            .await?;
        Ok(!first.is_empty())
    }

    /// Stores a job to embed every message of every shop. Returns the number of messages.
    pub async fn enqueue_all_messages(&self, now: DateTime<Utc>) -> Result<u64> {
        // Dead letters are retried as well.
        let dead = with_any_name(&EMBEDDING_JOBS).add(jobs::Column::Dead.eq(true));
        jobs::Entity::delete_many().filter(dead).exec(self.writer()?).await?;
        let (mut count, mut after) = (0, Uuid::nil());
        loop {
            let page: Vec<(Uuid, Uuid, String)> = messages::Entity::find()
                .select_only()
                .columns([messages::Column::Id, messages::Column::ConversationId, messages::Column::TenantId])
                .filter(messages::Column::Id.gt(after))
                .order_by_asc(messages::Column::Id)
                .limit(MESSAGES_AT_ONCE)
                .into_tuple()
                .all(&self.read)
                .await?;
            let Some((last, ..)) = page.last() else { return Ok(count) };
            after = *last;
            count += page.len() as u64;
            let page: Vec<(MessageId, ConversationId, TenantId)> = page
                .into_iter()
                .filter_map(|(id, of, tenant)| Some((MessageId(id), ConversationId(of), tenant.parse().ok()?)))
                .collect();
            let new: Vec<NewJob<'_>> =
                page.iter().map(|(id, of, tenant)| NewJob::embed(tenant, *of, *id, now)).collect();
            enqueue(self.writer()?, &new).await?;
        }
    }

    async fn lease(&self, which: Condition, now: DateTime<Utc>, lease: Duration, limit: u64) -> Result<Vec<LeasedJob>> {
        let which = which.add(jobs::Column::Dead.eq(false));
        let due = || jobs::Entity::find().filter(which.clone());
        // Most of the time nothing is due, so look first without the lock that writers wait for.
        if due().limit(1).all(&self.read).await?.is_empty() {
            return Ok(Vec::new());
        }
        let transaction = self.begin().await?;
        let rows = due()
            .order_by_asc(jobs::Column::RunAt)
            .order_by_asc(jobs::Column::Subject)
            .limit(limit)
            .lock_with_behavior(LockType::Update, LockBehavior::SkipLocked)
            .all(&transaction)
            .await?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let until = now + lease;
        jobs::Entity::update_many()
            .col_expr(jobs::Column::RunAt, Expr::value(until))
            .col_expr(jobs::Column::Leased, Expr::value(true))
            .col_expr(jobs::Column::Attempts, Expr::col(jobs::Column::Attempts).add(1))
            .filter(rows.iter().fold(Condition::any(), |any, row| any.add(has_key(&row.kind, &row.subject))))
            .exec(&transaction)
            .await?;
        transaction.commit().await?;
        rows.into_iter().map(read_job).collect()
    }

    /// Ends all leases of jobs with these names. For the one process that serves, when their workers are gone.
    pub async fn release_jobs(&self, names: &[&str], now: DateTime<Utc>) -> Result<()> {
        jobs::Entity::update_many()
            .col_expr(jobs::Column::RunAt, Expr::value(now))
            .col_expr(jobs::Column::Leased, Expr::value(false))
            .filter(with_any_name(names).add(jobs::Column::Leased.eq(true)))
            .exec(self.writer()?)
            .await?;
        Ok(())
    }

    /// Deletes jobs that have succeeded.
    pub async fn finish_jobs(&self, done: &[LeasedJob]) -> Result<()> {
        if !done.is_empty() {
            jobs::Entity::delete_many().filter(these(done)).exec(self.writer()?).await?;
        }
        Ok(())
    }

    /// Schedules jobs to run again at `run_at`. Without `counts`, the attempt is not counted.
    pub async fn retry_jobs(&self, jobs: &[LeasedJob], run_at: DateTime<Utc>, error: &str, counts: bool) -> Result<()> {
        if jobs.is_empty() {
            return Ok(());
        }
        let uncounted = if counts { 0 } else { 1 };
        jobs::Entity::update_many()
            .col_expr(jobs::Column::RunAt, Expr::value(run_at))
            .col_expr(jobs::Column::Leased, Expr::value(false))
            .col_expr(jobs::Column::Attempts, Expr::col(jobs::Column::Attempts).sub(uncounted))
            .col_expr(jobs::Column::Error, Expr::value(error))
            .filter(these(jobs))
            .exec(self.writer()?)
            .await?;
        Ok(())
    }

    /// Makes the job a dead letter: it stays in the table and does not run again.
    pub async fn make_dead_letter(&self, job: &LeasedJob, error: &str) -> Result<()> {
        jobs::Entity::update_many()
            .col_expr(jobs::Column::Dead, Expr::value(true))
            .col_expr(jobs::Column::Leased, Expr::value(false))
            .col_expr(jobs::Column::Error, Expr::value(error))
            .filter(these(std::slice::from_ref(job)))
            .exec(self.writer()?)
            .await?;
        Ok(())
    }

    /// The names of all jobs that are due, of every shop.
    pub async fn list_due_job_names(&self, now: DateTime<Utc>) -> Result<Vec<String>> {
        let due =
            Condition::all().add(jobs::Column::Dead.eq(false)).add(jobs::Column::RunAt.lte(now)).add(in_order(now));
        let names = jobs::Entity::find().select_only().column(jobs::Column::Kind).distinct().filter(due);
        Ok(names.into_tuple().all(&self.read).await?)
    }

    /// Counts the jobs of every shop by name.
    pub async fn count_jobs(&self) -> Result<BTreeMap<String, JobCounts>> {
        let rows: Vec<(String, bool, i64)> = jobs::Entity::find()
            .select_only()
            .columns([jobs::Column::Kind, jobs::Column::Dead])
            .column_as(jobs::Column::Subject.count(), "jobs")
            .group_by(jobs::Column::Kind)
            .group_by(jobs::Column::Dead)
            .into_tuple()
            .all(&self.read)
            .await?;
        let mut counts: BTreeMap<String, JobCounts> = BTreeMap::new();
        for (name, dead, count) in rows {
            let of_name = counts.entry(name).or_default();
            *(if dead { &mut of_name.dead } else { &mut of_name.waiting }) = u64::try_from(count).unwrap_or_default();
        }
        Ok(counts)
    }
}

/// Excludes a delivery job while its conversation has an older delivery job or a running one. The running one may be newer, because
/// transactions do not commit in the order of `created_at`. A job sends the conversation's next part, whatever message it belongs to.
fn in_order(now: DateTime<Utc>) -> SimpleExpr {
    use jobs::Column as C;
    const OTHER: &str = "other";
    let (own, other) = (|column: C| Expr::col((jobs::Entity, column)), |column: C| Expr::col((OTHER, column)));
    let is_before = other(C::CreatedAt).lt(own(C::CreatedAt));
    let is_as_old = other(C::CreatedAt).eq(own(C::CreatedAt)).and(other(C::Subject).lt(own(C::Subject)));
    let runs = other(C::Leased).eq(true).and(other(C::RunAt).gt(now)).and(other(C::Subject).ne(own(C::Subject)));
    let first = Query::select()
        .expr(Expr::val(1))
        .from_as(jobs::Entity, OTHER)
        .and_where(other(C::Kind).eq(own(C::Kind)))
        .and_where(other(C::ConversationId).eq(own(C::ConversationId)))
        .and_where(other(C::Dead).eq(false))
        .and_where(is_before.or(is_as_old).or(runs))
        .take();
    own(C::Kind).ne(DELIVER_MESSAGE).or(Expr::exists(first).not())
}

fn with_name(name: &str) -> Condition {
    with_any_name(&[name])
}

fn with_any_name(names: &[&str]) -> Condition {
    Condition::all().add(jobs::Column::Kind.is_in(names.iter().copied()))
}

/// Matches these jobs as they were leased, and no later ones with the same name and subject.
fn these(jobs: &[LeasedJob]) -> Condition {
    jobs.iter().fold(Condition::any(), |any, job| {
        let is_it = has_key(&job.name, &job.subject.to_string());
        any.add(is_it.and(jobs::Column::CreatedAt.eq(job.created_at)))
    })
}

fn has_key(name: &str, subject: &str) -> SimpleExpr {
    jobs::Column::Kind.eq(name).and(jobs::Column::Subject.eq(subject))
}

fn read_job(row: jobs::Model) -> Result<LeasedJob> {
    let unreadable = |what| unreadable("jobs", what);
    Ok(LeasedJob {
        subject: row.subject.parse().map_err(|_| unreadable("subject"))?,
        tenant: row.tenant_id.parse().map_err(|_| unreadable("tenant_id"))?,
        name: row.kind,
        conversation: row.conversation_id.map(ConversationId),
        attempts: from_db(row.attempts) + 1,
        created_at: row.created_at,
        payload: row.payload,
    })
}
