//! The embedding model, which turns texts into vectors.
//!
//! - [`EmbeddingModel`] is the trait of backends, and [`OllamaEmbedding`] implements it.
//! - [`Embedder`] wraps a backend with batches, timeouts and a circuit breaker.

mod embedder;
mod ollama;

use async_trait::async_trait;

pub use crate::config::EmbedConfig;
pub use embedder::Embedder;
pub use ollama::OllamaEmbedding;

/// The purpose of an embedding. Some models expect a different prefix for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A search query.
    Query,
    /// A text that is searched.
    Passage,
}

/// An embedding backend.
#[async_trait]
pub trait EmbeddingModel: Send + Sync {
    /// Embeds each text, in order, as vectors of the same dimension and of unit length.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError>;

    /// Returns the model's name at its provider.
    fn name(&self) -> &str;
}

/// Why embedding failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmbeddingError {
    /// Embedding is disabled.
    #[error("embedding is disabled")]
    Off,
    /// The service does not answer in time, or the breaker is open.
    #[error("the embedding model does not answer: {0}")]
    Unavailable(String),
    /// The service does not have the model, or rejects the request.
    #[error("the embedding model's service refused: {0}")]
    Refused(String),
    /// The response has an unexpected format.
    #[error("the embedding model's response is not valid: {0}")]
    Protocol(&'static str),
}

impl EmbeddingError {
    /// Returns whether a retry can succeed.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }
}
