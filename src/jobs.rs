//! Background jobs: work to do after a commit, even if the process is killed in between.
//!
//! A job is a row with a name, a subject and an optional payload. It is stored in the transaction of the change that it
//! follows from, or with [`JobRunner::enqueue`]. The [`JobRunner`] leases due rows and passes each to the [`Job`] that is registered
//! under its name. A process that dies while a job runs leaves the row, so the job runs again: running it twice must
//! have the same effect as running it once.
//!
//! To add a job, implement [`Job`] and pass it to [`JobRunner::register`]. The shared jobs:
//!
//! - [`embed_message`]: embeds messages; [`forget`]: removes the vectors of deleted messages and conversations
//! - [`send_mail`]: sends e-mails; [`deliver`]: delivers messages over a channel
//! - jobs of one desk are in the desk's folder

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tracing::warn;

use crate::channels::{Announced, Announcement, Announcer};
use crate::domain::Metadata;
use crate::store::{Store, StoreError};

pub mod deliver;
pub mod embed_message;
pub mod forget;
mod runner;
pub mod send_mail;

pub use crate::store::jobs::{LeasedJob, NewJob};
pub use runner::JobRunner;

/// How long a job waits for a persona of its desk.
const PERSONA_WAIT: Duration = Duration::from_secs(600);

/// What a job runs with.
#[derive(Clone)]
pub struct JobContext {
    pub store: Store,
    /// Delivers messages to conversations; `None` while evaluation cases are replayed.
    pub announcer: Option<Arc<dyn Announcer>>,
}

impl JobContext {
    /// Sends a message of the shop to the job's conversation, once, even if the job runs twice.
    pub async fn announce(&self, job: &LeasedJob, text: String, metadata: Metadata) -> Result<(), JobError> {
        let (Some(id), Some(announcer)) = (job.conversation, &self.announcer) else { return Ok(()) };
        let announcement = Announcement { text, metadata, key: format!("decision:{}", job.subject) };
        match announcer.announce(&job.tenant, id, announcement).await? {
            Announced::Done => Ok(()),
            Announced::Later => Err(JobError::Unavailable("the server accepts no messages".to_owned())),
        }
    }
}

/// A kind of background job.
#[async_trait]
pub trait Job: Send + Sync {
    /// The name that jobs of this kind are stored under.
    fn name(&self) -> &'static str;

    /// Runs one job. `Ok` deletes it.
    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError>;

    /// The queue of the job. Jobs of one queue run one after another, oldest first; queues run at the same time.
    fn queue(&self) -> &'static str {
        "default"
    }

    /// How many jobs [`run_batch`](Job::run_batch) can run together.
    fn batch_size(&self) -> u64 {
        1
    }

    /// Runs jobs of one shop together. If this fails, each job runs alone, so that only the failing ones are retried.
    async fn run_batch(&self, context: &JobContext, jobs: &[LeasedJob]) -> Result<(), JobError> {
        for job in jobs {
            self.run(context, job).await?;
        }
        Ok(())
    }

    /// How many jobs of this kind may run at the same time. Above 1, no other kind may use the queue, and each job runs
    /// alone.
    fn at_once(&self) -> usize {
        1
    }

    /// Whether the services that the job needs are up. While they are down, no job of this kind starts.
    fn is_ready(&self) -> bool {
        true
    }

    /// Whether a job becomes a dead letter after `OUTBOX_ATTEMPTS` failures. `false`: it is retried until it succeeds.
    fn has_attempt_limit(&self) -> bool {
        false
    }
}

/// Why a job did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// A service that the job needs is down. The job runs again when the service is up, and the attempt does not count.
    #[error("{0}")]
    Unavailable(String),
    /// The job is not done yet. It runs again after this time, and the attempt does not count.
    #[error("the job is not done yet")]
    Later(Duration),
    /// The job itself failed. It is retried later.
    #[error("{0}")]
    Failed(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl JobError {
    pub fn failed(cause: impl ToString) -> Self {
        Self::Failed(cause.to_string())
    }

    /// No persona of the shop uses the job's desk. The job waits for a reload, and jobs of other shops run meanwhile.
    pub fn without_persona(job: &LeasedJob) -> Self {
        warn!(job = job.name, job.subject = %job.subject, tenant = %job.tenant, "A job waits for a persona of its desk");
        Self::Later(PERSONA_WAIT)
    }
}
