//! What a conversation is for. A desk runs one turn at a time.
//!
//! - [`retail`]: shopping and warranties; [`returns`]: orders and returns
//! - [`factory`]: how a desk is registered; [`machine`]: a desk as a state machine
//!
//! A new desk is one folder here and one line in [`DeskRegistry::built_in`].

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
use crate::store::Store;
use crate::tools::client_name::ClientNames;
use crate::tools::label_link::Labels;

pub mod factory;
pub mod machine;
pub mod retail;
pub mod returns;
#[cfg(test)]
mod tests;

pub use crate::dialogue::{Caller, DeskError, Sink, SinkClosed, Step, Stored, Turn};
pub use factory::{ConsolePanel, DeskFactory, DeskRegistry, OpenDesk, PanelRow};

impl DeskRegistry {
    /// The desks of this program: one line each.
    pub fn built_in() -> Self {
        Self::default().with(retail::Factory::default()).with(returns::Factory)
    }
}

/// What a conversation is for: answers one turn at a time.
#[async_trait]
pub trait Desk: Send + Sync {
    /// Runs the turn: understands the message, answers it, and leaves in `turn.state` what the next turn needs.
    ///
    /// What a customer may run into (no model, nothing found) is said, not returned. The future may be dropped at any await when
    /// the turn is cancelled; the engine then ends the message and the turn.
    async fn play(&self, turn: &mut Turn) -> Result<(), DeskError>;
}

/// The parts of the server that desks use.
#[derive(Clone)]
pub struct Services {
    pub config: Arc<Config>,
    pub store: Store,
    pub llm: Arc<Gateway>,
    /// The shop's documents.
    pub knowledge: Arc<Knowledge>,
    /// Earlier messages, by meaning.
    pub memory: Arc<Memory>,
    /// Runs background jobs; desks register theirs when they are made.
    pub jobs: Arc<JobRunner>,
    /// Sends mails; desks register their templates when they are made.
    pub notifier: Arc<Notifier>,
    /// Return labels and the links to them.
    pub labels: Arc<Labels>,
    /// Names browsers' addresses where failed attempts are counted.
    pub client_names: ClientNames,
}

/// All desks, with the prompts they were made from. Replaced as a whole when a file changes.
pub struct Desks {
    registry: DeskRegistry,
    prompts: Prompts,
    common: ByLanguage<CommonTexts>,
    page: ByLanguage<PageTexts>,
    console: ByLanguage<ConsoleTexts>,
    desks: BTreeMap<&'static str, Arc<dyn Desk>>,
}

impl Desks {
    /// Makes every desk that a persona names.
    ///
    /// # Errors
    /// The first text that cannot be used.
    pub fn new(registry: &DeskRegistry, services: &Services, prompts: Prompts) -> Result<Self, PromptError> {
        let Loaded { common, page, console, desks } = load(registry, &prompts)?;
        let desks = desks.into_iter().map(|(name, open)| (name, open(services))).collect();
        Ok(Self { registry: registry.clone(), prompts, common, page, console, desks })
    }

    /// Checks that every desk can be made from the prompts.
    ///
    /// # Errors
    /// The first text that cannot be used.
    pub fn check(registry: &DeskRegistry, prompts: &Prompts) -> Result<(), PromptError> {
        load(registry, prompts).map(|_| ())
    }

    pub fn registry(&self) -> &DeskRegistry {
        &self.registry
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

    /// Returns what the console shows next to a conversation of this persona.
    pub fn console_panel(&self, persona: &str) -> Option<ConsolePanel> {
        let persona = self.prompts.find_persona(persona)?;
        self.registry.find(&persona.desk)?.console_panel()
    }
}

/// Texts and desks that were read from the prompts. The desks only lack their services.
struct Loaded {
    common: ByLanguage<CommonTexts>,
    page: ByLanguage<PageTexts>,
    console: ByLanguage<ConsoleTexts>,
    desks: BTreeMap<&'static str, OpenDesk>,
}

fn load(registry: &DeskRegistry, prompts: &Prompts) -> Result<Loaded, PromptError> {
    for persona in prompts.personas() {
        if registry.find(&persona.desk).is_none() {
            let known: Vec<&str> = registry.iter().map(|factory| factory.name()).collect();
            let hint = format!("there is no desk '{}': write one of {}", persona.desk, known.join(", "));
            return Err(prompts.error(&format!("{}.md", persona.id), Some(1), hint));
        }
    }
    let mut desks: BTreeMap<&'static str, OpenDesk> = BTreeMap::new();
    for factory in registry.used_by(prompts) {
        desks.insert(factory.name(), factory.load(prompts, &languages_of(prompts, factory.name()))?);
    }
    let all: BTreeSet<Language> = prompts.personas().flat_map(|persona| persona.languages.clone()).collect();
    let languages: Vec<Language> = all.into_iter().collect();
    let page: ByLanguage<PageTexts> = ByLanguage::load(prompts, "page", &languages)?;
    for (language, texts) in page.iter() {
        texts.check().map_err(|hint| prompts.error(&format!("texts/page.{language}.toml"), None, hint))?;
    }
    // The shop's staff choose one of these, whatever the personas speak.
    let mut console = prompts.languages()?.into_iter().map(|language| language.code).collect::<Vec<_>>();
    console.retain(|language| prompts.text(&format!("texts/console.{language}.toml")).is_ok());
    let console: ByLanguage<ConsoleTexts> = ByLanguage::load(prompts, "console", &console)?;
    for (language, texts) in console.iter() {
        texts.check().map_err(|hint| prompts.error(&format!("texts/console.{language}.toml"), None, hint))?;
    }
    Ok(Loaded { common: ByLanguage::load(prompts, "common", &languages)?, page, console, desks })
}

/// Returns the languages of the desk's personas, the default persona's first.
fn languages_of(prompts: &Prompts, desk: &str) -> Vec<Language> {
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
