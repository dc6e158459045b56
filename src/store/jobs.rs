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

use chrono::{DateTime, Utc};
use sea_orm::prelude::Expr;
use sea_orm::sea_query::{ExprTrait, SimpleExpr};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Value as Db,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::entities::{jobs, messages};
use super::rows::{json_or_null, with_rows};
use super::{Result, Store, TenantStore};
use crate::domain::{ConversationId, MessageId, TenantId};

mod lease;

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

/// Inserts jobs that are due, and were not started.
const INSERT_JOBS: &str = "\
INSERT INTO jobs (kind, subject, tenant_id, conversation_id, created_at, run_at, payload) VALUES {rows} ON CONFLICT DO NOTHING";

/// Stores jobs in a transaction of the caller. A job that exists already stays unchanged.
pub(super) async fn enqueue(connection: &impl ConnectionTrait, new: &[NewJob<'_>]) -> Result<()> {
    if new.is_empty() {
        return Ok(());
    }
    let backend = connection.get_database_backend();
    let rows = new.iter().map(|job| -> [Db; 7] {
        [
            job.name.into(),
            job.subject.to_string().into(),
            job.tenant.as_str().into(),
            job.conversation.map(|id| id.0).into(),
            job.now.into(),
            job.now.into(),
            json_or_null(backend, job.payload.as_ref()),
        ]
    });
    connection.execute_raw(with_rows(backend, INSERT_JOBS, rows.collect(), [])).await?;
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
            let next = messages::Entity::find().filter(messages::Column::Id.gt(after));
            let next = next.order_by_asc(messages::Column::Id).limit(MESSAGES_AT_ONCE);
            let page = self.list_message_ids(next).await?;
            let Some((last, ..)) = page.last() else { return Ok(count) };
            after = last.0;
            count += page.len() as u64;
            let new: Vec<NewJob<'_>> =
                page.iter().map(|(id, of, tenant)| NewJob::embed(tenant, *of, *id, now)).collect();
            enqueue(self.writer()?, &new).await?;
        }
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

fn with_name(name: &str) -> Condition {
    Condition::all().add(jobs::Column::Kind.eq(name))
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
