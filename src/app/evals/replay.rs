//! Giving an answer again: the turn is played by its desk on what was said before, and nobody hears it.
//!
//! What a desk writes goes to a store of its own, which vanishes; of the shop's store its vectors and the warranties that a case
//! speaks of are read.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use chrono::Utc;
use futures_util::FutureExt;
use futures_util::future::ready;
use tempfile::TempDir;
use tokio::time::timeout;
use tracing::warn;

use super::case::{Answer, AnswerMessage, Case, CaseMessage};
use crate::app::start::{StartError, label_links, load_prompts, mailer, random_secret, read_knowledge};
use crate::config::{Config, LlmMode};
use crate::desks::returns::Post;
use crate::desks::{Caller, DeskError, Desks, Services, Sink, SinkClosed, Stored, Turn};
use crate::domain::serial::find_serials;
use crate::domain::{
    Conversation, ConversationId, ConversationStatus, ErrorCode, Event, EventId, LanguageSource, Message, MessageId,
    Serial, TenantId,
};
use crate::providers::embedding::{Embedder, OllamaEmbedding};
use crate::providers::llm::{Gateway, Ollama};
use crate::retrieval::memory::Memory;
use crate::retrieval::open_vectors;
use crate::retrieval::search::Knowledge;
use crate::store::journal::Change;
use crate::store::warranty_import::{ImportError, ImportRow, RowSorter, WarrantyImport};
use crate::store::{Store, StoreError, StoreOptions};
use crate::tools::client_name::ClientNames;

/// The desk whose rows are lent: without them another one would answer that there is no such order.
const LENT: &str = "retail";

/// What plays cases: the desks as the shop's settings and files make them now.
pub struct Replayer {
    desks: Desks,
    services: Services,
    /// `None`: the shop has no database yet.
    shop: Option<Store>,
    /// What one should know beside the answers: what was not there when they were given.
    pub remarks: Vec<String>,
    _scratch: TempDir,
}

/// Why a case was not played.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error("a temporary folder cannot be made: {0}")]
    Temporary(#[from] io::Error),
    #[error("answers of the {0} desk cannot be given again yet: the shop's rows that it reads are not lent to it")]
    Unlent(String),
    #[error("there is no persona '{0}' any more")]
    NoPersona(String),
    #[error("the case holds no message of a customer, or a tenant that is none")]
    NoQuestion,
}

impl Replayer {
    /// Reads what the server would read at its start. Where there is no language model, answers are given without one, as the server
    /// gives them.
    pub async fn open(config: Config) -> Result<Self, ReplayError> {
        let scratch = tempfile::tempdir()?;
        let config = Arc::new(config);
        let store = Store::open(&StoreOptions {
            url: format!("sqlite://{}", scratch.path().join("replay.db").display()),
            timeout: config.store.timeout,
            connections: 2,
        })
        .await?;
        let shop = open_shop(&config).await?;
        let llm = Gateway::new(Arc::new(Ollama::new(&config.llm).map_err(StartError::from)?), config.llm.clone());
        let mut remarks = Vec::new();
        if config.llm.mode != LlmMode::Offline
            && let Err(cause) = llm.look().await
        {
            remarks.push(format!("no language model answers, so cases are played without one: {cause}"));
        }
        let prompts = load_prompts(&config).map_err(StartError::from)?;
        let model = OllamaEmbedding::new(&config.embed).map_err(StartError::from)?;
        let embedder = Arc::new(Embedder::new(Arc::new(model), config.embed.clone()));
        let vectors = open_vectors(&config, shop.as_ref().unwrap_or(&store)).map_err(StartError::from)?;
        let (documents, search) = (config.knowledge.clone(), config.search.clone());
        let knowledge = Arc::new(Knowledge::new(documents, search, embedder.clone(), vectors.clone()));
        read_knowledge(&knowledge, &config, &prompts)?;
        if knowledge.has_meaning()
            && let Err(cause) = knowledge.look_at_vectors().await
        {
            remarks.push(format!(
                "documents are searched by their words alone, since their vectors cannot be read: {cause}"
            ));
        }
        // Nothing is ever put into it: conversations that are played again have no past.
        let memory = Arc::new(Memory::new(embedder, vectors, config.vectors.collection.clone()));
        // Labels are not made and mails not sent: their worker does not run.
        let secret = random_secret();
        let links = label_links(&config, &secret);
        let mailer = mailer(&config).map_err(StartError::from)?;
        let post = Post::new(store.clone(), mailer, links, config.outbox.clone());
        let client_names = ClientNames::new(&secret);
        let services = Services { config, store, llm, knowledge, memory, misses: Arc::default(), post, client_names };
        let desks = Desks::new(&services, prompts).map_err(StartError::from)?;
        Ok(Self { desks, services, shop, remarks, _scratch: scratch })
    }

    /// Whether a language model words replies.
    pub fn has_model(&self) -> bool {
        self.services.config.llm.mode != LlmMode::Offline && self.services.llm.is_up()
    }

    /// Plays the case's turn and gives what it came to.
    pub async fn replay(&self, case: &Case) -> Result<Answer, ReplayError> {
        let tenant: TenantId = case.tenant.parse().map_err(|_| ReplayError::NoQuestion)?;
        let no_persona = || ReplayError::NoPersona(case.persona.clone());
        let persona = self.desks.prompts().find_persona(&case.persona).ok_or_else(no_persona)?;
        let desk = self.desks.find(&persona.desk).ok_or_else(no_persona)?;
        if persona.desk != LENT {
            return Err(ReplayError::Unlent(persona.desk.clone()));
        }
        self.lend_warranties(&tenant, case).await?;
        let conversation = conversation(case, tenant);
        let mut history = messages(case, conversation.id);
        let message = history.pop().ok_or(ReplayError::NoQuestion)?;
        let told = Told::default();
        let sink = Box::new(told.clone());
        let mut turn = Turn::new(conversation, message, history, persona, Caller::default(), sink);
        let failure = match timeout(self.services.config.turns.deadline, desk.play(&mut turn)).await {
            Ok(Ok(())) => None,
            Ok(Err(DeskError::Store(cause))) => {
                warn!(error = %cause, "A desk could not use the store");
                Some(ErrorCode::Internal)
            }
            Ok(Err(cause @ (DeskError::Text(_) | DeskError::Restless))) => {
                warn!(error = %cause, "A desk could not play a turn");
                Some(ErrorCode::Internal)
            }
            Ok(Err(DeskError::Sink(SinkClosed))) => Some(ErrorCode::Internal),
            Err(_) => Some(ErrorCode::Timeout),
        };
        // The record takes everything, so this cannot fail.
        let _ = turn.cut_message().await;
        let mut answer = told.answer();
        answer.error = answer.error.or(failure);
        Ok(answer)
    }

    /// Copies the warranties that the case speaks of, so that desks find them.
    async fn lend_warranties(&self, tenant: &TenantId, case: &Case) -> Result<(), ReplayError> {
        let Some(shop) = &self.shop else { return Ok(()) };
        let runs = case.messages.iter().flat_map(|message| find_serials(&message.text));
        let serials: Vec<Serial> = runs.filter_map(|run| run.parse().ok()).collect();
        if serials.is_empty() {
            return Ok(());
        }
        let mut rows = RowSorter::default();
        for record in shop.tenant(tenant).list_warranties(&serials).await? {
            rows.push(ImportRow { record, line: 0 })?;
        }
        let mut import = WarrantyImport::begin(&self.services.store, tenant).await?;
        import.compare(rows, |_| {}).await?;
        import.apply().await?;
        Ok(())
    }
}

/// The shop's own database, untouched; `None` if there is none.
async fn open_shop(config: &Config) -> Result<Option<Store>, StoreError> {
    let (url, timeout) = (config.store.url.clone(), config.store.timeout);
    let options = StoreOptions { url, timeout, connections: 2 };
    if options.would_create()? { Ok(None) } else { Ok(Some(Store::open_as_is(&options).await?)) }
}

fn conversation(case: &Case, tenant: TenantId) -> Conversation {
    let now = Utc::now();
    Conversation {
        id: ConversationId::now(),
        tenant,
        user_id: None,
        persona: case.persona.clone(),
        language: case.language,
        language_source: LanguageSource::parse(&case.language_source),
        status: ConversationStatus::Bot,
        agent: None,
        waiting_since: None,
        created_at: now,
        last_activity_at: now,
        metadata: serde_json::Map::new(),
        last_turn: case.turn,
        last_event_id: EventId::ZERO,
        state: case.state.clone(),
    }
}

/// In their places: the first of each turn is what was asked.
fn messages(case: &Case, conversation_id: ConversationId) -> Vec<Message> {
    let mut places: HashMap<u32, u32> = HashMap::new();
    let message = |said: &CaseMessage| {
        let next = places.entry(said.turn).or_default();
        let position = *next;
        *next += 1;
        Message {
            id: MessageId::now(),
            conversation_id,
            turn: said.turn,
            position,
            sender: said.sender,
            text: said.text.clone(),
            created_at: Utc::now(),
            metadata: said.metadata.clone(),
            receipt: None,
        }
    };
    case.messages.iter().map(message).collect()
}

/// What a turn tells, kept instead of sent.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<Event>>>);

#[async_trait]
impl Sink for Told {
    async fn emit(&mut self, event: Event, _: Vec<Change>) -> Result<(), SinkClosed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        Ok(())
    }

    async fn emit_tracked(&mut self, event: Event, changes: Vec<Change>) -> Result<Stored, SinkClosed> {
        self.emit(event, changes).await?;
        Ok(ready(Ok(())).boxed())
    }
}

impl Told {
    fn answer(&self) -> Answer {
        let mut answer = Answer::default();
        let mut texts: HashMap<MessageId, String> = HashMap::new();
        for event in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            match event {
                Event::Intent { intent, .. } => answer.intent = Some(intent.clone()),
                Event::Delta { message_id, text } => texts.entry(*message_id).or_default().push_str(text),
                Event::MessageEnd { message_id, metadata, .. } => {
                    let text = texts.remove(message_id).unwrap_or_default();
                    answer.messages.extend(AnswerMessage::of(text, metadata));
                }
                Event::Error { code, .. } => answer.error = Some(*code),
                _ => {}
            }
        }
        answer
    }
}
