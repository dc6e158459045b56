//! Remove the vectors of deleted messages and conversations.

use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use super::{Job, JobContext, JobError, LeasedJob};
use crate::domain::ConversationId;
use crate::retrieval::memory::Memory;
use crate::store::jobs::{FORGET_CONVERSATION, FORGET_MESSAGE};

/// Messages whose vectors are removed in one request.
const BATCH_SIZE: u64 = 100;

/// Removes the vectors of deleted messages.
pub struct ForgetMessage(pub Arc<Memory>);

#[async_trait]
impl Job for ForgetMessage {
    fn name(&self) -> &'static str {
        FORGET_MESSAGE
    }

    fn is_ready(&self) -> bool {
        self.0.is_up()
    }

    fn batch_size(&self) -> u64 {
        BATCH_SIZE
    }

    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        self.run_batch(context, std::slice::from_ref(job)).await
    }

    async fn run_batch(&self, _: &JobContext, jobs: &[LeasedJob]) -> Result<(), JobError> {
        let Some(tenant) = jobs.first().map(|job| &job.tenant) else { return Ok(()) };
        let subjects: Vec<Uuid> = jobs.iter().map(|job| job.subject).collect();
        Ok(self.0.forget(tenant, &subjects).await?)
    }
}

/// Removes the vectors of a deleted conversation.
pub struct ForgetConversation(pub Arc<Memory>);

#[async_trait]
impl Job for ForgetConversation {
    fn name(&self) -> &'static str {
        FORGET_CONVERSATION
    }

    fn is_ready(&self) -> bool {
        self.0.is_up()
    }

    async fn run(&self, _: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        Ok(self.0.forget_conversation(&job.tenant, ConversationId(job.subject)).await?)
    }
}
