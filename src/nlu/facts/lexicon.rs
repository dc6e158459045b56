//! The words around numbers: `prompts/rules/facts.toml` and `prompts/rules/facts.LANG.toml`.

use std::collections::{self, BTreeMap};

use hashbrown::{HashMap, HashSet};
use serde::Deserialize;

use super::normal::{Kind, Token, tokens};
use super::{Amount, Span, Value};
use crate::domain::commerce::Currency;
use crate::persona::{PromptError, Prompts};

/// A unit of time whose length is not a whole number.
#[derive(Debug, thiserror::Error)]
#[error("the length `{0}` of a unit of time is not a whole number: write seconds or months")]
struct InvalidDuration(String);

/// What a phrase after a number makes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Percent,
    Currency(String),
    /// So many seconds.
    Seconds(u64),
    Months(u64),
    Measure(String),
}

/// What a word next to a number can mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Role {
    Zero,
    Half,
    ZeroTen,
    /// Stored as [`Unit::Percent`].
    Percent,
    To,
    List,
    Of,
    Ordinal,
    Day,
    Month,
    Year,
    Weekday,
    Morning,
    Afternoon,
    Night,
    /// Makes a time of day of any number before it.
    HalfDay,
    HourMark,
    MinuteMark,
    /// From `counts`, as `Stock`. `Budget` and `Price` are from `budget`.
    #[serde(skip_deserializing)]
    Count,
    #[serde(skip_deserializing)]
    Stock,
    #[serde(skip_deserializing)]
    Budget,
    #[serde(skip_deserializing)]
    Price,
    #[serde(rename = "idioms")]
    Idiom,
    /// The name of a currency that is written before the amount.
    BeforeAmount,
}

/// The compiled words.
#[derive(Clone, Debug)]
pub struct Lexicon {
    /// The currency of amounts without one, by its name in the rules.
    pub(super) own_currency: String,
    /// Whether a number in words is a fact without a unit, too: "twenty", as an answer.
    pub(super) reads_bare_words: bool,
    pub(super) numbers: HashMap<String, u64>,
    pub(super) scales: HashMap<String, u64>,
    pub(super) months: HashMap<String, u8>,
    pub(super) weekdays: HashMap<String, u8>,
    units: Phrases<Unit>,
    /// What the hundredth part of a currency is called.
    hundredths: BTreeMap<String, Vec<String>>,
    roles: HashMap<Role, Phrases<()>>,
    /// Every word that can follow a number and belong to it.
    joining: HashSet<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RuleFile {
    numbers: BTreeMap<String, u64>,
    scales: BTreeMap<String, u64>,
    words: collections::HashMap<Role, Vec<String>>,
    months: BTreeMap<String, u8>,
    weekdays: BTreeMap<String, u8>,
    currencies: BTreeMap<String, Vec<String>>,
    hundredths: BTreeMap<String, Vec<String>>,
    durations: BTreeMap<String, Vec<String>>,
    durations_in_months: BTreeMap<String, Vec<String>>,
    measures: BTreeMap<String, Vec<String>>,
    counts: Counts,
    budget: Budget,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Counts {
    nouns: Vec<String>,
    stock: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Budget {
    cues: Vec<String>,
    prices: Vec<String>,
}

impl Lexicon {
    /// Reads `rules/facts.toml` and `rules/facts.*.toml`.
    pub fn read(prompts: &Prompts) -> Result<Self, PromptError> {
        prompts.rules(&["facts"], Self::new)
    }

    /// Returns the lexicon for a shop with this currency.
    #[must_use]
    pub fn in_currency(mut self, currency: Currency) -> Self {
        self.own_currency = currency.as_str().to_ascii_lowercase();
        self
    }

    /// Returns the lexicon for messages in which a number in words without a unit counts.
    #[must_use]
    pub fn with_bare_words(mut self) -> Self {
        self.reads_bare_words = true;
        self
    }

    fn new(mut file: RuleFile) -> Result<Self, InvalidDuration> {
        let whole = |key: &str| key.replace('_', "").parse::<u64>().map_err(|_| InvalidDuration(key.to_owned()));
        let mut units = Phrases::default();
        for phrase in file.words.remove(&Role::Percent).unwrap_or_default() {
            units.add(&phrase, Unit::Percent);
        }
        for (name, phrases) in &file.currencies {
            phrases.iter().for_each(|phrase| units.add(phrase, Unit::Currency(name.clone())));
        }
        for (name, phrases) in &file.measures {
            phrases.iter().for_each(|phrase| units.add(phrase, Unit::Measure(name.clone())));
        }
        for (seconds, phrases) in &file.durations {
            let seconds = whole(seconds)?;
            phrases.iter().for_each(|phrase| units.add(phrase, Unit::Seconds(seconds)));
        }
        for (months, phrases) in &file.durations_in_months {
            let months = whole(months)?;
            phrases.iter().for_each(|phrase| units.add(phrase, Unit::Months(months)));
        }
        file.words.extend([
            (Role::Count, file.counts.nouns),
            (Role::Stock, file.counts.stock),
            (Role::Budget, file.budget.cues),
            (Role::Price, file.budget.prices),
        ]);
        let mut lexicon = Self {
            own_currency: "vnd".to_owned(),
            reads_bare_words: false,
            numbers: file.numbers.into_iter().collect(),
            scales: file.scales.into_iter().collect(),
            months: file.months.into_iter().collect(),
            weekdays: file.weekdays.into_iter().collect(),
            units,
            hundredths: file.hundredths,
            roles: file.words.iter().map(|(role, phrases)| (*role, Phrases::of(phrases))).collect(),
            joining: HashSet::new(),
        };
        lexicon.joining = lexicon.joining_words();
        Ok(lexicon)
    }

    /// Whether a word names the hundredth part of a currency.
    pub fn is_hundredth_of(&self, currency: &str, word: &str) -> bool {
        let names = self.hundredths.get(currency).into_iter().flatten();
        names.into_iter().any(|name| name.eq_ignore_ascii_case(word))
    }

    /// The longest unit that begins at token `at`, and the token after it.
    pub(super) fn unit(&self, tokens: &[Token], at: usize) -> Option<(&Unit, usize)> {
        self.units.longest(tokens, at)
    }

    /// The token after the longest phrase of that role at `at`.
    pub(super) fn is(&self, role: Role, tokens: &[Token], at: usize) -> Option<usize> {
        self.roles.get(&role)?.longest(tokens, at).map(|(_, end)| end)
    }

    /// Whether a number can continue in this word or after it.
    pub(super) fn may_continue(&self, word: &str) -> bool {
        self.joining.contains(word)
    }

    fn joining_words(&self) -> HashSet<String> {
        let joins = |role: &Role| {
            use Role::{BeforeAmount, Budget, HalfDay, HourMark, Idiom, MinuteMark, Price, Stock, Zero};
            !matches!(role, Zero | HalfDay | HourMark | MinuteMark | Stock | Budget | Price | Idiom | BeforeAmount)
        };
        let roles = self.roles.iter().filter(|(role, _)| joins(role));
        let phrases = self.units.words().chain(roles.flat_map(|(_, phrases)| phrases.words()));
        let single = self.scales.keys().chain(self.months.keys()).chain(self.numbers.keys()).cloned();
        phrases.chain(single).collect()
    }
}

impl Unit {
    /// So much of it.
    pub(super) fn of(&self, amount: Amount) -> Value {
        match self {
            Self::Percent => Value::Percent(amount),
            Self::Currency(name) => Value::Money(amount, name.clone()),
            Self::Seconds(seconds) => Value::Duration(Span::Seconds(amount.times(*seconds))),
            Self::Months(months) => Value::Duration(Span::Months(amount.times(*months))),
            Self::Measure(name) => Value::Measure(amount, name.clone()),
        }
    }
}

/// Phrases by their first token.
#[derive(Clone, Debug)]
struct Phrases<T>(HashMap<String, Vec<(Vec<Token>, T)>>);

impl<T> Default for Phrases<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl Phrases<()> {
    fn of(phrases: &[String]) -> Self {
        let mut all = Self::default();
        phrases.iter().for_each(|phrase| all.add(phrase, ()));
        all
    }
}

impl<T> Phrases<T> {
    fn add(&mut self, phrase: &str, value: T) {
        let phrase = tokens(phrase);
        if let Some(first) = phrase.first().map(|first| first.text.clone()) {
            self.0.entry(first).or_default().push((phrase, value));
        }
    }

    fn longest(&self, tokens: &[Token], at: usize) -> Option<(&T, usize)> {
        let candidates = self.0.get(&tokens.get(at)?.text)?;
        let fits = candidates.iter().filter(|(phrase, _)| {
            phrase.len() <= tokens.len() - at
                && phrase.iter().zip(&tokens[at..]).all(|(a, b)| a.kind == b.kind && a.text == b.text)
        });
        fits.max_by_key(|(phrase, _)| phrase.len()).map(|(phrase, value)| (value, at + phrase.len()))
    }

    fn words(&self) -> impl Iterator<Item = String> {
        let all = self.0.values().flatten().flat_map(|(phrase, _)| phrase);
        all.filter(|token| matches!(token.kind, Kind::Word | Kind::Mark)).map(|token| token.text.clone())
    }
}
