//! Loads all files under `prompts/` at once, so that an invalid file is found at the start.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde::de::DeserializeOwned;

use super::file::Spoken;
use super::read::{parse_personas, read, read_folder, same_folder};
use super::rules::{LANGUAGES, languages_in, overlay};
use super::{Persona, PersonaFault, PromptError, PromptErrors, file};
use crate::config::{PromptConfig, ShopConfig};
use crate::domain::Language;
use crate::domain::language::with_fallbacks;

/// The personas of a shop, and the other files by their path below the folder (`texts/retail.vi.toml`).
#[derive(Clone, Debug)]
pub struct Prompts {
    folder: PathBuf,
    personas: BTreeMap<String, Arc<Persona>>,
    /// The default persona's file, if it is in another folder.
    default_file: Option<PathBuf>,
    default_persona: Arc<Persona>,
    files: BTreeMap<String, String>,
    /// The default shop's prompts, for what this shop's folder lacks. `None`: this is the default shop.
    base: Option<Arc<Self>>,
}

/// What was parsed, with its type, and the names and contents of its files.
type Parsed = (TypeId, String, Weak<dyn Any + Send + Sync>);

/// What the prompts of this process share.
static PARSED: Mutex<Vec<Parsed>> = Mutex::new(Vec::new());

impl Prompts {
    /// Loads the folder and the default persona's file, which may be in another folder. Returns the first error.
    pub fn load(folder: &Path, default_persona: &Path) -> Result<Self, PromptError> {
        Self::load_all(folder, default_persona).map_err(|errors| errors.first)
    }

    /// Like [`Prompts::load`], but returns the errors of all personas.
    pub fn load_all(folder: &Path, default_persona: &Path) -> Result<Self, PromptErrors> {
        let mut files = BTreeMap::new();
        read_folder(folder, folder, &mut files)?;
        let spoken =
            Spoken { profiles: &languages_in(files.get(LANGUAGES)), has_file: &|name| files.contains_key(name) };
        let mut personas = parse_personas(folder, &files, &spoken)?;
        let id = default_persona.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let inside = default_persona.parent().is_some_and(|parent| same_folder(parent, folder));
        let (default_persona, default_file) = match personas.get(&id).filter(|_| inside) {
            Some(persona) => (persona.clone(), None),
            None => {
                let shown = default_persona.display().to_string();
                let content = read(default_persona)
                    .map_err(|error| PromptError { hint: format!("{} (set by PERSONA_PATH)", error.hint), ..error })?;
                let persona = Arc::new(file::parse(&shown, &id, &content, &spoken)?);
                personas.insert(id, persona.clone());
                (persona, Some(default_persona.to_owned()))
            }
        };
        Ok(Self { folder: folder.to_owned(), personas, default_file, default_persona, files, base: None })
    }

    /// Loads the prompts of a shop. Returns the errors of all personas.
    pub fn load_shop(config: &PromptConfig, shop: &ShopConfig) -> Result<Arc<Self>, PromptErrors> {
        Arc::new(Self::load_all(&config.folder, &config.persona)?).of_shop(shop)
    }

    /// Loads the prompts of another shop over these. Files that its folder lacks are taken from these prompts, and so are the
    /// personas if its folder has none.
    pub fn of_shop(self: &Arc<Self>, shop: &ShopConfig) -> Result<Arc<Self>, PromptErrors> {
        let Some(folder) = &shop.prompts else { return Ok(self.clone()) };
        let mut files = BTreeMap::new();
        if folder.is_dir() {
            read_folder(folder, folder, &mut files)?;
        }
        let spoken = Spoken {
            profiles: &languages_in(files.get(LANGUAGES).or_else(|| self.content(LANGUAGES))),
            has_file: &|name| files.contains_key(name) || self.content(name).is_some(),
        };
        let mut personas = parse_personas(folder, &files, &spoken)?;
        if personas.is_empty() {
            personas.clone_from(&self.personas);
        }
        let wanted = shop.persona.as_ref().unwrap_or(&self.default_persona.id);
        let default_persona = match (personas.get(wanted), &shop.persona, personas.values().next()) {
            (Some(persona), _, _) | (None, None, Some(persona)) => persona.clone(),
            _ => {
                let known: Vec<&str> = personas.keys().map(String::as_str).collect();
                let hint = format!("there is no persona '{wanted}': write one of {}", known.join(", "));
                let file = folder.with_file_name("shop.toml").display().to_string();
                return Err(PromptError { file, line: None, hint, fault: None }.into());
            }
        };
        let (folder, base) = (folder.clone(), Some(self.clone()));
        Ok(Arc::new(Self { folder, personas, default_file: None, default_persona, files, base }))
    }

    /// Returns the prompts whose folder has the persona's file: these, or the default shop's.
    fn owner_of(&self, persona: &str) -> &Self {
        let own = self.files.contains_key(&format!("{persona}.md"));
        self.base.as_deref().filter(|_| !own).unwrap_or(self)
    }

    /// Returns where this shop's copy of an inherited persona goes; `None` if the persona is not inherited.
    pub fn inherited_persona(&self, id: &str) -> Option<PathBuf> {
        (!std::ptr::eq(self.owner_of(id), self)).then(|| self.folder.join(format!("{id}.md")))
    }

    /// Returns a copy with another text for one persona, as if its file had changed. Does not read files.
    pub fn with_persona(&self, id: &str, content: &str) -> Result<Self, PromptError> {
        let shown = self.persona_file(id).display().to_string();
        let profiles = languages_in(self.content(LANGUAGES));
        let spoken = Spoken { profiles: &profiles, has_file: &|name| self.content(name).is_some() };
        let persona = Arc::new(file::parse(&shown, id, content, &spoken)?);
        let mut changed = self.clone();
        if persona.id == changed.default_persona.id {
            changed.default_persona = persona.clone();
        }
        changed.personas.insert(id.to_owned(), persona);
        Ok(changed)
    }

    /// Returns the path of the persona's file.
    pub fn persona_file(&self, id: &str) -> PathBuf {
        let owner = self.owner_of(id);
        match &owner.default_file {
            Some(file) if owner.default_persona.id == id => file.clone(),
            _ => owner.folder.join(format!("{id}.md")),
        }
    }

    /// Returns the persona with this id.
    pub fn find_persona(&self, id: &str) -> Option<Arc<Persona>> {
        self.personas.get(id).cloned()
    }

    /// Returns the default persona.
    pub fn default_persona(&self) -> Arc<Persona> {
        self.default_persona.clone()
    }

    /// Iterates over all personas by name.
    pub fn personas(&self) -> impl Iterator<Item = &Arc<Persona>> {
        self.personas.values()
    }

    /// Whether a persona names the desk.
    pub fn has_desk(&self, desk: &str) -> bool {
        self.personas().any(|persona| persona.desk == desk)
    }

    /// Returns the folders of all personas. An empty name is the knowledge folder itself.
    pub fn knowledge_folders(&self) -> BTreeSet<&str> {
        self.personas().flat_map(|persona| &persona.knowledge).map(String::as_str).collect()
    }

    /// Checks that every folder that a persona names exists below `root`.
    pub fn check_knowledge(&self, root: &Path) -> Result<(), PromptError> {
        self.missing_knowledge(root).next().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Iterates over the personas that name a missing folder, each with the error.
    pub fn missing_knowledge<'a>(&'a self, root: &'a Path) -> impl Iterator<Item = (&'a Persona, PromptError)> {
        self.personas().filter_map(|persona| {
            let missing = persona.knowledge.iter().find(|folder| !folder.is_empty() && !root.join(folder).is_dir())?;
            let (file, line) = persona.knowledge_place.clone();
            let hint = format!(
                "knowledge names the folder {missing}, which does not exist in {}: create it, or name another one",
                root.display()
            );
            let fault = Some(PersonaFault::MissingFolder);
            Some((persona.as_ref(), PromptError { file, line: Some(line), hint, fault }))
        })
    }

    /// Returns the content of a file, the default shop's if this shop has none.
    fn content(&self, name: &str) -> Option<&String> {
        self.files.get(name).or_else(|| self.base.as_ref()?.content(name))
    }

    /// Returns the trimmed content of a file.
    pub fn text(&self, name: &str) -> Result<&str, PromptError> {
        self.content(name)
            .map(|text| text.trim())
            .ok_or_else(|| self.error(name, None, "the file is missing: copy it from the distribution".to_owned()))
    }

    /// Returns what `parse` makes of these files. Prompts whose files have the same content share it: those of shops with the same
    /// files, and those before and after a reload.
    pub fn shared<T: Any + Send + Sync>(
        &self,
        files: &[String],
        parse: impl FnOnce() -> Result<T, PromptError>,
    ) -> Result<Arc<T>, PromptError> {
        let (made, mut from) = (TypeId::of::<T>(), String::new());
        for file in files {
            from.extend([file, "\n", self.text(file)?, "\n"]);
        }
        let lock = || PARSED.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().iter().find(|(known, text, _)| *known == made && *text == from).map(|known| known.2.clone());
        if let Some(known) = known.and_then(|known| known.upgrade()?.downcast().ok()) {
            return Ok(known);
        }
        // Not under the lock: it may share other parts.
        let parsed = Arc::new(parse()?);
        let weak: Weak<T> = Arc::downgrade(&parsed);
        let mut all = lock();
        all.retain(|(.., known)| known.strong_count() > 0);
        all.push((made, from, weak));
        Ok(parsed)
    }

    /// Returns a copy with one file replaced.
    #[cfg(test)]
    pub(super) fn with_file(mut self, name: String, content: String) -> Self {
        self.files.insert(name, content);
        self
    }

    /// Parses a TOML file with `parse`, and adds file and line to its error.
    pub fn toml_with<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, toml::de::Error>,
    ) -> Result<T, PromptError> {
        // Not trimmed, since the error's position counts from the start of the file.
        self.text(name)?;
        let content = self.content(name).map_or("", String::as_str);
        parse(content).map_err(|error| {
            let line = error.span().map(|span| content[..span.start.min(content.len())].matches('\n').count() + 1);
            self.error(name, line, error.message().to_owned())
        })
    }

    /// Parses a TOML file into a type.
    pub fn toml<T: DeserializeOwned>(&self, name: &str) -> Result<T, PromptError> {
        self.toml_with(name, |content| toml::from_str(content))
    }

    /// Returns the files with texts for a language, nearest first: the language's file (`name` spells it), then those of its
    /// fallbacks. If none exists, the language's file, for the error.
    pub fn files_for(&self, language: Language, name: impl Fn(Language) -> String) -> Vec<String> {
        self.languages_with(language, &name).into_iter().map(name).collect()
    }

    /// Returns the languages of those files.
    pub fn languages_with(&self, language: Language, name: impl Fn(Language) -> String) -> Vec<Language> {
        let mut chain = with_fallbacks(language, &languages_in(self.content(LANGUAGES)));
        chain.retain(|code| self.content(&name(*code)).is_some());
        if chain.is_empty() { vec![language] } else { chain }
    }

    /// Parses texts of a language, `texts/NAME.LANG.toml`. What the file lacks comes from the language that this one falls back to.
    pub fn texts<T: DeserializeOwned>(&self, name: &str, language: Language) -> Result<T, PromptError> {
        let files = self.files_for(language, |code| format!("texts/{name}.{code}.toml"));
        if let [file] = files.as_slice() {
            return self.toml(file);
        }
        let mut texts = toml::Table::new();
        for file in files.iter().rev() {
            overlay(&mut texts, self.toml(file)?);
        }
        texts.try_into().map_err(|error: toml::de::Error| {
            let (file, line) = self.place_of(error.message(), &files);
            self.error(file, line, error.message().to_owned())
        })
    }

    /// Creates an error about one of these files.
    pub fn error(&self, name: &str, line: Option<usize>, hint: String) -> PromptError {
        match &self.base {
            Some(base) if !self.files.contains_key(name) && base.content(name).is_some() => {
                base.error(name, line, hint)
            }
            _ => PromptError { file: self.folder.join(name).display().to_string(), line, hint, fault: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_folder_is_reported_with_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        let persona = folder.path().join("returns.md");
        std::fs::write(&persona, "---\ndesk: retail\nknowledge: [returns]\n---\nWho.\nGreeting: Hi\n").unwrap();
        let knowledge = folder.path().join("knowledge");
        let prompts = Prompts::load(folder.path(), &persona).unwrap();
        assert_eq!(prompts.knowledge_folders().into_iter().collect::<Vec<_>>(), ["returns"]);
        let error = prompts.check_knowledge(&knowledge).unwrap_err();
        assert_eq!((error.file, error.line), (persona.display().to_string(), Some(3)));
        assert!(error.hint.contains("the folder returns") && error.hint.contains("create it"), "{}", error.hint);
        std::fs::create_dir_all(knowledge.join("returns")).unwrap();
        assert_eq!(prompts.check_knowledge(&knowledge), Ok(()));
    }

    #[test]
    fn shop_takes_missing_files_from_the_default() {
        let (default, shops) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |folder: &Path, files: &[(&str, &str)]| {
            std::fs::create_dir_all(folder.join("texts")).unwrap();
            files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
        };
        write(default.path(), &[("a.md", "Who.\nGreeting: A"), ("b.md", "Who.\nGreeting: B")]);
        write(default.path(), &[("texts/x.toml", "x = 1"), ("texts/y.toml", "y = 1")]);
        let base = Arc::new(Prompts::load(default.path(), &default.path().join("b.md")).unwrap());
        let shop = |name: &str, persona: Option<&str>| {
            let folder = shops.path().join(name).join("prompts");
            let (config, _) = crate::config::Config::read_all(crate::config::Env::default());
            let default = config.shop(&crate::domain::TenantId::default());
            base.of_shop(&ShopConfig { prompts: Some(folder), persona: persona.map(str::to_owned), ..default })
        };
        let names = |prompts: &Prompts| prompts.personas().map(|persona| persona.id.clone()).collect::<Vec<_>>();
        let bare = shop("bare", None).unwrap();
        assert_eq!((names(&bare), bare.default_persona().id.as_str()), (vec!["a".to_owned(), "b".to_owned()], "b"));
        assert_eq!(bare.persona_file("a"), default.path().join("a.md"));
        assert_eq!(bare.inherited_persona("a"), Some(shops.path().join("bare/prompts/a.md")));
        let folder = shops.path().join("own/prompts");
        write(&folder, &[("c.md", "Who.\nGreeting: C"), ("a.md", "Who.\nGreeting: other"), ("texts/x.toml", "x = ")]);
        let own = shop("own", None).unwrap();
        assert_eq!((names(&own), own.default_persona().id.as_str()), (vec!["a".to_owned(), "c".to_owned()], "a"));
        assert_eq!(own.default_persona().greeting(Language::VI), "other");
        assert_eq!(own.inherited_persona("a"), None);
        assert_eq!(own.text("texts/y.toml").unwrap(), "y = 1");
        assert_eq!(
            own.toml::<toml::Table>("texts/x.toml").unwrap_err().file,
            folder.join("texts/x.toml").display().to_string()
        );
        assert_eq!(shop("own", Some("c")).unwrap().default_persona().id, "c");
        let error = shop("own", Some("b")).unwrap_err().first;
        assert!(error.to_string().ends_with("own/shop.toml: there is no persona 'b': write one of a, c"), "{error}");
    }

    #[test]
    fn replaced_persona_text_is_checked_like_its_file() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(folder.path().join("a.md"), "Who.\nGreeting: A\n").unwrap();
        let default = elsewhere.path().join("b.md");
        std::fs::write(&default, "Who.\nGreeting: B\n").unwrap();
        let prompts = Prompts::load(folder.path(), &default).unwrap();
        assert_eq!((prompts.persona_file("a"), prompts.persona_file("b")), (folder.path().join("a.md"), default));
        let changed = prompts.with_persona("b", "Who.\nGreeting: C\n").unwrap();
        let greetings = |prompts: &Prompts| {
            let greeting = |persona: &Persona| persona.greeting(Language::VI).to_owned();
            let known: Vec<String> = prompts.personas().map(|persona| greeting(persona)).collect();
            (known, greeting(&prompts.default_persona()))
        };
        assert_eq!(greetings(&changed), (vec!["A".to_owned(), "C".to_owned()], "C".to_owned()));
        assert_eq!(greetings(&prompts).1, "B", "the original is unchanged");
        let error = prompts.with_persona("a", "Who.\n").unwrap_err();
        assert_eq!((error.line, error.hint.contains("no greeting")), (Some(1), true));
    }
}
