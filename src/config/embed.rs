use std::time::Duration;

use super::{Env, LlmConfig, LlmMode};

/// The embedding model. `Default` gives the documented defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbedConfig {
    /// `EMBED`: `auto` is on unless `LLM=offline`. When on, the model is used while it answers.
    pub on: bool,
    /// `OLLAMA_HOST`, `OLLAMA_PORT`: the same as for the language model.
    pub host: String,
    pub port: Option<u16>,
    /// `OLLAMA_EMBED_MODEL`: `bge-m3`.
    pub model: String,
    /// `EMBED_QUERY_PREFIX`, `EMBED_PASSAGE_PREFIX`: prefixes that the model expects; `none` means no prefix. By default `query: ` and
    /// `passage: ` for the e5 family, and none for other models.
    pub query_prefix: String,
    pub passage_prefix: String,
    /// `EMBED_BATCH`: 8 texts per request. A customer's question waits for a running request.
    pub batch: usize,
    /// `EMBED_TIMEOUT_SECONDS`: 120 per request.
    pub timeout: Duration,
    /// `EMBED_QUERY_TIMEOUT_MS`: 3000 for a customer's question. Later, the search uses words only.
    pub query_timeout: Duration,
    /// `LLM_CONNECT_SECONDS`, `LLM_BREAKER_FAILURES`, `LLM_BREAKER_SECONDS`: the same as for the language model.
    pub connect_timeout: Duration,
    pub breaker_failures: u32,
    pub breaker_cool_down: Duration,
    /// `EMBED_SYNC`: delay a turn's last event until its messages are embedded.
    pub sync: bool,
}

impl Default for EmbedConfig {
    fn default() -> Self {
        Self::read(&mut Env::default(), &LlmConfig::default())
    }
}

impl EmbedConfig {
    pub(super) fn read(env: &mut Env, llm: &LlmConfig) -> Self {
        let model = env.text("OLLAMA_EMBED_MODEL", "bge-m3");
        let (query, passage) = prefixes(&model);
        // Read raw, since a prefix ends with a space.
        let prefix = |name: &str, known: &str| match env.raw(name).filter(|value| !value.trim().is_empty()) {
            Some(value) if value.trim() == "none" => String::new(),
            value => value.unwrap_or(known).to_owned(),
        };
        let (query_prefix, passage_prefix) =
            (prefix("EMBED_QUERY_PREFIX", query), prefix("EMBED_PASSAGE_PREFIX", passage));
        let auto = env.find("EMBED").is_some() || llm.mode != LlmMode::Offline;
        Self {
            on: env.choice("EMBED", &[("auto", auto), ("off", false)], auto),
            host: llm.host.clone(),
            port: llm.port,
            model,
            query_prefix,
            passage_prefix,
            batch: env.number("EMBED_BATCH", 8_usize).max(1),
            timeout: env.seconds("EMBED_TIMEOUT_SECONDS", 120),
            query_timeout: Duration::from_millis(env.number("EMBED_QUERY_TIMEOUT_MS", 3000)),
            connect_timeout: llm.connect_timeout,
            breaker_failures: llm.breaker_failures,
            breaker_cool_down: llm.breaker_cool_down,
            sync: env.choice("EMBED_SYNC", &[("0", false), ("1", true)], false),
        }
    }

    /// Returns the prefix of passages if it is not the model's default.
    pub fn own_passage_prefix(&self) -> Option<&str> {
        Some(self.passage_prefix.as_str()).filter(|prefix| *prefix != prefixes(&self.model).1)
    }
}

/// Returns the prefixes of queries and passages that models of this name expect.
fn prefixes(model: &str) -> (&'static str, &'static str) {
    if model.to_ascii_lowercase().contains("e5") { ("query: ", "passage: ") } else { ("", "") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> EmbedConfig {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let mut env = Env::of(pairs);
        let llm = LlmConfig::read(&mut env);
        EmbedConfig::read(&mut env, &llm)
    }

    #[test]
    fn embedding_is_off_without_language_model_by_default() {
        assert!(read(&[]).on);
        assert!(!read(&[("LLM", "offline")]).on);
        assert!(read(&[("LLM", "offline"), ("EMBED", "auto")]).on);
        assert!(!read(&[("EMBED", "off")]).on);
    }

    #[test]
    fn prefix_keeps_its_trailing_space() {
        let e5 = read(&[("OLLAMA_EMBED_MODEL", "multilingual-e5-large")]);
        assert_eq!((e5.query_prefix.as_str(), e5.passage_prefix.as_str()), ("query: ", "passage: "));
        assert_eq!(read(&[("EMBED_QUERY_PREFIX", "find: ")]).query_prefix, "find: ");
        assert_eq!(read(&[]).query_prefix, "");
    }

    #[test]
    fn empty_prefix_is_unset_and_none_is_empty() {
        let e5 = ("OLLAMA_EMBED_MODEL", "multilingual-e5-large");
        let empty = read(&[e5, ("EMBED_QUERY_PREFIX", ""), ("EMBED_PASSAGE_PREFIX", " ")]);
        assert_eq!((empty.query_prefix.as_str(), empty.passage_prefix.as_str()), ("query: ", "passage: "));
        let none = read(&[e5, ("EMBED_QUERY_PREFIX", "none"), ("EMBED_PASSAGE_PREFIX", "none")]);
        assert_eq!((none.query_prefix.as_str(), none.passage_prefix.as_str()), ("", ""));
    }
}
