//! The one door to the embedding model.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};
use tracing::{info, warn};

use super::{EmbedConfig, EmbeddingError, EmbeddingModel, Purpose};
use crate::providers::breaker::{Breaker, Change, Outcome, Pass};
use crate::providers::vector::Space;

/// Wraps an [`EmbeddingModel`]: prefixes, batches, deadlines, a circuit breaker, unit length.
pub struct Embedder {
    model: Arc<dyn EmbeddingModel>,
    config: EmbedConfig,
    breaker: Mutex<Breaker>,
    /// Learnt from the first answer.
    dimension: OnceLock<usize>,
}

impl Embedder {
    /// Asks the model nothing yet.
    pub fn new(model: Arc<dyn EmbeddingModel>, config: EmbedConfig) -> Self {
        let breaker = Mutex::new(Breaker::new("embedding", config.breaker_failures, config.breaker_cool_down));
        Self { model, config, breaker, dimension: OnceLock::new() }
    }

    /// Whether anything may be asked at all.
    pub fn is_on(&self) -> bool {
        self.config.on
    }

    /// Whether a call has a chance now. Costs nothing.
    pub fn is_up(&self) -> bool {
        self.config.on && self.breaker(|breaker| breaker.lets_through(Instant::now()))
    }

    /// The model's name.
    pub fn model(&self) -> &str {
        self.model.name()
    }

    /// What the model's vectors are; asks it for one if nobody has asked before.
    pub async fn space(&self) -> Result<Space, EmbeddingError> {
        let dimension = match self.dimension.get() {
            Some(dimension) => *dimension,
            None => self.query("?").await?.len(),
        };
        Ok(Space { model: self.model.name().to_owned(), dimension })
    }

    /// The vector of a question, in time for somebody who waits.
    pub async fn query(&self, text: &str) -> Result<Vec<f32>, EmbeddingError> {
        let texts = [format!("{}{text}", self.config.query_prefix)];
        let vectors = self.call(&texts, Purpose::Query, self.config.query_timeout).await?;
        vectors.into_iter().next().ok_or(EmbeddingError::Protocol("no vector"))
    }

    /// The vectors of texts that are to be found, in their order. A batch that fails fails them all.
    pub async fn passages(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        self.all(Purpose::Passage, texts).await
    }

    /// The vectors of many texts, in their order.
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
        let pass = self.breaker(|breaker| breaker.admit(Instant::now()));
        let Some(pass) = pass else {
            return Err(EmbeddingError::Unavailable("the circuit breaker is open".to_owned()));
        };
        // A caller that leaves drops this future: then nothing is known.
        let mut report = Report { embedder: self, pass, outcome: Outcome::Unknown };
        let answer = timeout(within, self.model.embed(texts)).await;
        let answer = answer.unwrap_or_else(|_| Err(EmbeddingError::Unavailable("it took too long".to_owned())));
        report.outcome = match (&answer, purpose) {
            (Ok(_), _) => Outcome::Worked,
            // A passage may be too much for the model; a question that is refused means that the model is not there.
            (Err(EmbeddingError::Refused(_)), Purpose::Passage) => Outcome::Unknown,
            (Err(_), _) => Outcome::Failed,
        };
        let mut vectors = answer?;
        if vectors.len() != texts.len() {
            return Err(EmbeddingError::Protocol("another number of vectors than of texts"));
        }
        for vector in &mut vectors {
            self.check(vector)?;
        }
        Ok(vectors)
    }

    /// Makes the vector one of unit length, if it is one at all.
    fn check(&self, vector: &mut [f32]) -> Result<(), EmbeddingError> {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if vector.is_empty() || !length.is_normal() {
            return Err(EmbeddingError::Protocol("a vector without a direction"));
        }
        if *self.dimension.get_or_init(|| vector.len()) != vector.len() {
            return Err(EmbeddingError::Protocol("vectors of different dimensions"));
        }
        for x in vector {
            *x /= length;
        }
        Ok(())
    }

    fn breaker<T>(&self, work: impl FnOnce(&mut Breaker) -> T) -> T {
        work(&mut self.breaker.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Tells the breaker how the call went, whichever way it ends.
struct Report<'a> {
    embedder: &'a Embedder,
    pass: Pass,
    outcome: Outcome,
}

impl Drop for Report<'_> {
    fn drop(&mut self) {
        match self.embedder.breaker(|breaker| breaker.report(self.pass, self.outcome, Instant::now())) {
            Change::None => {}
            Change::Opened => warn!("The embedding model fails again and again: circuit breaker open"),
            Change::Closed => info!("The embedding model answers again: circuit breaker closed"),
        }
    }
}
