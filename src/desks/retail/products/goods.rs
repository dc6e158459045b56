//! The products of a message, and what is computed of them.

use crate::dialogue::shown::Chosen;
use crate::nlu::instalments::Plan;
use crate::retrieval::Passage;

/// The products that a message is about.
#[derive(Debug, Default)]
pub(in crate::desks::retail) struct Goods {
    /// Products of the conversation.
    pub chosen: Option<Chosen>,
    /// Products that a new wish describes.
    pub wished: Vec<Passage>,
    /// What the message asks to compute of the chosen ones.
    pub computed: Option<Computed>,
    /// How many pieces of one product, as this message or an earlier one says.
    pub pieces: Option<u64>,
    /// How many pieces of each product, where the message says it of several.
    pub counts: Vec<(String, u64)>,
    /// Whether it asks what their rows say.
    pub asks_row: bool,
}

/// What is computed of products.
#[derive(Debug)]
pub(in crate::desks::retail) enum Computed {
    /// The sum of their prices.
    Total,
    /// The price of so many pieces of each.
    Each(u64),
    /// Whether two fit together, and by what.
    Fit(FitTogether),
    /// What one costs each month.
    Plans(Vec<Plan>),
    /// How much more the first of two costs than the second.
    Difference(u64, [String; 2]),
}

impl Goods {
    pub(super) fn chosen(chosen: Chosen) -> Self {
        Self { chosen: Some(chosen), ..Self::default() }
    }

    /// Returns products whose rows are asked for something.
    pub(super) fn asked(chosen: Chosen) -> Self {
        Self { asks_row: true, ..Self::chosen(chosen) }
    }

    pub(super) fn wished(wished: Vec<Passage>) -> Option<Self> {
        (!wished.is_empty()).then(|| Self { wished, ..Self::default() })
    }
}

/// Two products, and what the catalogue says about each.
#[derive(Debug)]
pub(in crate::desks::retail) struct FitTogether {
    pub fits: bool,
    pub names: [String; 2],
    pub values: [String; 2],
}
