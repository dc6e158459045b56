//! What a customer pays each month for a product. The shop's ways to pay in instalments are in `prompts/rules/instalments.toml`, the words
//! for them in `prompts/rules/instalments.LANG.toml`.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use crate::domain::text::{InvalidPattern, Lexicon, Pattern, any_match};
use crate::nlu::long_text::read_text;
use crate::persona::{PromptError, Prompts};

/// How to pay in instalments, and how customers ask for it.
#[derive(Debug)]
pub struct Instalments {
    lexicon: Lexicon,
    asked: Vec<Pattern>,
    months: Vec<Pattern>,
    /// Asks for the interest, and names the share of the price that is paid at once.
    interest: Vec<Pattern>,
    down: Vec<Pattern>,
    ways: Vec<Way>,
}

#[derive(Debug)]
struct Way {
    words: Vec<Pattern>,
    terms: Terms,
}

/// The terms of one way.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Terms {
    words: Vec<String>,
    months: Vec<u64>,
    /// The least and the most that an order may cost; 0: no limit.
    least: u64,
    most: u64,
    /// The interest for each month on what was borrowed first, in tenths of a percent.
    interest_per_mille: u64,
    /// The least and the most down payment, in percent.
    down_percent: u64,
    most_down_percent: u64,
    /// A fee, once: the percentage of the price, by the number of months.
    fee_percent: BTreeMap<String, u64>,
}

/// What one way costs. Amounts are in the shop's currency, rounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub months: u64,
    /// What is paid at once, and what is left.
    pub down: u64,
    pub loan: u64,
    /// The interest of each month.
    pub interest: u64,
    pub monthly: u64,
    /// Paid once, with the first instalment.
    pub fee: u64,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    plain_words: Vec<String>,
    aliases: HashMap<String, String>,
    asked: Vec<String>,
    months: Vec<String>,
    interest: Vec<String>,
    down: Vec<String>,
    ways: BTreeMap<String, Terms>,
}

impl Instalments {
    /// Reads `rules/instalments.toml` and `rules/instalments.LANG.toml`.
    ///
    /// # Errors
    /// A file is missing or malformed.
    pub fn read(prompts: &Prompts) -> Result<Self, PromptError> {
        prompts.rules(&["common", "instalments"], Self::new)
    }

    fn new(file: File) -> Result<Self, InvalidPattern> {
        let lexicon = Lexicon::new(file.aliases, HashMap::new()).with_plain_words(&file.plain_words);
        let mut ways = Vec::new();
        for terms in file.ways.into_values() {
            ways.push(Way { words: lexicon.patterns(&terms.words)?, terms });
        }
        let (asked, months) = (lexicon.patterns(&file.asked)?, lexicon.patterns(&file.months)?);
        let (interest, down) = (lexicon.patterns(&file.interest)?, lexicon.patterns(&file.down)?);
        Ok(Self { lexicon, asked, months, interest, down, ways })
    }

    /// Returns whether a message asks what is paid each month.
    pub fn asks(&self, text: &str) -> bool {
        read_text(text.len(), || any_match(&self.asked, &self.lexicon.tokenize(text), &[]))
    }

    /// Returns whether a message asks for the interest.
    pub fn asks_interest(&self, text: &str) -> bool {
        read_text(text.len(), || any_match(&self.interest, &self.lexicon.tokenize(text), &[]))
    }

    /// Returns what a product costs each month: by the way that the message names, else the last of `earlier` that names one, else by
    /// all; over the months that the message names, else over all that the way has. A message that asks for the interest alone is about
    /// the months and the down payment of the question before.
    pub fn plans<'a>(&self, text: &'a str, earlier: impl Iterator<Item = &'a str>, price: u64) -> Vec<Plan> {
        let earlier: Vec<&str> = earlier.collect();
        let length = text.len() + earlier.iter().map(|text| text.len()).sum::<usize>();
        read_text(length, || self.plans_of(text, &earlier, price))
    }

    fn plans_of(&self, text: &str, earlier: &[&str], price: u64) -> Vec<Plan> {
        let names = |text: &&str| {
            let stream = self.lexicon.tokenize(text);
            let named: Vec<&Way> = self.ways.iter().filter(|way| any_match(&way.words, &stream, &[])).collect();
            (named.len() == 1).then_some(named)
        };
        let asked_before = || earlier.iter().find(|text| self.asks(text)).filter(|_| !self.asks(text));
        let down = self.named_down(text).or_else(|| self.named_down(asked_before()?));
        // Only a plan with a lender has a down payment and interest.
        let is_loan = down.is_some() || self.asks_interest(text);
        let ways = std::iter::once(&text).chain(earlier).find_map(names);
        let mut ways = ways.unwrap_or_else(|| self.ways.iter().collect());
        if is_loan && ways.len() > 1 {
            ways.retain(|way| way.terms.interest_per_mille > 0);
        }
        let wanted = self.named_months(text).or_else(|| self.named_months(asked_before()?));
        let plans = ways.into_iter().flat_map(|way| {
            let months =
                way.terms.months.iter().copied().filter(|months| wanted.is_none_or(|wanted| wanted == *months));
            months.filter_map(|months| way.terms.plan(price, months, down)).collect::<Vec<_>>()
        });
        plans.collect()
    }

    /// Returns whether a message names a number of months.
    pub fn names_months(&self, text: &str) -> bool {
        self.named_months(text).is_some()
    }

    /// Returns whether a message names the share of the price that is paid at once.
    pub fn names_down(&self, text: &str) -> bool {
        self.named_down(text).is_some()
    }

    fn named_months(&self, text: &str) -> Option<u64> {
        self.number(&self.months, text)
    }

    /// Returns the share of the price that a message wants to pay at once, in percent. An amount of money is none.
    fn named_down(&self, text: &str) -> Option<u64> {
        self.number(&self.down, &text.replace('%', " percent ")).filter(|percent| (1..100).contains(percent))
    }

    fn number(&self, patterns: &[Pattern], text: &str) -> Option<u64> {
        read_text(text.len(), || {
            let stream = self.lexicon.tokenize(text);
            let found = patterns.iter().find_map(|pattern| pattern.find(&stream, &[]))?;
            let digits = |word: &str| word.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok();
            // The number of the pattern is the last one: "if I take 12 months and put 30% down".
            found.rev().find_map(|at| digits(stream.source(at..at + 1)))
        })
    }
}

impl Terms {
    /// Returns the plan, with a down payment of so many percent where the terms allow it.
    fn plan(&self, price: u64, months: u64, down: Option<u64>) -> Option<Plan> {
        if price < self.least || (self.most > 0 && price > self.most) || months == 0 {
            return None;
        }
        let rounded = |amount: u64, divisor: u64| (amount + divisor / 2) / divisor;
        let allowed = down.filter(|percent| (self.down_percent..=self.most_down_percent).contains(percent));
        let down = rounded(price * allowed.unwrap_or(self.down_percent), 100);
        let loan = price - down.min(price);
        let interest = rounded(loan * self.interest_per_mille, 1000);
        let monthly = rounded(loan * 1000 + loan * self.interest_per_mille * months, 1000 * months);
        let fee = self.fee_percent.get(&months.to_string()).map_or(0, |percent| rounded(price * percent, 100));
        Some(Plan { months, down, loan, interest, monthly, fee })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped() -> Instalments {
        Instalments::read(&Prompts::shipped()).expect("the shipped rules")
    }

    #[test]
    fn months_are_computed_as_on_the_page() {
        let rules = shipped();
        let card =
            rules.plans("18 million by credit card over 12 months, how much a month", [].into_iter(), 18_000_000);
        let plan = Plan { months: 12, down: 0, loan: 18_000_000, interest: 0, monthly: 1_500_000, fee: 720_000 };
        assert_eq!(card, [plan]);
        let loan = Terms { down_percent: 25, interest_per_mille: 19, ..Terms::default() }.plan(10_000_000, 6, None);
        let plan = Plan { months: 6, down: 2_500_000, loan: 7_500_000, interest: 142_500, monthly: 1_392_500, fee: 0 };
        assert_eq!(loan, Some(plan));
    }

    #[test]
    fn way_and_months_are_those_that_were_named() {
        let rules = shipped();
        let of = |text: &str, earlier: &[&str]| -> Vec<(u64, u64)> {
            rules
                .plans(text, earlier.iter().copied(), 20_000_000)
                .into_iter()
                .map(|plan| (plan.months, plan.down))
                .collect()
        };
        let earlier = ["which laptops", "i do not own a credit card"];
        assert_eq!(of("and per month if i go for 12", &[earlier[1], earlier[0]]), [(12, 4_000_000)]);
        assert_eq!(of("góp thẻ tín dụng 6 tháng thì mỗi tháng bao nhiêu", &[]), [(6, 0)]);
        assert_eq!(of("mỗi tháng bao nhiêu", &["trả góp qua thẻ"]), [(3, 0), (6, 0), (12, 0)]);
        let down = ["how much a month for 12 months if i put 30% down"];
        assert_eq!(of(down[0], &[]), [(12, 6_000_000)]);
        assert_eq!(of("how much interest is that all together", &down), [(12, 6_000_000)]);
        assert_eq!(of("trả trước 10% góp 12 tháng", &["qua công ty tài chính"]), [(12, 4_000_000)], "not allowed");
        assert!(rules.asks("how much is that per month") && rules.asks("mỗi tháng trả bao nhiêu"));
        assert!(!rules.asks("bảo hành mấy tháng") && !rules.asks("how many months warranty"));
    }

    #[test]
    fn terms_are_those_of_the_page() {
        let page = include_str!("../../knowledge/instalments.md");
        for term in ["3, 6 or 12 months", "4% of the order value", "20% to 70%", "6, 9 or 12 months", "1.9% a month"] {
            assert!(page.contains(term), "{term}: change prompts/rules/instalments.toml with the page");
        }
        let ways: Vec<Terms> = shipped().ways.into_iter().map(|way| way.terms).collect();
        let of = |terms: &Terms| {
            (terms.months.clone(), terms.least, terms.most, terms.interest_per_mille, terms.down_percent)
        };
        assert_eq!(of(&ways[0]), (vec![3, 6, 12], 3_000_000, 0, 0, 0));
        assert_eq!(of(&ways[1]), (vec![6, 9, 12], 5_000_000, 50_000_000, 19, 20));
    }
}
