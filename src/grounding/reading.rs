//! What the checks need of texts, kept from one reply to the next: the same pages and instructions support many replies, and a
//! customer's message supports all later ones of its conversation.

use std::sync::Arc;

use super::GroundingRules;
use super::claims::Quoted;
use super::leak::WordPlaces;
use super::links::KnownAddresses;
use crate::domain::memo::Memo;
use crate::nlu::facts::{Fact, Values, read};

/// The most texts of shops that are kept, and the longest of them in bytes: a few megabytes in all.
const TEXTS: usize = 512;
const LONGEST: usize = 16 * 1024;
/// The same for messages of customers. Longer ones are rare.
const MESSAGES: usize = 2048;
const LONGEST_MESSAGE: usize = 512;

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
pub(super) struct Readings {
    shop: Memo<String, Reading>,
    customers: Memo<String, Reading>,
    /// The facts of earlier replies.
    replies: Memo<String, Vec<Fact>>,
}

impl Default for Readings {
    fn default() -> Self {
        Self { shop: Memo::new(TEXTS), customers: Memo::new(MESSAGES), replies: Memo::new(TEXTS) }
    }
}

impl Readings {
    /// Reads a text of the shop, unless it is known.
    pub fn of(&self, text: &str, rules: &GroundingRules) -> Arc<Reading> {
        if text.len() > LONGEST {
            return Arc::new(Reading::of(text, rules));
        }
        self.shop.of(text.to_owned(), |text| Reading::of(text, rules))
    }

    /// Reads a customer's message, unless it is known.
    pub fn of_customer(&self, text: &str, rules: &GroundingRules) -> Arc<Reading> {
        if text.len() > LONGEST_MESSAGE {
            return Arc::new(Reading::of_customer(text, rules));
        }
        self.customers.of(text.to_owned(), |text| Reading::of_customer(text, rules))
    }

    /// Reads the facts of an earlier reply, unless they are known.
    pub fn of_reply(&self, text: &str, rules: &GroundingRules) -> Arc<Vec<Fact>> {
        if text.len() > LONGEST {
            return Arc::new(read(text, &rules.facts));
        }
        self.replies.of(text.to_owned(), |text| read(text, &rules.facts))
    }
}

impl Reading {
    fn of(text: &str, rules: &GroundingRules) -> Self {
        let mut addresses = KnownAddresses::default();
        addresses.add(text, &rules.links);
        Self { quoted: rules.claims.quoted(text), ..Self::with_addresses(addresses, text, rules) }
    }

    /// A customer supports no claims, and of addresses only those of e-mail.
    fn of_customer(text: &str, rules: &GroundingRules) -> Self {
        let mut addresses = KnownAddresses::default();
        addresses.add_customer(text, &rules.links);
        Self::with_addresses(addresses, text, rules)
    }

    fn with_addresses(addresses: KnownAddresses, text: &str, rules: &GroundingRules) -> Self {
        let (values, words) = (Arc::new(Values::read(text, &rules.facts)), Arc::new(WordPlaces::of(text)));
        Self { values, addresses, words, quoted: Quoted::default() }
    }
}
