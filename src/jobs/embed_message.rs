//! Embeds messages, so that later turns can find them by meaning.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::Utc;
use tokio::time::Instant;
use tracing::{Instrument, warn};
use uuid::Uuid;

use super::{Job, JobContext, JobError, JobRunner, LeasedJob};
use crate::domain::{ConversationId, Message};
use crate::retrieval::memory::{Memory, MemoryError};
use crate::store::StoreError;
use crate::store::jobs::EMBED_MESSAGE;

/// The queue of the embedding model and the vectors.
pub(super) const EMBEDDING_QUEUE: &str = "embedding";
/// How often a turn looks whether the runner has finished its jobs.
const POLL_EVERY: Duration = Duration::from_millis(20);

/// Embeds messages in batches of `EMBED_BATCH`.
pub struct EmbedMessage {
    memory: Arc<Memory>,
    batch_size: u64,
}

impl EmbedMessage {
    pub fn new(memory: Arc<Memory>, batch_size: u64) -> Self {
        Self { memory, batch_size }
    }
}

#[async_trait]
impl Job for EmbedMessage {
    fn name(&self) -> &'static str {
        EMBED_MESSAGE
    }

    fn queue(&self) -> &'static str {
        EMBEDDING_QUEUE
    }

    fn batch_size(&self) -> u64 {
        self.batch_size
    }

    fn is_ready(&self) -> bool {
        self.memory.is_up()
    }

    fn has_attempt_limit(&self) -> bool {
        true
    }

    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        self.run_batch(context, std::slice::from_ref(job)).await
    }

    async fn run_batch(&self, context: &JobContext, jobs: &[LeasedJob]) -> Result<(), JobError> {
        let Some(tenant) = jobs.first().map(|job| &job.tenant) else { return Ok(()) };
        let found = context.store.list_messages_of_jobs(jobs).await?;
        let messages: Vec<(Option<String>, Message)> =
            found.into_iter().filter(|(of, ..)| of == tenant).map(|(_, user, message)| (user, message)).collect();
        if messages.is_empty() {
            return Ok(());
        }
        self.memory.remember(tenant, &messages).await?;
        // A conversation that was deleted in the meantime had its vectors removed before these were stored.
        let left = context.store.list_messages_of_jobs(jobs).await?;
        let is_left = |message: &Message| left.iter().any(|(_, _, other)| other.id == message.id);
        let deleted: Vec<Uuid> =
            messages.iter().filter(|(_, message)| !is_left(message)).map(|(_, message)| message.id.0).collect();
        if !deleted.is_empty() {
            self.memory.forget(tenant, &deleted).await?;
        }
        Ok(())
    }
}

impl From<MemoryError> for JobError {
    fn from(cause: MemoryError) -> Self {
        if cause.is_passing() { Self::Unavailable(cause.to_string()) } else { Self::failed(cause) }
    }
}

impl JobRunner {
    /// Whether turns wait until their messages are embedded (`EMBED_SYNC`).
    pub fn embeds_in_turns(&self) -> bool {
        self.config.embed_wait.is_some() && self.find(EMBED_MESSAGE).is_some()
    }

    /// With `EMBED_SYNC`, embeds the conversation's messages now. Messages that fail or take too long are left to
    /// the runner.
    pub async fn embed_messages_of(self: &Arc<Self>, conversation: ConversationId) {
        let (Some(limit), Some(job)) = (self.config.embed_wait, self.find(EMBED_MESSAGE)) else { return };
        let runner = self.clone();
        let embedding = async move {
            if let Err(cause) = runner.embed_within(limit, job.as_ref(), conversation).await {
                warn!(error = %cause, conversation.id = %conversation, "A turn's messages could not be embedded yet");
            }
        };
        // Only the waiting ends at the limit: jobs that are dropped while they run would stay leased.
        let task = self.tasks.spawn(embedding.in_current_span());
        let _ = tokio::time::timeout(limit, task).await;
    }

    /// Embeds the conversation's messages, and starts no further batch after the limit.
    async fn embed_within(
        &self,
        limit: Duration,
        job: &dyn Job,
        conversation: ConversationId,
    ) -> Result<(), StoreError> {
        let started = Instant::now();
        let context = JobContext { store: self.store.clone(), announcer: None };
        while self.can_run(job) && self.store.has_jobs_of(conversation, EMBED_MESSAGE).await? {
            let (now, lease, batch) = (Utc::now(), self.config.lease, job.batch_size());
            let jobs = self.store.lease_jobs_of(conversation, EMBED_MESSAGE, now, lease, batch).await?;
            if jobs.is_empty() {
                // The runner has leased them.
                tokio::time::sleep(POLL_EVERY).await;
            } else {
                self.run_leased(jobs, &context).await?;
            }
            if started.elapsed() >= limit {
                break;
            }
        }
        Ok(())
    }
}
