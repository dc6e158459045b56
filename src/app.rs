//! The wired parts: what a server is made of.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use chrono::{DateTime, TimeDelta, Utc};
use metrics_exporter_prometheus::PrometheusHandle;
use rand::Rng;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{error, info, warn};
use utoipa::ToSchema;

use crate::config::{Config, LlmMode};
use crate::desks::returns::Post;
use crate::desks::{Desks, Services};
use crate::domain::{
    Conversation, ConversationId, ConversationStatus, EventId, Kind, Language, LanguageSource, Message, MessageId,
    Metadata, Sender, TenantId,
};
use crate::persona::watch::Watch;
use crate::persona::{PromptError, Prompts};
use crate::providers::email::{InvalidSmtp, MailFiles, Mailer, Smtp};
use crate::providers::embedding::{Embedder, OllamaEmbedding};
use crate::providers::llm::{Availability, Gateway, InvalidOllama, Ollama};
use crate::providers::vector::{InvalidChroma, VectorIndex};
use crate::retrieval::memory::Memory;
use crate::retrieval::search::{Knowledge, Overview};
use crate::retrieval::{RetrievalError, SearchRules, Warning, open_vectors};
use crate::store::conversations::Creation;
use crate::store::idempotency::IdempotencyKey;
use crate::store::settings::TOKEN_SECRET;
use crate::store::{Store, StoreError};
use crate::tools::client_name::ClientNames;
use crate::tools::label_link::LabelLinks;
use crate::turn::journal::Journal;
use crate::turn::outbox::Outbox;
use crate::turn::{Engine, retention};

mod atomic_file;
pub mod evals;
mod keys;
mod knowledge;
mod limits;
mod metrics;
pub mod personas;
pub mod questions;
mod sessions;
mod signed;
mod streams;
mod tokens;
pub mod warranty_list;

pub use keys::Keys;
use knowledge::{complaint, folders_of, keep_in_line};
pub use limits::{Limits, TooMany};
use personas::Personas;
pub use sessions::{Session, Sessions};
pub use streams::{StreamPlace, Streams, TooManyStreams};
pub use tokens::{Claims, Tokens};

/// No token holds longer after its conversation began, by the wire contract.
const TOKEN_LAST: TimeDelta = TimeDelta::days(30);
/// How often callers that went away are forgotten, and histograms summed up.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// How long turns that were told to stop may take to say so.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// A running server, without its socket.
pub struct App {
    pub config: Arc<Config>,
    pub store: Store,
    pub engine: Engine,
    /// `None`: development.
    pub keys: Option<Keys>,
    pub tokens: Tokens,
    /// `None`: nobody signs in, since there are no keys or no console.
    pub sessions: Option<Sessions>,
    pub metrics: PrometheusHandle,
    pub streams: Streams,
    pub limits: Arc<Limits>,
    pub personas: Personas,
    /// Why the last change of a file was not taken into use.
    unusable: Arc<ArcSwapOption<Warning>>,
    desks: Arc<ArcSwap<Desks>>,
    knowledge: Arc<Knowledge>,
    embedder: Arc<Embedder>,
    vectors: Arc<dyn VectorIndex>,
    outbox: Arc<Outbox>,
    /// Labels and mails of returns.
    pub post: Arc<Post>,
    llm: Arc<Gateway>,
    turns: TaskTracker,
    background: TaskTracker,
    stop: CancellationToken,
}

/// Why a server does not start: what to mend.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Prompts(#[from] PromptError),
    #[error(transparent)]
    Knowledge(#[from] RetrievalError),
    #[error(transparent)]
    Chroma(#[from] InvalidChroma),
    #[error("OLLAMA_HOST cannot be used: {0}")]
    Ollama(#[from] InvalidOllama),
    #[error(transparent)]
    Smtp(#[from] InvalidSmtp),
    #[error("LLM=ollama, but there is no language model: {0}. Start Ollama, pull the model, or set LLM=auto")]
    NoModel(String),
}

/// How a part of the server fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartState {
    Ok,
    Down,
    /// Not wanted.
    Off,
}

/// The parts and how they fare.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct Parts {
    /// `ok` or `down`.
    pub store: PartState,
    /// `ok`, `down` or `off`.
    pub language_model: PartState,
    /// `ok`, `down` or `off`.
    pub vectors: PartState,
}

/// A conversation that somebody wants to open.
#[derive(Debug, Default)]
pub struct NewConversation {
    pub user_id: Option<String>,
    pub persona: Option<String>,
    pub language: Option<Language>,
    pub metadata: Map<String, Value>,
    pub idempotency: Option<IdempotencyKey>,
}

/// A conversation that is open.
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
    #[error("no such persona")]
    NoSuchPersona { known: Vec<String> },
    #[error("the persona does not speak that language")]
    NoSuchLanguage { known: Vec<Language> },
    #[error("the idempotency key was used with another body")]
    KeyReused,
    #[error("the server is going down")]
    Draining,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// Wires the server on an open store and goes on with what an earlier run left.
    pub async fn start(config: Config, store: Store) -> Result<Arc<Self>, StartError> {
        // First of all: what is counted before is lost.
        let metrics = metrics::handle();
        let store = store.claim().await?;
        let config = Arc::new(config);
        let llm = Gateway::new(Arc::new(Ollama::new(&config.llm)?), config.llm.clone());
        if config.llm.mode != LlmMode::Offline {
            let looked = llm.look().await;
            if config.llm.mode == LlmMode::Ollama {
                let status = looked.map_err(|cause| StartError::NoModel(cause.to_string()))?;
                if !status.installed {
                    return Err(StartError::NoModel(format!("Ollama does not have the model {}", status.model)));
                }
            }
        }
        let prompts = load_prompts(&config)?;
        let store = store.embedding(config.embed.on);
        let embedder = Arc::new(Embedder::new(Arc::new(OllamaEmbedding::new(&config.embed)?), config.embed.clone()));
        let vectors = open_vectors(&config, &store)?;
        let (documents, search) = (config.knowledge.clone(), config.search.clone());
        let knowledge = Arc::new(Knowledge::new(documents, search, embedder.clone(), vectors.clone()));
        read_knowledge(&knowledge, &config, &prompts)?;
        let memory = Arc::new(Memory::new(embedder.clone(), vectors.clone(), config.vectors.collection.clone()));
        let outbox = Outbox::new(store.clone(), memory.clone(), config.outbox.clone());
        let secret = match &config.auth.token_secret {
            Some(secret) => secret.clone(),
            None => store.get_or_set_setting(TOKEN_SECRET, &random_secret()).await?,
        };
        let post = Post::new(store.clone(), mailer(&config)?, label_links(&config, &secret), config.outbox.clone());
        let services = Services {
            config: config.clone(),
            store: store.clone(),
            llm: llm.clone(),
            knowledge: knowledge.clone(),
            memory,
            misses: Arc::default(),
            post: post.clone(),
            client_names: ClientNames::new(&secret),
        };
        let desks = Arc::new(ArcSwap::from_pointee(Desks::new(&services, prompts)?));
        let (turns, background, stop) = (TaskTracker::new(), TaskTracker::new(), CancellationToken::new());
        let (journal, writer) = Journal::new(store.clone(), config.store.timeout);
        background.spawn(writer);
        background.spawn(llm.clone().watch(stop.clone()));
        background.spawn(retention::run(store.clone(), config.turns.clone(), stop.clone()));
        let (changed, edited) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let personas = Personas::new(config.clone(), store.clone(), desks.clone(), edited.clone());
        let unusable = Arc::new(ArcSwapOption::empty());
        let reloading =
            Reloading { services, desks: desks.clone(), unusable: unusable.clone(), edited, read: changed.clone() };
        background.spawn(watch_files(reloading, stop.clone()));
        background.spawn(keep_in_line(knowledge.clone(), changed, config.outbox.rest, stop.clone()));
        background.spawn(outbox.clone().run(stop.clone()));
        background.spawn(post.clone().run(stop.clone()));
        let limits = Arc::new(Limits::new(&config.http));
        background.spawn(sweep(limits.clone(), metrics.clone(), stop.clone()));
        let (turn_config, outbox_of_turns) = (config.turns.clone(), outbox.clone());
        let engine = Engine::new(turn_config, store.clone(), desks.clone(), journal, outbox_of_turns, turns.clone());
        engine.recover().await?;
        let keys = config.auth.keys.as_deref().map(Keys::new);
        let sessions = keys.clone().filter(|_| config.console.on);
        Ok(Arc::new(Self {
            sessions: sessions.map(|keys| Sessions::new(&secret, keys, config.console.session_ttl)),
            keys,
            tokens: Tokens::new(&secret),
            metrics,
            limits,
            personas,
            unusable,
            streams: Streams::new(config.http.streams_per_conversation, config.http.streams_per_key),
            config,
            store,
            engine,
            desks,
            knowledge,
            embedder,
            vectors,
            outbox,
            post,
            llm,
            turns,
            background,
            stop,
        }))
    }

    /// One line a part, for whoever starts the server.
    pub fn report(&self) -> Vec<(&'static str, String)> {
        let desks = self.desks.load();
        let personas: Vec<&str> = desks.prompts().personas().map(|persona| persona.id.as_str()).collect();
        let report = self.knowledge.report(&desks.prompts().default_persona().knowledge);
        let model = match (self.config.llm.mode, self.llm.availability()) {
            (LlmMode::Offline, _) => "off (LLM=offline); rules classify, replies quote the shop's documents".to_owned(),
            (_, Availability::Up) => format!("Ollama, {}", self.config.llm.model),
            (_, Availability::ModelMissing) => format!(
                "Ollama does not have it yet: run `ollama pull {}`; rules classify, replies quote the shop's documents",
                self.config.llm.model
            ),
            _ => format!(
                "none answers at {}; rules classify, replies quote the shop's documents; looking again every {} s",
                self.config.llm.host,
                self.config.llm.probe_every.as_secs()
            ),
        };
        vec![
            ("store", self.store.describe()),
            ("language model", model),
            ("vectors", format!("{}; {} documents, {} chunks", self.meaning(), report.documents, report.chunks)),
            ("mails", self.post.describe()),
            ("personas", format!("{} (default {})", personas.join(", "), desks.prompts().default_persona().id)),
        ]
    }

    fn meaning(&self) -> String {
        let kept = match &self.config.vectors.chroma_url {
            Some(_) => "in Chroma",
            None => "in the database",
        };
        match self.embedder.is_on() {
            true => format!("{} by Ollama while it answers, kept {kept}", self.embedder.model()),
            false => "none: search by words".to_owned(),
        }
    }

    /// The desks and the prompts that they were made from, as they are now.
    pub fn desks(&self) -> Arc<Desks> {
        self.desks.load_full()
    }

    /// What is indexed, and what should be mended: documents with mistakes, and the change that could not be taken into use.
    pub async fn knowledge(&self) -> Overview {
        let mut overview = self.knowledge.overview().await;
        overview.problems.splice(0..0, self.unusable.load_full().as_deref().cloned());
        overview
    }

    /// How the parts fare now.
    pub async fn parts(&self) -> Parts {
        let store = tokio::time::timeout(Duration::from_secs(2), self.store.ping()).await;
        Parts {
            store: if matches!(store, Ok(Ok(()))) { PartState::Ok } else { PartState::Down },
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

    /// Opens a conversation: the persona greets.
    pub async fn open(&self, tenant: &TenantId, new: NewConversation) -> Result<Opened, OpenError> {
        if self.engine.is_draining() {
            return Err(OpenError::Draining);
        }
        let desks = self.desks.load_full();
        let prompts = desks.prompts();
        let persona = match &new.persona {
            None => prompts.default_persona(),
            Some(id) => prompts.find_persona(id).ok_or_else(|| OpenError::NoSuchPersona {
                known: prompts.personas().map(|persona| persona.id.clone()).collect(),
            })?,
        };
        if new.language.is_some_and(|language| !persona.languages.contains(&language)) {
            return Err(OpenError::NoSuchLanguage { known: persona.languages.clone() });
        }
        let now = Utc::now();
        let conversation = Conversation {
            id: ConversationId::now(),
            tenant: tenant.clone(),
            user_id: new.user_id,
            persona: persona.id.clone(),
            language: new.language.unwrap_or(persona.first_language()),
            language_source: if new.language.is_some() { LanguageSource::Requested } else { LanguageSource::Persona },
            status: ConversationStatus::Bot,
            agent: None,
            waiting_since: None,
            created_at: now,
            last_activity_at: now,
            metadata: new.metadata,
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
        let door = self.store.tenant(tenant);
        match door.create_conversation(&conversation, &greeting, new.idempotency.as_ref()).await? {
            Creation::Created => {
                self.outbox.wake();
                self.outbox.settle(conversation.id).await;
                Ok(self.opened(conversation, greeting, now))
            }
            Creation::KeyReused => Err(OpenError::KeyReused),
            Creation::Repeated(id) => {
                let conversation = door.find_conversation(id).await?;
                let greeting = door.find_greeting(id).await?;
                match (conversation, greeting) {
                    (Some(conversation), Some(greeting)) => Ok(self.opened(conversation, greeting, now)),
                    // Deleted since: the key opens nothing any more.
                    _ => Err(OpenError::KeyReused),
                }
            }
        }
    }

    fn opened(&self, conversation: Conversation, greeting: Message, now: DateTime<Utc>) -> Opened {
        let (token, token_expires_at) = self.token(&conversation, now).unwrap_or_default();
        Opened { token, token_expires_at, conversation, greeting }
    }

    /// A token for the conversation and when it expires; `None` once the conversation is too old for one.
    pub fn token(&self, conversation: &Conversation, now: DateTime<Utc>) -> Option<(String, DateTime<Utc>)> {
        let ttl = TimeDelta::from_std(self.config.auth.token_ttl).unwrap_or(TOKEN_LAST);
        let until = (now + ttl).min(conversation.created_at + TOKEN_LAST);
        // Whole seconds, as the token holds them.
        let expires_at = DateTime::from_timestamp(until.timestamp(), 0).filter(|expires_at| now < *expires_at)?;
        let (tenant, conversation) = (conversation.tenant.clone(), conversation.id);
        Some((self.tokens.sign(&Claims { tenant, conversation, expires_at }), expires_at))
    }

    /// Takes no more messages, and lets running turns end for at most `DRAIN_SECONDS`; then they are interrupted.
    pub async fn drain(&self) {
        self.engine.drain();
        self.turns.close();
        if tokio::time::timeout(self.config.turns.drain, self.turns.wait()).await.is_err() {
            warn!("Turns still run; they are interrupted");
            self.engine.stop();
            if tokio::time::timeout(LAST_WORDS, self.turns.wait()).await.is_err() {
                error!("Turns did not end; the next start will end them");
            }
        }
        self.engine.close_readers();
        self.stop.cancel();
        self.background.close();
    }
}

fn mailer(config: &Config) -> Result<Arc<dyn Mailer>, InvalidSmtp> {
    Ok(match &config.mail.smtp_url {
        Some(url) => Arc::new(Smtp::new(url, &config.mail)?),
        None => Arc::new(MailFiles::new(&config.mail)?),
    })
}

/// Links lead to `PUBLIC_URL`; without it to the address that the server listens on, which is right for this machine alone.
fn label_links(config: &Config, secret: &str) -> LabelLinks {
    let bound = format!("http://{}", config.http.bind);
    let base = config.http.public_url.as_deref().unwrap_or(&bound);
    LabelLinks::new(secret, base, TimeDelta::from_std(config.returns.label_link).unwrap_or(TimeDelta::MAX))
}

fn load_prompts(config: &Config) -> Result<Prompts, PromptError> {
    Prompts::load(&config.prompts.folder, &config.prompts.persona)
}

/// A folder that only another persona than the default one names may be missing: who brings documents of their own need not
/// give up the sample personas first.
fn read_knowledge(knowledge: &Knowledge, config: &Config, prompts: &Prompts) -> Result<(), StartError> {
    let default = prompts.default_persona();
    for (persona, missing) in prompts.missing_knowledge(&config.knowledge.folder) {
        if persona.id == default.id {
            return Err(missing.into());
        }
        warn!(persona = persona.id, problem = %missing, "A persona has no documents to answer from");
    }
    let rules = prompts.toml_with("rules/search.toml", SearchRules::from_toml)?;
    Ok(knowledge.read(&folders_of(prompts), &rules)?)
}

/// Forgets, now and then, callers that have not been heard of, and sums up what histograms have noted.
async fn sweep(limits: Arc<Limits>, metrics: PrometheusHandle, stop: CancellationToken) {
    while tokio::time::timeout(SWEEP_EVERY, stop.cancelled()).await.is_err() {
        limits.sweep();
        metrics.run_upkeep();
    }
}

/// What is made anew when a file changes, and who hears of it.
struct Reloading {
    services: Services,
    desks: Arc<ArcSwap<Desks>>,
    unusable: Arc<ArcSwapOption<Warning>>,
    /// Tells that we ourselves wrote a file, which is not left to the system's notice.
    edited: Arc<Notify>,
    /// Is told when documents were read.
    read: Arc<Notify>,
}

/// Takes changed prompts and documents into use while the server runs. Broken ones change nothing.
async fn watch_files(reloading: Reloading, stop: CancellationToken) {
    let Reloading { services, desks, unusable, edited, read } = reloading;
    let config = &services.config;
    let persona_folder: Option<PathBuf> = config.prompts.persona.parent().map(PathBuf::from);
    let folders = [Some(&config.prompts.folder), persona_folder.as_ref(), Some(&config.knowledge.folder)];
    let mut watch = match Watch::new(folders.into_iter().flatten().map(PathBuf::as_path)) {
        Ok(watch) => Some(watch),
        Err(cause) => {
            warn!(error = %cause, "Files cannot be watched; changes to them need a restart");
            None
        }
    };
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = edited.notified() => {}
            () = changed(&mut watch) => {}
        }
        match reload(&services) {
            Ok(fresh) => {
                desks.store(Arc::new(fresh));
                unusable.store(None);
                read.notify_one();
                info!("Prompts and documents were read anew");
            }
            Err(cause) => {
                error!("A changed file cannot be used, so the earlier ones stay in use: {cause}");
                unusable.store(Some(Arc::new(complaint(&cause))));
            }
        }
    }
}

/// Waits for a change; for ever where nobody watches.
async fn changed(watch: &mut Option<Watch>) {
    if let Some(watching) = watch
        && watching.changed().await.is_some()
    {
        return;
    }
    *watch = None;
    std::future::pending().await
}

fn reload(services: &Services) -> Result<Desks, StartError> {
    let prompts = load_prompts(&services.config)?;
    Desks::check(&prompts)?;
    read_knowledge(&services.knowledge, &services.config, &prompts)?;
    Ok(Desks::new(services, prompts)?)
}

/// 256 bits, as hex.
fn random_secret() -> String {
    let mut bytes = [0_u8; 32];
    rand::rng().fill_bytes(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
