//! The settings, read once from the environment, `.env` and the shops' `shop.toml`.
//!
//! `.env.example` documents every setting with its default.

use std::path::PathBuf;
use std::time::Duration;

use chrono::TimeDelta;

mod auth;
mod commerce;
mod embed;
mod env;
mod http;
mod identity;
mod jobs;
mod knowledge;
mod llm;
mod log;
mod mail;
pub mod paths;
mod retail;
mod returns;
mod search;
mod shops;
mod telecom;
mod web;

pub use auth::{AuthConfig, KeyEntry};
pub use commerce::{CommerceConfig, PaymentMode, PaymentProvidersConfig};
pub use embed::EmbedConfig;
pub use env::{ConfigError, Env};
pub use http::HttpConfig;
pub use identity::IdentityConfig;
pub use jobs::JobsConfig;
pub use knowledge::{ChunkConfig, EvalConfig, KnowledgeConfig};
pub use llm::{AgentConfig, GroundingConfig, LlmConfig, LlmMode};
pub use log::{LogConfig, LogFormat, TraceConfig};
pub use mail::{MailConfig, MessagingConfig};
pub use retail::{Classifier, CuteGreeting, DeskConfig, RetailConfig};
pub use returns::{OrderVerification, ReturnsConfig};
pub use search::{SearchConfig, VectorConfig};
pub use shops::{ShopConfig, ShopsConfig};
pub use telecom::{AccountVerification, TelecomConfig};
pub use web::{ConsoleConfig, WebConfig};

/// All settings.
#[derive(Clone, Debug)]
pub struct Config {
    pub http: HttpConfig,
    pub auth: AuthConfig,
    pub web: WebConfig,
    pub console: ConsoleConfig,
    pub store: StoreConfig,
    pub turns: TurnConfig,
    pub llm: LlmConfig,
    pub agent: AgentConfig,
    pub embed: EmbedConfig,
    pub jobs: JobsConfig,
    pub search: SearchConfig,
    pub vectors: VectorConfig,
    pub shops: ShopsConfig,
    pub prompts: PromptConfig,
    pub knowledge: KnowledgeConfig,
    pub desks: DeskConfig,
    pub retail: RetailConfig,
    pub identity: IdentityConfig,
    pub returns: ReturnsConfig,
    pub telecom: TelecomConfig,
    pub commerce: CommerceConfig,
    pub messaging: MessagingConfig,
    pub mail: MailConfig,
    pub grounding: GroundingConfig,
    pub evals: EvalConfig,
    pub log: LogConfig,
    pub traces: TraceConfig,
}

/// The database.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// `DATABASE_URL`
    pub url: String,
    /// `STORE_TIMEOUT_SECONDS`: how long a statement waits for a connection or another process's lock.
    pub timeout: Duration,
    /// `STORE_CONNECTIONS`
    pub connections: u32,
}

/// The turn engine.
#[derive(Clone, Debug)]
pub struct TurnConfig {
    /// `TURNS_PER_MINUTE`: for each conversation; `None` = no limit.
    pub per_minute: Option<u64>,
    /// `TURNS_PER_DAY`: for each shop, by UTC; `None` = no limit.
    pub per_day: Option<u64>,
    /// `TURNS_RUNNING_MAX`: in the whole server; others wait.
    pub running_max: usize,
    /// `TURNS_WAITING_MAX`: for each conversation.
    pub waiting_max: u64,
    /// `TURNS_WAITING_TOTAL`: in the whole server.
    pub waiting_total: usize,
    /// `MESSAGE_LOCK_SECONDS`: how long new messages wait for a locked conversation on PostgreSQL.
    pub lock_wait: Duration,
    /// `TURN_START_HOLD_MS`: how long the journal holds the events before a turn's first text, to store them with it.
    pub start_hold: Duration,
    /// `TURN_DEADLINE_SECONDS`: longer turns are stopped.
    pub deadline: Duration,
    /// `EVENT_RETENTION_HOURS`: how long events are kept after their turn.
    pub event_retention: Duration,
    /// `MESSAGE_RETENTION_DAYS`: older messages are removed; `None` = never.
    pub message_retention_days: Option<u32>,
    /// `EMPTY_CONVERSATION_HOURS`: age at which a visitor's conversation without a message is removed; `None` = never.
    pub empty_conversation: Option<TimeDelta>,
    /// `RETENTION_EVERY_SECONDS`: how often expired data is removed.
    pub retention_every: Duration,
    /// `DRAIN_SECONDS`: how long running turns may take during a shutdown.
    pub drain: Duration,
}

/// The personas and texts.
#[derive(Clone, Debug)]
pub struct PromptConfig {
    /// `PROMPTS_PATH`
    pub folder: PathBuf,
    /// `PERSONA_PATH`: the default persona.
    pub persona: PathBuf,
    /// `PERSONA_MAX_CHARS`: characters of a persona's text in the model's prompt.
    pub persona_max_chars: usize,
    /// `FILES_POLL_SECONDS`: how often to poll for changed prompts and documents; `None` = rely on file system events.
    pub poll: Option<Duration>,
}

impl Config {
    /// Reads all settings. The error lists every invalid value.
    pub fn read(env: Env) -> Result<Self, ConfigError> {
        let (config, errors) = Self::read_all(env);
        if errors.is_empty() { Ok(config) } else { Err(ConfigError(errors)) }
    }

    /// Reads all settings, with the default for each invalid value. Returns the errors as `NAME: reason`.
    pub fn read_all(mut env: Env) -> (Self, Vec<String>) {
        let env_ref = &mut env;
        let llm = LlmConfig::read(env_ref);
        let embed = EmbedConfig::read(env_ref, &llm);
        let shops = ShopsConfig::read(env_ref);
        let (vectors, commerce) = (VectorConfig::read(env_ref), CommerceConfig::read(env_ref));
        let (messaging, mail) = (MessagingConfig::read(env_ref), MailConfig::read(env_ref));
        let timeouts = [vectors.timeout, commerce.providers.timeout, mail.deadline];
        let config = Self {
            http: HttpConfig::read(env_ref),
            auth: AuthConfig::read(env_ref, shops.api_keys()),
            web: WebConfig::read(env_ref),
            console: ConsoleConfig::read(env_ref),
            store: StoreConfig {
                url: env_ref.text("DATABASE_URL", "sqlite://database/frontdesk.db"),
                timeout: env_ref.seconds("STORE_TIMEOUT_SECONDS", 30),
                connections: env_ref.at_least(1, "STORE_CONNECTIONS", 8),
            },
            turns: TurnConfig {
                per_minute: Some(env_ref.number("TURNS_PER_MINUTE", 30)).filter(|n| *n > 0),
                per_day: Some(env_ref.number("TURNS_PER_DAY", 0)).filter(|n| *n > 0),
                running_max: env_ref.at_least(1, "TURNS_RUNNING_MAX", 256),
                waiting_max: env_ref.at_least(1, "TURNS_WAITING_MAX", 8),
                waiting_total: env_ref.at_least(1, "TURNS_WAITING_TOTAL", 1000),
                lock_wait: env_ref.seconds("MESSAGE_LOCK_SECONDS", 1),
                start_hold: env_ref.milliseconds("TURN_START_HOLD_MS", 2),
                deadline: env_ref.seconds("TURN_DEADLINE_SECONDS", 600),
                event_retention: env_ref.hours("EVENT_RETENTION_HOURS", 24),
                message_retention_days: Some(env_ref.days("MESSAGE_RETENTION_DAYS", 0)).filter(|days| *days > 0),
                empty_conversation: TimeDelta::from_std(env_ref.hours("EMPTY_CONVERSATION_HOURS", 48))
                    .ok()
                    .filter(|age| !age.is_zero()),
                retention_every: env_ref.interval("RETENTION_EVERY_SECONDS", 300),
                drain: env_ref.seconds("DRAIN_SECONDS", 20),
            },
            jobs: JobsConfig::read(env_ref, &embed, &messaging, timeouts),
            search: SearchConfig::read(env_ref, &embed),
            embed,
            agent: AgentConfig::read(env_ref),
            llm,
            vectors,
            prompts: PromptConfig {
                folder: env_ref.text("PROMPTS_PATH", "prompts").into(),
                persona: env_ref.text("PERSONA_PATH", "prompts/system_persona_vi.md").into(),
                persona_max_chars: env_ref.number("PERSONA_MAX_CHARS", 4000),
                poll: Some(env_ref.seconds("FILES_POLL_SECONDS", 0)).filter(|every| !every.is_zero()),
            },
            knowledge: KnowledgeConfig::read(env_ref),
            desks: DeskConfig::read(env_ref),
            retail: RetailConfig::read(env_ref),
            identity: IdentityConfig::read(env_ref),
            returns: ReturnsConfig::read(env_ref),
            telecom: TelecomConfig::read(env_ref),
            commerce,
            messaging,
            shops,
            mail,
            grounding: GroundingConfig::read(env_ref),
            evals: EvalConfig::read(env_ref),
            log: LogConfig::read(env_ref),
            traces: TraceConfig::read(env_ref),
        };
        if config.auth.keys.is_none() && !config.http.bind.ip().is_loopback() {
            env.refuse(
                "BIND_ADDR",
                "an address that is not loopback needs X_API_KEYS: set keys, or bind to 127.0.0.1".to_owned(),
            );
        }
        (config, env.into_errors())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Config, String> {
        Config::read(Env::of(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn unsafe_values_are_refused() {
        for (name, value, why) in [
            ("X_API_KEYS", "a:0123456789abcdef,b:0123456789abcdef", "two shops have the same key"),
            (
                "X_API_KEYS",
                "a:0123456789abcdef,b:0123456789abcde",
                "key 2 has 15 characters, but a key needs at least 16",
            ),
            ("X_API_KEYS", "acme:", "key 1 has 0 characters"),
            ("TENANT_SECRET_KEY", "0123456789abcdef", "must have at least 32 characters"),
            (
                "CORS_ORIGINS",
                "*",
                "'*' is not allowed: list the sites whose pages may call, such as https://shop.example",
            ),
            ("METRICS_ADDR", "9090", "write host and port"),
            ("CORS_ORIGINS", "https://a.example,shop", "'shop' is not valid"),
            ("TWILIO_URL", "api.twilio.com", "write scheme and host"),
            ("PUBLIC_URL", "chat.example", "write scheme and host"),
            ("PUBLIC_URL", "https://chat.example/path", "write scheme and host"),
            ("LLM_MAX_CONCURRENT", "0", "must be at least 1"),
            ("STREAMS_PER_CONVERSATION", "0", "must be at least 1"),
            ("BODY_MAX_BYTES", "0", "must be at least 1"),
            ("PAYMENTS", "mpesa", "is not one of auto, live, sandbox, off"),
            ("DARAJA_URL", "api.safaricom.co.ke", "must be an http:// or https:// address"),
            ("PESAPAL_URL", "https://pay.pesapal.com/v3?x=1", "without a query"),
            ("EVENT_RETENTION_HOURS", "-1", "hours, 0 or more"),
            ("EVENT_RETENTION_HOURS", "876001", "at most 876000"),
            ("LABEL_LINK_HOURS", "3000000000", "at most 876000"),
            ("MESSAGE_RETENTION_DAYS", "100000000", "must be a number of days, at most 36500"),
            ("AUDIT_RETENTION_DAYS", "36501", "at most 36500"),
            ("RETURN_REVIEW_DAYS", "100000000", "at most 36500"),
            ("RETURN_WINDOW_DAYS", "100000000", "at most 36500"),
            ("RETENTION_EVERY_SECONDS", "0", "above 0, such as 300"),
            ("LLM_PROBE_SECONDS", "0", "above 0, such as 15"),
            ("OUTBOX_BACK_OFF_SECONDS", "0", "above 0, such as 2"),
            ("OUTBOX_REST_SECONDS", "0", "above 0, such as 15"),
            ("PAYMENT_POLL_SECONDS", "0", "above 0, such as 5"),
            ("TOKEN_TTL_HOURS", "0", "hours above 0"),
        ] {
            let refusal = read(&[(name, value)]).unwrap_err();
            assert!(refusal.contains(name) && refusal.contains(why), "{name}={value}: {refusal}");
        }
        assert_eq!(read(&[("EVENT_RETENTION_HOURS", "0.5")]).unwrap().turns.event_retention.as_secs(), 1800);
        assert!(read(&[("X_API_KEYS", "a:0123456789abcdef,a:0123456789abcdef,b:0123456789abcdeg")]).is_ok());
    }

    #[test]
    fn all_invalid_values_are_reported_together() {
        let error = read(&[("BIND_ADDR", "8080"), ("TURNS_PER_MINUTE", "many"), ("LLM", "openai"), ("X_API_KEYS", "")])
            .unwrap_err();
        for name in ["BIND_ADDR", "TURNS_PER_MINUTE", "LLM", "X_API_KEYS"] {
            assert!(error.contains(name), "{error}");
        }
    }

    #[test]
    fn public_interface_needs_keys() {
        assert!(read(&[("BIND_ADDR", "0.0.0.0:8080")]).unwrap_err().contains("X_API_KEYS"));
        assert!(read(&[("BIND_ADDR", "0.0.0.0:8080"), ("X_API_KEYS", "0123456789abcdef")]).is_ok());
    }

    #[test]
    fn lease_exceeds_all_requests_of_a_job() {
        for service in ["EMBED", "CHROMA", "PAYMENT", "SMTP", "TWILIO"] {
            let name = format!("{service}_TIMEOUT_SECONDS");
            let lease = read(&[(name.as_str(), "600"), ("WHATSAPP_PACE_SECONDS", "60")]).unwrap().jobs.lease;
            assert!(lease.as_secs() > 4 * 600 + 60, "{name}: {lease:?}");
        }
    }

    #[test]
    fn zero_disables_the_turn_limit() {
        assert_eq!(read(&[("TURNS_PER_MINUTE", "0")]).unwrap().turns.per_minute, None);
    }
}
