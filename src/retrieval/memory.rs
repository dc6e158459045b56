//! What was said in a conversation, found by meaning when the history that the model is shown no longer holds it.
//!
//! A memory is a message's vector, under the message's own id; the words are read from the store, so a vector that
//! outlives its message can tell nobody anything.

use std::collections::BTreeMap;
use std::sync::Arc;

use uuid::Uuid;

use crate::domain::{Conversation, ConversationId, Message, MessageId, TenantId};
use crate::providers::embedding::{Embedder, EmbeddingError};
use crate::providers::vector::{CONVERSATION_ID, Collection, Labels, Record, VectorError, VectorIndex};

/// The label that holds the user of a message's conversation.
const USER_ID: &str = "user_id";

/// The vectors of messages.
pub struct Memory {
    embedder: Arc<Embedder>,
    vectors: Arc<dyn VectorIndex>,
    /// The collection's name, for every shop.
    name: String,
}

/// Why something was not remembered, or not found.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
    #[error(transparent)]
    Vectors(#[from] VectorError),
}

impl MemoryError {
    /// Whether it is the service's fault rather than the message's.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Embedding(error) => error.is_passing(),
            // Another model's collection waits for somebody to rebuild it.
            Self::Vectors(error) => matches!(error, VectorError::Unavailable(_) | VectorError::OtherSpace { .. }),
        }
    }
}

impl Memory {
    pub fn new(embedder: Arc<Embedder>, vectors: Arc<dyn VectorIndex>, name: String) -> Self {
        Self { embedder, vectors, name }
    }

    /// Whether anything is remembered at all.
    pub fn is_on(&self) -> bool {
        self.embedder.is_on()
    }

    /// Whether remembering has a chance now. Costs nothing.
    pub fn is_up(&self) -> bool {
        self.embedder.is_up()
    }

    /// Remembers one shop's messages, each with the user of its conversation. Remembering twice is remembering once.
    pub async fn remember(&self, tenant: &TenantId, messages: &[(Option<String>, Message)]) -> Result<(), MemoryError> {
        let texts: Vec<String> = messages.iter().map(|(_, message)| message.text.clone()).collect();
        let vectors = self.embedder.passages(&texts).await?;
        let collection = self.collection(tenant);
        self.vectors.open(&collection, &self.embedder.space().await?).await?;
        let records: Vec<Record> = messages
            .iter()
            .zip(vectors)
            .map(|((user, message), vector)| Record {
                id: message.id.to_string(),
                vector,
                text: message.text.clone(),
                metadata: labels(user.as_deref(), message),
            })
            .collect();
        Ok(self.vectors.upsert(&collection, &records).await?)
    }

    /// Removes all that is remembered of a shop's conversations.
    pub async fn forget_all(&self, tenant: &TenantId) -> Result<(), MemoryError> {
        Ok(self.vectors.drop_collection(&self.collection(tenant)).await?)
    }

    /// Forgets these messages of one shop.
    pub async fn forget(&self, tenant: &TenantId, messages: &[Uuid]) -> Result<(), MemoryError> {
        let ids: Vec<String> = messages.iter().map(Uuid::to_string).collect();
        Ok(self.vectors.delete(&self.collection(tenant), &ids).await?)
    }

    /// Forgets a conversation.
    pub async fn forget_conversation(&self, tenant: &TenantId, id: ConversationId) -> Result<(), MemoryError> {
        let only = BTreeMap::from([(CONVERSATION_ID.to_owned(), id.to_string())]);
        Ok(self.vectors.delete_where(&self.collection(tenant), &only).await?)
    }

    /// The messages of the conversation that are nearest to a question, nearest first, at most `limit`, each with its
    /// cosine similarity.
    pub async fn recall(
        &self,
        conversation: &Conversation,
        question: &[f32],
        limit: usize,
    ) -> Result<Vec<(MessageId, f32)>, MemoryError> {
        let mut only = Labels::from([(CONVERSATION_ID.to_owned(), conversation.id.to_string())]);
        if let Some(user) = &conversation.user_id {
            only.insert(USER_ID.to_owned(), user.clone());
        }
        let hits = self.vectors.query(&self.collection(&conversation.tenant), question, limit, &only).await?;
        Ok(hits.into_iter().filter_map(|hit| Some((MessageId(hit.id.parse().ok()?), hit.similarity))).collect())
    }

    fn collection(&self, tenant: &TenantId) -> Collection {
        Collection { tenant: tenant.clone(), name: self.name.clone() }
    }
}

fn labels(user: Option<&str>, message: &Message) -> Labels {
    let mut labels = Labels::from([
        (CONVERSATION_ID.to_owned(), message.conversation_id.to_string()),
        ("message_id".to_owned(), message.id.to_string()),
        ("sender".to_owned(), message.sender.as_str().to_owned()),
        ("created_at".to_owned(), message.created_at.to_rfc3339()),
    ]);
    if let Some(user) = user {
        labels.insert(USER_ID.to_owned(), user.to_owned());
    }
    labels
}
