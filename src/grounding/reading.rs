//! What the checks need of the shop's texts, kept from one reply to the next: the same pages and instructions support many.

use std::sync::{Arc, Mutex, PoisonError};

use hashlink::LruCache;

use super::GroundingRules;
use super::claims::Quoted;
use super::leak::WordPlaces;
use super::links::KnownAddresses;
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
pub(super) struct Readings(Mutex<LruCache<String, Arc<Reading>>>);

impl Default for Readings {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(TEXTS)))
    }
}

impl Readings {
    /// Reads a text, unless it is known.
    pub fn of(&self, text: &str, rules: &GroundingRules) -> Arc<Reading> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reading) = kept().get(text) {
            return reading.clone();
        }
        let reading = Arc::new(Reading::of(text, rules));
        if text.len() <= LONGEST {
            kept().insert(text.to_owned(), reading.clone());
        }
        reading
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
