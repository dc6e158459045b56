//! Which language a customer writes, and whether they ask for another.
//!
//! Both are rules alone, since a switch is acknowledged before any model is asked. All their words are data
//! (`prompts/rules/language.toml`).

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::Error as _;

use crate::domain::Language;
use crate::nlu::wording::Lexicon;
use detect::Detector;
use switch::Switcher;

mod detect;
mod switch;
#[cfg(test)]
mod tests;

/// What the rules of `language.toml` find in a message.
#[derive(Debug)]
pub struct LanguageRules {
    lexicon: Lexicon,
    detector: Detector,
    switcher: Switcher,
}

/// A customer's wish to go on in another language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    pub to: Language,
    /// The message without the wish and the politeness around it; empty if it held nothing else.
    pub rest: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    plain_words: Vec<String>,
    aliases: HashMap<String, String>,
    languages: HashMap<Language, LanguageFile>,
    switch: switch::SwitchFile,
}

/// How one language is known and called.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguageFile {
    whatlang: String,
    names: Vec<String>,
    letters: String,
    shared_letters: String,
    words: Vec<String>,
    weak: Vec<String>,
    shape: Option<String>,
}

impl LanguageRules {
    /// # Errors
    /// The text is no TOML of this shape, names a class that is not there, or a language unknown to `whatlang`.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        let file: RuleFile = toml::from_str(text)?;
        let detector = Detector::new(&file.languages).map_err(toml::de::Error::custom)?;
        let switcher = Switcher::new(&file.switch, &file.languages).map_err(toml::de::Error::custom)?;
        let lexicon = Lexicon::new(file.aliases, file.switch.classes).with_plain_words(&file.plain_words);
        Ok(Self { lexicon, detector, switcher })
    }

    /// The language of a message, among those that are `allowed`: by its letters, by its words, then by `whatlang`.
    ///
    /// `None` where even that is unsure; the conversation then keeps the language that it has.
    pub fn detect(&self, text: &str, allowed: &[Language]) -> Option<Language> {
        self.detector.detect(&self.lexicon.read(&without_addresses(text)), allowed)
    }

    /// The wish for one of the `allowed` languages, if the message holds one. A language that is named as a property of
    /// goods ("an English keyboard") is no wish.
    pub fn switch(&self, text: &str, allowed: &[Language]) -> Option<Switch> {
        self.switcher.switch(&self.lexicon.read(text), allowed)
    }
}

/// The text without mail and web addresses, which are in no language: the name in `huy.do@example.com` is no word.
fn without_addresses(text: &str) -> String {
    let is_address = |piece: &&str| piece.contains('@') || piece.contains("://") || piece.starts_with("www.");
    text.split_inclusive(char::is_whitespace).filter(|piece| !is_address(piece)).collect()
}
