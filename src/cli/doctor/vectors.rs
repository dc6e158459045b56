//! The embedding model and where its vectors are kept.

use tokio::time::timeout;

use super::{Check, PATIENCE};
use crate::config::EmbedConfig;
use crate::providers::embedding::{EmbeddingError, EmbeddingModel, OllamaEmbedding};

const NAME: &str = "embedding model";

/// What a server does without one.
const WITHOUT: &str = "until then documents are found by their words alone, and conversations have no long memory";

pub(super) async fn examine(config: &EmbedConfig) -> Vec<Check> {
    if !config.on {
        return vec![Check::ok(NAME, "off: documents are found by their words alone")];
    }
    let model = &config.model;
    let check = match OllamaEmbedding::new(config) {
        Err(error) => Check::fail(NAME, format!("OLLAMA_HOST cannot be used: {error}")),
        Ok(ollama) => match timeout(PATIENCE, ollama.embed(&["?".to_owned()])).await {
            Ok(Ok(vectors)) => {
                let numbers = vectors.first().map_or(0, Vec::len);
                Check::ok(NAME, format!("{model} answers with vectors of {numbers} numbers"))
            }
            Ok(Err(EmbeddingError::Refused(_))) => {
                Check::warn(NAME, format!("Ollama does not have {model}: run `ollama pull {model}`; {WITHOUT}"))
            }
            Ok(Err(_)) | Err(_) => Check::warn(NAME, format!("{model} does not answer; {WITHOUT}")),
        },
    };
    vec![check]
}
