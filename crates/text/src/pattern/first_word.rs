//! The words that a match can begin with. A pattern is tried only where one of them stands.

use super::Element;
use crate::token::{Token, TokenStream, prefix_bits};

/// How the first word of a match begins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FirstWord {
    /// A whole word, and its [`word_bits`](crate::token::word_bits).
    Is(String, u128),
    StartsWith(String),
    Number,
}

/// What the first words of an element have in common.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Opening {
    /// [`word_bits`](crate::token::word_bits) of whole words.
    words: u128,
    /// [`prefix_bits`] of beginnings of words.
    prefixes: u128,
    number: bool,
    /// A beginning that is too short to tell.
    any: bool,
}

impl FirstWord {
    pub fn fits(&self, token: &Token) -> bool {
        match self {
            Self::Is(word, _) => token.folded() == word,
            Self::StartsWith(prefix) => token.folded().starts_with(prefix.as_str()),
            Self::Number => token.is_number,
        }
    }
}

impl Opening {
    /// Of each element that must be there.
    pub fn of_needed(elements: &[Element]) -> Vec<Self> {
        let of = |element: &Element| match element {
            Element::Words(choice) if !choice.optional => Some(Self::of(choice.first_words())),
            _ => None,
        };
        elements.iter().filter_map(of).collect()
    }

    fn of(first_words: impl Iterator<Item = FirstWord>) -> Self {
        first_words.fold(Self::default(), |opening, word| match word {
            FirstWord::Is(_, bits) => Self { words: opening.words | bits, ..opening },
            FirstWord::StartsWith(prefix) => match prefix_bits(&prefix) {
                Some(bits) => Self { prefixes: opening.prefixes | bits, ..opening },
                None => Self { any: true, ..opening },
            },
            FirstWord::Number => Self { number: true, ..opening },
        })
    }

    pub fn may_be_in(&self, stream: &TokenStream<'_>) -> bool {
        self.any
            || stream.may_have(self.words)
            || stream.may_have_prefix(self.prefixes)
            || (self.number && !stream.numbers().is_empty())
    }
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
