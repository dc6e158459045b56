//! What one message says.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::rules::{SandboxWish, Says, Strength, Utterance};
use crate::dialogue::Answer;
use crate::domain::commerce::catalog::CATALOG_CURRENCY;
use crate::domain::commerce::policy::{GovernorClass, Intent};
use crate::domain::commerce::sale::{Choices, QUANTITY_MAX};
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::commerce::{Money, SaleId};
use crate::domain::identity::e164::E164;
use crate::domain::text::fold;
use crate::nlu::pick::Pick;
use crate::providers::payment::daraja::is_receipt;

/// Kenya's country code, for numbers that are written without one.
const COUNTRY: &str = "+254";
/// Digits of a Kenyan number after its country code.
const LOCAL_DIGITS: usize = 9;

/// A parsed message with what this desk needs.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub utterance: Utterance,
    pub class: GovernorClass,
    /// The intents that the words show, the clear ones first.
    pub intents: Vec<(Intent, Strength)>,
    /// What it points at in a list.
    pub pick: Option<Pick>,
    /// The words and numbers that may choose a variant or a quantity.
    pub details: Details,
    pub all_numbers: Vec<u64>,
    /// The least and the most that something may cost, in shillings.
    pub least: Option<i64>,
    pub most: Option<i64>,
    /// The words that may name goods.
    pub words: Vec<String>,
    pub has_other_words: bool,
    pub methods: Vec<PaymentMethod>,
    /// The topics that it touches.
    pub compliance: Vec<String>,
    pub sandbox: Option<SandboxWish>,
}

/// The words and numbers by which a message chooses a variant or a quantity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Details {
    /// The words, folded, with aliases replaced.
    pub words: Vec<String>,
    /// The whole numbers, without limits of a price.
    pub numbers: Vec<u64>,
}

/// The limits of a price with their words.
#[derive(Debug, Default)]
pub(super) struct Limits {
    pub least: Option<i64>,
    pub most: Option<i64>,
    pub words: Vec<Range<usize>>,
}

impl Details {
    /// Returns the choices of the item's variants that the message names, and the numbers that are none of them.
    pub fn choices_of(&self, variants: &BTreeMap<String, Vec<String>>) -> (Choices, Vec<u64>) {
        let mut rest = self.numbers.clone();
        let mut chosen = BTreeMap::new();
        for (variant, choices) in variants {
            let named = choices.iter().find(|choice| match choice.parse::<u64>() {
                Ok(number) => rest.contains(&number),
                Err(_) => self.names(choice),
            });
            if let Some(choice) = named {
                if let Ok(number) = choice.parse::<u64>()
                    && let Some(at) = rest.iter().position(|known| *known == number)
                {
                    rest.remove(at);
                }
                chosen.insert(variant.clone(), choice.clone());
            }
        }
        (chosen, rest)
    }

    /// Whether the message has the words of a choice, or a longer word that begins with it ("blacks").
    fn names(&self, choice: &str) -> bool {
        let wanted: Vec<String> = fold(choice).split_whitespace().map(str::to_owned).collect();
        !wanted.is_empty() && wanted.iter().all(|word| self.words.iter().any(|token| token == word))
    }

    /// Returns how many pieces the message wants: a number that chooses no variant of the item.
    pub fn quantity(&self, rest: &[u64]) -> Option<u32> {
        let number = rest.iter().find_map(|number| u32::try_from(*number).ok())?;
        (1..=QUANTITY_MAX).contains(&number).then_some(number)
    }
}

impl Said {
    pub fn says(&self, says: Says) -> bool {
        self.utterance.mentions(says)
    }

    /// Whether the message turns offers or notifications on or off.
    pub fn says_preference(&self) -> bool {
        [Says::MarketingOn, Says::MarketingOff, Says::NotificationsOn, Says::NotificationsOff]
            .into_iter()
            .any(|says| self.says(says))
    }

    /// Whether the message only asks for time: "wait", "ngoja kidogo".
    pub fn only_hesitates(&self) -> bool {
        const SHORT: usize = 3;
        self.utterance.hesitates() && !self.utterance.has_question() && self.details.words.len() <= SHORT
    }

    pub fn text(&self) -> &str {
        &self.utterance.text
    }

    /// Whether the message says yes to exactly this amount, and nothing that could mean anything else.
    pub fn is_clear_yes_to(&self, amount: Money) -> bool {
        let utterance = &self.utterance;
        let shillings = u64::try_from(amount.minor / 100).ok();
        let names_other = self.all_numbers.iter().any(|number| Some(*number) != shillings);
        let pays = self.says(Says::Pay) && !self.has_other_words;
        let affirms = utterance.answer == Some(Answer::Yes) && (utterance.only_answers() || pays);
        affirms && !utterance.has_question() && !utterance.hesitates() && !names_other && self.most.is_none()
    }

    /// Whether the message refuses, or gives up.
    pub fn refuses(&self) -> bool {
        matches!(self.utterance.answer, Some(Answer::No | Answer::Cancel))
    }

    pub fn affirms(&self) -> bool {
        self.utterance.affirms() && !self.utterance.hesitates()
    }

    /// Whether the message names goods, or limits of a price.
    pub fn describes_goods(&self) -> bool {
        !self.words.is_empty() || self.most.is_some() || self.least.is_some()
    }

    /// Returns the number of an option of a list of `length`: "2", "the second", "last". From 0.
    pub fn option(&self, length: usize) -> Option<usize> {
        let by_words = match &self.pick {
            Some(Pick::Nth(n)) => Some(*n),
            Some(Pick::Last) => length.checked_sub(1),
            _ => None,
        };
        let by_number = || match self.details.numbers.as_slice() {
            [first, ..] if self.words.is_empty() => usize::try_from(*first).ok()?.checked_sub(1),
            _ => None,
        };
        by_words.or_else(by_number).filter(|option| *option < length)
    }

    /// Returns the number of an order that the message names.
    pub fn order(&self) -> Option<SaleId> {
        let words = self.text().split(|c: char| !c.is_alphanumeric());
        words.into_iter().find_map(|word| word.parse().ok())
    }

    /// Returns the words that may be the code of a coupon: letters and digits together, or all capitals.
    pub fn codes(&self) -> Vec<String> {
        let words = self.text().split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
        let is_code = |word: &&str| {
            let has = |of: fn(char) -> bool| word.chars().any(of);
            word.len() >= 4
                && word.is_ascii()
                && word.parse::<SaleId>().is_err()
                && has(|c| c.is_alphabetic())
                && (has(|c| c.is_ascii_digit()) || word.chars().all(|c| !c.is_lowercase()))
        };
        words.filter(is_code).map(str::to_ascii_uppercase).collect()
    }

    /// Returns the telephone number of the message: international, or as Kenyans write it.
    pub fn phone(&self) -> Option<E164> {
        let written: String = self.text().chars().filter(|c| c.is_ascii_digit() || *c == '+').collect();
        let local = written.strip_prefix('0').or_else(|| written.strip_prefix("254")).unwrap_or(&written);
        if written.starts_with('+') {
            return written.parse().ok();
        }
        let is_mobile = local.len() == LOCAL_DIGITS && local.starts_with(['7', '1']);
        is_mobile.then(|| format!("{COUNTRY}{local}").parse().ok())?
    }

    /// Returns the receipt code of M-PESA that the message names, such as `QKJ41HAY6L`.
    pub fn receipt(&self) -> Option<String> {
        let words = self.text().split(|c: char| !c.is_alphanumeric());
        words.into_iter().find(|word| is_receipt(word)).map(str::to_ascii_uppercase)
    }

    /// Returns the PIN that the message is, for the sandbox.
    pub fn pin(&self) -> Option<&str> {
        let text = self.text().trim();
        let digits = text.get(..3).filter(|start| start.eq_ignore_ascii_case("pin")).map_or(text, |_| text[3..].trim());
        (digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
    }

    /// Returns a limit as an amount.
    pub fn limit(shillings: Option<i64>) -> Option<Money> {
        Some(Money::new(shillings?.checked_mul(100)?, CATALOG_CURRENCY))
    }
}
