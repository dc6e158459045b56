//! The outbox: what is to be done after a commit, stored in that commit, so that a kill between the two forgets nothing.
//!
//! A job is named by what it does ([`JobKind`]) and to what (its subject), so storing it twice is storing it once. It is
//! leased to who does it: a worker that dies gives it back when the lease ends, or at the next start. Doing it twice
//! must therefore be harmless. A job that fails comes again later; one that fails too often is dead, and stays to be
//! looked at.

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::Expr;
use sea_orm::sea_query::{ExprTrait, LockBehavior, LockType, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, PaginatorTrait};
use sea_orm::{QueryFilter, QueryOrder, QuerySelect};
use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::columns::from_db;
use super::entities::{jobs, messages};
use super::mails::MailId;
use super::{Store, StoreError};
use crate::domain::returns::{Notice, RmaId};
use crate::domain::{ConversationId, MessageId, TenantId};

/// Messages that are given a job in one statement.
const MESSAGES_AT_ONCE: u64 = 500;

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// Turns a message into a vector; the subject is the message's id.
    EmbedMessage,
    /// Removes the vectors of a conversation that is gone; the subject is the conversation's id.
    ForgetConversation,
    /// Removes the vector of a message that is gone; the subject is the message's id.
    ForgetMessage,
    /// Makes the label of an RMA; the subject is the RMA's id.
    IssueLabel,
    /// Sends a mail; the subject is the mail's id.
    SendMail,
    /// Says in the chat what a person decided: the payload is the [`Notice`]; the subject is a hash of it.
    SayDecision,
}

impl JobKind {
    /// What keeps the memory of conversations in line with them.
    pub const MEMORY: &'static [Self] = &[Self::EmbedMessage, Self::ForgetConversation, Self::ForgetMessage];
    /// What a return leaves to be done. It outlives the conversation that it was asked for in.
    pub const RETURNS: &'static [Self] = &[Self::IssueLabel, Self::SendMail, Self::SayDecision];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::EmbedMessage => "embed_message",
            Self::ForgetConversation => "forget_conversation",
            Self::ForgetMessage => "forget_message",
            Self::IssueLabel => "issue_label",
            Self::SendMail => "send_mail",
            Self::SayDecision => "say_decision",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::MEMORY.iter().chain(Self::RETURNS).copied().find(|kind| kind.as_str() == text)
    }
}

/// A job that was leased to somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub kind: JobKind,
    pub subject: Uuid,
    pub tenant: TenantId,
    /// The conversation that the job ends with; `None`: none.
    pub conversation: Option<ConversationId>,
    /// How often it was begun, this time included.
    pub attempts: u32,
    /// Tells it from a later job of the same name, which whoever still holds this one neither finishes nor puts off.
    pub created_at: DateTime<Utc>,
    pub payload: Option<Value>,
}

/// How many jobs there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// To be done, now or later.
    pub waiting: u64,
    /// Given up.
    pub dead: u64,
}

/// A job that is to be stored with what it follows from.
pub(super) struct NewJob<'a> {
    pub kind: JobKind,
    pub subject: Uuid,
    pub tenant: &'a TenantId,
    pub conversation: Option<ConversationId>,
    pub payload: Option<Value>,
    pub now: DateTime<Utc>,
}

impl<'a> NewJob<'a> {
    pub(super) fn embed(
        tenant: &'a TenantId,
        conversation: ConversationId,
        message: MessageId,
        now: DateTime<Utc>,
    ) -> Self {
        let (kind, subject) = (JobKind::EmbedMessage, message.0);
        Self { kind, subject, tenant, conversation: Some(conversation), payload: None, now }
    }

    pub(super) fn label(tenant: &'a TenantId, rma: RmaId, now: DateTime<Utc>) -> Self {
        Self { kind: JobKind::IssueLabel, subject: rma.0, tenant, conversation: None, payload: None, now }
    }

    pub(super) fn mail(tenant: &'a TenantId, mail: MailId, now: DateTime<Utc>) -> Self {
        Self { kind: JobKind::SendMail, subject: mail.0, tenant, conversation: None, payload: None, now }
    }

    /// The same decision again in the same conversation is the same job.
    pub(super) fn say_decision(
        tenant: &'a TenantId,
        conversation: ConversationId,
        notice: &Notice,
        now: DateTime<Utc>,
    ) -> Self {
        let payload = serde_json::to_value(notice).unwrap_or_default();
        let mut id = [0; 16];
        id.copy_from_slice(&Sha256::digest(format!("{conversation}{payload}"))[..16]);
        let (kind, subject) = (JobKind::SayDecision, Uuid::from_bytes(id));
        Self { kind, subject, tenant, conversation: Some(conversation), payload: Some(payload), now }
    }
}

/// Stores jobs with what they follow from; one that is there already stays as it is.
pub(super) async fn enqueue(connection: &impl ConnectionTrait, new: &[NewJob<'_>]) -> Result<(), StoreError> {
    if new.is_empty() {
        return Ok(());
    }
    let rows = new.iter().map(|job| jobs::ActiveModel {
        kind: Set(job.kind.as_str().to_owned()),
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
    Ok(())
}

impl Store {
    /// Leases jobs of those kinds that are due, oldest first, at most `limit`: nobody else gets them for so long as `lease`.
    pub async fn lease_jobs(
        &self,
        kinds: &[JobKind],
        now: DateTime<Utc>,
        lease: Duration,
        limit: u64,
    ) -> Result<Vec<Job>, StoreError> {
        self.lease(of_kinds(kinds).add(jobs::Column::RunAt.lte(now)), now, lease, limit).await
    }

    /// Leases a conversation's jobs that nobody has begun, for somebody who waits for them.
    pub async fn lease_jobs_of(
        &self,
        conversation: ConversationId,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u64,
    ) -> Result<Vec<Job>, StoreError> {
        let its = jobs::Column::ConversationId.eq(conversation.0).and(jobs::Column::Leased.eq(false));
        self.lease(of_kinds(JobKind::MEMORY).add(its).add(jobs::Column::Error.is_null()), now, lease, limit).await
    }

    /// Whether jobs of the conversation are still to be done. One that comes again later for its failures is not waited
    /// for.
    pub async fn has_jobs_of(&self, conversation: ConversationId) -> Result<bool, StoreError> {
        let fresh = jobs::Column::Leased.eq(true).or(jobs::Column::Error.is_null());
        let first = jobs::Entity::find()
            .filter(of_kinds(JobKind::MEMORY))
            .filter(jobs::Column::ConversationId.eq(conversation.0))
            .filter(jobs::Column::Dead.eq(false))
            .filter(fresh)
            .limit(1)
            .all(&self.read)
            .await?;
        Ok(!first.is_empty())
    }

    /// Stores a job to embed every message of every shop; gives the shops, and how many messages they have.
    pub async fn enqueue_all_messages(&self, now: DateTime<Utc>) -> Result<(BTreeSet<TenantId>, u64), StoreError> {
        // What was given up is to be tried again.
        let dead = of_kinds(JobKind::MEMORY).add(jobs::Column::Dead.eq(true));
        jobs::Entity::delete_many().filter(dead).exec(self.writer()?).await?;
        let (mut tenants, mut count, mut after) = (BTreeSet::new(), 0, Uuid::nil());
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
            let Some((last, ..)) = page.last() else { return Ok((tenants, count)) };
            after = *last;
            count += page.len() as u64;
            let page: Vec<(MessageId, ConversationId, TenantId)> = page
                .into_iter()
                .filter_map(|(id, of, tenant)| Some((MessageId(id), ConversationId(of), tenant.parse().ok()?)))
                .collect();
            let new: Vec<NewJob<'_>> =
                page.iter().map(|(id, of, tenant)| NewJob::embed(tenant, *of, *id, now)).collect();
            enqueue(self.writer()?, &new).await?;
            tenants.extend(page.iter().map(|(.., tenant)| tenant.clone()));
        }
    }

    async fn lease(
        &self,
        which: Condition,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u64,
    ) -> Result<Vec<Job>, StoreError> {
        let which = which.add(jobs::Column::Dead.eq(false));
        let due = || jobs::Entity::find().filter(which.clone());
        // Looked at first without the lock that writers wait for.
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
            .filter(rows.iter().fold(Condition::any(), |any, row| any.add(named(&row.kind, &row.subject))))
            .exec(&transaction)
            .await?;
        transaction.commit().await?;
        rows.into_iter().map(read_job).collect()
    }

    /// Gives every leased job of those kinds back: whoever had them is gone. For the start of the one process that serves.
    pub async fn release_jobs(&self, kinds: &[JobKind], now: DateTime<Utc>) -> Result<(), StoreError> {
        jobs::Entity::update_many()
            .col_expr(jobs::Column::RunAt, Expr::value(now))
            .col_expr(jobs::Column::Leased, Expr::value(false))
            .filter(of_kinds(kinds).add(jobs::Column::Leased.eq(true)))
            .exec(self.writer()?)
            .await?;
        Ok(())
    }

    /// The jobs are done.
    pub async fn finish_jobs(&self, done: &[Job]) -> Result<(), StoreError> {
        if !done.is_empty() {
            jobs::Entity::delete_many().filter(these(done)).exec(self.writer()?).await?;
        }
        Ok(())
    }

    /// The jobs come again at `run_at`. `counts`: the attempt was one; else it is as if nobody had begun.
    pub async fn retry_jobs(
        &self,
        jobs: &[Job],
        run_at: DateTime<Utc>,
        error: &str,
        counts: bool,
    ) -> Result<(), StoreError> {
        if jobs.is_empty() {
            return Ok(());
        }
        let taken_back = if counts { 0 } else { 1 };
        jobs::Entity::update_many()
            .col_expr(jobs::Column::RunAt, Expr::value(run_at))
            .col_expr(jobs::Column::Leased, Expr::value(false))
            .col_expr(jobs::Column::Attempts, Expr::col(jobs::Column::Attempts).sub(taken_back))
            .col_expr(jobs::Column::Error, Expr::value(error))
            .filter(these(jobs))
            .exec(self.writer()?)
            .await?;
        Ok(())
    }

    /// The job is given up; it stays, to be looked at.
    pub async fn bury_job(&self, job: &Job, error: &str) -> Result<(), StoreError> {
        jobs::Entity::update_many()
            .col_expr(jobs::Column::Dead, Expr::value(true))
            .col_expr(jobs::Column::Leased, Expr::value(false))
            .col_expr(jobs::Column::Error, Expr::value(error))
            .filter(these(std::slice::from_ref(job)))
            .exec(self.writer()?)
            .await?;
        Ok(())
    }

    /// How many jobs of those kinds there are of all shops.
    pub async fn count_jobs(&self, kinds: &[JobKind]) -> Result<JobCounts, StoreError> {
        let of_kinds = || jobs::Entity::find().filter(of_kinds(kinds));
        let count = |dead: bool| of_kinds().filter(jobs::Column::Dead.eq(dead)).count(&self.read);
        Ok(JobCounts { waiting: count(false).await?, dead: count(true).await? })
    }

    /// When the next job is due; `None`: there is none.
    pub async fn next_job_at(&self) -> Result<Option<DateTime<Utc>>, StoreError> {
        let next = jobs::Entity::find()
            .filter(jobs::Column::Dead.eq(false))
            .order_by_asc(jobs::Column::RunAt)
            .limit(1)
            .one(&self.read)
            .await?;
        Ok(next.map(|row| row.run_at))
    }
}

/// A kind that a newer version stored is left to it.
fn of_kinds(kinds: &[JobKind]) -> Condition {
    Condition::all().add(jobs::Column::Kind.is_in(kinds.iter().map(|kind| kind.as_str())))
}

/// Those jobs as they were leased, and no later ones of the same names.
fn these(jobs: &[Job]) -> Condition {
    jobs.iter().fold(Condition::any(), |any, job| {
        let is_it = named(job.kind.as_str(), &job.subject.to_string());
        any.add(is_it.and(jobs::Column::CreatedAt.eq(job.created_at)))
    })
}

fn named(kind: &str, subject: &str) -> SimpleExpr {
    jobs::Column::Kind.eq(kind).and(jobs::Column::Subject.eq(subject))
}

fn read_job(row: jobs::Model) -> Result<Job, StoreError> {
    let unreadable = |what: &str| StoreError::Unreadable { table: "jobs", reason: what.to_owned() };
    Ok(Job {
        kind: JobKind::parse(&row.kind).ok_or_else(|| unreadable("kind"))?,
        subject: row.subject.parse().map_err(|_| unreadable("subject"))?,
        tenant: row.tenant_id.parse().map_err(|_| unreadable("tenant_id"))?,
        conversation: row.conversation_id.map(ConversationId),
        attempts: from_db(row.attempts) + 1,
        created_at: row.created_at,
        payload: row.payload,
    })
}
