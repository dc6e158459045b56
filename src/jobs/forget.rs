//! Removes the vectors of deleted messages and conversations.

use std::sync::Arc;

use async_trait::async_trait;

use super::embed_message::EMBEDDING_QUEUE;
use super::{Job, JobContext, JobError, LeasedJob};
use crate::domain::ConversationId;
use crate::retrieval::memory::Memory;
use crate::store::jobs::{FORGET_CONVERSATION, FORGET_MESSAGE};

/// Removes vectors from the index.
pub struct Forget {
    name: &'static str,
    memory: Arc<Memory>,
}

impl Forget {
    /// Removes the vector of a deleted message.
    pub fn message(memory: Arc<Memory>) -> Self {
        Self { name: FORGET_MESSAGE, memory }
    }

    /// Removes the vectors of a deleted conversation.
    pub fn conversation(memory: Arc<Memory>) -> Self {
        Self { name: FORGET_CONVERSATION, memory }
    }
}

#[async_trait]
impl Job for Forget {
    fn name(&self) -> &'static str {
        self.name
    }

    fn queue(&self) -> &'static str {
        EMBEDDING_QUEUE
    }

    fn is_ready(&self) -> bool {
        self.memory.is_up()
    }

    fn has_attempt_limit(&self) -> bool {
        true
    }

    async fn run(&self, _: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        match self.name {
            FORGET_MESSAGE => self.memory.forget(&job.tenant, &[job.subject]).await?,
            _ => self.memory.forget_conversation(&job.tenant, ConversationId(job.subject)).await?,
        }
        Ok(())
    }
}
