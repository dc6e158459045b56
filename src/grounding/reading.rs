//! What the checks need of the shop's texts, kept from one reply to the next: the same pages and instructions support many.

use std::sync::Arc;

use super::GroundingRules;
use super::claims::Quoted;
use super::leak::WordPlaces;
use super::links::KnownAddresses;
use crate::domain::memo::Memo;
use crate::nlu::facts::Values;

/// The most texts that are kept, and the longest of them in bytes: a few megabytes in all.
const TEXTS: usize = 512;
const LONGEST: usize = 16 * 1024;

/// What the checks read in one text.
#[derive(Debug)]
pub(super) struct Reading {
    pub values: Arc<Values>,
    pub addresses: KnownAddresses,
    pub words: Arc<WordPlaces>,
    pub quoted: Quoted,
}

/// The readings of the texts that came last.
#[derive(Debug)]
pub(super) struct Readings(Memo<String, Reading>);

impl Default for Readings {
    fn default() -> Self {
        Self(Memo::new(TEXTS))
    }
}

impl Readings {
    /// Reads a text, unless it is known.
    pub fn of(&self, text: &str, rules: &GroundingRules) -> Arc<Reading> {
        if text.len() > LONGEST {
            return Arc::new(Reading::of(text, rules));
        }
        self.0.of(text.to_owned(), |text| Reading::of(text, rules))
    }
}

impl Reading {
    fn of(text: &str, rules: &GroundingRules) -> Self {
        let mut addresses = KnownAddresses::default();
        addresses.add(text, &rules.links);
        Self {
            values: Arc::new(Values::read(text, &rules.facts)),
            addresses,
            words: Arc::new(WordPlaces::of(text)),
            quoted: rules.claims.quoted(text),
        }
    }
}
