//! Prices in a question: "dưới 20 triệu", "cheapest".

use std::sync::LazyLock;

use regex::Regex;

use super::rules::Words;
use super::terms::{Token, is_plain_number};
use crate::domain::text::constant_regex;

static DASHED: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"([\w.,]+)\s*[-–]\s*(\d[\w.,]*)"));

/// The price that the customer wants, in the shop's currency. It affects the order of the results, but never hides a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    pub most: Option<u64>,
    pub least: Option<u64>,
    pub order: Order,
    /// The question asks for a price, so catalogue rows are preferred to pages.
    pub asked: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Any,
    Cheapest,
    Dearest,
}

impl Budget {
    /// Whether a product of this price fits. A product without a price fits only if there is no limit.
    pub fn allows(&self, price: Option<u64>) -> bool {
        match price {
            Some(price) => self.most.is_none_or(|most| price <= most) && self.least.is_none_or(|least| price >= least),
            None => self.most.is_none() && self.least.is_none(),
        }
    }

    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Removes the words about prices from a question. Returns the budget and the remaining words.
///
/// A number is an amount if "triệu", "nghìn" or a currency follows it, or if it is a whole number of at least 100,000.
/// It is an upper limit unless a word like "trên" precedes it.
pub(super) fn take_budget(text: &str, rules: &Words) -> (Budget, Vec<Token>) {
    let words = rules.analyzer.tokens(text);
    let dashed = dashed(text, rules);
    let mut budget = Budget::default();
    let mut rest = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let here = &words[at..];
        let (cheapest, dearest) = (rules.money.cheapest.starts(here), rules.money.dearest.starts(here));
        if cheapest + dearest > 0 {
            budget.order = if cheapest > 0 { Order::Cheapest } else { Order::Dearest };
            at += cheapest.max(dearest);
            continue;
        }
        if let Some((least, most, length)) = range(here, &dashed, rules) {
            (budget.least, budget.most) = (Some(least), Some(most));
            at += length;
            continue;
        }
        let above = rules.money.above.starts(here);
        let skip = above.max(rules.money.below.starts(here));
        if let Some((amount, length)) = amount(&here[skip..], rules) {
            if above > 0 && budget.least.is_none() {
                budget.least = Some(amount)
            } else {
                budget.most = Some(amount)
            }
            at += skip + length;
            continue;
        }
        budget.asked |= rules.money.asked.starts(here) > 0;
        rest.push(words[at].clone());
        at += 1;
    }
    (budget, rest)
}

/// Returns the words before and after each dash: `10` and `15tr` of "10-15tr".
fn dashed(text: &str, rules: &Words) -> Vec<(Token, Token)> {
    let word = |text: &str| rules.analyzer.tokens(text);
    let around = DASHED.captures_iter(text);
    around.filter_map(|around| Some((word(&around[1]).pop()?, word(&around[2]).into_iter().next()?))).collect()
}

/// Parses a range at the start of `words`: "Từ 10 đến 15 triệu", "10-15tr". Returns its ends and its number of words. Two numbers
/// without anything between them are none: "Inspiron 15 17 triệu".
fn range(words: &[Token], dashed: &[(Token, Token)], rules: &Words) -> Option<(u64, u64, usize)> {
    let from = rules.money.above.starts(words);
    let low = amount(&words[from..], rules);
    let to = from + low.map_or(1, |(_, length)| length);
    let (last, next) = (words.get(to - 1)?, words.get(to)?);
    let between = rules.money.to.starts(&words[to..]);
    if from + between == 0 && !dashed.iter().any(|(before, after)| (before, after) == (last, next)) {
        return None;
    }
    let to = to + between;
    let (most, length) = amount(&words[to..], rules)?;
    let least = match low {
        Some((least, _)) => least,
        // A number without a unit uses the unit of the other end.
        None => whole_amount(bare(words.get(from)?)? * scale(&words[to..], rules)?)?,
    };
    (least < most).then_some((least, most, to + length))
}

fn bare(word: &Token) -> Option<f64> {
    is_plain_number(&word.exact).then(|| word.exact.parse().ok())?
}

/// Parses an amount at the start of `words`. Returns it in the shop's currency, with its number of words.
fn amount(words: &[Token], rules: &Words) -> Option<(u64, usize)> {
    let word = words.first()?;
    let (number, unit, half) = parts(&word.exact);
    let value: f64 = number.parse().ok()?;
    let Some((scale, length)) = unit_after(unit, &words[1..], rules) else {
        // A telephone number begins with a zero.
        let money = is_plain_number(&word.exact) && !word.exact.starts_with('0') && value >= 100_000.0;
        return money.then(|| whole_amount(value)).flatten().map(|amount| (amount, 1));
    };
    // "1tr5" is one million and a half.
    let half: f64 = if half.is_empty() { 0.0 } else { format!("0.{half}").parse().ok()? };
    whole_amount((value + half) * scale).map(|amount| (amount, 1 + length))
}

/// Returns the unit of an amount at the start of `words`, in the shop's currency.
fn scale(words: &[Token], rules: &Words) -> Option<f64> {
    let (_, unit, _) = parts(&words.first()?.exact);
    unit_after(unit, &words[1..], rules).map(|(scale, _)| scale)
}

/// Splits `1tr5` into `1`, `tr` and `5`.
fn parts(word: &str) -> (&str, &str, &str) {
    let (number, rest) = word.split_at(word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len()));
    let (unit, half) = rest.split_at(rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len()));
    (number, unit, half)
}

/// Returns the unit that is attached to a number (`unit`) or follows it in `rest`: its value in the shop's currency and its number of
/// words in `rest`.
fn unit_after(unit: &str, rest: &[Token], rules: &Words) -> Option<(f64, usize)> {
    let attached = rules.analyzer.tokens(unit);
    let words = if unit.is_empty() { rest } else { &attached };
    let money = &rules.money;
    let known = [(1e6, &money.millions), (1e3, &money.thousands), (1.0, &money.currency)];
    let found =
        known.into_iter().map(|(scale, lexicon)| (scale, lexicon.starts(words))).find(|(_, length)| *length > 0);
    found.map(|(scale, length)| (scale, if unit.is_empty() { length } else { 0 }))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be within a hundred billion")]
fn whole_amount(value: f64) -> Option<u64> {
    (0.0..1e11).contains(&value).then_some(value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_removed_from_the_question() {
        let rules = super::super::rules::SearchRules::read(&crate::persona::Prompts::shipped()).unwrap();
        let rules = rules.words(None);
        let most = |most| Budget { most: Some(most), ..Budget::default() };
        for (question, budget, rest) in [
            ("laptop dưới 20 triệu", most(20_000_000), "laptop"),
            ("laptop duoi 20tr", most(20_000_000), "laptop"),
            ("laptop under 15,5 million", most(15_500_000), "laptop"),
            ("chuột tầm 1tr5", most(1_500_000), "chuột"),
            ("chuột 500k", most(500_000), "chuột"),
            ("ssd 1.890.000đ", most(1_890_000), "ssd"),
            ("laptop 10-15tr 16gb", Budget { least: Some(10_000_000), ..most(15_000_000) }, "laptop 16gb"),
            ("từ 500 đến 900k", Budget { least: Some(500_000), ..most(900_000) }, ""),
            ("laptop dưới 20 triệu 16gb", most(20_000_000), "laptop 16gb"),
            ("trên 20 triệu", Budget { least: Some(20_000_000), ..Budget::default() }, ""),
            ("rtx 4060 dưới 9 triệu", most(9_000_000), "rtx 4060"),
            ("laptop 10 triệu - 15 triệu", Budget { least: Some(10_000_000), ..most(15_000_000) }, "laptop"),
            ("dell inspiron 15 17 triệu", most(17_000_000), "dell inspiron 15"),
            ("phí giao hàng, sđt 0912345678", Budget::default(), "phí giao hàng sđt 0912345678"),
            ("ssd giá", Budget { asked: true, ..Budget::default() }, "ssd giá"),
            ("ssd 1tb", Budget::default(), "ssd 1tb"),
            ("trên bàn", Budget::default(), "trên bàn"),
            ("chuột không dây rẻ nhất", Budget { order: Order::Cheapest, ..Budget::default() }, "chuột không dây"),
            ("laptop từ 10 triệu đến 15 triệu", Budget { least: Some(10_000_000), ..most(15_000_000) }, "laptop"),
        ] {
            let (found, left) = take_budget(question, rules);
            assert_eq!((found, left), (budget, rules.analyzer.tokens(rest)), "{question}");
        }
    }
}
