//! Amounts in words: "mười hai tháng", "two years", "hai mươi triệu".

use super::{Found, Reader};
use crate::nlu::facts::lexicon::{Role, Unit};
use crate::nlu::facts::normal::Kind;
use crate::nlu::facts::{Amount, Value};

/// Digits that are said one by one are a number from so many on.
const DICTATED: usize = 5;

/// The longest number in words, in tokens.
const LONGEST: usize = 64;

/// A scale begins a number only if it is a word longer than this, and no abbreviation: "tysiąc", not "tys".
const SHORT_SCALE: usize = 3;

/// A number in words, so far.
#[derive(Default)]
struct Count {
    total: u64,
    part: u64,
    highest_scale: u64,
    last_was_word: bool,
}

impl Reader<'_> {
    /// An amount in words, where a unit, or a scale of thousands, makes a fact of it.
    pub(super) fn spoken(&self, at: usize) -> Option<Found> {
        if let Some(found) = self.dictated(at) {
            return Some(found);
        }
        let begins_with_scale = self.first_scale(at).is_some();
        if self.number_word(at).is_none() && !begins_with_scale {
            return None;
        }
        if self.lexicon.is(Role::Idiom, self.tokens, at).is_some() {
            return None;
        }
        let (count, end) = self.count(at);
        let mut amount = Amount::whole(count.total.saturating_add(count.part));
        let mut end = end;
        let half_at = |at: usize| self.lexicon.is(Role::Half, self.tokens, self.past_space(at));
        if let Some(after) = half_at(end).filter(|_| count.highest_scale >= 1000) {
            (amount, end) = (amount.plus(Amount::whole(count.highest_scale).divided(2)), after);
        }
        let unit_at = if self.is_mark(end, "-") { end + 1 } else { self.past_space(end) };
        if let Some((unit, after)) = self.lexicon.unit(self.tokens, unit_at).filter(|_| self.is_said(unit_at)) {
            let half = half_at(after);
            let amount = if half.is_some() { amount.plus(Amount::whole(1).divided(2)) } else { amount };
            let found = Found::new(at, half.unwrap_or(after), unit.of(amount));
            return Some(Found { written: Some(amount), unit: Some(unit.clone()), ..found });
        }
        // "I called a thousand times" names no amount of money.
        if count.highest_scale < 1000 || begins_with_scale {
            let bare = Found { written: Some(amount), spoken: true, ..Found::new(at, end, Value::Number(amount)) };
            return self.lexicon.reads_bare_words.then_some(bare);
        }
        let unit = Unit::Currency(self.lexicon.own_currency.clone());
        let found = Found::new(at, end, unit.of(amount));
        Some(Found { written: Some(amount), unit: Some(unit), ..found })
    }

    /// The longest number in words from here, and the token after it.
    fn count(&self, at: usize) -> (Count, usize) {
        let (mut count, mut end, mut next) = (Count::default(), at, at);
        while let Some(word) = self.word(next).filter(|_| next < at + LONGEST) {
            let is_first = end == at;
            // "năm" is five at the beginning, and years after a number.
            let years = !is_first && self.lexicon.is(Role::Year, self.tokens, next).is_some();
            let scale = if is_first { self.first_scale(at) } else { self.lexicon.scales.get(word).copied() };
            if let Some(scale) = scale {
                count.multiply(scale);
            } else if let Some(number) = self.number_word(next).filter(|number| !years && count.takes(*number)) {
                count.part = count.part.saturating_add(number);
                count.last_was_word = true;
            } else if let Some(after) = self.lexicon.is(Role::List, self.tokens, next).filter(|_| count.is_hundreds()) {
                // "A hundred and fifty" is one number.
                next = self.past_space(after);
                if self.number_word(next).is_some_and(|number| number < 100) {
                    continue;
                }
                break;
            } else if let Some(after) = self.lexicon.is(Role::ZeroTen, self.tokens, next).filter(|_| !is_first) {
                count.last_was_word = false;
                next = self.past_space(after);
                continue;
            } else {
                break;
            }
            end = next + 1;
            let hyphen = self.is_mark(end, "-") && self.number_word(end + 1).is_some();
            next = if hyphen { end + 1 } else { self.past_space(end) };
        }
        (count, end)
    }

    /// Returns the scale that begins a number, as in "tysiąc złotych". Only messages in which numbers need no unit have one.
    fn first_scale(&self, at: usize) -> Option<u64> {
        let word = self.word(at).filter(|word| word.chars().count() > SHORT_SCALE)?;
        let scale = self.lexicon.scales.get(word).copied().filter(|_| self.lexicon.reads_bare_words)?;
        (scale >= 1000).then_some(scale)
    }

    fn number_word(&self, at: usize) -> Option<u64> {
        self.word(at).and_then(|word| self.lexicon.numbers.get(word)).copied()
    }

    /// Units of one letter are not said after a word ("one m"), and "in" is a preposition there.
    fn is_said(&self, at: usize) -> bool {
        !self.word(at).is_some_and(|word| word == "in" || word.is_ascii() && word.len() == 1)
    }

    /// "không chín không một hai ba": digits one by one.
    fn dictated(&self, at: usize) -> Option<Found> {
        let (mut digits, mut end, mut next) = (String::new(), at, at);
        while self.word(next).is_some() {
            let is_zero = self.lexicon.is(Role::Zero, self.tokens, next).is_some();
            let number = if is_zero { Some(0) } else { self.number_word(next) };
            let Some(digit) = number.filter(|digit| *digit < 10) else { break };
            digits.push_str(&digit.to_string());
            end = next + 1;
            let separated = self.is_mark(end, ",") || self.is_mark(end, "-");
            next = self.past_space(if separated { end + 1 } else { end });
            if self.kind(next) != Some(&Kind::Word) {
                break;
            }
        }
        (digits.len() >= DICTATED).then(|| Found::new(at, end, Value::Phone(digits)))
    }
}

impl Count {
    /// Whether the number continues with this word: "hai mươi ba", "twenty four" and "sto dwadzieścia" do, "hai ba" are two numbers.
    fn takes(&self, number: u64) -> bool {
        let is_rest_of = |unit: u64| number < unit && self.part.is_multiple_of(unit) && self.part > 0;
        !self.last_was_word || is_rest_of(10) || is_rest_of(100)
    }

    fn is_hundreds(&self) -> bool {
        self.part > 0 && self.part.is_multiple_of(100)
    }

    fn multiply(&mut self, scale: u64) {
        let part = self.part.max(1);
        if scale >= 1000 {
            self.total = self.total.saturating_add(part.saturating_mul(scale));
            self.part = 0;
        } else if scale == 10 && part > 10 {
            // "một trăm hai mươi"
            self.part = (part - part % 10).saturating_add(part % 10 * 10);
        } else {
            self.part = part.saturating_mul(scale);
        }
        self.highest_scale = self.highest_scale.max(scale);
        self.last_was_word = false;
    }
}
