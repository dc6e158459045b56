//! Serials, order numbers, models, versions: letters and digits in one word.

use super::{Found, Reader};
use crate::nlu::facts::Value;
use crate::nlu::facts::normal::Kind;

/// A word so short may have a point before its digits: `M.2`, `v.3`.
const SHORT: usize = 2;

/// The longest code, in tokens; what is longer is read in parts.
const LONGEST: usize = 48;

impl Reader<'_> {
    /// The word of letters and digits that begins here; none if there is no digit in it.
    pub(super) fn code(&self, at: usize) -> Option<Found> {
        let (mut end, mut text, mut has_digit) = (at, String::new(), false);
        while let Some(token) = self.tokens.get(end).filter(|_| end < at + LONGEST) {
            match token.kind {
                Kind::Digits => has_digit = true,
                Kind::Word if token.text.is_ascii() => {}
                Kind::Mark if end > at && self.links(end) => {}
                _ => break,
            }
            if token.text != "-" {
                text.push_str(&token.text);
            }
            end += 1;
        }
        (has_digit && end > at).then(|| Found::new(at, end, Value::Code(text)))
    }

    /// Whether this mark stands inside a code.
    fn links(&self, at: usize) -> bool {
        let inside = |at: usize| match self.kind(at) {
            Some(Kind::Digits) => true,
            Some(Kind::Word) => self.tokens[at].text.is_ascii(),
            _ => false,
        };
        let both = inside(at - 1) && inside(at + 1);
        let digits_behind = self.kind(at + 1) == Some(&Kind::Digits);
        let digits_before = self.kind(at - 1) == Some(&Kind::Digits);
        match self.tokens[at].text.as_str() {
            "-" => both,
            "." => both && digits_behind && (digits_before || self.tokens[at - 1].text.len() <= SHORT),
            ":" => digits_before && digits_behind,
            _ => false,
        }
    }
}
