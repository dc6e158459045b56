//! What a conversation is for. A desk plays one turn at a time.
//!
//! A new desk is one folder here and one line in `read`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;

use crate::config::Config;
use crate::domain::Language;
use crate::jobs::JobRunner;
use crate::notify::Notifier;
use crate::persona::texts::{ByLanguage, CommonTexts, ConsoleTexts, PageTexts};
use crate::persona::{PromptError, Prompts};
use crate::providers::llm::Gateway;
use crate::retrieval::memory::Memory;
use crate::retrieval::search::Knowledge;
use crate::store::{Store, StoreError};
use crate::tools::client_name::ClientNames;
use crate::tools::label_link::Labels;

pub mod machine;
mod play;
pub mod retail;
pub mod returns;
mod show;
#[cfg(test)]
mod tests;
pub mod window;

pub use play::{Caller, Sink, SinkClosed, Step, Stored, Turn};

/// One of the systems that frontdesk brings together.
#[async_trait]
pub trait Desk: Send + Sync {
    /// Plays the turn: understands the message, answers it, and remembers what the next turn needs in `turn.state`.
    ///
    /// What the customer may run into (no model, nothing found) is said, not returned. The future may be dropped at any
    /// await when the turn is cancelled; the engine ends what was begun.
    async fn play(&self, turn: &mut Turn) -> Result<(), DeskError>;
}

/// Why a turn could not be played to its end.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The turn's events cannot be stored any more.
    #[error(transparent)]
    Sink(#[from] SinkClosed),
    /// A text of the shop cannot be said as it is written.
    #[error("{0}")]
    Text(String),
    /// A desk's machine goes from step to step and never waits for the customer.
    #[error("the desk's machine does not come to rest")]
    Restless,
}

/// What desks stand on.
#[derive(Clone)]
pub struct Services {
    pub config: Arc<Config>,
    pub store: Store,
    pub llm: Arc<Gateway>,
    /// The shop's documents.
    pub knowledge: Arc<Knowledge>,
    /// What was said, by meaning.
    pub memory: Arc<Memory>,
    /// Serial numbers that were tried and not found; outlives a reload.
    pub misses: Arc<retail::Misses>,
    /// Runs background jobs: a desk registers its own.
    pub jobs: Arc<JobRunner>,
    /// Sends mails: a desk registers its templates.
    pub notifier: Arc<Notifier>,
    /// Return labels and the links to them.
    pub labels: Arc<Labels>,
    /// What browsers' addresses are called where misses are counted.
    pub client_names: ClientNames,
}

/// All desks, with the prompts they were made from: replaced as a whole when a file changes.
pub struct Desks {
    prompts: Prompts,
    common: ByLanguage<CommonTexts>,
    page: ByLanguage<PageTexts>,
    console: ByLanguage<ConsoleTexts>,
    desks: BTreeMap<&'static str, Arc<dyn Desk>>,
}

impl Desks {
    /// Makes every desk from the prompts. The first text that cannot be used is the error.
    pub fn new(services: &Services, prompts: Prompts) -> Result<Self, PromptError> {
        let Read { common, page, console, desks } = read(&prompts)?;
        let desks = desks.into_iter().map(|(name, open)| (name, open(services))).collect();
        Ok(Self { prompts, common, page, console, desks })
    }

    /// Whether every desk could be made from the prompts; the first text that cannot be used is the error.
    pub fn check(prompts: &Prompts) -> Result<(), PromptError> {
        read(prompts).map(|_| ())
    }

    pub fn prompts(&self) -> &Prompts {
        &self.prompts
    }

    /// The texts that belong to no desk.
    pub fn common(&self, language: Language) -> &CommonTexts {
        self.common.get(language)
    }

    /// The texts of the chat page.
    pub fn page(&self, language: Language) -> &PageTexts {
        self.page.get(language)
    }

    /// The texts of the console, in each of its languages.
    pub fn console(&self) -> &ByLanguage<ConsoleTexts> {
        &self.console
    }

    pub fn find(&self, name: &str) -> Option<Arc<dyn Desk>> {
        self.desks.get(name).cloned()
    }
}

/// What was read of the prompts: the desks want only their services.
struct Read {
    common: ByLanguage<CommonTexts>,
    page: ByLanguage<PageTexts>,
    console: ByLanguage<ConsoleTexts>,
    desks: BTreeMap<&'static str, OpenDesk>,
}

type OpenDesk = Box<dyn FnOnce(&Services) -> Arc<dyn Desk>>;

fn read(prompts: &Prompts) -> Result<Read, PromptError> {
    let mut desks: BTreeMap<&'static str, OpenDesk> = BTreeMap::new();
    let retail = retail::Retail::read(prompts, &spoken_at(prompts, "retail"))?;
    desks.insert("retail", Box::new(|services| Arc::new(retail(services))));
    // A shop that sells and takes nothing back has no persona for it, and needs none of its texts.
    if prompts.personas().any(|persona| persona.desk == "returns") {
        let returns = returns::Returns::read(prompts, &spoken_at(prompts, "returns"))?;
        desks.insert("returns", Box::new(|services| Arc::new(returns(services))));
    }
    for persona in prompts.personas() {
        if !desks.contains_key(persona.desk.as_str()) {
            let known: Vec<&str> = desks.keys().copied().collect();
            let hint = format!("there is no desk '{}': write one of {}", persona.desk, known.join(", "));
            return Err(prompts.error(&format!("{}.md", persona.id), Some(1), hint));
        }
    }
    let all: BTreeSet<Language> = prompts.personas().flat_map(|persona| persona.languages.clone()).collect();
    let languages: Vec<Language> = all.into_iter().collect();
    let page: ByLanguage<PageTexts> = ByLanguage::load(prompts, "page", &languages)?;
    for (language, texts) in page.iter() {
        texts.check().map_err(|hint| prompts.error(&format!("texts/page.{language}.toml"), None, hint))?;
    }
    // The shop's people choose one of these, whatever the personas speak.
    let console: ByLanguage<ConsoleTexts> = ByLanguage::load(prompts, "console", &[Language::VI, Language::EN])?;
    for (language, texts) in console.iter() {
        texts.check().map_err(|hint| prompts.error(&format!("texts/console.{language}.toml"), None, hint))?;
    }
    Ok(Read { common: ByLanguage::load(prompts, "common", &languages)?, page, console, desks })
}

/// The languages of the desk's personas, the default persona's first.
fn spoken_at(prompts: &Prompts, desk: &str) -> Vec<Language> {
    let default = prompts.default_persona();
    let mut languages: Vec<Language> = Vec::new();
    for persona in std::iter::once(&default).chain(prompts.personas()).filter(|persona| persona.desk == desk) {
        for language in &persona.languages {
            if !languages.contains(language) {
                languages.push(*language);
            }
        }
    }
    languages
}
