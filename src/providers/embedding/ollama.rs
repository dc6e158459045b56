//! Ollama's `/api/embed`.

use async_trait::async_trait;
use ollama_rs::generation::embeddings::request::{EmbeddingsInput, GenerateEmbeddingsRequest};
use reqwest::{StatusCode, Url};
use serde::Deserialize;

use super::{EmbedConfig, EmbeddingError, EmbeddingModel};
use crate::providers::address::{self, reason};
use crate::providers::llm::InvalidOllama;

/// How much of a provider's complaint goes into the log, in characters.
const MAX_COMPLAINT: usize = 300;

/// An embedding model of one Ollama server.
pub struct OllamaEmbedding {
    http: reqwest::Client,
    url: Url,
    model: String,
}

#[derive(Deserialize)]
struct Answer {
    embeddings: Vec<Vec<f32>>,
}

impl OllamaEmbedding {
    /// Connects to nothing yet.
    pub fn new(config: &EmbedConfig) -> Result<Self, InvalidOllama> {
        let base = address::base_url(&config.host, config.port)?;
        let http = address::client(&base, config.connect_timeout).read_timeout(config.timeout).build()?;
        let mut url = base;
        url.set_path(&format!("{}api/embed", url.path()));
        Ok(Self { http, url, model: config.model.clone() })
    }
}

#[async_trait]
impl EmbeddingModel for OllamaEmbedding {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let request = GenerateEmbeddingsRequest::new(self.model.clone(), EmbeddingsInput::Multiple(texts.to_vec()));
        let sent = self.http.post(self.url.clone()).json(&request).send().await;
        let response = sent.map_err(|error| EmbeddingError::Unavailable(reason(&error.without_url())))?;
        let status = response.status();
        if !status.is_success() {
            let body = address::body(response, address::MAX_BODY).await.ok().flatten().unwrap_or_default();
            let words: String = String::from_utf8_lossy(&body).chars().take(MAX_COMPLAINT).collect();
            let words = format!("{} {words}", status.as_u16());
            let passing = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
            return Err(if passing { EmbeddingError::Unavailable(words) } else { EmbeddingError::Refused(words) });
        }
        let body = address::body(response, address::MAX_BODY).await;
        let body = body.map_err(|error| EmbeddingError::Unavailable(reason(&error.without_url())))?;
        let body = body.ok_or(EmbeddingError::Protocol("the answer is longer than the limit"))?;
        let answer: Answer =
            serde_json::from_slice(&body).map_err(|_| EmbeddingError::Protocol("no list of vectors"))?;
        Ok(answer.embeddings)
    }

    fn name(&self) -> &str {
        &self.model
    }
}
