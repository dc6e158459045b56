//! The words that a match can begin with. A pattern is tried only where one of them stands.

use super::Element;
use crate::token::{NUMBER_BIT, Token, prefix_bits};

/// How the first word of a match begins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FirstWord {
    /// A whole word, and its [`word_bits`](crate::token::word_bits).
    Is(String, u128),
    StartsWith(String),
    Number,
}

/// What a text must have for an element to match: one of these bits.
pub(super) type Opening = u128;

impl FirstWord {
    fn bits(&self) -> u128 {
        match self {
            Self::Is(_, bits) => *bits,
            Self::StartsWith(prefix) => prefix_bits(prefix),
            Self::Number => NUMBER_BIT,
        }
    }

    pub fn fits(&self, token: &Token) -> bool {
        match self {
            Self::Is(word, _) => token.folded() == word,
            Self::StartsWith(prefix) => token.folded().starts_with(prefix.as_str()),
            Self::Number => token.is_number,
        }
    }
}

/// Returns the openings of the elements that must be there, rarest first.
pub(super) fn openings(elements: &[Element]) -> Vec<Opening> {
    let of = |element: &Element| match element {
        Element::Words(choice) if !choice.optional => {
            Some(choice.first_words().fold(0, |bits, word| bits | word.bits()))
        }
        _ => None,
    };
    let mut openings: Vec<Opening> = elements.iter().filter_map(of).collect();
    openings.sort_by_key(|bits| bits.count_ones());
    openings
}

/// The first words of all elements before and including the first required one.
pub(super) fn first_words(elements: &[Element]) -> Option<Vec<FirstWord>> {
    let mut first = Vec::new();
    for element in elements {
        match element {
            Element::Start | Element::End => {}
            Element::Gap => return None,
            Element::Words(choice) => {
                first.extend(choice.first_words());
                if !choice.optional {
                    break;
                }
            }
        }
    }
    first.sort_unstable();
    first.dedup();
    Some(first)
}
