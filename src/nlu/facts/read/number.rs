//! Amounts in digits, with what multiplies them and what they are of.

use super::{Found, Reader};
use crate::nlu::facts::lexicon::{Role, Unit};
use crate::nlu::facts::normal::Kind;
use crate::nlu::facts::{Amount, Value};

/// From here on, a scale says that one group of three digits is a fraction: "15.990 triệu".
const MILLION: u64 = 1_000_000;
/// From here on, a letter that is glued to a number is part of a name.
const LONG: u64 = 1000;

/// More groups of digits than any amount has: with them it is no amount, and more need not be read.
const MOST_GROUPS: usize = 9;

/// An amount without its unit.
struct Scaled {
    /// As it is written, before it is multiplied.
    written: Amount,
    amount: Amount,
    scale: u64,
    end: usize,
}

impl Reader<'_> {
    /// `$129.99`, `USD 129`, `VND 500,000`, `KSh 1,250`.
    pub(super) fn currency_before(&self, at: usize) -> Option<Found> {
        let (unit, end) = self.lexicon.unit(self.tokens, at)?;
        let Unit::Currency(name) = unit else { return None };
        // A sign, the currency's code, or a name that precedes amounts; "đồng 5" is no amount.
        let sign = self.kind(at) == Some(&Kind::Mark)
            || self.word(at).is_some_and(|word| word == name || word.ends_with('$'))
            || self.lexicon.is(Role::BeforeAmount, self.tokens, at).is_some();
        let next = self.past_space(end);
        let scaled = self.digits(next).filter(|_| sign).and_then(|_| self.scaled(next))?;
        let value = Value::Money(scaled.amount, name.clone());
        Some(Found::of(at, scaled.end, value, &scaled, Some(unit.clone())))
    }

    /// An amount with its unit, if it has one. `None`: the digits belong to a code.
    pub(super) fn amount(&self, at: usize) -> Option<Found> {
        let scaled = self.scaled(at)?;
        if let Some(found) = self.with_unit(at, &scaled) {
            return Some(found);
        }
        let end = scaled.end;
        let bare = |end: usize| Some(Found::of(at, end, Value::Number(scaled.amount), &scaled, None));
        // "2x8GB", "1920x1080".
        if self.word(end) == Some("x") && self.kind(end + 1) == Some(&Kind::Digits) {
            return bare(end + 1);
        }
        let ordinal = self.lexicon.is(Role::Ordinal, self.tokens, end);
        if let Some(end) = ordinal.filter(|end| self.kind(*end) != Some(&Kind::Digits)) {
            return bare(end);
        }
        if self.word(end).is_some_and(str::is_ascii) || self.continues_a_code(end) {
            return None;
        }
        if scaled.scale > 1 {
            let unit = Unit::Currency(self.lexicon.own_currency.clone());
            return Some(Found::of(at, end, unit.of(scaled.amount), &scaled, Some(unit)));
        }
        bare(end)
    }

    fn with_unit(&self, at: usize, scaled: &Scaled) -> Option<Found> {
        let end = scaled.end;
        let hyphen = self.is_mark(end, "-") && self.kind(end + 1) == Some(&Kind::Word);
        let (unit, end) = self
            .unit_at(end)
            // "31 in stock": an inch is glued to its number, or written out.
            .or_else(|| self.unit_at(self.past_space(end)).filter(|_| self.word(self.past_space(end)) != Some("in")))
            .or_else(|| hyphen.then(|| self.unit_at(end + 1)).flatten())?;
        // "13420H" is a processor, not hours.
        let letter = self.word(scaled.end).is_some_and(|word| word.len() == 1);
        if letter && scaled.scale == 1 && scaled.written >= Amount::whole(LONG) {
            return None;
        }
        let half = self.lexicon.is(Role::Half, self.tokens, self.past_space(end)).filter(|_| scaled.scale == 1);
        let amount = if half.is_some() { scaled.amount.plus(Amount::whole(1).divided(2)) } else { scaled.amount };
        Some(Found::of(at, half.unwrap_or(end), unit.of(amount), scaled, Some(unit)))
    }

    /// The unit at this token, if letters or digits do not follow it directly.
    fn unit_at(&self, at: usize) -> Option<(Unit, usize)> {
        let (unit, end) = self.lexicon.unit(self.tokens, at)?;
        let goes_on =
            matches!(self.kind(end), Some(Kind::Digits | Kind::Word)) && self.kind(end - 1) == Some(&Kind::Word);
        (!goes_on).then(|| (unit.clone(), end))
    }

    /// Whether letters, or a third group of digits, are joined to digits by a hyphen.
    fn continues_a_code(&self, end: usize) -> bool {
        let hyphen = self.is_mark(end, "-");
        match self.kind(end + 1) {
            Some(Kind::Word) => hyphen && self.tokens[end + 1].text.is_ascii(),
            Some(Kind::Digits) if hyphen => {
                let third = self.is_mark(end + 2, "-") && matches!(self.kind(end + 3), Some(Kind::Digits | Kind::Word));
                let letters = self.word(end + 2).is_some_and(str::is_ascii) && !self.is_amount(end + 1);
                third || letters
            }
            Some(Kind::Digits) => self.is_mark(end, ".") || self.is_mark(end, ":"),
            _ => false,
        }
    }

    /// Whether the digits at this token have a unit or a scale: "15-16tr", "5h-7h".
    fn is_amount(&self, at: usize) -> bool {
        self.scaled(at).is_some_and(|scaled| scaled.scale > 1 || self.unit_at(scaled.end).is_some())
    }

    /// Digits with their separators, and with what multiplies them.
    fn scaled(&self, at: usize) -> Option<Scaled> {
        let (groups, separators, end) = self.groups(at);
        let spaced = self.past_space(end);
        // "k" and "tr" are glued to their number.
        let is_long = self.word(spaced).is_some_and(|word| word.len() > 2);
        let at_scale = if self.scale(end).is_some() { end } else { spaced };
        let scale = self.scale(at_scale).filter(|_| at_scale == end || is_long);
        let written = value_of(&groups, &separators, scale.is_some_and(|scale| scale >= MILLION))?;
        let Some(scale) = scale else { return Some(Scaled { written, amount: written, scale: 1, end }) };
        let (amount, end) = self.behind_scale(written.times(scale), scale, at_scale + 1);
        Some(Scaled { written, amount, scale, end })
    }

    /// The scale of thousands that this word is.
    fn scale(&self, at: usize) -> Option<u64> {
        self.word(at).and_then(|word| self.lexicon.scales.get(word)).copied().filter(|scale| *scale >= 1000)
    }

    /// What is said after a scale: "1tr5", "1 triệu 590 nghìn", "15 triệu 990", "3 triệu rưỡi".
    fn behind_scale(&self, amount: Amount, scale: u64, end: usize) -> (Amount, usize) {
        if let Some(digits) = self.digits(end).filter(|digits| digits.len() <= 3) {
            return (amount.plus(fraction_of(scale, digits)), end + 1);
        }
        let next = self.past_space(end);
        if let Some(end) = self.lexicon.is(Role::Half, self.tokens, next) {
            return (amount.plus(Amount::whole(scale).divided(2)), end);
        }
        let Some(digits) = self.digits(next).filter(|digits| next > end && digits.len() <= 3) else {
            return (amount, end);
        };
        let glued = self.scale(next + 1).map(|smaller| (smaller, next + 2));
        let after = self.past_space(next + 1);
        let smaller = glued.or_else(|| self.scale(after).map(|smaller| (smaller, after + 1)));
        if let Some((smaller, end)) = smaller.filter(|(smaller, _)| *smaller < scale) {
            let more = Amount::parse(digits, "").map_or(amount, |more| amount.plus(more.times(smaller)));
            return (more, end);
        }
        // "15 triệu 990" is short for thousands; "15 triệu 3 chiếc" is not.
        let shortened = scale >= MILLION && self.word(end - 1).is_some_and(|word| !word.is_ascii() || word == "trieu");
        let currency = matches!(self.lexicon.unit(self.tokens, after), Some((Unit::Currency(_), _)));
        let ends = self.word(after).is_none_or(|word| self.lexicon.may_continue(word)) && self.is_no_amount(next);
        if shortened && (currency || ends) {
            return (amount.plus(fraction_of(scale, digits)), next + 1);
        }
        (amount, end)
    }

    /// The groups of digits that make one number, what separates them, and where they end.
    fn groups(&self, at: usize) -> (Vec<&str>, Vec<&str>, usize) {
        let (mut groups, mut separators, mut end) = (Vec::from_iter(self.digits(at)), Vec::new(), at + 1);
        while let Some(token) = self.tokens.get(end).filter(|token| matches!(token.text.as_str(), "." | "," | "'"))
            && groups.len() < MOST_GROUPS
            && let Some(digits) = self.digits(end + 1)
        {
            separators.push(token.text.as_str());
            groups.push(digits);
            end += 2;
        }
        let (mut spaced, mut spaced_end) = self.spaced_groups(at);
        let whole_groups = spaced.len();
        let mut spaces = vec![" "; whole_groups.saturating_sub(1)];
        // "1 000,50 zł".
        let point = [",", "."].into_iter().find(|mark| self.is_mark(spaced_end, mark)).filter(|_| whole_groups > 1);
        if let Some((point, decimals)) = point.zip(self.digits(spaced_end + 1).filter(|digits| digits.len() <= 2)) {
            spaces.push(point);
            spaced.push(decimals);
            spaced_end += 2;
        }
        let currency = || {
            let unit = self.lexicon.unit(self.tokens, self.past_space(spaced_end));
            matches!(unit, Some((Unit::Currency(_), _)))
        };
        if groups.len() == 1 && (whole_groups >= 3 || whole_groups == 2 && currency()) {
            return (spaced, spaces, spaced_end);
        }
        (groups, separators, end)
    }

    /// `15 990 000`.
    fn spaced_groups(&self, at: usize) -> (Vec<&str>, usize) {
        let mut groups: Vec<&str> = self.digits(at).filter(|digits| digits.len() <= 3).into_iter().collect();
        let mut end = at + 1;
        while !groups.is_empty()
            && groups.len() < MOST_GROUPS
            && self.kind(end) == Some(&Kind::Space)
            && let Some(digits) = self.digits(end + 1).filter(|digits| digits.len() == 3)
        {
            groups.push(digits);
            end += 2;
        }
        (groups, end)
    }
}

impl Found {
    fn of(start: usize, end: usize, value: Value, scaled: &Scaled, unit: Option<Unit>) -> Self {
        Self { written: Some(scaled.written), scale: scaled.scale, unit, ..Self::new(start, end, value) }
    }
}

/// "1tr5" is 1.5 triệu, "1tr59" 1.59.
fn fraction_of(scale: u64, digits: &str) -> Amount {
    let places = u32::try_from(digits.len()).unwrap_or(3);
    Amount::parse(digits, "").unwrap_or(Amount::whole(0)).times(scale).divided(10_u64.saturating_pow(places))
}

/// `15.990.000` and `15,990,000` are whole, `1,5` and `129.99` are not; `None` if it is no number.
fn value_of(groups: &[&str], separators: &[&str], millions: bool) -> Option<Amount> {
    let (first, rest) = groups.split_first()?;
    if first.len() > 2 && first.starts_with('0') {
        return None;
    }
    if rest.is_empty() {
        return Amount::parse(first, "");
    }
    let thousands = |rest: &[&str], separators: &[&str]| {
        let same = separators.windows(2).all(|pair| pair[0] == pair[1]);
        same && first.len() <= 3 && *first != "0" && rest.iter().all(|group| group.len() == 3)
    };
    let joined = |rest: &[&str]| format!("{first}{}", rest.concat());
    let one_before_millions = rest.len() == 1 && millions && separators != [" "];
    if thousands(rest, separators) && !one_before_millions {
        return Amount::parse(&joined(rest), "");
    }
    let (fraction, whole) = rest.split_last()?;
    let (point, others) = separators.split_last()?;
    let decimal = !others.contains(point) && *point != "'" && (whole.is_empty() || thousands(whole, others));
    decimal.then(|| Amount::parse(&joined(whole), fraction))?
}
