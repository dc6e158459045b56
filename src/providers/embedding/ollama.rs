//! The embedding backend for Ollama's `/api/embed`.

use async_trait::async_trait;
use ollama_rs::generation::embeddings::request::{EmbeddingsInput, GenerateEmbeddingsRequest};
use reqwest::{StatusCode, Url};
use serde::Deserialize;

use super::{EmbedConfig, EmbeddingError, EmbeddingModel};
use crate::providers::address;
use crate::providers::llm::InvalidOllama;

/// An embedding model of an Ollama server.
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
    /// Does not connect yet.
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
        let unavailable = |error| EmbeddingError::Unavailable(address::reason(error));
        let response = sent.map_err(unavailable)?;
        let status = response.status();
        if !status.is_success() {
            let body = address::body(response, address::MAX_BODY).await.ok().flatten().unwrap_or_default();
            let text = format!("{} {}", status.as_u16(), address::shortened(&String::from_utf8_lossy(&body)));
            let is_temporary = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
            return Err(if is_temporary { EmbeddingError::Unavailable(text) } else { EmbeddingError::Refused(text) });
        }
        let body = address::body(response, address::MAX_BODY).await.map_err(unavailable)?;
        let body = body.ok_or(EmbeddingError::Protocol("the response is longer than the limit"))?;
        let answer: Answer = serde_json::from_slice(&body)
            .map_err(|_| EmbeddingError::Protocol("the response is not a list of vectors"))?;
        Ok(answer.embeddings)
    }

    fn name(&self) -> &str {
        &self.model
    }
}
