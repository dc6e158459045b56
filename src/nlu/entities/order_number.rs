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
        || unit_follows(after, tokens.get(at + 1), words);
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
pub(in crate::nlu) mod tests {
    use super::*;

    /// The words of the shop.
    pub fn words() -> OrderNumberWords {
        #[derive(Deserialize)]
        struct Orders {
            order_number: OrderNumberWords,
        }
        crate::persona::Prompts::shipped().rules(&["orders"], Ok::<Orders, String>).unwrap().order_number
    }

    #[test]
    fn order_numbers_are_found_in_messages() {
        use Confidence::{Alone, Bare, Named};
        for (text, expected) in [
            ("I want to return my hiking boots from order 77893. They're too small.", vec![("77893", Named)]),
            ("ABC-123456", vec![("ABC-123456", Alone)]),
            ("abc-123456.", vec![("ABC-123456", Alone)]),
            ("77893", vec![("77893", Alone)]),
            ("#77893", vec![("77893", Named)]),
            ("AB-1234", vec![("AB-1234", Alone)]),
            ("ORD-VN-77", vec![("ORD-VN-77", Alone)]),
            ("ABCD1", vec![("ABCD1", Alone)]),
            ("where is ORD-VN-77?", vec![("ORD-VN-77", Bare)]),
            ("đơn ord-vn-77 tới đâu rồi", vec![("ORD-VN-77", Named)]),
            ("đơn 77893", vec![("77893", Named)]),
            ("đơn77893", vec![("77893", Named)]),
            ("don hang so 77893 cua minh", vec![("77893", Named)]),
            ("mã đơn hàng là ABC-123456 ạ", vec![("ABC-123456", Named)]),
            ("My order number is: ABC-123456", vec![("ABC-123456", Named)]),
            ("order no. 0912345678", vec![("0912345678", Named)]),
            ("order #77893, please", vec![("77893", Named)]),
            ("where is my parcel? it's 77893", vec![("77893", Bare)]),
            ("trả hàng ABC-1234 giúp em", vec![("ABC-1234", Bare)]),
            ("not 77894 but order 77893", vec![("77893", Named), ("77894", Bare)]),
            ("đơn 77893 và đơn 77900", vec![("77893", Named), ("77900", Named)]),
            ("77893 77893", vec![("77893", Bare)]),
            ("(77893)", vec![("77893", Alone)]),
            ("20261103", vec![("20261103", Alone)]),
            ("order 20261103", vec![("20261103", Named)]),
            ("where is order 88001? 912345678", vec![("88001", Named)]),
            ("đơn 10000001 và 10000002", vec![("10000001", Named), ("10000002", Bare)]),
            ("912345678", vec![("912345678", Alone)]),
            ("(415) 555-0123, order 88004", vec![("88004", Named)]),
            ("88004 (415) 555-0123", vec![("88004", Bare)]),
            ("(415) 555-0123 88004", vec![("88004", Bare)]),
            ("(028) 3822 1234 đơn 77893", vec![("77893", Named)]),
        ] {
            let found = find_order_numbers(text, &words());
            let found: Vec<(&str, Confidence)> =
                found.iter().map(|found| (found.number.as_str(), found.confidence)).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn missing_hyphen_after_prefix_is_added() {
        for text in ["on the box: ABC 100004", "đơn abc100004 a@example.com", "Abc_100004, please", "it's abc – 100004"]
        {
            let found = find_order_numbers(text, &words());
            assert_eq!(found[0].number.as_str(), "ABC-100004", "{text:?}");
            assert_eq!(found.len(), 1, "{text:?}");
        }
        for text in ["the abc 12 charger", "abcd 100", "abc", ""] {
            assert_eq!(find_order_numbers(text, &words()), [], "{text:?}");
        }
    }

    #[test]
    fn product_name_is_no_order_number() {
        for text in
            ["yes, the USB-C-65 charger", "the thinkpad-x1-14 please", "my SSD-NV3-01 broke", "iphone-15", "covid-19"]
        {
            assert_eq!(find_order_numbers(text, &words()), [], "{text:?}");
        }
    }

    #[test]
    fn unlabelled_number_may_be_a_phone() {
        for (text, phone) in [
            ("912345678", Some("912345678")),
            ("it is 14155550123", Some("14155550123")),
            ("order 912345678", None),
            ("77893", None),
            ("ABC-12345678", None),
        ] {
            let found = find_order_numbers(text, &words());
            assert_eq!(found[0].phone().as_ref().map(Phone::as_str), phone, "{text:?}");
        }
    }

    #[test]
    fn phones_prices_dates_and_goods_are_no_orders() {
        for text in [
            "0912345678",
            "my phone is 91234567",
            "sđt 0912 345 678",
            "sđt của mình 0912345678",
            "091 2345678",
            "+84912345678",
            "+84 912345678",
            "555-123-4567",
            "1-800-555-0199",
            "(415) 555-0123",
            "(415)555-0123",
            "+1 (415) 555-0123",
            "1 (415) 555 0123",
            "415 555-0123",
            "415.555.0123",
            "call (028) 38221234",
            "I bought it on 20261103",
            "đặt hôm 03112026 ạ",
            "it cost 1500000 vnd",
            "1500000đ",
            "giá 15000 k",
            "$12999",
            "12999.99",
            "1.500000",
            "15000,50",
            "50000 đồng",
            "20000 mAh",
            "delivered 2026-11-22",
            "22-11-2026",
            "22-11",
            "2025-2026",
            "in 2026",
            "my iphone15 is fine",
            "covid-19 24-hour 30-day",
            "iphone15",
            "buyer-77894@example.com",
            "https://shop.example/orders/77893",
            "RMA-1701234567-ABCD",
            "my ticket TICKET-1701234567-5432",
            "FEDEX-123456789012",
            "hello",
            "100%",
            "",
        ] {
            assert_eq!(find_order_numbers(text, &words()), [], "{text:?}");
        }
    }
}
