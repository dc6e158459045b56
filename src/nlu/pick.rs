//! What a customer means who points at something that was just shown: "the second one", "anything cheaper?".

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;

use crate::domain::text::{InvalidPattern, Lexicon, Pattern, TokenStream, any_match, match_mask};
use crate::persona::{PromptError, Prompts};

mod counts;

pub use counts::Sign;

/// The part of a shown list that a message points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Its position, from 0.
    Nth(usize),
    Last,
    /// Several of them, to compare.
    All,
    /// The product that the message before was about.
    It,
    /// Others, for less money.
    Cheaper,
    /// Others of the same kind.
    Similar,
    /// The one with the least of an attribute: `price`, or a unit of the catalogue's rows, such as `kg`.
    Least(String),
    Most(String),
}

/// The patterns of `prompts/rules/pick.LANG.toml`.
#[derive(Debug)]
pub struct PickRules {
    lexicon: Lexicon,
    attributes: Vec<Attribute>,
    /// The values by which products fit together: "ddr4" and "ddr5".
    fit_values: Vec<Vec<String>>,
    /// Units of which one product needs what another one has: "w".
    fit_units: Vec<String>,
    /// Words for numbers, from two: "two", "twelve".
    numbers: HashMap<String, u64>,
    /// Stands before the fee of a service that is added to an order.
    fee: Vec<String>,
    /// Stands before the price of several products together on a page.
    bundle: Vec<String>,
    signs: BTreeMap<Sign, Vec<Pattern>>,
    /// In the order in which they are tried.
    patterns: Vec<(Pick, Vec<Pattern>)>,
}

/// What a product has: a price, a weight.
#[derive(Debug)]
struct Attribute {
    /// Asks for it.
    asked: Vec<Pattern>,
    /// The part of a row that says it. Without any, the whole row does.
    said: Vec<Pattern>,
    /// Whether every row has it, so that it tells no row from another: the price.
    is_of_all: bool,
}

/// Begins a pattern for a field that every row has.
const FIELD: &str = "^ ";

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AttributeWords {
    asked: Vec<String>,
    said: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    plain_words: Vec<String>,
    aliases: HashMap<String, String>,
    classes: HashMap<String, Vec<String>>,
    first: Vec<String>,
    second: Vec<String>,
    third: Vec<String>,
    last: Vec<String>,
    all: Vec<String>,
    it: Vec<String>,
    cheaper: Vec<String>,
    similar: Vec<String>,
    attribute: BTreeMap<String, AttributeWords>,
    fit_values: BTreeMap<String, Vec<String>>,
    fit_units: Vec<String>,
    numbers: HashMap<String, u64>,
    fee: Vec<String>,
    bundle: Vec<String>,
    least: BTreeMap<String, Vec<String>>,
    most: BTreeMap<String, Vec<String>>,
    signs: BTreeMap<Sign, Vec<String>>,
    /// The signs that stand outside of `[signs]`.
    #[serde(flatten)]
    others: BTreeMap<Sign, Vec<String>>,
}

impl PickRules {
    pub fn read(prompts: &Prompts) -> Result<Arc<Self>, PromptError> {
        let names = ["common", "pick"];
        prompts.shared(&prompts.files_of_rules(&names)?, || prompts.rules(&names, Self::new))
    }

    fn new(file: File) -> Result<Self, InvalidPattern> {
        let lexicon = Lexicon::new(file.aliases, file.classes).with_plain_words(&file.plain_words);
        let least = file.least.into_iter().map(|(name, written)| (Pick::Least(name), written));
        let most = file.most.into_iter().map(|(name, written)| (Pick::Most(name), written));
        let fixed = [
            (Pick::Cheaper, file.cheaper),
            (Pick::Similar, file.similar),
            (Pick::Nth(0), file.first),
            (Pick::Nth(1), file.second),
            (Pick::Nth(2), file.third),
            (Pick::Last, file.last),
            (Pick::All, file.all),
            (Pick::It, file.it),
        ];
        let attribute = |words: AttributeWords| -> Result<Attribute, InvalidPattern> {
            let is_of_all = !words.said.is_empty() && words.said.iter().all(|said| said.starts_with(FIELD));
            Ok(Attribute { asked: lexicon.patterns(&words.asked)?, said: lexicon.patterns(&words.said)?, is_of_all })
        };
        let attributes = file.attribute.into_values().map(attribute).collect::<Result<_, _>>()?;
        let fit_values = file.fit_values.into_values().collect();
        // One file may have a list outside of `[signs]`, and another one inside.
        let mut signs: BTreeMap<Sign, Vec<Pattern>> = BTreeMap::new();
        for (sign, written) in file.others.into_iter().chain(file.signs) {
            signs.entry(sign).or_default().extend(lexicon.patterns(&written)?);
        }
        let mut patterns = Vec::new();
        for (pick, written) in least.chain(most).chain(fixed) {
            patterns.push((pick, lexicon.patterns(&written)?));
        }
        let (fit_units, numbers, fee, bundle) = (file.fit_units, file.numbers, file.fee, file.bundle);
        Ok(Self { lexicon, attributes, fit_values, fit_units, numbers, fee, bundle, signs, patterns })
    }

    /// Returns the message without the words that ask for what a product has, or `None` if it has no such words: "còn hàng không".
    pub fn without_attributes(&self, text: &str) -> Option<String> {
        self.without(text, |_| true)
    }

    /// Returns the message without the words that ask for what every product has, or `None` if it has no such words.
    pub fn without_attributes_of_all(&self, text: &str) -> Option<String> {
        self.without(text, |attribute| attribute.is_of_all)
    }

    fn without(&self, text: &str, is_meant: impl Fn(&Attribute) -> bool) -> Option<String> {
        let stream = self.lexicon.tokenize(text);
        let mut mask = vec![false; stream.tokens().len()];
        for attribute in self.attributes.iter().filter(|attribute| is_meant(attribute)) {
            let asked = match_mask(&attribute.asked, &stream, &[]);
            mask.iter_mut().zip(asked).for_each(|(mask, asked)| *mask |= asked);
        }
        let left = (0..mask.len()).filter(|at| !mask[*at]).map(|at| stream.source(at..at + 1));
        mask.contains(&true).then(|| left.collect::<Vec<_>>().join(" "))
    }

    /// Returns which of these parts of a row say what the message asks for, or `None` if it asks for nothing. A row that is asked for
    /// as a whole says it.
    pub fn answering(&self, text: &str, parts: &[String]) -> Option<Vec<bool>> {
        let stream = self.lexicon.tokenize(text);
        let asked: Vec<&Attribute> = self.attributes.iter().filter(|of| any_match(&of.asked, &stream, &[])).collect();
        let says = |part: &String| {
            let part = self.lexicon.tokenize(part);
            asked.iter().any(|attribute| attribute.said.is_empty() || any_match(&attribute.said, &part, &[]))
        };
        (!asked.is_empty()).then(|| parts.iter().map(says).collect())
    }

    /// Returns, for each thing that the message asks for, whether a row has it.
    pub fn said(&self, text: &str, row: &str) -> Vec<bool> {
        let (stream, row) = (self.lexicon.tokenize(text), self.lexicon.tokenize(row));
        let asked = self.attributes.iter().filter(|of| any_match(&of.asked, &stream, &[]));
        asked.map(|of| of.said.is_empty() || any_match(&of.said, &row, &[])).collect()
    }

    /// Returns the units of which one product needs what another one has.
    pub fn fit_units(&self) -> &[String] {
        &self.fit_units
    }

    /// Returns by which values two texts fit together, and whether they do: both have "ddr4", or one of them "ddr4" and the other
    /// "ddr5". `None` if nothing tells.
    pub fn fit(&self, one: &str, other: &str) -> Option<(bool, String, String)> {
        let (one, other) = (self.lexicon.tokenize(one), self.lexicon.tokenize(other));
        let values = |of: &[String], stream: &TokenStream<'_>| -> Vec<String> {
            of.iter()
                .filter(|value| stream.tokens().iter().any(|token| token.folded() == value.as_str()))
                .cloned()
                .collect()
        };
        let both = self.fit_values.iter().map(|of| (values(of, &one), values(of, &other)));
        let both: Vec<_> = both.filter(|(one, other)| !one.is_empty() && !other.is_empty()).collect();
        let shares = |(one, other): &&(Vec<String>, Vec<String>)| one.iter().any(|value| other.contains(value));
        // One difference is enough.
        let (one, other) = both.iter().find(|pair| !shares(pair)).or(both.first())?;
        let fits = both.iter().all(|pair| shares(&pair));
        let said = |values: &[String]| values.join(", ").to_uppercase();
        Some((fits, said(one), said(other)))
    }

    /// Returns the price of several products together that a page gives: 19,840,000 of "Total 19,840,000 VND:".
    pub fn bundle_price(&self, page: &str) -> Option<u64> {
        amount_after(&self.bundle, page)
    }

    /// Returns the fee of a service that is added to an order: 60,000 of "express delivery for 60,000 VND".
    pub fn fee(&self, page: &str) -> Option<u64> {
        amount_after(&self.fee, page)
    }

    /// Returns whether one text holds what the other one has by its height, with both numbers: a case and a cooler. The number of `one`
    /// comes first. `None` if nothing tells.
    pub fn fit_height(&self, one: &str, other: &str) -> Option<(bool, u64, u64)> {
        let holds = |text: &str| self.number_in(Sign::FitHolds, text);
        let has = |text: &str| self.number_in(Sign::FitHas, text);
        match (holds(one), holds(other)) {
            (Some(most), None) => has(other).map(|height| (height <= most, most, height)),
            (None, Some(most)) => has(one).map(|height| (height <= most, height, most)),
            _ => None,
        }
    }

    /// Returns the parts of a message between words that join or separate goods.
    pub fn wishes_of(&self, text: &str) -> Vec<String> {
        let stream = self.lexicon.tokenize(text);
        let between = match_mask(self.sign(Sign::Between), &stream, &[]);
        let mut sides = vec![String::new()];
        for (at, is_between) in between.into_iter().enumerate() {
            let word = stream.source(at..at + 1);
            let is_new_clause = at > 0 && stream.tokens()[at].clause != stream.tokens()[at - 1].clause;
            if is_new_clause {
                sides.push(String::new());
            }
            match sides.last_mut() {
                Some(side) if !is_between => {
                    side.push_str(word);
                    side.push(' ');
                }
                _ => sides.push(String::new()),
            }
        }
        sides.retain(|side| !side.trim().is_empty());
        sides
    }

    /// Returns what the message points at, and the message without the words that point.
    pub fn pick(&self, text: &str) -> Option<(Pick, String)> {
        let stream = self.lexicon.tokenize(text);
        let found = |patterns: &[Pattern]| patterns.iter().find_map(|pattern| pattern.find(&stream, &[]));
        let (pick, words) = self.patterns.iter().find_map(|(pick, patterns)| Some((pick, found(patterns)?)))?;
        // "Too expensive, the first one then": a position in another clause decides.
        if *pick == Pick::Cheaper {
            let clause = |words: &Range<usize>| stream.tokens().get(words.start).map(|token| token.clause);
            let is_position = |(pick, _): &&(Pick, Vec<Pattern>)| matches!(pick, Pick::Nth(_) | Pick::Last);
            let positions = self.patterns.iter().filter(is_position);
            let mut positions = positions.filter_map(|(pick, patterns)| Some((pick, found(patterns)?)));
            if let Some((pick, at)) = positions.find(|(_, at)| clause(at) != clause(&words)) {
                return Some((pick.clone(), without(&stream, at)));
            }
        }
        Some((pick.clone(), without(&stream, words)))
    }
}

/// Returns the whole number after some words.
fn amount_after(words: &[String], text: &str) -> Option<u64> {
    let (_, written) = words.iter().find_map(|words| text.split_once(words.as_str()))?;
    let amount = written.trim_start().chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ','));
    amount.filter(char::is_ascii_digit).collect::<String>().parse().ok()
}

fn without(stream: &TokenStream<'_>, words: Range<usize>) -> String {
    let before = stream.source(0..words.start);
    let after = stream.source(words.end..stream.tokens().len());
    format!("{before} {after}").trim().to_owned()
}

#[cfg(test)]
mod tests;
