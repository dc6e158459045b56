use std::time::Duration;

use super::Env;

/// Whether a language model is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LlmMode {
    /// What answers is used; looked for again in the background.
    Auto,
    /// The server does not start without it.
    Ollama,
    /// None, ever.
    Offline,
}

/// The language model.
#[derive(Clone, Debug)]
pub struct LlmConfig {
    /// `LLM`
    pub mode: LlmMode,
    /// `OLLAMA_HOST`: a host, `host:port` or a URL; a port in it wins over `port`.
    pub host: String,
    /// `OLLAMA_PORT`
    pub port: u16,
    /// `OLLAMA_MODEL`
    pub model: String,
    /// `OLLAMA_NUM_CTX`: tokens of context, sent with every request, since Ollama's own default cuts long prompts.
    pub num_ctx: u64,
    /// `LLM_MAX_CONCURRENT`: model calls at once.
    pub max_concurrent: usize,
    /// `LLM_QUEUE_MAX`: calls that may wait; beyond that it is the same as no model.
    pub queue_max: usize,
    /// `LLM_CONNECT_TIMEOUT_MS`
    pub connect_timeout: Duration,
    /// `LLM_FIRST_TOKEN_SECONDS`
    pub first_token: Duration,
    /// `LLM_BETWEEN_TOKENS_SECONDS`
    pub between_tokens: Duration,
    /// `LLM_PROBE_SECONDS`: how often `auto` looks whether the model is there.
    pub probe_every: Duration,
    /// `LLM_BREAKER_FAILURES`: so many failures in a row open the breaker.
    pub breaker_failures: u32,
    /// `LLM_BREAKER_SECONDS`: how long it stays open.
    pub breaker_cool_down: Duration,
}

impl LlmConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self {
            mode: env.choice(
                "LLM",
                &[("auto", LlmMode::Auto), ("ollama", LlmMode::Ollama), ("offline", LlmMode::Offline)],
                LlmMode::Auto,
            ),
            host: env.text("OLLAMA_HOST", "127.0.0.1"),
            port: env.number("OLLAMA_PORT", 11434),
            model: env.text("OLLAMA_MODEL", "gpt-oss"),
            num_ctx: env.number("OLLAMA_NUM_CTX", 8192),
            max_concurrent: env.number("LLM_MAX_CONCURRENT", 4),
            queue_max: env.number("LLM_QUEUE_MAX", 64),
            connect_timeout: env.milliseconds("LLM_CONNECT_TIMEOUT_MS", 2000),
            first_token: env.seconds("LLM_FIRST_TOKEN_SECONDS", 60),
            between_tokens: env.seconds("LLM_BETWEEN_TOKENS_SECONDS", 20),
            probe_every: env.seconds("LLM_PROBE_SECONDS", 15),
            breaker_failures: env.number("LLM_BREAKER_FAILURES", 5),
            breaker_cool_down: env.seconds("LLM_BREAKER_SECONDS", 30),
        }
    }
}
