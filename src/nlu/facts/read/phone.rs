//! Telephone numbers, digits that are written one by one, and codes: serials, order numbers, models, versions.

use super::{Found, Reader};
use crate::nlu::facts::normal::Kind;
use crate::nlu::facts::{Amount, Value};

/// More groups than any number is written in.
const MOST_GROUPS: usize = 16;
/// A word so short may have a point before its digits: `M.2`, `v.3`.
const SHORT: usize = 2;
/// The longest code, in tokens; what is longer is read in parts.
const LONGEST: usize = 48;

impl Reader<'_> {
    /// `0901 234 567`, `+84 901 234 567`, `(028) 3822 1234`, `1900 636 979`; else single digits in a row.
    pub(super) fn phone(&self, at: usize) -> Option<Found> {
        let plus = self.is_mark(at, "+");
        let first = if plus || self.is_mark(at, "(") { at + 1 } else { at };
        self.digits(first)?;
        let mut ends = Vec::new();
        let (mut at_group, mut joined) = (first, String::new());
        while let Some(digits) = self.digits(at_group).filter(|_| ends.len() < MOST_GROUPS) {
            joined.push_str(digits);
            ends.push((at_group + 1, joined.len()));
            at_group = self.next_group(at_group + 1);
        }
        for (index, (end, length)) in ends.iter().enumerate().rev() {
            let digits = &joined[..*length];
            if matches!(self.kind(*end), Some(Kind::Word | Kind::Digits)) {
                continue;
            }
            let number = dialled(digits, plus, index + 1).filter(|_| !self.unit_or_scale_follows(*end));
            if let Some(number) = number {
                return Some(Found::new(at, *end, Value::Phone(number)));
            }
            let group = &self.tokens[first..*end];
            let single = group.iter().all(|token| match token.kind {
                Kind::Digits => token.text.len() == 1,
                _ => token.kind == Kind::Space,
            });
            if index >= 3 && single {
                let code = || Value::Code(digits.to_owned());
                let value = Amount::parse(digits, "").map_or_else(code, Value::Number);
                return Some(Found::new(at, *end, value));
            }
        }
        None
    }

    /// Where the next group of digits may stand. A number in brackets has two separators: "(028) 3822".
    fn next_group(&self, end: usize) -> usize {
        let separates = |at: usize| {
            self.kind(at) == Some(&Kind::Space) || [".", "-", ")"].iter().any(|mark| self.is_mark(at, mark))
        };
        (end..end + 2).take_while(|at| separates(*at)).last().map_or(end, |last| last + 1)
    }

    fn unit_or_scale_follows(&self, end: usize) -> bool {
        let at = self.past_space(end);
        let scale = self.word(at).is_some_and(|word| self.lexicon.scales.contains_key(word));
        scale || self.lexicon.unit(self.tokens, at).is_some()
    }

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

/// The phone number in its Vietnamese form, if these digits are one.
fn dialled(digits: &str, plus: bool, groups: usize) -> Option<String> {
    if plus {
        let own = digits.strip_prefix("84").map(|rest| format!("0{}", rest.trim_start_matches('0')));
        return (digits.len() >= 7).then(|| own.unwrap_or_else(|| digits.to_owned()));
    }
    let abroad = digits.strip_prefix("84").filter(|rest| rest.len() == 9 && groups > 1);
    let is_own = digits.starts_with('0') && matches!(digits.len(), 10 | 11);
    // In one group it may as well be a price: 19000000.
    let service = digits.starts_with("1900") || digits.starts_with("1800");
    let is_service = service && (6..=10).contains(&digits.len()) && groups > 1;
    abroad.map(|rest| format!("0{rest}")).or_else(|| (is_own || is_service).then(|| digits.to_owned()))
}
