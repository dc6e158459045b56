//! Reads the rule files, `prompts/rules/`: the shop's languages, and for each set of rules one file per language.

use serde::de::{DeserializeOwned, Error as _};
use toml::{Table, Value};

use super::{PromptError, Prompts};
use crate::domain::Language;
use crate::domain::language::{LanguageProfile, with_fallbacks};
use crate::domain::serial::SerialWords;

pub(super) const LANGUAGES: &str = "rules/languages.toml";

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguagesFile {
    languages: Vec<LanguageProfile>,
}

/// Returns the languages in the text of [`LANGUAGES`]. [`Prompts::languages`] reports a file that cannot be read.
pub(super) fn languages_in(text: Option<&String>) -> Vec<LanguageProfile> {
    match text.map(|text| toml::from_str::<LanguagesFile>(text)) {
        Some(Ok(file)) => file.languages,
        _ => vec![LanguageProfile::default()],
    }
}

impl Prompts {
    /// Reads `rules/languages.toml`: at least one language, the shop's own first.
    pub fn languages(&self) -> Result<Vec<LanguageProfile>, PromptError> {
        self.toml_with(LANGUAGES, |text| {
            let LanguagesFile { languages } = toml::from_str(text)?;
            check(&languages).map_err(toml::de::Error::custom)?;
            Ok(languages)
        })
    }

    /// Reads `rules/serials.toml` and `rules/serials.LANG.toml`.
    pub fn serial_words(&self) -> Result<SerialWords, PromptError> {
        self.rules(&["serials"], Ok::<SerialWords, std::convert::Infallible>)
    }

    /// Reads the rules of these names and builds `T` from them.
    ///
    /// The rules NAME are `rules/NAME.toml`, if it exists, and `rules/NAME.LANG.toml` for every language of the shop. The files are
    /// merged: tables by key, lists one after another. A language that falls back to another one may have no file: its messages are
    /// understood by the words of that one, too.
    pub fn rules<F: DeserializeOwned, T, E: std::fmt::Display>(
        &self,
        names: &[&str],
        build: impl FnOnce(F) -> Result<T, E>,
    ) -> Result<T, PromptError> {
        let languages: Vec<Language> = self.languages()?.into_iter().map(|language| language.code).collect();
        self.rules_in(names, &languages, build)
    }

    /// Like [`Prompts::rules`], from the files of these languages alone.
    pub fn rules_in<F: DeserializeOwned, T, E: std::fmt::Display>(
        &self,
        names: &[&str],
        languages: &[Language],
        build: impl FnOnce(F) -> Result<T, E>,
    ) -> Result<T, PromptError> {
        let files = self.rule_files(names, languages)?;
        let mut rules = Table::new();
        for file in &files {
            let table: Table = self.toml(file)?;
            merge(&mut rules, table).map_err(|key| {
                self.error(file, None, format!("{key} is set in another file of these rules: keep one of the two"))
            })?;
        }
        let built = rules.try_into::<F>().map_err(|error| error.message().to_owned());
        built.and_then(|file| build(file).map_err(|error| error.to_string())).map_err(|message| {
            let (file, line) = self.place_of(&message, &files);
            self.error(file, line, message)
        })
    }

    /// Returns `rules/languages.toml` and all files that [`Prompts::rules`] merges.
    pub fn files_of_rules(&self, names: &[&str]) -> Result<Vec<String>, PromptError> {
        let languages: Vec<Language> = self.languages()?.into_iter().map(|language| language.code).collect();
        let mut files = self.rule_files(names, &languages)?;
        files.insert(0, LANGUAGES.to_owned());
        Ok(files)
    }

    fn rule_files(&self, names: &[&str], languages: &[Language]) -> Result<Vec<String>, PromptError> {
        let profiles = self.languages()?;
        let falls_back = |code| profiles.iter().any(|profile| profile.code == code && profile.fallback.is_some());
        let mut files = Vec::new();
        for name in names {
            let shared = format!("rules/{name}.toml");
            if self.text(&shared).is_ok() {
                files.push(shared);
            }
            for language in languages {
                let file = format!("rules/{name}.{language}.toml");
                if self.text(&file).is_err() {
                    if falls_back(*language) {
                        continue;
                    }
                    let hint = format!(
                        "the file is missing, and {LANGUAGES} lists the language {language}: copy the file of another \
                         language and translate its words, or remove the language from the list"
                    );
                    return Err(self.error(&file, None, hint));
                }
                files.push(file);
            }
        }
        Ok(files)
    }

    /// The file and line of the first text that the message quotes, else the first file.
    pub(super) fn place_of<'f>(&self, message: &str, files: &'f [String]) -> (&'f str, Option<usize>) {
        let quoted = message.split(['"', '`']).skip(1).step_by(2).filter(|text| !text.is_empty());
        for text in quoted {
            for file in files {
                let line =
                    self.text(file).ok().and_then(|content| content.lines().position(|line| line.contains(text)));
                if let Some(line) = line {
                    return (file, Some(line + 1));
                }
            }
        }
        (files.first().map_or(LANGUAGES, String::as_str), None)
    }
}

/// Checks that there is a language, and that each falls back to one of the others.
fn check(languages: &[LanguageProfile]) -> Result<(), String> {
    if languages.is_empty() {
        return Err("lists no language: add one [[languages]]".to_owned());
    }
    for LanguageProfile { code, fallback, .. } in languages {
        let Some(fallback) = fallback else { continue };
        if !languages.iter().any(|language| language.code == *fallback) {
            return Err(format!("fallback of the language {code}: {fallback} is not listed here"));
        }
        let end = with_fallbacks(*code, languages).pop();
        if languages.iter().any(|language| Some(language.code) == end && language.fallback.is_some()) {
            return Err(format!("fallback of the language {code}: the languages fall back to each other in a circle"));
        }
    }
    Ok(())
}

/// Adds one table to another. The error is a key that both set to a single value.
fn merge(into: &mut Table, from: Table) -> Result<(), String> {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (None, value) => drop(into.insert(key, value)),
            (Some(Value::Table(into)), Value::Table(from)) => merge(into, from)?,
            (Some(Value::Array(into)), Value::Array(from)) => into.extend(from),
            _ => return Err(key),
        }
    }
    Ok(())
}

/// Replaces what a table has by what another one has, key by key.
pub(super) fn overlay(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => overlay(below, above),
            (_, value) => drop(below.insert(key, value)),
        }
    }
}

#[cfg(test)]
impl Prompts {
    /// The prompts that come with the program.
    pub fn shipped() -> Self {
        Self::load("prompts".as_ref(), "prompts/returns_en.md".as_ref()).expect("the shipped prompts")
    }

    /// These prompts for a shop that has one language.
    pub fn with_only_language(&self, code: &str) -> Self {
        let content = self.text(LANGUAGES).expect("the file");
        let wanted = format!("code = \"{code}\"");
        let entry = content.split("[[languages]]").find(|entry| entry.contains(&wanted)).expect("the language");
        self.clone().with_file(LANGUAGES.to_owned(), format!("[[languages]]{entry}"))
    }

    /// These prompts with one text of a rule file replaced.
    pub fn with_rules_edited(&self, file: &str, from: &str, to: &str) -> Self {
        let name = format!("rules/{file}");
        let content = self.text(&name).expect("the file");
        assert!(content.contains(from), "{file} has no {from:?}");
        self.clone().with_file(name, content.replacen(from, to, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(code: &str) -> String {
        format!("[[languages]]\ncode = \"{code}\"\nnames = []\nletters = \"\"\nshared_letters = \"\"\n")
    }

    fn prompts(files: &[(&str, &str)]) -> Prompts {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("rules")).expect("a folder");
        std::fs::copy("prompts/returns_en.md", folder.path().join("p.md")).expect("a persona");
        let languages = language("en") + &language("vi");
        for (name, content) in [("languages", languages.as_str())].iter().chain(files) {
            std::fs::write(folder.path().join(format!("rules/{name}.toml")), content).expect("a file");
        }
        Prompts::load(folder.path(), &folder.path().join("p.md")).expect("prompts")
    }

    fn read(files: &[(&str, &str)]) -> Result<Table, PromptError> {
        prompts(files).rules(&["a"], Ok::<Table, String>)
    }

    #[test]
    fn lists_and_tables_of_all_languages_are_merged() {
        let read =
            read(&[("a", "x = 1"), ("a.en", "l = [\"one\"]\n[t]\nu = 1"), ("a.vi", "l = [\"một\"]\n[t]\nv = 2")]);
        let expected = toml::from_str("x = 1\nl = [\"one\", \"một\"]\n[t]\nu = 1\nv = 2").expect("a table");
        assert_eq!(read, Ok(expected));
    }

    #[test]
    fn missing_language_file_is_named() {
        let error = read(&[("a.en", "")]).expect_err("one file is missing").to_string();
        assert!(error.contains("rules/a.vi.toml: the file is missing"), "{error}");
    }

    #[test]
    fn language_with_fallback_may_lack_rules() {
        let languages = language("en") + &language("sw") + "fallback = \"en\"\n";
        let read = read(&[("languages", &languages), ("a.en", "l = [\"one\"]")]);
        assert_eq!(read.map_err(|error| error.to_string()), Ok(toml::from_str("l = [\"one\"]").unwrap()));
    }

    #[test]
    fn invalid_fallback_is_reported() {
        let (en, sw) = (language("en"), language("sw"));
        for (languages, hint) in [
            (format!("{en}fallback = \"fr\"\n"), "fallback of the language en: fr is not listed"),
            (format!("{en}fallback = \"en\"\n"), "fall back to each other in a circle"),
            (format!("{en}fallback = \"sw\"\n{sw}fallback = \"en\"\n"), "fall back to each other in a circle"),
            (format!("{en}fallback = \"english language\"\n"), "two to eight lower-case letters"),
            ("languages = []".to_owned(), "lists no language"),
        ] {
            let error = prompts(&[("languages", &languages)]).languages().expect_err(hint).to_string();
            assert!(error.contains(hint), "{error}");
        }
    }

    #[test]
    fn error_names_file_and_line() {
        let rules = prompts(&[("a.en", "l = [\"one\"]"), ("a.vi", "l = [\n  \"<hai>\"]")]);
        let error =
            rules.rules(&["a"], |_: Table| Err::<(), _>("unknown \"<hai>\"")).expect_err("an error").to_string();
        assert!(error.ends_with("rules/a.vi.toml:2: unknown \"<hai>\""), "{error}");
    }

    #[test]
    fn key_with_two_values_is_refused() {
        let error = read(&[("a.en", "x = 1"), ("a.vi", "x = 2")]).expect_err("x is set twice").to_string();
        assert!(error.contains("rules/a.vi.toml: x is set in another file"), "{error}");
    }
}
