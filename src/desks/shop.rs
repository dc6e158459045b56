//! A shop: its texts, its documents, and the desks made of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};
use serde::Deserialize;
use tracing::{error, info, warn};

use super::{ConsolePanel, Desk, DeskRegistry, OpenDesk, Services};
use crate::config::ShopConfig;
use crate::domain::language::DateFormat;
use crate::domain::{Language, TenantId};
use crate::persona::texts::{ByLanguage, CommonTexts, PageTexts};
use crate::persona::{PersonaFault, PromptError, PromptErrors, Prompts};
use crate::providers::email::{InvalidSender, check_sender};
use crate::retrieval::search::Knowledge;
use crate::retrieval::{RetrievalError, SearchRules, Warning};

/// A snapshot of a shop: its prompts, and the desks made from them. Replaced as a whole when a file changes.
pub struct Shop {
    registry: DeskRegistry,
    services: Services,
    prompts: Arc<Prompts>,
    common: ByLanguage<CommonTexts>,
    page: ByLanguage<PageTexts>,
    console: ByLanguage<PageTexts>,
    console_dates: BTreeMap<Language, DateFormat>,
    desks: BTreeMap<&'static str, Arc<dyn Desk>>,
}

/// Why a shop's files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ShopError {
    #[error(transparent)]
    Prompts(#[from] PromptError),
    #[error(transparent)]
    Knowledge(#[from] RetrievalError),
    #[error("mail_from in the shop.toml of {0}: {1}")]
    Sender(TenantId, InvalidSender),
}

impl From<PromptErrors> for ShopError {
    fn from(errors: PromptErrors) -> Self {
        Self::Prompts(errors.first)
    }
}

impl ShopError {
    /// Describes the error for the console.
    fn warning(&self) -> Warning {
        let unused = |problem: &str| format!("{problem}. The earlier files stay in use until it is fixed");
        match self {
            Self::Prompts(PromptError { file, line, hint, .. }) => {
                Warning { file: file.clone(), line: *line, problem: unused(hint) }
            }
            cause => Warning { file: String::new(), line: None, problem: unused(&cause.to_string()) },
        }
    }
}

impl Shop {
    /// Reads the shop's prompts over the default shop's, reads its documents, and makes every desk that a persona names.
    ///
    /// # Errors
    /// The first text that cannot be used. The documents that were read before then stay in use.
    fn load(registry: &DeskRegistry, services: &Services, default: &Arc<Prompts>) -> Result<Self, ShopError> {
        let prompts = default.of_shop(&services.shop)?;
        let loaded = load(registry, &prompts)?;
        read_knowledge(services, &prompts)?;
        Ok(loaded.open(registry, services, prompts))
    }

    /// Makes the desks of prompts that were loaded before, with other services.
    ///
    /// # Errors
    /// The first text that cannot be used.
    pub fn reopen(registry: &DeskRegistry, services: &Services, prompts: Arc<Prompts>) -> Result<Self, PromptError> {
        Ok(load(registry, &prompts)?.open(registry, services, prompts))
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

    /// The settings of the shop.
    pub fn config(&self) -> &ShopConfig {
        &self.services.shop
    }

    /// The shop's documents.
    pub fn knowledge(&self) -> &Arc<Knowledge> {
        &self.services.knowledge
    }

    pub fn prompts(&self) -> &Arc<Prompts> {
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

    /// The language of these texts: this one, or the one that it falls back to.
    pub fn page_language(&self, language: Language) -> Language {
        let written = self.prompts.languages_with(language, |code| format!("texts/page.{code}.toml"));
        written.first().copied().unwrap_or(language)
    }

    /// The texts of the console, in each of its languages.
    pub fn console(&self) -> &ByLanguage<PageTexts> {
        &self.console
    }

    /// How the console writes dates in its languages, where the shop has texts of every desk in them.
    pub fn console_dates(&self) -> &BTreeMap<Language, DateFormat> {
        &self.console_dates
    }

    /// Indexes the documents and prepares the desks, so that no customer waits for it. Takes processor time.
    fn prepare(&self) {
        self.knowledge().index_all();
        self.desks.values().for_each(|desk| desk.prepare());
    }

    /// Returns the desk of that name, if a persona names it.
    pub fn find_desk(&self, name: &str) -> Option<Arc<dyn Desk>> {
        self.desks.get(name).cloned()
    }

    /// Returns all desks that its personas use.
    pub fn desks(&self) -> impl Iterator<Item = &Arc<dyn Desk>> {
        self.desks.values()
    }

    /// Whether a desk of the shop sells goods of its catalogue.
    pub fn sells_goods(&self) -> bool {
        self.registry.used_by(&self.prompts).any(|factory| factory.sells_goods())
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
    console: ByLanguage<PageTexts>,
    console_dates: BTreeMap<Language, DateFormat>,
    desks: BTreeMap<&'static str, OpenDesk>,
}

impl Loaded {
    fn open(self, registry: &DeskRegistry, services: &Services, prompts: Arc<Prompts>) -> Shop {
        let Self { common, page, console, console_dates, desks } = self;
        let desks = desks.into_iter().map(|(name, open)| (name, open(services))).collect();
        let (registry, services) = (registry.clone(), services.clone());
        Shop { registry, services, prompts, common, page, console, console_dates, desks }
    }
}

fn load(registry: &DeskRegistry, prompts: &Prompts) -> Result<Loaded, PromptError> {
    for persona in prompts.personas() {
        if registry.find(&persona.desk).is_none() {
            let known: Vec<&str> = registry.iter().map(|factory| factory.name()).collect();
            let hint = format!("there is no desk '{}': write one of {}", persona.desk, known.join(", "));
            let error = prompts.error(&format!("{}.md", persona.id), Some(1), hint);
            return Err(PromptError { fault: Some(PersonaFault::UnknownDesk), ..error });
        }
    }
    let mut desks: BTreeMap<&'static str, OpenDesk> = BTreeMap::new();
    for factory in registry.used_by(prompts) {
        desks.insert(factory.name(), factory.load(prompts, &languages_of(prompts, factory.name()))?);
    }
    let all: BTreeSet<Language> = prompts.personas().flat_map(|persona| persona.languages.clone()).collect();
    let languages: Vec<Language> = all.into_iter().collect();
    let page = ByLanguage::load_checked(prompts, "page", &languages, PageTexts::check_chat)?;
    let console = ByLanguage::load_checked(prompts, "console", &console_languages(prompts)?, PageTexts::check_console)?;
    let console_dates = date_formats(prompts, console.iter().map(|(language, _)| language));
    let common = ByLanguage::load_checked(prompts, "common", &languages, CommonTexts::check)?;
    Ok(Loaded { common, page, console, console_dates, desks })
}

/// What the console reads of `texts/common.LANG.toml`.
#[derive(Deserialize)]
struct ConsoleDates {
    date_format: DateFormat,
}

/// Returns the date formats of these languages. No persona needs to speak one, so it may have no file.
fn date_formats(prompts: &Prompts, languages: impl Iterator<Item = Language>) -> BTreeMap<Language, DateFormat> {
    let format = |language| prompts.texts::<ConsoleDates>("common", language).ok().map(|texts| texts.date_format);
    languages.filter_map(|language| Some((language, format(language)?))).collect()
}

/// Returns the languages of the shop in which the console has texts, or else English. The shop's staff choose one of them, whatever
/// the personas speak.
fn console_languages(prompts: &Prompts) -> Result<Vec<Language>, PromptError> {
    let has_texts = |language: &Language| prompts.text(&format!("texts/console.{language}.toml")).is_ok();
    let languages = prompts.languages()?.into_iter().map(|language| language.code);
    let written: Vec<Language> = languages.filter(has_texts).collect();
    if !written.is_empty() {
        return Ok(written);
    }
    if has_texts(&Language::EN) {
        return Ok(vec![Language::EN]);
    }
    let hint =
        "no language of the shop has this file: write it for one, or copy texts/console.en.toml from the distribution";
    Err(prompts.error("texts/console.CODE.toml", None, hint.to_owned()))
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

/// Reads the documents that the personas search. Only the folders of the default shop's default persona must exist, so that the
/// sample personas may stay without theirs.
fn read_knowledge(services: &Services, prompts: &Prompts) -> Result<(), ShopError> {
    let shop = &services.shop;
    let Some(folder) = &shop.knowledge else { return Ok(()) };
    let default = prompts.default_persona();
    for (persona, missing) in prompts.missing_knowledge(folder) {
        if persona.id == default.id && shop.prompts.is_none() {
            return Err(missing.into());
        }
        warn!(tenant = %shop.tenant, persona = persona.id, problem = %missing, "A persona has no documents to answer from");
    }
    let folders = prompts.personas().map(|persona| persona.knowledge.clone()).collect();
    Ok(services.knowledge.read(&folders, &SearchRules::read(prompts)?)?)
}

/// The shops of a server.
pub struct Shops {
    default: Slot,
    named: BTreeMap<TenantId, Slot>,
    /// Serves tenants without a shop of their own, if there are several shops.
    others: Option<Slot>,
}

/// The current state of a shop.
struct Slot {
    services: Services,
    current: ArcSwap<Shop>,
    /// The error of the last file change that could not be loaded.
    unusable: ArcSwapOption<Warning>,
}

impl Slot {
    fn load(registry: &DeskRegistry, services: Services, default: &Arc<Prompts>) -> Result<Self, ShopError> {
        let current = ArcSwap::from_pointee(Shop::load(registry, &services, default)?);
        Ok(Self { services, current, unusable: ArcSwapOption::empty() })
    }

    /// Replaces the shop, or keeps it if its files cannot be used.
    fn reload(&self, default: Result<&Arc<Prompts>, &PromptError>) {
        let tenant = &self.services.shop.tenant;
        let registry = self.current.load().registry.clone();
        let loaded = default.map_err(|cause| cause.clone().into());
        match loaded.and_then(|default| Shop::load(&registry, &self.services, default)) {
            Ok(shop) => {
                shop.prepare();
                self.current.store(Arc::new(shop));
                self.unusable.store(None);
                info!(%tenant, "Reloaded prompts and documents");
            }
            Err(cause) => {
                error!(
                    %tenant,
                    "Keeping the earlier prompts and documents, because a changed file cannot be used: {cause}"
                );
                self.unusable.store(Some(Arc::new(cause.warning())));
            }
        }
    }
}

impl Shops {
    /// Loads every shop of the configuration. `services` are those of the default shop.
    ///
    /// # Errors
    /// The first file that cannot be used.
    pub fn load(registry: &DeskRegistry, services: &Services) -> Result<Self, ShopError> {
        let config = &services.config;
        let default = Arc::new(Prompts::load(&config.prompts.folder, &config.prompts.persona)?);
        let mut named = BTreeMap::new();
        for tenant in config.shops.others() {
            let shop = config.shop(tenant);
            if let Some(from) = &shop.mail_from {
                check_sender(from).map_err(|cause| ShopError::Sender(tenant.clone(), cause))?;
                services.notifier.set_sender(tenant, from.clone());
            }
            let services = services.of_shop(shop);
            named.insert(tenant.clone(), Slot::load(registry, services, &default)?);
        }
        let others = match config.shops.has_one_shop() {
            true => None,
            false => {
                let services = services.of_shop(ShopConfig { knowledge: None, ..services.shop.clone() });
                Some(Slot::load(registry, services, &default)?)
            }
        };
        Ok(Self { default: Slot::load(registry, services.clone(), &default)?, named, others })
    }

    /// Loads changed files of all shops. A shop whose files cannot be used does not change.
    pub fn reload(&self) {
        let config = &self.default.services.config;
        let default = Prompts::load(&config.prompts.folder, &config.prompts.persona).map(Arc::new);
        self.slots().chain(&self.others).for_each(|slot| slot.reload(default.as_ref()));
    }

    /// Returns the shop that serves the tenant.
    pub fn get(&self, tenant: &TenantId) -> Arc<Shop> {
        self.slot(tenant).current.load_full()
    }

    /// Returns every shop, the default one first.
    pub fn list(&self) -> Vec<Arc<Shop>> {
        self.slots().map(|slot| slot.current.load_full()).collect()
    }

    /// Indexes the documents and prepares the desks of every shop. Takes processor time.
    pub fn prepare(&self) {
        self.slots().chain(&self.others).for_each(|slot| slot.current.load().prepare());
    }

    fn slots(&self) -> impl Iterator<Item = &Slot> {
        std::iter::once(&self.default).chain(self.named.values())
    }

    fn slot(&self, tenant: &TenantId) -> &Slot {
        match tenant.as_str() {
            TenantId::DEFAULT => &self.default,
            _ => self.named.get(tenant).or(self.others.as_ref()).unwrap_or(&self.default),
        }
    }

    /// Whether only the default shop exists, which then serves every tenant.
    pub fn has_one(&self) -> bool {
        self.others.is_none()
    }

    /// Returns the error of the last change to the shop's files that could not be loaded.
    pub fn problem(&self, tenant: &TenantId) -> Option<Arc<Warning>> {
        self.slot(tenant).unusable.load_full()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_without_the_shops_languages_is_english() {
        let shipped = Prompts::shipped();
        assert_eq!(console_languages(&shipped), Ok(vec![Language::VI, Language::EN]));
        assert_eq!(console_languages(&shipped.with_only_language("pl")), Ok(vec![Language::EN]));
        let folder = tempfile::tempdir().expect("a folder");
        let persona = folder.path().join("p.md");
        std::fs::create_dir(folder.path().join("rules")).expect("a folder below");
        std::fs::copy("prompts/rules/languages.toml", folder.path().join("rules/languages.toml")).expect("languages");
        std::fs::write(&persona, "---\nlanguages: [pl]\n---\nWho.\nGreeting: Hej\n").expect("a persona");
        let prompts = Prompts::load(folder.path(), &persona).expect("prompts").with_only_language("pl");
        let error = console_languages(&prompts).expect_err("no texts");
        assert!(error.file.ends_with("texts/console.CODE.toml"), "{error}");
        assert!(error.hint.contains("copy texts/console.en.toml"), "{error}");
    }
}
