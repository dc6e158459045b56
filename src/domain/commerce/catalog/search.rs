//! Finds the goods that a customer's words mean, among rows that the store selects.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CATALOG_CURRENCY, CatalogItem};
use crate::domain::commerce::Money;
use crate::domain::text::{fold, singular, words};

/// The most words of a query that are used.
const MAX_WORDS: usize = 12;
/// The fewest letters of a word that may be the beginning of another one.
const MIN_PREFIX: usize = 3;
/// How well a word matches the beginning of another one; a whole word matches with 1.
const PREFIX_MATCH: f64 = 0.7;

/// A search in the catalogue of one shop.
#[derive(Clone, Debug, PartialEq)]
pub struct CatalogQuery {
    pub words: SearchWords,
    pub filters: CatalogFilters,
    pub limit: SearchLimit,
}

/// What every result must fulfil. Prices are in shillings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CatalogFilters {
    pub category: Option<String>,
    pub min_price: Option<i64>,
    pub max_price: Option<i64>,
    /// Leave out what is sold out.
    pub in_stock: bool,
    /// Each is an attribute of the item, or a choice of one of its variants.
    pub attributes: BTreeMap<String, String>,
    /// Each is a choice of a variant of the item, such as a size.
    pub choices: Vec<String>,
    /// The name of goods that are no result: an item with all of these words.
    pub without: Vec<String>,
}

/// How many items a reply may show: 1 to 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimit(u8);

/// Why a number is not a [`SearchLimit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("limit must be from 1 to 6")]
pub struct InvalidLimit;

/// What a search found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CatalogMatches {
    /// The best matches, best first.
    pub items: Vec<CatalogItem>,
    /// How many items match as well as the first one does.
    pub total_matches_estimate: usize,
    /// From 0 to 1: how much of the query the first item matches.
    pub confidence: f64,
}

/// The words of a query, folded, without plural endings, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchWords(Vec<String>);

impl SearchWords {
    pub fn of(query: &str) -> Self {
        let mut seen = HashSet::new();
        let stems = words(query).into_iter().filter(|word| word.len() > 1 || word.bytes().all(|b| b.is_ascii_digit()));
        let stems = stems.map(|word| singular(&word).to_owned()).filter(|word| seen.insert(word.clone()));
        Self(stems.take(MAX_WORDS).collect())
    }

    /// Iterates over the words. An item that matches one of them has it in its [`searched_text`].
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl SearchLimit {
    pub fn get(self) -> usize {
        self.0.into()
    }
}

impl TryFrom<u8> for SearchLimit {
    type Error = InvalidLimit;

    fn try_from(limit: u8) -> Result<Self, Self::Error> {
        if (1..=6).contains(&limit) { Ok(Self(limit)) } else { Err(InvalidLimit) }
    }
}

impl CatalogFilters {
    /// Returns the lowest price that is accepted.
    pub fn least(&self) -> Option<Money> {
        Money::from_whole(self.min_price?, CATALOG_CURRENCY)
    }

    /// Returns the highest price that is accepted.
    pub fn most(&self) -> Option<Money> {
        Money::from_whole(self.max_price?, CATALOG_CURRENCY)
    }

    /// Whether an item fulfils every filter.
    pub fn accept(&self, item: &CatalogItem) -> bool {
        self.category.as_ref().is_none_or(|category| is_same(category, &item.category))
            && self.least().is_none_or(|least| item.price.minor >= least.minor)
            && self.most().is_none_or(|most| item.price.minor <= most.minor)
            && (!self.in_stock || item.stock > 0)
            && self.attributes.iter().all(|(name, value)| has_attribute(item, name, value))
            && self.choices.iter().all(|choice| item.variants.values().flatten().any(|own| is_same(own, choice)))
            && (self.without.is_empty()
                || !self.without.iter().all(|word| with_stems(&item.name).contains(singular(word))))
    }
}

/// Returns what a search looks into, folded: every text of the item.
pub fn searched_text(item: &CatalogItem) -> String {
    let mut texts = vec![item.name.as_str(), &item.category, &item.description];
    texts.extend(item.attributes.iter().flat_map(|(name, value)| [name.as_str(), value]));
    texts.extend(
        item.variants
            .iter()
            .flat_map(|(name, choices)| std::iter::once(name.as_str()).chain(choices.iter().map(String::as_str))),
    );
    fold(&texts.join(" "))
}

/// Returns the items that match the query best: those that fulfil all filters and match as many words as any other does. The best
/// come first; of equal ones those in stock, then by name.
pub fn search(candidates: impl IntoIterator<Item = CatalogItem>, query: &CatalogQuery) -> CatalogMatches {
    let mut search = Search::new(query);
    candidates.into_iter().for_each(|item| search.add(item));
    search.finish()
}

/// A [`search`] whose candidates come one by one.
pub struct Search<'a> {
    query: &'a CatalogQuery,
    /// The most words that an item matches.
    matched: u32,
    /// The items that match as many.
    best: Vec<Match>,
}

impl<'a> Search<'a> {
    pub fn new(query: &'a CatalogQuery) -> Self {
        Self { query, matched: u32::from(!query.words.is_empty()), best: Vec::new() }
    }

    pub fn add(&mut self, item: CatalogItem) {
        if !self.query.filters.accept(&item) {
            return;
        }
        let found = Match::of(item, &self.query.words);
        if found.matched > self.matched {
            self.matched = found.matched;
            self.best.clear();
        }
        if found.matched == self.matched {
            self.best.push(found);
        }
    }

    /// Whether an item that matches at most so many words changes nothing.
    pub fn is_beyond(&self, matched: u32) -> bool {
        !self.best.is_empty() && matched < self.matched
    }

    pub fn finish(self) -> CatalogMatches {
        let Self { query, best: mut found, .. } = self;
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.order().cmp(&b.order())));
        let confidence = match found.first() {
            None => 0.0,
            Some(_) if query.words.is_empty() => 1.0,
            Some(first) => first.quality / query.words.len() as f64,
        };
        CatalogMatches {
            total_matches_estimate: found.len(),
            items: found.into_iter().take(query.limit.get()).map(|found| found.item).collect(),
            confidence,
        }
    }
}

/// An item, and how it matches.
struct Match {
    item: CatalogItem,
    /// The number of words that it matches.
    matched: u32,
    /// The sum of how well each word matches, at most 1 each.
    quality: f64,
    /// The same, weighted by where the words are.
    score: f64,
}

impl Match {
    fn of(item: CatalogItem, query: &SearchWords) -> Self {
        let (mut matched, mut quality, mut score) = (0_u32, 0.0, 0.0);
        let fields = fields(&item);
        for word in query.iter() {
            let matches = fields.iter().map(|(weight, terms)| (*weight, match_of(word, terms)));
            let (weighted, best) = matches.fold((0.0, 0.0), |(weighted, best): (f64, f64), (weight, found)| {
                (weighted.max(weight * found), best.max(found))
            });
            matched += u32::from(best > 0.0);
            quality += best;
            score += weighted;
        }
        Self { item, matched, quality, score }
    }

    fn order(&self) -> (Reverse<bool>, &str, &str) {
        (Reverse(self.item.stock > 0), &self.item.name, self.item.id.as_str())
    }
}

/// The words of an item by where they are, with the weight of that place.
fn fields(item: &CatalogItem) -> [(f64, Vec<String>); 4] {
    let attributes = item.attributes.iter().map(|(name, value)| format!("{name} {value}"));
    let variants = item.variants.iter().map(|(name, choices)| format!("{name} {}", choices.join(" ")));
    let chosen: Vec<String> = attributes.chain(variants).collect();
    [
        (4.0, words(&item.name)),
        (3.0, words(&item.category)),
        (2.0, words(&chosen.join(" "))),
        (1.0, words(&item.description)),
    ]
}

fn match_of(word: &str, terms: &[String]) -> f64 {
    let of = |term: &String| {
        if singular(term) == word {
            1.0
        } else if word.len() >= MIN_PREFIX && term.starts_with(word) {
            PREFIX_MATCH
        } else {
            0.0
        }
    };
    terms.iter().map(of).fold(0.0, f64::max)
}

/// Returns the words of a text, each as written and without its plural ending.
pub fn with_stems(text: &str) -> BTreeSet<String> {
    words(text).into_iter().flat_map(|word| [singular(&word).to_owned(), word]).collect()
}

fn has_attribute(item: &CatalogItem, name: &str, value: &str) -> bool {
    let attribute = item.attributes.iter().any(|(own, is)| is_same(own, name) && is_same(is, value));
    let mut variants = item.variants.iter().filter(|(own, _)| is_same(own, name));
    attribute || variants.any(|(_, choices)| choices.iter().any(|choice| is_same(choice, value)))
}

fn is_same(a: &str, b: &str) -> bool {
    fold(a.trim()) == fold(b.trim())
}

#[cfg(test)]
mod tests;
