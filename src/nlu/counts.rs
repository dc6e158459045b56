//! Whole numbers in chat messages: how many pieces, which option, how much money. "2", "2,000", "2k", "two thousand", and in Swahili
//! "elfu mbili", where the scale comes first. The words are in `prompts/rules/counts.LANG.toml`.
//!
//! [`facts`](super::facts) reads the numbers of sources exactly; this reads what a customer means who answers in one word.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;

use crate::domain::text::TokenStream;
use crate::persona::{PromptError, Prompts};

/// Larger numbers are codes or telephone numbers.
const LARGEST: u64 = 999_999_999;
/// Digits of a count. More belong to a phone number.
const DIGITS: usize = 9;

/// The words for numbers.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Counts {
    /// "three".
    numbers: HashMap<String, u64>,
    /// Multiply the number before them: "two thousand", "2k".
    scales: HashMap<String, u64>,
    /// Multiply the number after them, or stand for themselves: "elfu mbili", "mia".
    leading_scales: HashMap<String, u64>,
    /// Money, also written next to a number without a space: "ksh2000", "2000bob".
    units: Vec<String>,
    /// Between the parts of a number: "elfu moja na mia mbili".
    joins: Vec<String>,
}

/// A number of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    pub value: u64,
    /// Its words.
    pub words: Range<usize>,
}

impl Counts {
    /// Reads `rules/counts.LANG.toml`.
    ///
    /// # Errors
    /// A file is missing or malformed.
    pub fn read(prompts: &Prompts) -> Result<Self, PromptError> {
        prompts.rules(&["counts"], Ok::<Self, std::convert::Infallible>)
    }

    /// Returns the numbers of a message in their order. A number with decimals counts only before a scale: "1.5k".
    pub fn find(&self, stream: &TokenStream<'_>) -> Vec<Count> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < stream.tokens().len() {
            match self.number(stream, at) {
                Some(count) => {
                    at = count.words.end;
                    found.push(count);
                }
                None => at += 1,
            }
        }
        found
    }

    /// Returns the number that begins at a word.
    fn number(&self, stream: &TokenStream<'_>, start: usize) -> Option<Count> {
        let (mut value, mut end) = self.part(stream, start)?;
        // "elfu moja mia tano": each part is smaller than the one before.
        let mut last = value;
        loop {
            let next = end + usize::from(self.is_join(stream, end));
            // Only words continue a number: "2 1000" are two.
            match self.part(stream, next).filter(|(part, _)| !is_digits(stream, start) && *part < last && last >= 100) {
                Some((part, after)) if !is_digits(stream, next) => {
                    value += part;
                    (last, end) = (part, after);
                }
                _ => break,
            }
        }
        (value <= LARGEST).then_some(Count { value, words: start..end })
    }

    /// Returns one number with its scale, and the word after it.
    fn part(&self, stream: &TokenStream<'_>, at: usize) -> Option<(u64, usize)> {
        let word = self.word(stream, at)?;
        if let Some(scale) = self.leading_scales.get(word) {
            let factor = self.factor(stream, at + 1);
            return Some(factor.map_or((*scale, at + 1), |(factor, after)| (factor * scale, after)));
        }
        let Some((value, after)) = self.words(stream, at) else { return self.digits(stream, at) };
        // "tatu thao" is "thao tatu", unless the scale has a separate number: "mbili mia tano".
        let leading = self.word(stream, after).and_then(|next| self.leading_scales.get(next));
        match leading.filter(|_| self.factor(stream, after + 1).is_none()) {
            Some(scale) => Some((value * scale, after + 1)),
            None => self.scaled(stream, value, after),
        }
    }

    /// Returns the number that words without a scale stand for, and the word after it: "five", "twenty five", "kumi na mbili".
    fn words(&self, stream: &TokenStream<'_>, at: usize) -> Option<(u64, usize)> {
        let number = |at| self.word(stream, at).and_then(|word| self.numbers.get(word)).copied();
        let (value, joined) = (number(at)?, self.is_join(stream, at + 1));
        let next = at + 1 + usize::from(joined);
        let is_tens = value % 10 == 0 && (if joined { 10 } else { 20 }..100).contains(&value);
        let unit = number(next).filter(|unit| is_tens && *unit < 10);
        Some(unit.map_or((value, at + 1), |unit| (value + unit, next + 1)))
    }

    /// Returns the number by which a leading scale is multiplied, and the word after it.
    fn factor(&self, stream: &TokenStream<'_>, at: usize) -> Option<(u64, usize)> {
        let digits = || Some((self.word(stream, at)?.parse().ok()?, at + 1));
        self.words(stream, at).or_else(digits).filter(|(factor, _)| *factor < 100)
    }

    /// Multiplies a number by the scales after it: "one hundred thousand".
    fn scaled(&self, stream: &TokenStream<'_>, mut value: u64, mut at: usize) -> Option<(u64, usize)> {
        while let Some(scale) = self.word(stream, at).and_then(|word| self.scales.get(word)) {
            (value, at) = (value.checked_mul(*scale)?, at + 1);
        }
        Some((value, at))
    }

    /// Reads digits with separators as the customer typed them, and a scale after them: "2,000", "1.5k", "3 000", "2000/=",
    /// "ksh2000".
    fn digits(&self, stream: &TokenStream<'_>, at: usize) -> Option<(u64, usize)> {
        let text = stream.text();
        let written = text.get(stream.tokens().get(at)?.span.start..)?;
        // "ksh2000"
        let rest = written.trim_start_matches(char::is_alphabetic);
        let before = &written[..written.len() - rest.len()];
        let start = text.len() - rest.len();
        let is_decimal = || {
            let before = text[..start].strip_suffix(['.', ',']);
            before.is_some_and(|before| before.ends_with(|c: char| c.is_ascii_digit()))
        };
        let is_apart = before.is_empty() || self.is_unit(before);
        let is_number = is_apart && rest.starts_with(|c: char| c.is_ascii_digit());
        if !is_number || text[..start].ends_with(['+', '#']) || is_decimal() {
            return None;
        }
        let length = rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, ',' | '.')).unwrap_or(rest.len());
        let written = rest[..length].trim_end_matches([',', '.']);
        let suffix = rest[length..].split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
        let scale = self.scales.get(suffix.as_str()).copied().or_else(|| self.is_unit(&suffix).then_some(1));
        let is_word = !suffix.is_empty() && scale.is_none() && length == written.len();
        let end_of_number = start + if scale.is_some() { length + suffix.len() } else { written.len() };
        let value = value_of(written, scale.unwrap_or(1))?;
        // The number may be several words: "2", "000".
        let words = stream.tokens()[at..].iter().take_while(|token| token.span.start < end_of_number).count();
        let end = at + words.max(1);
        if is_word {
            return None;
        }
        if scale.is_none() { self.scaled(stream, value, end) } else { Some((value, end)) }
    }

    fn is_join(&self, stream: &TokenStream<'_>, at: usize) -> bool {
        self.word(stream, at).is_some_and(|word| self.joins.iter().any(|join| join == word))
    }

    /// Whether a number is one of money: "50 bob", "ksh 50", "50bob".
    pub fn is_money(&self, stream: &TokenStream<'_>, count: &Count) -> bool {
        let Range { start, end } = count.words;
        let is_unit = |at: usize| self.word(stream, at).is_some_and(|word| self.is_unit(word));
        // In "500 bob, 2 pairs" the unit is that of the number before it.
        let is_number = |at: usize| is_digits(stream, at) || self.words(stream, at).is_some();
        let leads = |at: usize| is_unit(at) && !at.checked_sub(1).is_some_and(is_number);
        let own = self.word(stream, start).unwrap_or_default().trim_matches(|c: char| !c.is_alphabetic());
        is_unit(end) || start.checked_sub(1).is_some_and(leads) || self.is_unit(own)
    }

    fn is_unit(&self, written: &str) -> bool {
        self.units.iter().any(|unit| unit.eq_ignore_ascii_case(written))
    }

    fn word<'s>(&self, stream: &'s TokenStream<'_>, at: usize) -> Option<&'s str> {
        stream.tokens().get(at).map(|token| token.folded())
    }
}

/// Reads "2", "2,000", "1.5" times a scale. `None` if it is no whole number, or too long.
fn value_of(written: &str, scale: u64) -> Option<u64> {
    let is_grouped = |separator: char| {
        let mut groups = written.split(separator);
        groups.next().is_some_and(|first| (1..=3).contains(&first.len())) && groups.all(|group| group.len() == 3)
    };
    let plain: String = written.chars().filter(char::is_ascii_digit).collect();
    if plain.len() > DIGITS || (plain.len() > 1 && plain.starts_with('0')) {
        return None;
    }
    if written == plain || (!written.contains('.') && is_grouped(',')) || (!written.contains(',') && is_grouped('.')) {
        return plain.parse::<u64>().ok()?.checked_mul(scale);
    }
    let (whole, decimals) = written.split_once(['.', ','])?;
    let places = u32::try_from(decimals.len()).ok()?;
    let digits: u64 = format!("{whole}{decimals}").parse().ok()?;
    let value = digits.checked_mul(scale)?;
    let divisor = 10_u64.checked_pow(places)?;
    value.is_multiple_of(divisor).then_some(value / divisor)
}

fn is_digits(stream: &TokenStream<'_>, at: usize) -> bool {
    stream.tokens().get(at).is_some_and(|token| token.folded().contains(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::text::Lexicon;

    #[test]
    fn numbers_are_read_in_each_spelling() {
        let counts = Counts::read(&Prompts::shipped()).expect("the rules");
        let lexicon = Lexicon::default();
        for (text, expected) in [
            ("2", &[2][..]),
            ("nipe tatu", &[3]),
            ("three pairs of size 40", &[3, 40]),
            ("under 2,000", &[2_000]),
            ("below 2k please", &[2_000]),
            ("1.5k", &[1_500]),
            ("around 2000/=", &[2_000]),
            ("two thousand five hundred", &[2_500]),
            ("twenty five", &[25]),
            ("chini ya elfu mbili", &[2_000]),
            ("elfu moja mia tano", &[1_500]),
            ("elfu moja na mia mbili hamsini", &[1_250]),
            ("mia tano", &[500]),
            ("thao mbili", &[2_000]),
            ("niko na tatu thao", &[3_000]),
            ("mbili mia tano", &[2, 500]),
            ("iko chini ya soo tano", &[500]),
            ("2 size 40", &[2, 40]),
            ("under ksh2000 please", &[2_000]),
            ("KSh2,500 or 2000bob, 2000ksh five", &[2_500, 2_000, 2_000, 5]),
            ("ksh2000 five", &[2_000, 5]),
            ("jozi kumi na mbili", &[12]),
            ("ishirini na tano", &[25]),
            ("chini ya elfu kumi na tano", &[15_000]),
            ("elfu ishirini na tano na mia mbili", &[25_200]),
            ("elfu kumi na mia tano", &[10_500]),
            ("mia mbili hamsini na tano", &[255]),
            ("laki mbili", &[200_000]),
            ("under one hundred thousand", &[100_000]),
            ("under a thousand", &[1_000]),
            ("a hundred thousand", &[100_000]),
            ("two dozen or a dozen", &[24, 12]),
            ("2 dozen", &[24]),
            ("sixteen thirteen", &[16, 13]),
            ("under 3 000 please", &[3_000]),
            ("3 500", &[3, 500]),
            ("thousand thousand thousand thousand thousand thousand thousand", &[1_000_000]),
            ("model2000", &[]),
            ("3.5", &[]),
            ("+254700000001", &[]),
            ("0712345678", &[]),
            ("50ml", &[]),
            ("hello", &[]),
        ] {
            let stream = lexicon.tokenize(text);
            let found: Vec<u64> = counts.find(&stream).into_iter().map(|count| count.value).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
