//! What a question says about money: "dưới 20 triệu", "cheapest".

use super::rules::SearchRules;
use super::terms::{Token, is_plain_number};

/// The customer's wishes about price, in đồng. A wish orders what was found; it never hides a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    pub most: Option<u64>,
    pub least: Option<u64>,
    pub order: Order,
    /// A price is asked for, so that a catalogue answers better than a page.
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
    /// Whether a product of this price is what was wished for. A product without a price is, if nothing was wished.
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

/// Takes the words about money out of a question.
///
/// An amount counts if it is followed by "triệu", "nghìn" or a currency, or is a whole number from 100,000. Without "trên" or its like
/// before it, it is the most that the customer would pay.
pub fn take_budget(words: &[Token], rules: &SearchRules) -> (Budget, Vec<Token>) {
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
        let above = rules.money.above.starts(here);
        let skip = above.max(rules.money.below.starts(here));
        if let Some((amount, length)) = amount(&here[skip..], rules) {
            // "từ 10 đến 15 triệu" has its second end without a word of its own; "đến" is a stop word.
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

/// An amount of money in đồng at the start of `words`, and how many words it takes.
fn amount(words: &[Token], rules: &SearchRules) -> Option<(u64, usize)> {
    let word = words.first()?.exact.as_str();
    let digits = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    let (number, tail) = word.split_at(digits);
    let value: f64 = number.parse().ok()?;
    let follows = |rest: &[Token]| {
        let (millions, thousands) = (rules.money.millions.starts(rest), rules.money.thousands.starts(rest));
        match (millions, thousands, rules.money.currency.starts(rest)) {
            (1.., _, _) => Some((1e6, millions)),
            (_, 1.., _) => Some((1e3, thousands)),
            (_, _, length @ 1..) => Some((1.0, length)),
            _ => None,
        }
    };
    if !tail.is_empty() {
        let (unit, half) = tail.split_at(tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len()));
        let (scale, _) = follows(&super::terms::tokens(unit, &[]))?;
        // "1tr5" is one million and a half.
        let half = if half.is_empty() { 0.0 } else { format!("0.{half}").parse().ok()? };
        return dong((value + half) * scale).map(|amount| (amount, 1));
    }
    match follows(&words[1..]) {
        Some((scale, length)) => dong(value * scale).map(|amount| (amount, 1 + length)),
        None if is_plain_number(word) && value >= 100_000.0 => dong(value).map(|amount| (amount, 1)),
        None => None,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be within a hundred billion")]
fn dong(value: f64) -> Option<u64> {
    (0.0..1e11).contains(&value).then_some(value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::super::terms::tokens;
    use super::*;

    #[test]
    fn money_is_taken_out_of_a_question() {
        let rules = SearchRules::from_toml(include_str!("../../prompts/rules/search.toml")).unwrap();
        let most = |most| Budget { most: Some(most), ..Budget::default() };
        for (question, budget, rest) in [
            ("laptop dưới 20 triệu", most(20_000_000), "laptop"),
            ("laptop duoi 20tr", most(20_000_000), "laptop"),
            ("laptop under 15,5 million", most(15_500_000), "laptop"),
            ("chuột tầm 1tr5", most(1_500_000), "chuột"),
            ("chuột 500k", most(500_000), "chuột"),
            ("ssd 1.890.000đ", most(1_890_000), "ssd"),
            ("ssd giá", Budget { asked: true, ..Budget::default() }, "ssd giá"),
            ("ssd 1tb", Budget::default(), "ssd 1tb"),
            ("trên bàn", Budget::default(), "trên bàn"),
            ("chuột không dây rẻ nhất", Budget { order: Order::Cheapest, ..Budget::default() }, "chuột không dây"),
            ("laptop từ 10 triệu đến 15 triệu", Budget { least: Some(10_000_000), ..most(15_000_000) }, "laptop đến"),
        ] {
            let (found, left) = take_budget(&tokens(question, &rules.units), &rules);
            let left = left.iter().map(|token| token.exact.as_str()).collect::<Vec<_>>().join(" ");
            assert_eq!((found, left.as_str()), (budget, rest), "{question}");
        }
    }
}
