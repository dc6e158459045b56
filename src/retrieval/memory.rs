//! Finds earlier messages of a conversation by meaning, when they no longer fit into the model's history.
//!
//! Only a message's vector is kept here, under the message's id. The text is read from the store, so a vector that
//! outlives its message reveals nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use uuid::Uuid;

use crate::domain::{Conversation, ConversationId, Message, MessageId, TenantId};
use crate::providers::embedding::{Embedder, EmbeddingError};
use crate::providers::vector::{CONVERSATION_ID, Collection, Labels, Record, VectorError, VectorIndex};

/// The label with the user of a message's conversation.
const USER_ID: &str = "user_id";

/// The vectors of messages.
pub struct Memory {
    embedder: Arc<Embedder>,
    vectors: Arc<dyn VectorIndex>,
    /// The name of the collection, the same for every shop.
    name: String,
}

/// Why a message was not stored or found.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
    #[error(transparent)]
    Vectors(#[from] VectorError),
}

impl MemoryError {
    /// Whether the service is at fault, not the message.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Embedding(error) => error.is_passing(),
            // The operator must rebuild a collection of another model.
            Self::Vectors(error) => matches!(error, VectorError::Unavailable(_) | VectorError::OtherSpace { .. }),
        }
    }
}

impl Memory {
    pub fn new(embedder: Arc<Embedder>, vectors: Arc<dyn VectorIndex>, name: String) -> Self {
        Self { embedder, vectors, name }
    }

    /// Whether memory is enabled.
    pub fn is_on(&self) -> bool {
        self.embedder.is_on()
    }

    /// Whether storing can succeed now. Makes no request.
    pub fn is_up(&self) -> bool {
        self.embedder.is_up()
    }

    /// Stores the vectors of one shop's messages, each with the user of its conversation. Idempotent.
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
                text: String::new(),
                metadata: labels(user.as_deref(), message),
            })
            .collect();
        Ok(self.vectors.upsert(&collection, &records).await?)
    }

    /// Removes all vectors of a shop's messages. From then on, only vectors of this embedding model are stored.
    pub async fn start_over(&self, tenant: &TenantId) -> Result<(), MemoryError> {
        let (collection, space) = (self.collection(tenant), self.embedder.space().await?);
        self.vectors.drop_collection(&collection).await?;
        Ok(self.vectors.open(&collection, &space).await?)
    }

    /// Removes the vectors of these messages of one shop.
    pub async fn forget(&self, tenant: &TenantId, messages: &[Uuid]) -> Result<(), MemoryError> {
        let ids: Vec<String> = messages.iter().map(Uuid::to_string).collect();
        Ok(self.vectors.delete(&self.collection(tenant), &ids).await?)
    }

    /// Removes the vectors of a conversation.
    pub async fn forget_conversation(&self, tenant: &TenantId, id: ConversationId) -> Result<(), MemoryError> {
        let only = BTreeMap::from([(CONVERSATION_ID.to_owned(), id.to_string())]);
        Ok(self.vectors.delete_where(&self.collection(tenant), &only).await?)
    }

    /// Returns at most `limit` messages of the conversation, most similar first, each with its cosine similarity.
    pub async fn recall(
        &self,
        conversation: &Conversation,
        question: &[f32],
        limit: usize,
    ) -> Result<Vec<(MessageId, f32)>, MemoryError> {
        // Not by user: a conversation may get its user after its first messages.
        let only = Labels::from([(CONVERSATION_ID.to_owned(), conversation.id.to_string())]);
        let (collection, space) = (self.collection(&conversation.tenant), self.embedder.space().await?);
        let hits = self.vectors.query(&collection, &space, question, limit, &only).await?;
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
