//! Doing what was stored to be done: messages become memories, and memories of what is gone are forgotten.
//!
//! The jobs stand in the store (`store::jobs`), so nothing here is lost with the process.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use rand::RngExt;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};
use uuid::Uuid;

use crate::config::OutboxConfig;
use crate::domain::{ConversationId, Message, TenantId};
use crate::retrieval::memory::{Memory, MemoryError};
use crate::store::jobs::{Job, JobKind};
use crate::store::{Store, StoreError};

/// The longest wait between two attempts.
const BACK_OFF_MAX: Duration = Duration::from_secs(600);
/// How often jobs are looked for when nobody says that there are some.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// How soon is looked again at jobs that the worker has.
const WORKER_HAS_IT: Duration = Duration::from_millis(20);

/// The worker of the jobs in the store.
pub struct Outbox {
    store: Store,
    memory: Arc<Memory>,
    config: OutboxConfig,
    posted: Notify,
}

/// What came of a batch.
enum Outcome {
    Done,
    /// Something is down; the jobs wait.
    Down,
}

impl Outbox {
    pub fn new(store: Store, memory: Arc<Memory>, config: OutboxConfig) -> Arc<Self> {
        Arc::new(Self { store, memory, config, posted: Notify::new() })
    }

    /// There may be something to do.
    pub fn wake(&self) {
        self.posted.notify_one();
    }

    /// Works until the shutdown. A batch that was begun is left as it stands: its lease ends, and it comes again.
    pub async fn run(self: Arc<Self>, shutdown: CancellationToken) {
        if !self.memory.is_on() {
            return;
        }
        shutdown.run_until_cancelled(self.work()).await;
    }

    async fn work(&self) {
        // What an earlier run began, or a store that went away kept us from ending.
        let mut begun = true;
        loop {
            // A service that is known to be down is not asked, and no attempt is counted.
            let outcome = match self.memory.is_up() {
                true => {
                    let outcome = self.begin_again(begun).await;
                    begun = outcome.is_err();
                    outcome
                }
                false => Ok(Outcome::Down),
            };
            let wait = match outcome {
                Ok(Outcome::Done) => LOOK_EVERY,
                Ok(Outcome::Down) => self.config.rest,
                Err(cause) => {
                    warn!(error = %cause, "The outbox waits for the store");
                    LOOK_EVERY
                }
            };
            self.count().await;
            // While something is down, new jobs are no reason to ask it again.
            match wait == LOOK_EVERY {
                true => drop(tokio::time::timeout(wait, self.posted.notified()).await),
                false => tokio::time::sleep(wait).await,
            }
        }
    }

    async fn begin_again(&self, begun: bool) -> Result<Outcome, StoreError> {
        if begun {
            self.store.release_jobs(JobKind::MEMORY, Utc::now()).await?;
        }
        self.work_through().await
    }

    /// Does all that is due.
    async fn work_through(&self) -> Result<Outcome, StoreError> {
        loop {
            let now = Utc::now();
            let jobs = self.store.lease_jobs(JobKind::MEMORY, now, self.config.lease, self.config.batch).await?;
            if jobs.is_empty() {
                return Ok(Outcome::Done);
            }
            if let Outcome::Down = self.carry_out(jobs).await? {
                return Ok(Outcome::Down);
            }
            self.count().await;
        }
    }

    /// Whether turns wait for their jobs.
    pub fn is_awaited(&self) -> bool {
        self.config.awaited.is_some() && self.memory.is_on()
    }

    /// With `EMBED_SYNC`, waits until the conversation's jobs are done; what fails or takes too long comes later as
    /// always.
    pub async fn settle(&self, conversation: ConversationId) {
        let Some(within) = self.config.awaited.filter(|_| self.is_awaited()) else { return };
        let settled = tokio::time::timeout(within, self.carry_out_jobs_of(conversation)).await;
        if let Err(cause) = settled.unwrap_or(Ok(())) {
            warn!(error = %cause, conversation.id = %conversation, "A turn's messages could not be embedded yet");
        }
    }

    async fn carry_out_jobs_of(&self, conversation: ConversationId) -> Result<(), StoreError> {
        while self.memory.is_up() && self.store.has_jobs_of(conversation).await? {
            let (now, lease) = (Utc::now(), self.config.lease);
            let jobs = self.store.lease_jobs_of(conversation, now, lease, self.config.batch).await?;
            if jobs.is_empty() {
                // The worker has them.
                tokio::time::sleep(WORKER_HAS_IT).await;
            } else if let Outcome::Down = self.carry_out(jobs).await? {
                break;
            }
        }
        Ok(())
    }

    async fn carry_out(&self, jobs: Vec<Job>) -> Result<Outcome, StoreError> {
        let mut of_shops: BTreeMap<TenantId, Vec<Job>> = BTreeMap::new();
        for job in jobs {
            of_shops.entry(job.tenant.clone()).or_default().push(job);
        }
        let mut outcome = Outcome::Done;
        for (tenant, jobs) in of_shops {
            // Those of one shop fail together; then each is tried alone, so that only the guilty one waits.
            match self.attempt(&tenant, &jobs).await? {
                Ok(()) => self.store.finish_jobs(&jobs).await?,
                Err(cause) if cause.is_passing() => outcome = self.hold(&jobs, &cause).await?,
                Err(_) if jobs.len() > 1 => {
                    for job in &jobs {
                        if let Outcome::Down = self.carry_out_one(&tenant, job).await? {
                            outcome = Outcome::Down;
                        }
                    }
                }
                Err(cause) => self.put_off(&jobs[0], &cause).await?,
            }
        }
        Ok(outcome)
    }

    async fn carry_out_one(&self, tenant: &TenantId, job: &Job) -> Result<Outcome, StoreError> {
        let alone = std::slice::from_ref(job);
        match self.attempt(tenant, alone).await? {
            Ok(()) => self.store.finish_jobs(alone).await?,
            Err(cause) if cause.is_passing() => return self.hold(alone, &cause).await,
            Err(cause) => self.put_off(job, &cause).await?,
        }
        Ok(Outcome::Done)
    }

    async fn attempt(&self, tenant: &TenantId, jobs: &[Job]) -> Result<Result<(), MemoryError>, StoreError> {
        let of_kind = |kind: JobKind| jobs.iter().filter(move |job| job.kind == kind);
        let embed: Vec<Job> = of_kind(JobKind::EmbedMessage).cloned().collect();
        if let Err(cause) = self.remember(tenant, &embed).await? {
            return Ok(Err(cause));
        }
        let gone: Vec<Uuid> = of_kind(JobKind::ForgetMessage).map(|job| job.subject).collect();
        if !gone.is_empty()
            && let Err(cause) = self.memory.forget(tenant, &gone).await
        {
            return Ok(Err(cause));
        }
        for job in of_kind(JobKind::ForgetConversation) {
            if let Err(cause) = self.memory.forget_conversation(tenant, ConversationId(job.subject)).await {
                return Ok(Err(cause));
            }
        }
        Ok(Ok(()))
    }

    async fn remember(&self, tenant: &TenantId, jobs: &[Job]) -> Result<Result<(), MemoryError>, StoreError> {
        let messages = self.store.list_messages_of_jobs(jobs).await?;
        let messages: Vec<(Option<String>, Message)> =
            messages.into_iter().filter(|(of, ..)| of == tenant).map(|(_, user, message)| (user, message)).collect();
        if messages.is_empty() {
            return Ok(Ok(()));
        }
        if let Err(cause) = self.memory.remember(tenant, &messages).await {
            return Ok(Err(cause));
        }
        // A conversation that was deleted meanwhile had its memories forgotten before these were made.
        let there = self.store.list_messages_of_jobs(jobs).await?;
        let is_there = |message: &Message| there.iter().any(|(_, _, other)| other.id == message.id);
        let gone: Vec<Uuid> =
            messages.iter().filter(|(_, message)| !is_there(message)).map(|(_, message)| message.id.0).collect();
        if gone.is_empty() { Ok(Ok(())) } else { Ok(self.memory.forget(tenant, &gone).await) }
    }

    /// Something is down: the jobs wait for it, and no attempt is counted.
    async fn hold(&self, jobs: &[Job], cause: &MemoryError) -> Result<Outcome, StoreError> {
        debug!(error = %cause, jobs = jobs.len(), "Embedding waits");
        let again = Utc::now() + self.config.rest;
        self.store.retry_jobs(jobs, again, &cause.to_string(), false).await?;
        Ok(Outcome::Down)
    }

    /// The job itself failed: it comes again later, or never.
    async fn put_off(&self, job: &Job, cause: &MemoryError) -> Result<(), StoreError> {
        let subject = job.subject;
        if job.attempts >= self.config.attempts {
            error!(error = %cause, job.kind = job.kind.as_str(), job.subject = %subject, "A job was given up");
            return self.store.bury_job(job, &cause.to_string()).await;
        }
        warn!(error = %cause, job.kind = job.kind.as_str(), job.subject = %subject, job.attempts, "A job failed");
        let again = Utc::now() + back_off(self.config.back_off, job.attempts, rand::rng().random_range(0.5..1.0));
        self.store.retry_jobs(std::slice::from_ref(job), again, &cause.to_string(), true).await
    }

    async fn count(&self) {
        if let Ok(counts) = self.store.count_jobs(JobKind::MEMORY).await {
            metrics::gauge!("frontdesk_embedding_backlog_jobs").set(counts.waiting as f64);
            metrics::gauge!("frontdesk_embedding_dead_jobs").set(counts.dead as f64);
        }
    }
}

/// How long to wait after so many attempts: twice as long each time, spread so that jobs do not come in step.
fn back_off(first: Duration, attempts: u32, spread: f64) -> TimeDelta {
    let doubled = first.saturating_mul(2_u32.saturating_pow(attempts.saturating_sub(1).min(20)));
    TimeDelta::from_std(doubled.min(BACK_OFF_MAX).mul_f64(spread)).unwrap_or(TimeDelta::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_is_twice_the_one_before_up_to_ten_minutes() {
        let seconds = |attempts| back_off(Duration::from_secs(2), attempts, 1.0).num_seconds();
        assert_eq!([1, 2, 3, 4, 40].map(seconds), [2, 4, 8, 16, 600]);
    }
}
