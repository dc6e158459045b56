//! The language model.

use std::collections::BTreeSet;

use tokio::time::timeout;

use super::{Check, Outcome};
use crate::config::{LlmConfig, LlmMode};
use crate::persona::Prompts;
use crate::providers::llm::{ChatModel, ModelStatus, Ollama};
use crate::providers::same_model;

const NAME: &str = "language model";

/// What a server does without one.
const WITHOUT: &str = "until then rules classify, and replies quote the shop's documents";

pub(super) async fn examine(config: &LlmConfig, prompts: Option<&Prompts>) -> Vec<Check> {
    if config.mode == LlmMode::Offline {
        return vec![Check::ok(NAME, "off (LLM=offline): rules classify, and replies quote the shop's documents")];
    }
    let ollama = match Ollama::new(config) {
        Ok(ollama) => ollama,
        Err(error) => return vec![Check::fail(NAME, format!("OLLAMA_HOST cannot be used: {error}"))],
    };
    let address = ollama.address();
    match timeout(config.probe_timeout, ollama.probe()).await {
        Ok(Ok(status)) => models(config, &address, &status, prompts),
        Ok(Err(_)) | Err(_) => {
            let mend = "start it with `ollama serve`, or set OLLAMA_HOST";
            vec![lacking(config.mode, format!("Ollama does not answer at {address}: {mend}"))]
        }
    }
}

/// The server's model, and those that personas ask for by name.
fn models(config: &LlmConfig, address: &str, status: &ModelStatus, prompts: Option<&Prompts>) -> Vec<Check> {
    let model = &config.model;
    let mut checks = vec![match status.installed {
        true => Check::ok(NAME, format!("Ollama answers at {address} and has {model}")),
        false => lacking(
            config.mode,
            format!("Ollama answers at {address} and does not have {model}: run `ollama pull {model}`"),
        ),
    }];
    let personas = prompts.into_iter().flat_map(Prompts::personas);
    let wanted: BTreeSet<&str> = personas.filter_map(|persona| persona.model.as_deref()).collect();
    for name in wanted.into_iter().filter(|name| !same_model(name, model)) {
        if !status.models.iter().any(|known| same_model(known, name)) {
            let line = format!("a persona wants {name}, which Ollama does not have: run `ollama pull {name}`");
            checks.push(Check::warn(NAME, line));
        }
    }
    checks
}

/// No model: only `LLM=ollama` does not start without one.
fn lacking(mode: LlmMode, why: String) -> Check {
    match mode {
        LlmMode::Ollama => Check::new(NAME, Outcome::Fail, format!("{why} (LLM=ollama does not start without it)")),
        LlmMode::Auto | LlmMode::Offline => Check::warn(NAME, format!("{why}; {WITHOUT}")),
    }
}
