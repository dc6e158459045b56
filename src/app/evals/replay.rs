//! Giving an answer again: the turn is played by its desk on what was said before, and nobody hears it.
//!
//! Each case has a store of its own, which vanishes: what the case speaks of is lent to it from the shop's (`lend`), which is only
//! read, as its vectors are. Labels are made there, and mails go nowhere. What the turn is given, and what it says, is in `scene`.

use std::io;
use std::sync::Arc;

use tempfile::TempDir;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::case::{Answer, Case};
use crate::app::start::{StartError, label_links, load_prompts, random_secret, read_knowledge};
use crate::config::{Config, LlmMode};
use crate::desks::returns::rules::ReturnsRules;
use crate::desks::{Caller, DeskError, DeskRegistry, Desks, Services, SinkClosed, Turn};
use crate::domain::{ErrorCode, TenantId, TurnStatus};
use crate::jobs::JobRunner;
use crate::jobs::send_mail::SendMail;
use crate::notify::Notifier;
use crate::persona::Prompts;
use crate::providers::email::Nowhere;
use crate::providers::embedding::{Embedder, OllamaEmbedding};
use crate::providers::llm::{Gateway, Ollama};
use crate::retrieval::memory::Memory;
use crate::retrieval::open_vectors;
use crate::retrieval::search::Knowledge;
use crate::store::warranty_import::ImportError;
use crate::store::{Store, StoreError, StoreOptions};
use crate::tools::client_name::ClientNames;
use crate::tools::label_link::Labels;

mod lend;
mod scene;

use scene::Told;

/// The desk that reads orders.
const RETURNS: &str = "returns";

/// What plays cases: the desks as the shop's settings and files make them now.
pub struct Replayer {
    config: Arc<Config>,
    prompts: Prompts,
    /// What finds the orders that a case speaks of; `None`: no persona takes returns.
    rules: Option<ReturnsRules>,
    llm: Arc<Gateway>,
    knowledge: Arc<Knowledge>,
    memory: Arc<Memory>,
    /// `None`: the shop has no database yet.
    shop: Option<Store>,
    /// What one should know beside the answers: what was not there when they were given.
    pub remarks: Vec<String>,
    /// Where vectors are looked for in vain, if the shop has no database.
    _empty: Option<Scratch>,
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
    #[error("there is no persona '{0}' any more")]
    NoPersona(String),
    #[error("the case holds no message of a customer, or a tenant that is none")]
    NoQuestion,
}

/// A store in a folder that is removed with it.
struct Scratch {
    store: Store,
    _folder: TempDir,
}

impl Scratch {
    async fn open(config: &Config) -> Result<Self, ReplayError> {
        let folder = private_folder()?;
        let options = StoreOptions {
            url: format!("sqlite://{}", folder.path().join("replay.db").display()),
            timeout: config.store.timeout,
            connections: 2,
        };
        Ok(Self { store: Store::open(&options).await?, _folder: folder })
    }
}

/// A folder that nobody else may look into: customers' data will be in it.
fn private_folder() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("frontdesk-eval-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

impl Replayer {
    /// Reads what the server would read at its start. Where there is no language model, answers are given without one, as the server
    /// gives them.
    pub async fn open(config: Config) -> Result<Self, ReplayError> {
        let config = Arc::new(config);
        let shop = open_shop(&config).await?;
        let (store, empty) = match &shop {
            Some(shop) => (shop.clone(), None),
            None => {
                let empty = Scratch::open(&config).await?;
                (empty.store.clone(), Some(empty))
            }
        };
        let llm = Gateway::new(Arc::new(Ollama::new(&config.llm).map_err(StartError::from)?), config.llm.clone());
        let mut remarks = Vec::new();
        if config.llm.mode != LlmMode::Offline
            && let Err(cause) = llm.look().await
        {
            remarks.push(format!("no language model answers, so cases are played without one: {cause}"));
        }
        let prompts = load_prompts(&config).map_err(StartError::from)?;
        let takes_returns = prompts.personas().any(|persona| persona.desk == RETURNS);
        let rules = takes_returns.then(|| ReturnsRules::read(&prompts)).transpose().map_err(StartError::from)?;
        let model = OllamaEmbedding::new(&config.embed).map_err(StartError::from)?;
        let embedder = Arc::new(Embedder::new(Arc::new(model), config.embed.clone()));
        let vectors = open_vectors(&config, &store).map_err(StartError::from)?;
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
        // What it finds is no message of a case's own store, so conversations that are played again recall nothing.
        let memory = Arc::new(Memory::new(embedder, vectors, config.vectors.collection.clone()));
        Ok(Self { config, prompts, rules, llm, knowledge, memory, shop, remarks, _empty: empty })
    }

    /// Whether a language model words replies.
    pub fn has_model(&self) -> bool {
        self.config.llm.mode != LlmMode::Offline && self.llm.is_up()
    }

    /// Plays the case's turn and gives what it came to.
    pub async fn replay(&self, case: &Case) -> Result<Answer, ReplayError> {
        let tenant: TenantId = case.tenant.parse().map_err(|_| ReplayError::NoQuestion)?;
        let no_persona = || ReplayError::NoPersona(case.persona.clone());
        let persona = self.prompts.find_persona(&case.persona).ok_or_else(no_persona)?;
        let scratch = Scratch::open(&self.config).await?;
        if let Some(shop) = &self.shop {
            lend::warranties(shop, &scratch.store, &tenant, case).await?;
            if let Some(rules) = self.rules.as_ref().filter(|_| persona.desk == RETURNS) {
                lend::returns(shop, &scratch.store, &tenant, case, rules).await?;
            }
        }
        let services = self.services(&scratch.store);
        let desks = Desks::new(&DeskRegistry::built_in(), &services, self.prompts.clone()).map_err(StartError::from)?;
        let desk = desks.find(&persona.desk).ok_or_else(no_persona)?;
        let conversation = scene::conversation(case, tenant);
        let mut history = scene::messages(case);
        let message = history.pop().ok_or(ReplayError::NoQuestion)?;
        let told = Told::default();
        let sink = Box::new(told.clone());
        let mut turn = Turn::new(conversation, message, history, persona, Caller::default(), sink);
        let over = CancellationToken::new();
        let playing = async {
            let played = timeout(self.config.turns.deadline, desk.play(&mut turn)).await;
            over.cancel();
            played
        };
        let (played, ()) = tokio::join!(playing, services.jobs.clone().run(None, over.clone()));
        let failure = match played {
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
        let _ = turn.cut_message(TurnStatus::Failed).await;
        let mut answer = told.answer();
        answer.error = answer.error.or(failure);
        Ok(answer)
    }

    /// What desks stand on, with a case's own store.
    fn services(&self, store: &Store) -> Services {
        let (config, secret) = (self.config.clone(), random_secret());
        let notifier = Notifier::new(Arc::new(Nowhere));
        let jobs = JobRunner::new(store.clone(), config.jobs.clone());
        jobs.register(Arc::new(SendMail(notifier.clone())));
        Services {
            jobs,
            notifier,
            labels: Labels::new(store.clone(), label_links(&config, &secret)),
            config,
            store: store.clone(),
            llm: self.llm.clone(),
            knowledge: self.knowledge.clone(),
            memory: self.memory.clone(),
            client_names: ClientNames::new(&secret),
        }
    }
}

/// The shop's own database, untouched; `None` if there is none.
async fn open_shop(config: &Config) -> Result<Option<Store>, StoreError> {
    let (url, timeout) = (config.store.url.clone(), config.store.timeout);
    let options = StoreOptions { url, timeout, connections: 2 };
    if options.would_create()? {
        Ok(None)
    } else {
        Ok(Some(Store::open_as_is(&options).await?.with_current_schema().await?))
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    #[test]
    fn nobody_else_looks_into_what_is_lent() {
        use std::os::unix::fs::PermissionsExt;
        let folder = super::private_folder().expect("a folder");
        let mode = folder.path().metadata().expect("its mode").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
