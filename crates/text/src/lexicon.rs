//! The words that the patterns of one rule file share.

use std::collections::HashMap;

use super::pattern::{InvalidPattern, Pattern, Sequence, sequence};
use super::token::{self, Spelling, TokenStream};
use crate::serial::SerialWords;

/// What the patterns of one rule file share: aliases, word classes, and how diacritics are compared.
#[derive(Debug, Default)]
pub struct Lexicon {
    // Looked up for each word of each text, so not hashed in the standard way, which resists keys that strangers choose.
    pub(super) aliases: hashbrown::HashMap<String, Vec<Spelling>>,
    classes: HashMap<String, Vec<Sequence>>,
    pub(super) plain_words: hashbrown::HashSet<String>,
    pub(super) ignore_diacritics: bool,
    pub(super) serial_words: SerialWords,
}

impl Lexicon {
    /// `aliases` maps what people type ("ko") to the words it means ("không"); `classes` names lists of alternatives.
    pub fn new(aliases: HashMap<String, String>, classes: HashMap<String, Vec<String>>) -> Self {
        let aliases = aliases
            .into_iter()
            .map(|(typed, meant)| (token::exact(&typed), meant.split_whitespace().map(Spelling::of).collect()))
            .collect();
        let parse = |entries: Vec<String>| entries.iter().map(|entry| sequence(entry.split_whitespace())).collect();
        let classes = classes.into_iter().map(|(name, entries)| (name, parse(entries))).collect();
        Self { aliases, classes, ..Self::default() }
    }

    /// Adds words that are spelled without diacritics. In a text with diacritics they match only themselves.
    #[must_use]
    pub fn with_plain_words(mut self, words: &[String]) -> Self {
        self.plain_words = words.iter().map(|word| token::exact(word)).collect();
        self
    }

    /// Adds the words that tell a number such as "1TB" from a serial number.
    #[must_use]
    pub fn with_serial_words(mut self, words: SerialWords) -> Self {
        self.serial_words = words;
        self
    }

    pub fn serial_words(&self) -> &SerialWords {
        &self.serial_words
    }

    /// Lets a word without diacritics match every spelling, even in a text that has diacritics.
    #[must_use]
    pub fn ignoring_diacritics(mut self) -> Self {
        self.ignore_diacritics = true;
        self
    }

    /// Parses a list of patterns. The error is the first invalid one.
    pub fn patterns(&self, written: &[String]) -> Result<Vec<Pattern>, InvalidPattern> {
        written.iter().map(|text| Pattern::parse(text, &self.classes)).collect()
    }

    /// Splits a text into words and expands its aliases.
    pub fn tokenize<'a>(&self, text: &'a str) -> TokenStream<'a> {
        TokenStream::new(text, self)
    }
}
