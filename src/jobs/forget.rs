//! Removes the vectors of deleted messages and conversations.

use std::sync::Arc;

use async_trait::async_trait;

use super::embed_message::EMBEDDING_QUEUE;
use super::{Job, JobContext, JobError, LeasedJob};
use crate::domain::ConversationId;
use crate::retrieval::memory::Memory;
use crate::store::jobs::{FORGET_CONVERSATION, FORGET_MESSAGE};

/// Removes vectors from the index. Needs no embedding model.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{EmbedConfig, VectorConfig};
    use crate::providers::embedding::{Embedder, OllamaEmbedding};
    use crate::providers::vector::ChromaIndex;

    #[test]
    fn vectors_are_removed_while_embedding_is_off() {
        let config = EmbedConfig { on: false, ..EmbedConfig::default() };
        let embedder = Arc::new(Embedder::new(Arc::new(OllamaEmbedding::new(&config).unwrap()), config));
        let vectors = Arc::new(ChromaIndex::new("http://127.0.0.1:9", &VectorConfig::default()).unwrap());
        let memory = Arc::new(Memory::new(embedder, vectors, "conversations".to_owned()));
        assert!(Forget::message(memory.clone()).is_ready() && Forget::conversation(memory).is_ready());
    }
}
