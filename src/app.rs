//! The running server without its socket: all services, and what the HTTP layer calls.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use metrics_exporter_prometheus::PrometheusHandle;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{error, warn};
use utoipa::ToSchema;

use crate::channels::Reports;
use crate::config::{Config, LlmMode};
use crate::desks::{Shop, Shops};
use crate::domain::{
    Conversation, ConversationId, ConversationStatus, EventId, Kind, Language, LanguageSource, Message, MessageId,
    Metadata, Sender, TenantId,
};
use crate::jobs::JobRunner;
use crate::notify::Notifier;
use crate::providers::embedding::Embedder;
use crate::providers::llm::{Availability, Gateway};
use crate::providers::vector::VectorIndex;
use crate::retrieval::search::Overview;
use crate::store::acceptance::IdempotencyKey;
use crate::store::conversations::Creation;
use crate::store::{Outage, Store, StoreError};
use crate::tools::client_name::ClientNames;
use crate::tools::label_link::Labels;
use crate::tools::payment_callback::PaymentCallbacks;
use crate::turn::Engine;

mod atomic_file;
pub mod evals;
mod keys;
mod knowledge;
mod limits;
pub mod list_file;
mod metrics;
pub mod personal_files;
pub mod personas;
pub mod questions;
mod reload;
pub mod session_chat;
mod sessions;
mod start;
mod streams;
mod tokens;
pub mod warranty_list;
pub mod whatsapp;

pub use keys::Keys;
pub use limits::{Limits, Notice, TooMany};
use personas::Personas;
pub use sessions::{Session, Sessions};
pub use start::StartError;
pub use streams::{StreamPlace, Streams, TooManyStreams};
pub use tokens::{Claims, Tokens};
use whatsapp::CustomerLocks;

/// The latest expiry of a token after its conversation started, by the wire contract.
const TOKEN_LAST: TimeDelta = TimeDelta::days(30);
/// How long stopped turns may take to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// A running server, without its socket.
pub struct App {
    pub config: Arc<Config>,
    pub store: Store,
    pub engine: Engine,
    /// `None` in development mode.
    pub keys: Option<Keys>,
    pub tokens: Tokens,
    /// `None` without keys or without the console.
    pub sessions: Option<Sessions>,
    pub metrics: PrometheusHandle,
    pub streams: Streams,
    pub limits: Arc<Limits>,
    pub personas: Personas,
    pub shops: Arc<Shops>,
    embedder: Arc<Embedder>,
    vectors: Arc<dyn VectorIndex>,
    pub jobs: Arc<JobRunner>,
    notifier: Arc<Notifier>,
    /// Return labels.
    pub labels: Arc<Labels>,
    /// The addresses at which payment providers call back.
    pub payment_callbacks: PaymentCallbacks,
    client_names: ClientNames,
    /// Reports of the provider of WhatsApp messages.
    reports: Reports,
    customer_locks: CustomerLocks,
    llm: Arc<Gateway>,
    turns: TaskTracker,
    background: TaskTracker,
    /// Runs background jobs.
    worker: TaskTracker,
    stop: CancellationToken,
}

/// The state of a part of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartState {
    Ok,
    Down,
    /// Disabled by the configuration.
    Off,
}

/// The states of the server's parts.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct Parts {
    /// `ok` if the store accepts writes, else `down`.
    pub store: PartState,
    /// Why the store is down. The server's log has a hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_outage: Option<Outage>,
    /// `ok`, `down` or `off`.
    pub language_model: PartState,
    /// `ok`, `down` or `off`.
    pub vectors: PartState,
}

/// A request to open a conversation.
#[derive(Debug, Default)]
pub struct NewConversation {
    pub user_id: Option<String>,
    pub persona: Option<String>,
    pub language: Option<Language>,
    /// Languages that the customer probably reads, best first. The first message can change the language.
    pub likely_languages: Vec<Language>,
    pub metadata: Map<String, Value>,
    pub idempotency: Option<IdempotencyKey>,
    /// The address of a visitor without an API key. Idempotency keys are scoped to it.
    pub visitor: Option<IpAddr>,
    /// Only repeat an earlier response; do not open a new conversation.
    pub repeats_only: bool,
}

/// An opened conversation.
#[derive(Debug)]
pub struct Opened {
    pub conversation: Conversation,
    pub greeting: Message,
    pub token: String,
    pub token_expires_at: DateTime<Utc>,
}

/// Why a conversation was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the persona does not exist")]
    NoSuchPersona { known: Vec<String> },
    #[error("the persona does not speak that language")]
    NoSuchLanguage { known: Vec<Language> },
    #[error("the idempotency key was used with a different body")]
    KeyReused,
    /// Only a repeated request was accepted, and this is a new one.
    #[error("new conversations are not accepted now")]
    NotRepeated,
    #[error("the server is shutting down")]
    Draining,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// Indexes the documents and prepares the desks in the background, so that no customer waits for it.
    pub fn prepare_shops(&self) {
        let shops = self.shops.clone();
        self.background.spawn_blocking(move || shops.prepare());
    }

    /// Describes each part on one line, for the output at the start.
    pub fn report(&self) -> Vec<(&'static str, String)> {
        let shop = self.shops.get(&TenantId::default());
        let personas: Vec<&str> = shop.prompts().personas().map(|persona| persona.id.as_str()).collect();
        let report = shop.knowledge().report(&shop.prompts().default_persona().knowledge);
        let model = match (self.config.llm.mode, self.llm.availability()) {
            (LlmMode::Offline, _) => "off (LLM=offline); rules classify, replies quote documents".to_owned(),
            (_, Availability::Up) => format!("Ollama, {}", self.config.llm.model),
            (_, Availability::ModelMissing) => format!(
                "missing: run `ollama pull {}`; until then, rules classify, replies quote documents",
                self.config.llm.model
            ),
            _ => format!(
                "no answer from {}; rules classify, replies quote documents; retrying every {} s",
                self.config.llm.host,
                self.config.llm.probe_every.as_secs()
            ),
        };
        let mut lines = vec![
            ("store", self.store.describe()),
            ("language model", model),
            (
                "vectors",
                format!("{}; {} documents, {} chunks", self.describe_vectors(), report.documents, report.chunks),
            ),
            ("mails", self.notifier.describe()),
            ("personas", format!("{} (default {})", personas.join(", "), shop.prompts().default_persona().id)),
        ];
        let others: Vec<&str> = self.config.shops.others().map(TenantId::as_str).collect();
        if !others.is_empty() {
            lines.push(("shops", format!("{} in {}", others.join(", "), self.config.shops.folder.display())));
        }
        lines
    }

    fn describe_vectors(&self) -> String {
        let place = match &self.config.vectors.chroma_url {
            Some(_) => "in Chroma",
            None => "in the database",
        };
        match self.embedder.is_on() {
            true => format!("{} by Ollama while it answers, stored {place}", self.embedder.model()),
            false => "off, search by words".to_owned(),
        }
    }

    /// Returns the shop of the chat page and the widget.
    pub fn web_shop(&self) -> Arc<Shop> {
        self.shops.get(&self.config.auth.web_chat_tenant)
    }

    /// Describes a shop's indexed documents and the problems to fix: invalid documents, and a change that could not be loaded.
    pub async fn knowledge(&self, tenant: &TenantId) -> Overview {
        let mut overview = self.shops.get(tenant).knowledge().overview().await;
        overview.problems.splice(0..0, self.shops.problem(tenant).as_deref().cloned());
        overview
    }

    /// Checks the state of each part.
    pub async fn parts(&self) -> Parts {
        let store_outage = self.store.probe().await;
        Parts {
            store: if store_outage.is_none() { PartState::Ok } else { PartState::Down },
            store_outage,
            language_model: match self.config.llm.mode {
                LlmMode::Offline => PartState::Off,
                _ if self.llm.is_up() => PartState::Ok,
                _ => PartState::Down,
            },
            vectors: self.vectors_state().await,
        }
    }

    async fn vectors_state(&self) -> PartState {
        if !self.embedder.is_on() {
            return PartState::Off;
        }
        let answers = tokio::time::timeout(Duration::from_secs(2), self.vectors.ping()).await;
        match answers {
            Ok(Ok(())) if self.embedder.is_up() => PartState::Ok,
            _ => PartState::Down,
        }
    }

    /// Opens a conversation with the persona's greeting. A repeated request gets its conversation, even where a new one is refused.
    pub async fn open(&self, tenant: &TenantId, new: NewConversation) -> Result<Opened, OpenError> {
        let (now, generation) = (Utc::now(), self.engine.history_generation());
        let door = self.store.tenant(tenant);
        let scope = new.visitor.map(|address| format!("visitor:{}", self.client_names.of(address))).unwrap_or_default();
        let begun = match new.repeats_only {
            true => Err(OpenError::NotRepeated),
            false if self.engine.is_draining() => Err(OpenError::Draining),
            false => self.begin_conversation(tenant, &new, now),
        };
        let creation = match (&begun, &new.idempotency) {
            (Ok((conversation, greeting)), key) => {
                Some(door.create_conversation(conversation, greeting, &scope, key.as_ref()).await?)
            }
            (Err(_), Some(key)) => door.find_creation(&scope, key, now).await?,
            (Err(_), None) => None,
        };
        match creation {
            Some(Creation::Created) | None => {
                let (conversation, greeting) = begun?;
                self.engine.keep_greeting(generation, &greeting);
                self.jobs.wake();
                Ok(self.opened(conversation, greeting, now))
            }
            Some(Creation::KeyReused) => Err(OpenError::KeyReused),
            Some(Creation::Repeated(id)) => {
                let conversation = door.find_conversation(id).await?;
                let greeting = door.find_greeting(id).await?;
                match (conversation, greeting) {
                    (Some(conversation), Some(greeting)) => Ok(self.opened(conversation, greeting, now)),
                    // The conversation was deleted since.
                    _ => Err(OpenError::KeyReused),
                }
            }
        }
    }

    /// Returns a new conversation and its greeting, which are not stored yet.
    fn begin_conversation(
        &self,
        tenant: &TenantId,
        new: &NewConversation,
        now: DateTime<Utc>,
    ) -> Result<(Conversation, Message), OpenError> {
        // PostgreSQL stores microseconds.
        let now = now.trunc_subsecs(6);
        let shop = self.shops.get(tenant);
        let prompts = shop.prompts();
        let persona = match &new.persona {
            None => prompts.default_persona(),
            Some(id) => prompts.find_persona(id).ok_or_else(|| OpenError::NoSuchPersona {
                known: prompts.personas().map(|persona| persona.id.clone()).collect(),
            })?,
        };
        if new.language.is_some_and(|language| !persona.languages.contains(&language)) {
            return Err(OpenError::NoSuchLanguage { known: persona.languages.clone() });
        }
        let language = new.language.unwrap_or_else(|| persona.closest_language(&new.likely_languages));
        let conversation = Conversation {
            id: ConversationId::now(),
            tenant: tenant.clone(),
            user_id: new.user_id.clone(),
            channel: None,
            persona: persona.id.clone(),
            language,
            language_source: if new.language.is_some() { LanguageSource::Requested } else { LanguageSource::Persona },
            status: ConversationStatus::Bot,
            agent: None,
            waiting_since: None,
            created_at: now,
            last_activity_at: now,
            metadata: new.metadata.clone(),
            last_turn: 0,
            last_event_id: EventId::ZERO,
            state: Value::Null,
        };
        let greeting = Message {
            id: MessageId::now(),
            conversation_id: conversation.id,
            turn: 0,
            position: 0,
            sender: Sender::Assistant,
            text: persona.greeting(conversation.language).to_owned(),
            created_at: now,
            metadata: Metadata::of(Kind::Greeting),
            receipt: None,
        };
        Ok((conversation, greeting))
    }

    fn opened(&self, conversation: Conversation, greeting: Message, now: DateTime<Utc>) -> Opened {
        let (token, token_expires_at) = self.token(&conversation, now).unwrap_or_default();
        Opened { token, token_expires_at, conversation, greeting }
    }

    /// Signs a token for the conversation and returns it with its expiry. Returns `None` once the conversation is too old.
    pub fn token(&self, conversation: &Conversation, now: DateTime<Utc>) -> Option<(String, DateTime<Utc>)> {
        let ttl = TimeDelta::from_std(self.config.auth.token_ttl).unwrap_or(TOKEN_LAST);
        let until = (now + ttl).min(conversation.created_at + TOKEN_LAST);
        // Tokens store whole seconds.
        let expires_at = DateTime::from_timestamp(until.timestamp(), 0).filter(|expires_at| now < *expires_at)?;
        let (tenant, conversation) = (conversation.tenant.clone(), conversation.id);
        Some((self.tokens.sign(&Claims { tenant, conversation, expires_at }), expires_at))
    }

    /// Rejects new messages and waits up to `DRAIN_SECONDS` for running turns, then interrupts them.
    pub async fn drain(&self) {
        self.engine.drain();
        self.turns.close();
        if tokio::time::timeout(self.config.turns.drain, self.turns.wait()).await.is_err() {
            warn!("Interrupting turns that are still running");
            self.engine.stop();
            if tokio::time::timeout(STOP_TIMEOUT, self.turns.wait()).await.is_err() {
                error!("Some turns did not end; the next start will end them");
            }
        }
        self.engine.close_readers();
        self.stop.cancel();
        self.background.close();
        self.worker.close();
        if tokio::time::timeout(STOP_TIMEOUT, self.worker.wait()).await.is_err() {
            warn!("Background jobs are still running; they run again at the next start");
        }
    }
}
