//! Detects the language of a message, and requests for another language.
//!
//! Both work by rules alone, since a switch is confirmed before any model is asked. The words are data: `prompts/rules/languages.toml`
//! and `prompts/rules/language.LANG.toml`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;

use crate::domain::Language;
use crate::domain::language::LanguageProfile;
use crate::domain::text::Lexicon;
use crate::persona::{PromptError, Prompts};
use detect::{Detector, InvalidLanguageRules};
use switch::Switcher;

mod detect;
mod switch;
#[cfg(test)]
mod tests;

/// The compiled rules.
#[derive(Debug)]
pub struct LanguageRules {
    lexicon: Lexicon,
    fallbacks: HashMap<Language, Language>,
    mixed_in: HashSet<Language>,
    /// Words that do not tell the language.
    neutral: Vec<String>,
    detector: Detector,
    switcher: Switcher,
}

/// A customer's request to continue in another language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    pub to: Language,
    /// The message without the request and the politeness around it; empty if it says nothing else.
    pub rest: String,
}

/// The language of a text that a language model wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prose {
    /// The expected one.
    Own,
    /// Another one.
    Foreign,
    /// The text is too short, or could be either.
    Unclear,
}

/// `rules/common.*.toml` and `rules/language.*.toml`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RuleFile {
    plain_words: Vec<String>,
    neutral: Vec<String>,
    aliases: HashMap<String, String>,
    languages: HashMap<Language, LanguageWords>,
    switch: switch::SwitchFile,
}

/// The words by which one language is recognized.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguageWords {
    words: Vec<String>,
    weak: Vec<String>,
}

impl LanguageRules {
    /// Reads `rules/languages.toml`, `rules/common.*.toml` and `rules/language.*.toml`.
    ///
    /// # Errors
    /// A file is missing or malformed, names an undefined class, or a language that `whatlang` does not know.
    pub fn read(prompts: &Prompts) -> Result<Arc<Self>, PromptError> {
        let names = ["common", "language"];
        prompts.shared(&prompts.files_of_rules(&names)?, || {
            let languages = prompts.languages()?;
            prompts.rules(&names, |file: RuleFile| Self::new(&languages, file))
        })
    }

    fn new(languages: &[LanguageProfile], file: RuleFile) -> Result<Self, InvalidLanguageRules> {
        let detector = Detector::new(languages, &file.languages)?;
        let switcher = Switcher::new(&file.switch, languages)?;
        let lexicon = Lexicon::new(file.aliases, file.switch.classes).with_plain_words(&file.plain_words);
        let fallbacks = languages.iter().filter_map(|profile| Some((profile.code, profile.fallback?))).collect();
        let mixed_in = languages.iter().filter(|profile| profile.mixed_in).map(|profile| profile.code).collect();
        Ok(Self { lexicon, fallbacks, mixed_in, neutral: file.neutral, detector, switcher })
    }

    /// Returns the language of a message among the `allowed` ones: by its letters, by its words, then by `whatlang`.
    ///
    /// `None` if that is unsure as well: the conversation keeps its language.
    pub fn detect(&self, text: &str, allowed: &[Language]) -> Option<Language> {
        self.detector.detect(&self.lexicon.tokenize(&self.detectable(text)), allowed)
    }

    /// Returns the most likely language of a message among the `allowed` ones by its words alone, and a confidence from 0 to 1. For
    /// a desk that switches by a threshold.
    pub fn judge(&self, text: &str, allowed: &[Language]) -> Option<(Language, f64)> {
        self.detector.judge(&self.lexicon.tokenize(&self.detectable(text)), allowed)
    }

    /// Returns the language whose texts are said where this one has none.
    pub fn fallback_of(&self, language: Language) -> Option<Language> {
        self.fallbacks.get(&language).copied()
    }

    /// Returns the language that speakers of this one write as well: who writes Sheng also writes Swahili.
    pub fn related_to(&self, language: Language) -> Option<Language> {
        self.fallback_of(language).filter(|fallback| !self.is_mixed_in(*fallback))
    }

    /// Whether customers mix words of this language into all others.
    pub fn is_mixed_in(&self, language: Language) -> bool {
        self.mixed_in.contains(&language)
    }

    /// Looks at the language of a text that a language model wrote. Names and numbers do not count: a reply may cite an address in
    /// another language.
    pub fn look_at_prose(&self, text: &str, own: Language, allowed: &[Language]) -> Prose {
        self.detector.look_at_prose(&self.detectable(text), own, allowed)
    }

    /// The request for one of the `allowed` languages, if the message has one. A language that is named as a property of goods ("an
    /// English keyboard") is not a request.
    pub fn switch(&self, text: &str, allowed: &[Language]) -> Option<Switch> {
        self.switcher.switch(&self.lexicon.tokenize(text), allowed)
    }

    /// The text without neutral words and without mail and web addresses: the name in `huy.do@example.com` is not a word.
    fn detectable(&self, text: &str) -> String {
        let is_address = |piece: &str| piece.contains('@') || piece.contains("://") || piece.starts_with("www.");
        let is_neutral = |piece: &str| {
            let word = piece.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            self.neutral.contains(&word)
        };
        let is_detectable = |piece: &&str| !is_address(piece) && !is_neutral(piece);
        text.split_inclusive(char::is_whitespace).filter(is_detectable).collect()
    }
}
