//! Numbers of pieces and of products in a message, and what a message does with goods next to others.

use serde::Deserialize;

use super::PickRules;
use crate::domain::text::{Pattern, Token, any_match, match_mask};

/// A number from this on is part of a name.
const MOST_COUNTED: u64 = 100;

/// What a message says of goods, or a row of the catalogue: lists of the rule files, which explain each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// Points at a product by its kind: "the board".
    Kind,
    /// Points at the products that were shown last, all of them: "which of those".
    Among,
    /// Points at goods that are sold as a set, which no row of the catalogue is: "this build".
    Set,
    /// Wants another part in a set of goods: "swap the card for".
    Swap,
    /// Asks whether products fit together.
    Fits,
    /// The height of a product, and the most that another one holds.
    FitHas,
    FitHolds,
    /// The number of products that a message is about: "those 2 items".
    Things,
    /// Asks for the sum of prices.
    Total,
    /// The number of pieces: a number before these words.
    Pieces,
    /// Stands between goods: "and", "plus".
    Between,
    Drop,
    Beside,
    Versus,
    Than,
    Adds,
    Difference,
    Both,
    Recount,
    Unit,
    /// Stands before the name of goods that are wanted: "do you have".
    Offers,
    /// Ends that name: "for", "under".
    EndsOffer,
}

impl PickRules {
    /// Returns whether the message has a sign.
    pub fn says(&self, sign: Sign, text: &str) -> bool {
        any_match(self.sign(sign), &self.lexicon.tokenize(text), &[])
    }

    /// Returns the message after a sign: "G304" of "is there a lighter one than G304".
    pub fn after<'t>(&self, sign: Sign, text: &'t str) -> Option<&'t str> {
        let stream = self.lexicon.tokenize(text);
        let found = self.sign(sign).iter().find_map(|pattern| pattern.find(&stream, &[]))?;
        text.get(stream.tokens().get(found.end)?.span.start..)
    }

    /// Returns the goods whose offer a message asks for: "a quiet mouse" of "do you have a quiet mouse for the office?".
    pub fn offered<'t>(&self, text: &'t str) -> Option<&'t str> {
        let stream = self.lexicon.tokenize(text);
        let offers = self.sign(Sign::Offers).iter().find_map(|pattern| pattern.find(&stream, &[]))?;
        let ends = match_mask(self.sign(Sign::EndsOffer), &stream, &[]);
        let clause = stream.clause(offers.end.checked_sub(1)?);
        let end = (offers.end..clause.end).find(|word| ends[*word]).unwrap_or(clause.end);
        (offers.end < end).then(|| stream.source(offers.end..end))
    }

    pub(super) fn sign(&self, sign: Sign) -> &[Pattern] {
        self.signs.get(&sign).map_or(&[], Vec::as_slice)
    }

    /// Returns how many pieces the message wants: 12 of "12 con", "12 laptops".
    pub fn pieces(&self, text: &str) -> Option<u64> {
        // "We live 5 km away" counts nothing.
        self.number_in(Sign::Pieces, text).filter(|pieces| !self.is_measure(*pieces, text))
    }

    /// Returns whether a number of a text stands before a unit, and nowhere else.
    fn is_measure(&self, number: u64, text: &str) -> bool {
        let text = self.with_digits(text);
        let stream = self.lexicon.tokenize(&text);
        let measures = match_mask(self.sign(Sign::Unit), &stream, &[]);
        let number = number.to_string();
        let mut places = stream.tokens().iter().zip(measures).filter(|(token, _)| token.folded() == number).peekable();
        places.peek().is_some() && places.all(|(_, measures)| measures)
    }

    /// Returns how many pieces a part of a message names, for goods that are named next to others: 2 of "2 of the mice". "24 inch"
    /// counts nothing.
    pub fn count_of(&self, part: &str) -> Option<u64> {
        let part = self.with_digits(part);
        let stream = self.lexicon.tokenize(&part);
        let measures = match_mask(self.sign(Sign::Unit), &stream, &[]);
        let numbers = stream.tokens().iter().zip(measures).filter(|(_, measures)| !measures);
        let number = |token: &Token| token.folded().parse().ok().filter(|number| (1..MOST_COUNTED).contains(number));
        numbers.map(|(token, _)| token).find_map(number)
    }

    /// Returns how many pieces the message wants now instead: 2 of "make it two mice".
    pub fn recount(&self, text: &str) -> Option<u64> {
        // "The 27 inch monitor instead" counts nothing.
        self.number_in(Sign::Recount, text).filter(|number| self.count_of(text) == Some(*number))
    }

    /// Returns the number of products that the message is about: 2 of "those 2 items".
    pub fn things(&self, text: &str) -> Option<u64> {
        self.number_in(Sign::Things, text)
    }

    pub(super) fn number_in(&self, sign: Sign, text: &str) -> Option<u64> {
        let text = self.with_digits(text);
        let stream = self.lexicon.tokenize(&text);
        let found = self.sign(sign).iter().find_map(|pattern| pattern.find(&stream, &[]))?;
        // Between them may be a name with numbers: "mua i5-12400f 2 con".
        let is_number = |at: &usize| stream.tokens()[*at].folded().starts_with(|c: char| c.is_ascii_digit());
        let at = Some(found.start).filter(is_number).or_else(|| found.rev().find(is_number))?;
        stream.source(at..at + 1).parse().ok().filter(|number| *number > 0)
    }

    /// Writes words for numbers with digits: "two of them" becomes "2 of them".
    fn with_digits(&self, text: &str) -> String {
        let mut written = String::with_capacity(text.len());
        for part in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
            let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
            match self.numbers.get(&word.to_lowercase()) {
                Some(number) => written.push_str(&format!("{number}{}", &part[word.len()..])),
                None => written.push_str(part),
            }
        }
        written
    }
}
