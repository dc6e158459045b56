//! Checks of the language model and the embedding model.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::time::timeout;

use super::TIMEOUT;
use crate::config::{EmbedConfig, LlmConfig, LlmMode};
use crate::domain::check::{Check, Outcome};
use crate::persona::Prompts;
use crate::providers::embedding::{EmbeddingError, EmbeddingModel, OllamaEmbedding};
use crate::providers::llm::{ChatModel, ModelStatus, Ollama};
use crate::providers::same_model;

const LANGUAGE_MODEL: &str = "language model";

/// How a server works without a language model.
const WITHOUT: &str = "until then, rules classify and replies quote documents";

const EMBEDDING_MODEL: &str = "embedding model";

/// How a server works without an embedding model.
const WITHOUT_EMBEDDING: &str = "until then, documents are found by words only, and conversations have no long memory";

pub(super) async fn examine_language_model(config: &LlmConfig, prompts: &[Arc<Prompts>]) -> Vec<Check> {
    if config.mode == LlmMode::Offline {
        return vec![Check::ok(LANGUAGE_MODEL, "off (LLM=offline): rules classify and replies quote documents")];
    }
    let ollama = match Ollama::new(config) {
        Ok(ollama) => ollama,
        Err(error) => return vec![Check::fail(LANGUAGE_MODEL, format!("OLLAMA_HOST is not valid: {error}"))],
    };
    let address = ollama.address();
    match timeout(config.probe_timeout, ollama.probe()).await {
        Ok(Ok(status)) => models(config, &address, &status, prompts),
        Ok(Err(_)) | Err(_) => {
            let hint = "start it with `ollama serve`, or set OLLAMA_HOST";
            vec![missing(config.mode, format!("Ollama does not answer at {address}: {hint}"))]
        }
    }
}

/// Checks the server's model and the models that personas name.
fn models(config: &LlmConfig, address: &str, status: &ModelStatus, prompts: &[Arc<Prompts>]) -> Vec<Check> {
    let model = &config.model;
    let mut checks = vec![match status.installed {
        true => Check::ok(LANGUAGE_MODEL, format!("Ollama at {address} has {model}")),
        false => missing(config.mode, format!("Ollama at {address} does not have {model}: run `ollama pull {model}`")),
    }];
    let personas = prompts.iter().flat_map(|prompts| prompts.personas());
    let wanted: BTreeSet<&str> = personas.filter_map(|persona| persona.model.as_deref()).collect();
    for name in wanted.into_iter().filter(|name| !same_model(name, model)) {
        if !status.models.iter().any(|known| same_model(known, name)) {
            let line = format!("a persona wants {name}, which Ollama does not have: run `ollama pull {name}`");
            checks.push(Check::warn(LANGUAGE_MODEL, line));
        }
    }
    checks
}

/// Reports a missing model. Only `LLM=ollama` does not start without one.
fn missing(mode: LlmMode, why: String) -> Check {
    match mode {
        LlmMode::Ollama => {
            Check::new(LANGUAGE_MODEL, Outcome::Fail, format!("{why} (LLM=ollama does not start without it)"))
        }
        LlmMode::Auto | LlmMode::Offline => Check::warn(LANGUAGE_MODEL, format!("{why}; {WITHOUT}")),
    }
}

pub(super) async fn examine_embedding_model(config: &EmbedConfig) -> Vec<Check> {
    if !config.on {
        return vec![Check::ok(EMBEDDING_MODEL, "off: documents are found by words only")];
    }
    let model = &config.model;
    let check = match OllamaEmbedding::new(config) {
        Err(error) => Check::fail(EMBEDDING_MODEL, format!("OLLAMA_HOST is not valid: {error}")),
        Ok(ollama) => match timeout(TIMEOUT, ollama.embed(&["?".to_owned()])).await {
            Ok(Ok(vectors)) => {
                let numbers = vectors.first().map_or(0, Vec::len);
                Check::ok(EMBEDDING_MODEL, format!("{model} answers with {numbers} dimensions"))
            }
            Ok(Err(EmbeddingError::Refused(_))) => Check::warn(
                EMBEDDING_MODEL,
                format!("Ollama does not have {model}: run `ollama pull {model}`; {WITHOUT_EMBEDDING}"),
            ),
            Ok(Err(_)) | Err(_) => {
                let hint = "start Ollama with `ollama serve`, or set OLLAMA_HOST";
                let line = format!("{model} does not answer at {}: {hint}; {WITHOUT_EMBEDDING}", config.host);
                Check::warn(EMBEDDING_MODEL, line)
            }
        },
    };
    vec![check]
}
