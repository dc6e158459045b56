//! The entry point to the embedding model.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::time::timeout;

use super::{EmbedConfig, EmbeddingError, EmbeddingModel, Purpose};
use crate::providers::breaker::{Outcome, SharedBreaker};
use crate::providers::vector::Space;

/// Wraps an [`EmbeddingModel`] with prefixes, batches, timeouts, a circuit breaker and normalization.
pub struct Embedder {
    model: Arc<dyn EmbeddingModel>,
    config: EmbedConfig,
    breaker: SharedBreaker,
    /// Known after the first response.
    dimension: OnceLock<usize>,
}

impl Embedder {
    /// Does not call the model yet.
    pub fn new(model: Arc<dyn EmbeddingModel>, config: EmbedConfig) -> Self {
        let (failures, cool_down) = (config.breaker_failures, config.breaker_cool_down);
        let breaker = SharedBreaker::new("the embedding model", "embedding", failures, cool_down);
        Self { model, config, breaker, dimension: OnceLock::new() }
    }

    /// Returns whether embedding is enabled.
    pub fn is_on(&self) -> bool {
        self.config.on
    }

    /// Returns whether the breaker lets a call through.
    pub fn is_up(&self) -> bool {
        self.config.on && self.breaker.lets_through()
    }

    /// The model's name.
    pub fn model(&self) -> &str {
        self.model.name()
    }

    /// Returns the model's space. Embeds a text first if the dimension is not known yet; the model may have to be loaded for it.
    pub async fn space(&self) -> Result<Space, EmbeddingError> {
        let dimension = match self.dimension.get() {
            Some(dimension) => *dimension,
            None => self.all(Purpose::Query, &["?".to_owned()]).await?.first().map_or(0, Vec::len),
        };
        let model = self.model.name();
        let model = match self.config.own_passage_prefix() {
            Some(prefix) => format!("{model} with the prefix {prefix:?}"),
            None => model.to_owned(),
        };
        Ok(Space { model, dimension })
    }

    /// Embeds a question within the short timeout for waiting customers.
    pub async fn query(&self, text: &str) -> Result<Vec<f32>, EmbeddingError> {
        let texts = [format!("{}{text}", self.config.query_prefix)];
        let vectors = self.call(&texts, Purpose::Query, self.config.query_timeout).await?;
        vectors.into_iter().next().ok_or(EmbeddingError::Protocol("no vector"))
    }

    /// Embeds texts that are searched, in order. Fails if one batch fails.
    pub async fn passages(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        self.all(Purpose::Passage, texts).await
    }

    /// Embeds many texts, in order.
    pub async fn all(&self, purpose: Purpose, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let prefix = match purpose {
            Purpose::Query => &self.config.query_prefix,
            Purpose::Passage => &self.config.passage_prefix,
        };
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.config.batch) {
            let batch: Vec<String> = batch.iter().map(|text| format!("{prefix}{text}")).collect();
            vectors.extend(self.call(&batch, purpose, self.config.timeout).await?);
        }
        Ok(vectors)
    }

    async fn call(
        &self,
        texts: &[String],
        purpose: Purpose,
        within: Duration,
    ) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        if !self.config.on {
            return Err(EmbeddingError::Off);
        }
        let Some(mut attempt) = self.breaker.admit() else {
            return Err(EmbeddingError::Unavailable("the circuit breaker is open".to_owned()));
        };
        let answer = timeout(within, self.model.embed(texts)).await;
        let answer = answer.unwrap_or_else(|_| Err(EmbeddingError::Unavailable("it took too long".to_owned())));
        attempt.outcome = match (&answer, purpose) {
            (Ok(_), _) => Outcome::Worked,
            // A passage may be too long for the model, but a refused question means that the model is missing.
            (Err(EmbeddingError::Refused(_)), Purpose::Passage) => Outcome::Unknown,
            (Err(_), _) => Outcome::Failed,
        };
        let mut vectors = answer?;
        if vectors.len() != texts.len() {
            return Err(EmbeddingError::Protocol("the number of vectors differs from the number of texts"));
        }
        for vector in &mut vectors {
            self.check(vector)?;
        }
        Ok(vectors)
    }

    /// Normalizes a vector to unit length, or rejects an invalid one.
    fn check(&self, vector: &mut [f32]) -> Result<(), EmbeddingError> {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if vector.is_empty() || !length.is_normal() {
            return Err(EmbeddingError::Protocol("a vector has no direction"));
        }
        if *self.dimension.get_or_init(|| vector.len()) != vector.len() {
            return Err(EmbeddingError::Protocol("vectors have different dimensions"));
        }
        for x in vector {
            *x /= length;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::*;

    /// A model that has to be loaded.
    struct Slow;

    #[async_trait]
    impl EmbeddingModel for Slow {
        async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok(texts.iter().map(|_| vec![1.0, 0.0]).collect())
        }

        fn name(&self) -> &str {
            "slow"
        }
    }

    fn embedder(config: EmbedConfig) -> Embedder {
        Embedder::new(Arc::new(Slow), EmbedConfig { query_timeout: Duration::ZERO, ..config })
    }

    #[tokio::test]
    async fn space_waits_longer_than_a_question() {
        let embedder = embedder(EmbedConfig::default());
        assert!(embedder.query("?").await.is_err());
        assert_eq!(embedder.space().await, Ok(Space { model: "slow".to_owned(), dimension: 2 }));
    }

    #[tokio::test]
    async fn another_passage_prefix_is_another_space() {
        let prefixed = EmbedConfig { passage_prefix: "text: ".to_owned(), ..EmbedConfig::default() };
        let (plain, prefixed) = (embedder(EmbedConfig::default()).space().await, embedder(prefixed).space().await);
        assert!(plain.is_ok() && prefixed.is_ok());
        assert_ne!(plain, prefixed);
    }
}
