//! Guesses what kind of message the customer wrote, by the examples of `prompts/examples/retail.LANG.tsv`.

use super::Retail;
use super::memory::Current;
use crate::dialogue::Social;
use crate::replies::ReplyKey;

/// The probability from which an example's kind decides where the rules say something else.
pub(super) const LIKELY: f64 = 0.6;
/// The probability from which it decides where the rules say nothing.
pub(super) const VERY_LIKELY: f64 = 0.8;
/// How much likelier a question about a warranty is that was just looked up.
const AFTER_RECORD: f64 = 3.0;
/// How much likelier a short question about products is after some were shown.
const AFTER_PRODUCTS: f64 = 6.0;
/// A clause with fewer words is not a separate question.
pub(super) const CLAUSE: usize = 3;

/// The kind of a message, by the examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guessed {
    Product,
    Shop,
    Warranty,
    /// A question about the warranty that was just looked up: "how many days are left?".
    Record,
    /// Has no serial number to give.
    NoSerial,
    /// Wants the assistant to order or to book something.
    Order,
    /// Asks when sold-out goods come back.
    Restock,
    Unclear,
    Chat(Social),
}

impl Guessed {
    /// Returns how much likelier the kind is after an answer about `current` than among the examples.
    pub fn times_as_likely(self, current: Option<Current>, waiting_for_serial: bool, is_short: bool) -> f64 {
        match self {
            Self::Record if current == Some(Current::Record) => AFTER_RECORD,
            Self::Product if current == Some(Current::Products) && is_short => AFTER_PRODUCTS,
            Self::NoSerial if waiting_for_serial => 1.0,
            Self::Record | Self::NoSerial => 0.0,
            _ => 1.0,
        }
    }

    /// Whether it is about goods or the shop.
    pub fn is_business(self) -> bool {
        !matches!(self, Self::Chat(_) | Self::Unclear)
    }
}

/// A guess by the examples.
pub(super) struct Guess(Option<(Guessed, f64)>);

impl Guess {
    /// Returns the kind if it is at least so probable.
    pub fn at_least(&self, probability: f64) -> Option<Guessed> {
        self.0.filter(|(_, guessed)| *guessed >= probability).map(|(kind, _)| kind)
    }
}

impl Retail {
    /// Guesses the kind of a text without the conversation before it.
    pub(super) fn guess(&self, text: &str) -> Guess {
        self.guess_after(text, |_| 1.0)
    }

    /// Guesses the kind of a message. Where the whole is not clear, its last sentence asks. `times`: how much likelier a kind is in this
    /// conversation than among the examples.
    pub(super) fn guess_after(&self, text: &str, times: impl Fn(Guessed) -> f64) -> Guess {
        let of = |text: &str| {
            let guess = self.examples.classify_where(text, |label| kind_of(label).map_or(1.0, &times))?;
            Some((kind_of(guess.label)?, guess.probability))
        };
        let whole = of(text);
        let sentences = text.trim_end_matches(['?', '.', '!', ' ']);
        let last = sentences.rsplit(['?', '!', '\n']).next().and_then(|part| part.rsplit(". ").next());
        let last = last.filter(|last| last.len() < sentences.len() && last.split_whitespace().count() >= CLAUSE);
        let is_surer = |(_, probability): &(Guessed, f64)| {
            whole.is_none_or(|(_, of_whole)| of_whole < VERY_LIKELY && *probability > of_whole)
        };
        Guess(last.and_then(of).filter(is_surer).or(whole))
    }
}

fn kind_of(label: &str) -> Option<Guessed> {
    match label {
        "product" => Some(Guessed::Product),
        "shop" => Some(Guessed::Shop),
        "warranty" => Some(Guessed::Warranty),
        "record" => Some(Guessed::Record),
        "no_serial" => Some(Guessed::NoSerial),
        "order" => Some(Guessed::Order),
        "restock" => Some(Guessed::Restock),
        "unclear" => Some(Guessed::Unclear),
        topic => Social::ALL.iter().find(|known| known.as_str() == topic).map(|topic| Guessed::Chat(*topic)),
    }
}
