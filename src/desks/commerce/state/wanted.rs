//! An item that the customer wants.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::desks::commerce::said::{Details, LARGEST_SIZE, MOST_PIECES, Said};
use crate::domain::commerce::catalog::search::with_stems;
use crate::domain::commerce::sale::Choices;
use crate::domain::commerce::{CartLine, CatalogItem, ItemId, Money};

/// An item that the customer wants, until its choices are complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::desks::commerce) struct Wanted {
    pub item: StoredItem,
    pub quantity: Option<u32>,
    pub choices: Choices,
}

/// A copy of an item's row, to read the answer to a question about it. Prices come from the row again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::desks::commerce) struct StoredItem {
    pub id: ItemId,
    pub name: String,
    pub category: String,
    pub price: Money,
    pub stock: u32,
    pub description: String,
    pub attributes: BTreeMap<String, String>,
    pub variants: BTreeMap<String, Vec<String>>,
}

impl Wanted {
    /// An item of which nothing is chosen yet. A variant with one choice needs no question.
    pub fn new(item: StoredItem) -> Self {
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

impl StoredItem {
    /// Returns every word of the item, as written and without plural endings.
    pub fn words(&self) -> BTreeSet<String> {
        let mut texts = vec![self.name.as_str(), &self.category, &self.description];
        texts.extend(self.attributes.iter().flat_map(|(name, value)| [name.as_str(), value]));
        texts.extend(
            self.variants
                .iter()
                .flat_map(|(name, choices)| std::iter::once(name.as_str()).chain(choices.iter().map(String::as_str))),
        );
        with_stems(&texts.join(" "))
    }

    /// Whether a number is near the sizes of the item.
    pub fn is_like_a_size(&self, number: u64) -> bool {
        const NEAR: u64 = 6;
        let sizes = self.variants.values().flatten().filter_map(|choice| choice.parse::<u64>().ok());
        number > MOST_PIECES && sizes.into_iter().any(|size| size.abs_diff(number) <= NEAR)
    }

    /// Returns the words by which the item is named.
    pub fn names(&self) -> BTreeSet<String> {
        with_stems(&format!("{} {}", self.name, self.category))
    }
}

impl From<CatalogItem> for StoredItem {
    fn from(item: CatalogItem) -> Self {
        let CatalogItem { id, name, category, price, stock, description, attributes, variants, .. } = item;
        Self { id, name, category, price, stock, description, attributes, variants }
    }
}
