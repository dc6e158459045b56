//! Finds the words of a message that may be serial numbers.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::RetailRules;
use crate::domain::Vocabulary;
use crate::domain::serial::{Likeness, find_candidates};
use crate::domain::text::TokenStream;

/// A word that could be a serial number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    pub text: Cow<'a, str>,
    /// [`Likeness::Model`] for a known other word: it is looked up, but never reported as missing.
    pub likeness: Likeness,
    pub known: Option<Known>,
    /// Its tokens in the message.
    pub(super) words: Range<usize>,
}

/// Why a word is probably not a serial number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The catalogue contains it.
    Goods,
    /// The customer calls it the number of something else, such as an invoice.
    Named,
}

impl Candidate<'_> {
    /// Whether it counts as a failed attempt if the records do not have it.
    pub fn is_attempt(&self) -> bool {
        match self.known {
            Some(Known::Goods) => false,
            Some(Known::Named) => Likeness::of(&self.text) >= Likeness::Phone,
            None => self.likeness >= Likeness::Phone,
        }
    }
}

impl RetailRules {
    /// Returns a message's distinct candidates in order, ignoring case.
    pub fn candidates<'a>(&self, text: &'a str, vocabulary: &Vocabulary) -> Vec<Candidate<'a>> {
        self.candidates_in(&self.lexicon.tokenize(text), vocabulary)
    }

    pub(super) fn candidates_in<'a>(&self, stream: &TokenStream<'a>, vocabulary: &Vocabulary) -> Vec<Candidate<'a>> {
        let text = stream.text();
        let tokens = stream.tokens();
        let labels: HashSet<usize> = self
            .other_numbers
            .iter()
            .flat_map(|pattern| pattern.find_all(stream, &[]))
            .map(|words| words.end)
            .collect();
        let mut candidates: Vec<Candidate<'a>> = Vec::new();
        let mut seen = HashSet::new();
        for found in find_candidates(text) {
            if !seen.insert(found.text.to_ascii_uppercase()) {
                continue;
            }
            let first = tokens.partition_point(|token| token.span.start < found.span.start);
            let end = tokens.partition_point(|token| token.span.end <= found.span.end).max(first);
            // A candidate may be the end of a longer word; then they share a token.
            let before = first.checked_sub(1).and_then(|last| text.get(tokens[last].span.end..found.span.start));
            let is_named = labels.contains(&first)
                && before.is_some_and(|before| !before.contains([',', '.', ';', '!', '?', '\n']));
            let known = match () {
                () if vocabulary.is_code(&found.text) => Some(Known::Goods),
                () if is_named => Some(Known::Named),
                () => None,
            };
            let likeness = if known.is_some() { Likeness::Model } else { Likeness::of(&found.text) };
            candidates.push(Candidate { text: found.text, likeness, known, words: first..end });
        }
        candidates
    }
}
