//! An item that the customer wants.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::desks::commerce::said::{Details, LARGEST_SIZE, MOST_PIECES, Said};
use crate::domain::commerce::catalog::search::{searched_text, with_stems};
use crate::domain::commerce::sale::Choices;
use crate::domain::commerce::{CartLine, CatalogItem};

/// An item that the customer wants, until its choices are complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::desks::commerce) struct Wanted {
    /// A copy of the row, to read the answer to a question about it. Prices come from the row again.
    pub item: CatalogItem,
    pub quantity: Option<u32>,
    pub choices: Choices,
}

impl Wanted {
    /// An item of which nothing is chosen yet. A variant with one choice needs no question.
    pub fn new(item: CatalogItem) -> Self {
        let only = item.variants.iter().filter_map(|(variant, choices)| match choices.as_slice() {
            [only] => Some((variant.clone(), only.clone())),
            _ => None,
        });
        Self { quantity: None, choices: only.collect(), item }
    }

    /// The variants that the customer has not chosen.
    pub fn missing(&self) -> impl Iterator<Item = (&String, &Vec<String>)> {
        self.item.variants.iter().filter(|(variant, _)| !self.choices.contains_key(*variant))
    }

    pub fn to_line(&self) -> CartLine {
        CartLine { item: self.item.id.clone(), quantity: self.quantity.unwrap_or(1), choices: self.choices.clone() }
    }

    /// Takes what a message says of the item. Returns what the item does not have: a size, or the choice of other goods.
    pub fn take(&mut self, details: &Details) -> Option<String> {
        let (choices, mut rest) = details.choices_of(&self.item.variants, &self.choices);
        // "The sandals of 800".
        rest.retain(|number| i64::try_from(*number) != Ok(self.item.price.whole()));
        let has_size = Said::has_number(&choices);
        self.choices.extend(choices);
        let has_numbers = |choices: &Vec<String>| choices.iter().any(|choice| choice.parse::<u64>().is_ok());
        let wants_number = self.missing().any(|(_, choices)| has_numbers(choices));
        let is_strange = |number: &u64| {
            (MOST_PIECES + 1..LARGEST_SIZE).contains(number)
                && (wants_number || (!has_size && self.item.is_like_a_size(*number)))
        };
        let strange = rest.iter().copied().find(is_strange);
        // "No 41? Then 38": the size that there is.
        rest.retain(|number| !has_size || !self.item.is_like_a_size(*number));
        if strange.is_none() {
            self.quantity = details.quantity(&rest).or(self.quantity);
        }
        strange.map(|number| number.to_string()).or_else(|| details.strange_choice(&self.item))
    }
}

impl CatalogItem {
    /// Returns every word of the item, as written and without plural endings.
    pub(in crate::desks::commerce) fn words(&self) -> BTreeSet<String> {
        with_stems(&searched_text(self))
    }

    /// Whether a number is near the sizes of the item.
    pub(in crate::desks::commerce) fn is_like_a_size(&self, number: u64) -> bool {
        const NEAR: u64 = 6;
        let sizes = self.variants.values().flatten().filter_map(|choice| choice.parse::<u64>().ok());
        number > MOST_PIECES && sizes.into_iter().any(|size| size.abs_diff(number) <= NEAR)
    }

    /// Returns the words by which the item is named.
    pub(in crate::desks::commerce) fn names(&self) -> BTreeSet<String> {
        with_stems(&format!("{} {}", self.name, self.category))
    }
}
