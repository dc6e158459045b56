//! Order numbers in a text, told apart from phone numbers, amounts, dates and goods.

use std::borrow::Cow;
use std::collections::HashMap;

use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};
use unicode_normalization::char::is_combining_mark;

use super::candidate::{Candidate, candidates, is_date, is_day, is_decimal, is_fraction};
use super::phone::{is_in_groups, is_phone, without_grouped};
use crate::domain::commerce::OrderNumber;
use crate::domain::identity::Phone;
use crate::domain::text::fold;

/// The words around order numbers, from `prompts/rules/orders.LANG.toml`. Written in any case, with or without marks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OrderNumberWords {
    /// Makes the number after it an order number: `order`, `đơn hàng`, `mã`.
    pub cues: Vec<String>,
    /// May come between the cue and the number: `number`, `số`, `is`, `là`.
    pub between: Vec<String>,
    /// Makes the number before it an amount or a measure: `vnd`, `đ`, `usd`, `ngàn`, `kg`.
    pub units: Vec<String>,
    /// Makes the number after it a phone number: `phone`, `sđt`, `gọi`.
    pub phone_cues: Vec<String>,
    /// How the shop's order numbers begin. After these, two digits are enough: `ord-`.
    pub prefixes: Vec<String>,
    /// How the other numbers of the shop begin: `rma-`, `ticket-`, `fedex-`.
    pub other_prefixes: Vec<String>,
}

/// How certain it is that a number in a text is an order number: the state's `order_match_confidence`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The number looks like one.
    Bare,
    /// The message is the number and nothing else.
    Alone,
    /// The customer calls it one: "#77893", "đơn 77893".
    Named,
}

/// An order number in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub number: OrderNumber,
    pub confidence: Confidence,
}

impl Found {
    /// Returns the number as a phone number, which it more likely is after a question for a contact. `None` if the customer
    /// calls it an order number, or it cannot be a phone number.
    pub fn phone(&self) -> Option<Phone> {
        if self.confidence == Confidence::Named { None } else { self.digits()?.parse().ok() }
    }

    /// Returns the number if it has only digits.
    fn digits(&self) -> Option<&str> {
        Some(self.number.as_str()).filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

/// A number of so many digits that ends in three zeros is an amount, unless the customer calls it an order.
const ROUND_DIGITS: usize = 6;
/// Fewer digits after a word such as "abc" are no order number that lost its hyphen.
const JOINED_DIGITS: usize = 4;
/// How many bytes of a token before a number are read: enough for every cue, and the same work for every number.
const LOOK_BACK: usize = 48;
/// How many tokens before a number are read.
const TOKENS_BACK: usize = 6;
/// How many letters a unit has at most.
const UNIT_LETTERS: usize = 16;

/// Returns the distinct order numbers in a message, the surest first, then in their order in the text.
///
/// A phone number, a price, a date or a product's name counts only if the customer calls it an order number.
pub fn find_order_numbers(text: &str, words: &OrderNumberWords) -> Vec<Found> {
    let joined = join_prefixes(text, words);
    let words = Folded::of(words);
    let text = without_grouped(&joined);
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let mut found: Vec<Found> = Vec::new();
    let mut places: HashMap<OrderNumber, usize> = HashMap::new();
    for (at, token) in tokens.iter().enumerate() {
        let address = address_start(token);
        for candidate in candidates(token) {
            let Ok(number) = candidate.run.parse::<OrderNumber>() else { continue };
            let in_address = address.is_some_and(|start| start < candidate.before.len());
            if in_address || candidate.after.starts_with('@') {
                continue;
            }
            let Some(confidence) = confidence(&candidate, &tokens, at, &words) else { continue };
            match places.get(&number).and_then(|place| found.get_mut(*place)) {
                Some(other) => other.confidence = other.confidence.max(confidence),
                None => {
                    places.insert(number.clone(), found.len());
                    found.push(Found { number, confidence });
                }
            }
        }
    }
    found.sort_by_key(|found| std::cmp::Reverse(found.confidence));
    // "Order 88001, 912345678": the second number may be a phone number.
    if let Some(named) = found.first().filter(|found| found.confidence == Confidence::Named) {
        let length = named.number.as_str().len();
        found.retain(|found| found.phone().is_none() || found.number.as_str().len() == length);
    }
    found
}

/// Returns the text with a hyphen in each order number that the customer typed without it: "ABC 100004", "abc100003", "abc_100003".
pub fn join_prefixes<'t>(text: &'t str, words: &OrderNumberWords) -> Cow<'t, str> {
    let lower = text.to_ascii_lowercase();
    let prefixes = words.prefixes.iter().map(|prefix| prefix.trim_end_matches('-').to_ascii_lowercase());
    // The prefix "ord" is not in the word "order".
    let is_word = |prefix: &String| {
        lower.match_indices(prefix.as_str()).any(|(at, _)| !lower[at + prefix.len()..].starts_with(char::is_alphabetic))
    };
    let present = prefixes.filter(|prefix| !prefix.is_empty() && is_word(prefix));
    let present = present.map(|prefix| regex::escape(&prefix)).collect::<Vec<_>>().join("|");
    if present.is_empty() {
        return Cow::Borrowed(text);
    }
    let split = format!(r"(?i)(?-u:\b)({present}) ?[-–_.:#/]? ?([0-9]{{{JOINED_DIGITS},}})(?-u:\b)");
    let Ok(split) = Regex::new(&split) else { return Cow::Borrowed(text) };
    split.replace_all(text, |found: &Captures<'_>| format!("{}-{}", &found[1], &found[2]))
}

/// The words, folded and split.
struct Folded {
    cues: Vec<Vec<String>>,
    between: Vec<String>,
    units: Vec<String>,
    phone_cues: Vec<Vec<String>>,
    prefixes: Vec<String>,
    other_prefixes: Vec<String>,
}

impl Folded {
    fn of(words: &OrderNumberWords) -> Self {
        let single = |list: &[String]| list.iter().map(|word| fold(word)).collect();
        let phrases = |list: &[String]| list.iter().map(|phrase| crate::domain::text::words(phrase)).collect();
        Self {
            cues: phrases(&words.cues),
            between: single(&words.between),
            units: single(&words.units),
            phone_cues: phrases(&words.phone_cues),
            prefixes: single(&words.prefixes),
            other_prefixes: single(&words.other_prefixes),
        }
    }
}

fn confidence(candidate: &Candidate<'_>, tokens: &[&str], at: usize, words: &Folded) -> Option<Confidence> {
    let Candidate { before, run, after } = *candidate;
    let folded = fold(run);
    if words.other_prefixes.iter().any(|prefix| folded.starts_with(prefix.as_str())) {
        return None;
    }
    let earlier = earlier_words(tokens, at, before, words);
    if (before.ends_with('#') || is_named(&earlier, words)) && !is_decimal(after) {
        return Some(Confidence::Named);
    }
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let is_amount = before.ends_with(['$', '€', '£', '¥', '₫', '+'])
        || after.starts_with(['$', '€', '£', '¥', '₫', '%'])
        || is_decimal(after)
        || is_fraction(before)
        // A unit makes an amount of digits alone: "ABC-100003 giờ" stays a number.
        || (run.starts_with(|c: char| c.is_ascii_digit()) && unit_follows(after, tokens.get(at + 1), words));
    let is_phone = ends_with_any(&earlier, &words.phone_cues) || is_phone(run) || is_in_groups(tokens, at);
    if is_amount || is_phone || is_date(run) || is_round(run) {
        return None;
    }
    let has_lower_case = run.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_code = digits >= 3 || !has_lower_case;
    if tokens.len() == 1 && before.chars().chain(after.chars()).all(|c| !c.is_alphanumeric()) && is_code {
        return Some(Confidence::Alone);
    }
    if is_day(run) {
        return None;
    }
    let is_ours = words.prefixes.iter().any(|prefix| folded.starts_with(prefix.as_str()));
    // In running text "iphone15", "24-hour" and "usb-c-65" are more often goods and times than orders.
    let has_letters = run.contains('-') && run.starts_with(|c: char| c.is_ascii_alphabetic());
    (digits >= 5 || (digits >= 4 && has_letters) || (digits >= 2 && is_ours)).then_some(Confidence::Bare)
}

/// Whether a number is more likely an amount: 1290000.
fn is_round(run: &str) -> bool {
    run.len() >= ROUND_DIGITS && run.ends_with("000") && run.bytes().all(|byte| byte.is_ascii_digit())
}

/// Where an address begins in a token: numbers after that are not order numbers.
fn address_start(token: &str) -> Option<usize> {
    if token.starts_with("www.") {
        return Some(0);
    }
    token.find('@').into_iter().chain(token.find("://")).min()
}

/// The end of a text, at most [`LOOK_BACK`] bytes, from the beginning of a word.
fn tail(text: &str) -> &str {
    let Some(cut) = text.len().checked_sub(LOOK_BACK).filter(|cut| *cut > 0) else { return text };
    let cut = text.ceil_char_boundary(cut);
    let end = &text[cut..];
    let in_word = |c: char| c.is_alphanumeric() || is_combining_mark(c);
    if text[..cut].ends_with(in_word) { end.trim_start_matches(in_word) } else { end }
}

/// The folded words before the run, the nearest last; a sentence's end cuts them off.
fn earlier_words(tokens: &[&str], at: usize, before: &str, words: &Folded) -> Vec<String> {
    let mut earlier = Vec::new();
    for token in tokens[at.saturating_sub(TOKENS_BACK)..at].iter().copied().chain([before]) {
        earlier.extend(crate::domain::text::words(tail(token)));
        // "order no. 77893" is one sentence.
        let is_short = token.ends_with('.') && earlier.last().is_some_and(|word| words.between.contains(word));
        if token.ends_with(['.', '!', '?', ';']) && !is_short {
            earlier.clear();
        }
    }
    earlier
}

/// Whether a cue comes before the run, with only filler words between.
fn is_named(earlier: &[String], words: &Folded) -> bool {
    let mut earlier = earlier;
    loop {
        if ends_with_any(earlier, &words.cues) {
            return true;
        }
        match earlier.split_last() {
            Some((last, rest)) if words.between.contains(last) => earlier = rest,
            _ => return false,
        }
    }
}

fn ends_with_any(earlier: &[String], phrases: &[Vec<String>]) -> bool {
    phrases.iter().any(|phrase| !phrase.is_empty() && earlier.ends_with(phrase))
}

fn unit_follows(after: &str, next: Option<&&str>, words: &Folded) -> bool {
    let is_unit = |text: &str| {
        let letters: String =
            text.chars().take_while(|c| c.is_alphabetic() || is_combining_mark(*c)).take(UNIT_LETTERS).collect();
        words.units.contains(&fold(&letters))
    };
    if after.starts_with(char::is_alphabetic) {
        is_unit(after)
    } else {
        after.is_empty() && next.is_some_and(|next| is_unit(next))
    }
}

#[cfg(test)]
pub(in crate::nlu) mod tests;
