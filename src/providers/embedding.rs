//! The model that turns texts into vectors: near in meaning, near in space.
//!
//! - [`EmbeddingModel`] is what a backend does; [`OllamaEmbedding`] is the one there is.
//! - [`Embedder`] stands before it: batches, deadlines, a circuit breaker, and what the model calls itself.

mod embedder;
mod ollama;

use async_trait::async_trait;

pub use crate::config::EmbedConfig;
pub use embedder::Embedder;
pub use ollama::OllamaEmbedding;

/// What a text is embedded for. Some models want to be told, by a word before the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It is looked for.
    Query,
    /// It is to be found.
    Passage,
}

/// A backend that embeds.
#[async_trait]
pub trait EmbeddingModel: Send + Sync {
    /// One vector for each text, in their order, all of one dimension and of unit length.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError>;

    /// The model's name, as its provider knows it.
    fn name(&self) -> &str;
}

/// Why there are no vectors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmbeddingError {
    /// Embedding is switched off.
    #[error("embedding is switched off")]
    Off,
    /// Nothing answers, not in time, or the breaker is open.
    #[error("the embedding model does not answer: {0}")]
    Unavailable(String),
    /// The service does not have the model, or does not take the request.
    #[error("the embedding model's service refused: {0}")]
    Refused(String),
    /// What came is not what this provider sends.
    #[error("the embedding model's answer is not understood: {0}")]
    Protocol(&'static str),
}

impl EmbeddingError {
    /// Whether the same texts may be embedded later.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }
}
