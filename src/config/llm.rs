use std::time::Duration;

use super::Env;
use crate::domain::LinkHost;

/// Whether the language model is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LlmMode {
    /// Used while it answers; probed regularly while it does not.
    Auto,
    /// Like `Auto`, but the server does not start without it.
    Ollama,
    /// Never used.
    Offline,
}

/// The language model: address, limits and timeouts. `Default` gives the documented defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct LlmConfig {
    /// `LLM`: `auto`.
    pub mode: LlmMode,
    /// `OLLAMA_HOST`: `127.0.0.1`. A host, `host:port` or a URL; a port in it wins.
    pub host: String,
    /// `OLLAMA_PORT`: unset, which means 11434 for a bare host.
    pub port: Option<u16>,
    /// `OLLAMA_MODEL`: `gpt-oss`.
    pub model: String,
    /// `OLLAMA_NUM_CTX`: 8192 tokens of context. Always sent, since Ollama's own default cuts long prompts silently.
    pub num_ctx: u32,
    /// `LLM_MAX_TOKENS`: 2048 tokens per answer, including thinking. The server also stops an answer at 8 bytes per token, in case the
    /// model ignores the limit.
    pub max_tokens: u32,
    /// `OLLAMA_KEEP_ALIVE`: a duration (`30m`) or seconds; -1 = forever; `None` = Ollama's own setting.
    pub keep_alive: Option<String>,
    /// `LLM_CONNECT_SECONDS`: 5.
    pub connect_timeout: Duration,
    /// `LLM_FIRST_TOKEN_SECONDS`: 60, from leaving the queue to the first text.
    pub first_token_timeout: Duration,
    /// `LLM_BETWEEN_TOKENS_SECONDS`: 20.
    pub between_tokens_timeout: Duration,
    /// 5 s per probe.
    pub probe_timeout: Duration,
    /// `LLM_PROBE_SECONDS`: 15 between probes.
    pub probe_every: Duration,
    /// `LLM_MAX_CONCURRENT`: 4 concurrent calls.
    pub max_concurrent: usize,
    /// `LLM_QUEUE_MAX`: 64 waiting calls; more are refused.
    pub queue_max: usize,
    /// `LLM_BREAKER_FAILURES`: 5 consecutive failures open the circuit breaker.
    pub breaker_failures: u32,
    /// `LLM_BREAKER_SECONDS`: 30 until the breaker allows a trial call.
    pub breaker_cool_down: Duration,
}

impl Default for LlmConfig {
    fn default() -> Self {
        Self::read(&mut Env::default())
    }
}

impl LlmConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        let port = env.find("OLLAMA_PORT").is_some().then(|| env.number("OLLAMA_PORT", 11434));
        Self {
            mode: env.choice(
                "LLM",
                &[("auto", LlmMode::Auto), ("ollama", LlmMode::Ollama), ("offline", LlmMode::Offline)],
                LlmMode::Auto,
            ),
            host: env.text("OLLAMA_HOST", "127.0.0.1"),
            port,
            model: env.text("OLLAMA_MODEL", "gpt-oss"),
            num_ctx: env.number("OLLAMA_NUM_CTX", 8192),
            max_tokens: env.number("LLM_MAX_TOKENS", 2048),
            keep_alive: env.find("OLLAMA_KEEP_ALIVE"),
            connect_timeout: env.seconds("LLM_CONNECT_SECONDS", 5),
            first_token_timeout: env.seconds("LLM_FIRST_TOKEN_SECONDS", 60),
            between_tokens_timeout: env.seconds("LLM_BETWEEN_TOKENS_SECONDS", 20),
            probe_timeout: Duration::from_secs(5),
            probe_every: env.interval("LLM_PROBE_SECONDS", 15),
            max_concurrent: env.at_least(1, "LLM_MAX_CONCURRENT", 4),
            queue_max: env.number("LLM_QUEUE_MAX", 64),
            breaker_failures: env.number("LLM_BREAKER_FAILURES", 5),
            breaker_cool_down: env.seconds("LLM_BREAKER_SECONDS", 30),
        }
    }
}

/// Desks that a language model drives with tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentConfig {
    /// `AGENT_ROUNDS`: model calls per turn. The last one has no tools, so that the model must answer.
    pub rounds: u32,
    /// `AGENT_CALL_SECONDS`: how long each call may take, without waiting in the queue.
    pub call: Duration,
    /// `AGENT_DEADLINE_SECONDS`: how long all calls of a turn may take, including waiting.
    pub deadline: Duration,
}

impl AgentConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        let rounds = env.number("AGENT_ROUNDS", 15);
        if rounds < 2 {
            env.refuse("AGENT_ROUNDS", "must be at least 2: one to call a tool and one to answer".to_owned());
        }
        Self {
            rounds: rounds.max(2),
            call: env.seconds("AGENT_CALL_SECONDS", 60),
            deadline: env.seconds("AGENT_DEADLINE_SECONDS", 180),
        }
    }
}

/// Checks of replies that a language model writes.
#[derive(Clone, Debug)]
pub struct GroundingConfig {
    /// `LINK_HOSTS`: allowed hosts of links in replies. Other links are removed, except to hosts in the sources.
    pub link_hosts: Vec<LinkHost>,
}

impl GroundingConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self { link_hosts: env.list("LINK_HOSTS", |host| host.parse().ok()) }
    }
}
