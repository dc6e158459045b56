//! What one message says.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::rules::{SandboxWish, Says, Utterance};
use super::state::PriceOrder;
use crate::dialogue::{Act, Answer};
use crate::domain::commerce::policy::{GovernorClass, Intent};
use crate::domain::commerce::sale::{Choices, QUANTITY_MAX};
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::commerce::{CatalogItem, Money, SaleId};
use crate::domain::identity::e164::E164;
use crate::domain::text::fold;
use crate::nlu::keywords::Strength;
use crate::nlu::pick::Pick;
use crate::providers::payment::daraja::is_receipt;

/// A larger number is a size, or a price.
pub(super) const MOST_PIECES: u64 = 12;
/// Larger numbers are prices.
pub(super) const LARGEST_SIZE: u64 = 100;

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
    /// The values of attributes that it names, such as the material `leather`.
    pub qualities: BTreeMap<String, String>,
    /// Those of the words to search for: next to the name of goods, words that the shop does not know are left out.
    pub sought: Vec<String>,
    /// The words of goods that serve the need that the message names, such as a gift.
    pub needs: Vec<String>,
    /// The words of goods that the customer does not want.
    pub unwanted: Vec<String>,
    pub methods: Vec<PaymentMethod>,
    /// The topics that it touches.
    pub compliance: Vec<String>,
    /// What a question about the shop is about, by the names that the rules have for it.
    pub subjects: Vec<String>,
    /// Whether a word such as "coupon" introduces a code.
    pub introduces_code: bool,
    pub sandbox: Option<SandboxWish>,
    /// The telephone number of the message.
    pub phone: Option<E164>,
    /// The message without the telephone number.
    pub rest: String,
}

/// The words and numbers by which a message chooses a variant or a quantity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Details {
    /// The words, folded, with aliases replaced.
    pub words: Vec<String>,
    /// The whole numbers, without limits of a price.
    pub numbers: Vec<u64>,
    /// The words that are a choice of some goods of the shop, such as colours.
    pub choices: Vec<String>,
    /// The end of the sizes that the message wants.
    #[serde(default)]
    pub end: Option<End>,
}

/// An end of a row of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    Smallest,
    Largest,
}

impl Details {
    /// Whether the message neither chooses nor counts.
    pub fn are_none(&self) -> bool {
        self.numbers.is_empty() && self.choices.is_empty()
    }

    /// Returns the choices of the item's variants that the message names, and the numbers that are none of them. Of two choices, the one
    /// not chosen yet counts: "change pink to blue".
    pub fn choices_of(&self, variants: &BTreeMap<String, Vec<String>>, before: &Choices) -> (Choices, Vec<u64>) {
        let mut rest = self.numbers.clone();
        let mut chosen = BTreeMap::new();
        for (variant, choices) in variants {
            let is_named = |choice: &&String| self.has(choice);
            let known = before.get(variant);
            let named = choices.iter().filter(is_named);
            let chosen_by_name = named.clone().find(|choice| Some(*choice) != known).or(named.clone().next());
            let Some(choice) = chosen_by_name.or_else(|| self.end?.of_sizes(variant, choices)) else { continue };
            for number in named.filter(|named| *named == choice || Some(*named) == known) {
                let at = number.parse().ok().and_then(|number: u64| rest.iter().position(|known| *known == number));
                if let Some(at) = at {
                    rest.remove(at);
                }
            }
            chosen.insert(variant.clone(), choice.clone());
        }
        (chosen, rest)
    }

    /// Whether the message names a choice: a number, or words.
    pub fn has(&self, choice: &str) -> bool {
        match choice.parse::<u64>() {
            Ok(number) => self.numbers.contains(&number),
            Err(_) => self.names(choice),
        }
    }

    /// Returns a choice that the item does not have.
    pub fn strange_choice(&self, item: &CatalogItem) -> Option<String> {
        let own = item.words();
        self.choices.iter().find(|choice| !own.contains(*choice)).cloned()
    }

    /// Returns the numbers that are sizes.
    pub fn sizes(&self) -> Vec<String> {
        let sizes = self.numbers.iter().filter(|number| (MOST_PIECES + 1..LARGEST_SIZE).contains(number));
        sizes.map(u64::to_string).collect()
    }

    /// Whether an item has what the message names: sizes, or a price.
    pub fn fits(&self, item: &CatalogItem) -> bool {
        let (_, rest) = self.choices_of(&item.variants, &Choices::new());
        let is_price = |number: &u64| i64::try_from(*number) == Ok(item.price.whole());
        let prices = self.numbers.iter().any(is_price);
        rest.iter().all(|number| *number <= MOST_PIECES || (prices && is_price(number)))
    }

    /// Whether the message has all words of a choice.
    fn names(&self, choice: &str) -> bool {
        let wanted: Vec<String> = fold(choice).split_whitespace().map(str::to_owned).collect();
        !wanted.is_empty() && wanted.iter().all(|word| self.words.iter().any(|token| token == word))
    }

    /// Returns how many pieces the message wants: a number that chooses no variant of the item.
    pub fn quantity(&self, rest: &[u64]) -> Option<u32> {
        rest.iter().filter_map(|number| u32::try_from(*number).ok()).find(|number| (1..=QUANTITY_MAX).contains(number))
    }
}

impl End {
    pub fn of(utterance: &Utterance) -> Option<Self> {
        match () {
            () if utterance.mentions(Says::Smallest) => Some(Self::Smallest),
            () if utterance.mentions(Says::Largest) => Some(Self::Largest),
            () => None,
        }
    }

    /// Returns the choice at this end, if the variant is one of sizes: numbers, or words in the order of the list.
    fn of_sizes<'c>(self, variant: &str, choices: &'c [String]) -> Option<&'c String> {
        let number = |choice: &&'c String| choice.parse::<u64>().ok();
        let has_numbers = choices.iter().all(|choice| number(&choice).is_some());
        match self {
            Self::Smallest if has_numbers => choices.iter().min_by_key(number),
            Self::Largest if has_numbers => choices.iter().max_by_key(number),
            Self::Smallest => choices.first().filter(|_| variant == "size"),
            Self::Largest => choices.last().filter(|_| variant == "size"),
        }
    }
}

impl Said {
    /// Whether the message asks about a PIN, or about the number of a card.
    pub fn asks_secret(&self) -> bool {
        let about_card = self.says(Says::SendsNumber) && self.methods.contains(&PaymentMethod::Pesapal);
        self.says(Says::AsksSecret) || about_card
    }

    /// Returns the order of prices that the message asks for.
    pub fn order_of_prices(&self) -> Option<PriceOrder> {
        match () {
            () if self.says(Says::Cheapest) => Some(PriceOrder::Cheapest),
            () if self.says(Says::Dearest) => Some(PriceOrder::Dearest),
            () => None,
        }
    }

    /// Returns a part of this message, with what holds for the whole.
    pub fn narrowed(self, mut part: Self) -> Self {
        let Self { utterance, class, intents, phone, all_numbers, methods, compliance, introduces_code, rest, .. } =
            self;
        part.utterance.text = utterance.text;
        Self { class, intents, phone, all_numbers, methods, compliance, introduces_code, rest, ..part }
    }

    pub fn says(&self, says: Says) -> bool {
        self.utterance.mentions(says)
    }

    /// Whether something follows a question: "Only brown? Fine, one pair".
    pub fn goes_on(&self) -> bool {
        self.utterance.text.rsplit_once('?').is_some_and(|(_, rest)| !rest.trim().is_empty())
    }

    /// Whether the message names a price to bargain for: "it is high, can you give it for 2,800?"
    pub fn names_own_price(&self) -> bool {
        self.says(Says::Haggle) && self.most.is_none() && self.all_numbers.iter().any(|number| *number >= LARGEST_SIZE)
    }

    /// Returns what its words surely show that it wants.
    pub fn clear_intents(&self) -> Vec<Intent> {
        self.intents.iter().filter(|(_, strength)| *strength == Strength::Clear).map(|(intent, _)| *intent).collect()
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

    /// Returns the way to pay that the message names. A telephone number is one for the prompt.
    pub fn method(&self) -> Option<PaymentMethod> {
        self.methods.first().copied().or(self.phone.as_ref().map(|_| PaymentMethod::MpesaStk))
    }

    pub fn text(&self) -> &str {
        &self.utterance.text
    }

    /// Whether the message asks about a subject of the rules: `delivery` is also `delivery_cost`.
    pub fn is_about(&self, subject: &str) -> bool {
        self.subjects.iter().any(|known| known.starts_with(subject))
    }

    /// Whether a size was chosen among these choices.
    pub fn has_number(choices: &Choices) -> bool {
        choices.values().any(|choice| choice.parse::<u64>().is_ok())
    }

    /// Whether the message says yes, with another number than the amount that is asked: a PIN, or an amount that the customer expects.
    pub fn is_yes_to_other_number(&self, amount: Money) -> bool {
        let affirms = self.utterance.answer == Some(Answer::Yes) && self.utterance.only_answers();
        let shillings = u64::try_from(amount.whole()).ok();
        let is_other = |number: &u64| *number > u64::from(QUANTITY_MAX) && Some(*number) != shillings;
        affirms && !self.utterance.has_question() && self.all_numbers.iter().any(is_other)
    }

    /// Whether the message says yes to exactly this amount, and nothing that could mean anything else.
    pub fn is_clear_yes_to(&self, amount: Money) -> bool {
        let utterance = &self.utterance;
        let shillings = u64::try_from(amount.whole()).ok();
        let names_other = self.all_numbers.iter().any(|number| Some(*number) != shillings);
        let means_other = |act: &Act<Says>| matches!(act, Act::Mention(says) if !matches!(says, Says::Pay | Says::Takes | Says::Wants | Says::Consents));
        let affirms = utterance.answer == Some(Answer::Yes) && utterance.only_answers();
        let is_unsure = utterance.has_question() || utterance.hesitates() || utterance.acts.iter().any(means_other);
        affirms && !is_unsure && !names_other && self.most.is_none()
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
            [first, ..] if self.sought.is_empty() && !self.says(Says::Pieces) => {
                usize::try_from(*first).ok()?.checked_sub(1)
            }
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
        let words = self.rest.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
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

    /// Whether the message names the receipt of an M-PESA payment.
    pub fn names_receipt(&self) -> bool {
        self.receipt().is_some()
    }

    /// Returns the code of a coupon: one of the shop's, else one that the message calls so and that is no receipt.
    pub fn coupon(&self, of_shop: &[String]) -> Option<String> {
        let mut codes = self.codes();
        if let Some(at) = codes.iter().position(|code| of_shop.contains(code)) {
            return Some(codes.swap_remove(at));
        }
        let has_digit = |code: &String| code.contains(|c: char| c.is_ascii_digit());
        codes.into_iter().find(|code| self.introduces_code && has_digit(code) && !is_receipt(code))
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
}
