//! Reading the numbers of a text.

mod date;
mod number;
mod phone;
mod spoken;
mod time;

use super::lexicon::{Lexicon, Role, Unit};
use super::normal::{Kind, Token, tokens};
use super::{Amount, Fact, Shared, Value};

/// How many times the first one the last number of a row is at most.
const FARTHEST: u64 = 100;
/// Words before a number in which a budget or a price is looked for.
const WORDS_BEFORE: usize = 8;
/// Tokens before a number in which those words are looked for.
const TOKENS_BEFORE: usize = 48;
/// How many numbers of a row are read for the unit of its first.
const ROW: usize = 16;
/// The highest number of a list's entry.
const LAST_ENTRY: u64 = 50;
/// Bare numbers up to here may count what a reply lists.
const MOST_COUNTED: u64 = 9;

/// The numbers of a text, in order, none inside another. The text is taken to begin a line.
pub fn read(text: &str, lexicon: &Lexicon) -> Vec<Fact> {
    let tokens = tokens(text);
    let reader = Reader { tokens: &tokens, lexicon };
    let mut found: Vec<Found> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match reader.one(at) {
            Some(one) => {
                at = one.end.max(at + 1);
                found.push(one);
            }
            None => at += 1,
        }
    }
    (0..found.len()).map(|index| reader.fact(&found, index)).collect()
}

/// A number by its tokens.
#[derive(Debug)]
struct Found {
    start: usize,
    end: usize,
    value: Value,
    written: Option<Amount>,
    /// What it was multiplied with, before its unit.
    scale: u64,
    /// The unit after it.
    unit: Option<Unit>,
    spoken: bool,
}

struct Reader<'a> {
    tokens: &'a [Token],
    lexicon: &'a Lexicon,
}

impl Reader<'_> {
    /// The number that begins at this token.
    fn one(&self, at: usize) -> Option<Found> {
        match self.tokens[at].kind {
            Kind::Digits => self
                .phone(at)
                .or_else(|| self.date(at))
                .or_else(|| self.time(at))
                .or_else(|| self.amount(at))
                .or_else(|| self.code(at)),
            Kind::Word => self
                .currency_before(at)
                .or_else(|| self.code(at))
                .or_else(|| self.date_in_words(at))
                .or_else(|| self.weekday(at))
                .or_else(|| self.spoken(at)),
            Kind::Mark if self.tokens[at].text.chars().all(char::is_numeric) => Some(self.strange(at)),
            Kind::Mark => self.currency_before(at).or_else(|| self.phone(at)),
            Kind::Space | Kind::Line => None,
        }
    }

    fn kind(&self, at: usize) -> Option<&Kind> {
        self.tokens.get(at).map(|token| &token.kind)
    }

    /// The digits at this token.
    fn digits(&self, at: usize) -> Option<&str> {
        self.tokens.get(at).filter(|token| token.kind == Kind::Digits).map(|token| token.text.as_str())
    }

    /// The whole number of at most so many digits at this token.
    fn whole(&self, at: usize, most_digits: usize) -> Option<u64> {
        self.digits(at).filter(|digits| digits.len() <= most_digits)?.parse().ok()
    }

    fn word(&self, at: usize) -> Option<&str> {
        self.tokens.get(at).filter(|token| token.kind == Kind::Word).map(|token| token.text.as_str())
    }

    fn is_mark(&self, at: usize, mark: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Mark && token.text == mark)
    }

    /// The token after `at` if that is a space, else `at`.
    fn past_space(&self, at: usize) -> usize {
        if self.kind(at) == Some(&Kind::Space) { at + 1 } else { at }
    }

    /// A character that is a number but no digit (`½`, `Ⅳ`): nothing that could be compared.
    fn strange(&self, at: usize) -> Found {
        Found::new(at, at + 1, Value::Code(self.tokens[at].text.clone()))
    }

    fn fact(&self, found: &[Found], index: usize) -> Fact {
        let one = &found[index];
        let (start, end) = (self.tokens[one.start].range.start, self.tokens[one.end - 1].range.end);
        let (budget, priced) = self.what_is_before(one.start, one.end);
        Fact {
            range: start..end,
            value: one.value.clone(),
            written: one.written,
            shared: self.shared(found, index),
            counts: self.counts(one),
            budget,
            priced,
            stock: self.follows_stock(one.start),
            spoken: one.spoken,
        }
    }

    /// The unit of a later number of the same row, for a bare one.
    fn shared(&self, found: &[Found], index: usize) -> Option<Shared> {
        let one = &found[index];
        let Value::Number(amount) = one.value else { return None };
        let mut sure = false;
        let mut last = one;
        for next in found[index + 1..].iter().take(ROW) {
            sure |= self
                .joins(Role::To, last.end, next.start)
                .then_some(true)
                .or_else(|| self.joins(Role::List, last.end, next.start).then_some(false))?;
            if let Some(unit) = &next.unit {
                // Rows of choices rise, and not far; "Vivobook 15, 8 GB" is none, nor is "5.2 - 1.190.000đ".
                let rises = next.written.is_some_and(|written| amount < written && written <= amount.times(FARTHEST));
                let value = unit.of(amount.times(next.scale));
                return rises.then_some(Shared { value, sure });
            }
            if let (Value::Time { .. }, Some(hour)) = (&next.value, amount.as_whole().filter(|hour| *hour < 24)) {
                let hour = u8::try_from(hour).unwrap_or_default();
                return Some(Shared { value: Value::Time { hour, minute: 0 }, sure: false });
            }
            if !matches!(next.value, Value::Number(_)) {
                return None;
            }
            last = next;
        }
        None
    }

    /// Whether nothing but a word of that role stands between two tokens.
    fn joins(&self, role: Role, from: usize, to: usize) -> bool {
        let at = self.past_space(from);
        self.lexicon.is(role, self.tokens, at).is_some_and(|end| self.past_space(end) == to)
    }

    /// Whether the number only counts or numbers what the reply lists.
    fn counts(&self, one: &Found) -> bool {
        let Some(number) = one.written.and_then(Amount::as_whole).filter(|_| matches!(one.value, Value::Number(_)))
        else {
            return false;
        };
        let lists = self.begins_line(one.start) && self.ends_entry_mark(one.end, number);
        let cites =
            one.start > 0 && self.is_mark(one.start - 1, "[") && self.is_mark(one.end, "]") && number <= LAST_ENTRY;
        lists && number <= LAST_ENTRY || cites || number <= MOST_COUNTED && self.is_next_to_count(one)
    }

    fn begins_line(&self, at: usize) -> bool {
        let before = self.tokens[..at].iter().rev();
        // Headings and quotes may be numbered too.
        let mut before = before.skip_while(|token| {
            token.kind == Kind::Space || token.kind == Kind::Mark && matches!(token.text.as_str(), "#" | ">" | "(")
        });
        before.next().is_none_or(|token| token.kind == Kind::Line)
    }

    /// `1.`, `1)`, `1:`, `1 -`, each with a space after it.
    fn ends_entry_mark(&self, end: usize, number: u64) -> bool {
        let is_end = |at: usize| matches!(self.kind(at), None | Some(Kind::Space | Kind::Line));
        let after_space = self.past_space(end);
        let dash = self.is_mark(after_space, "-")
            && is_end(after_space + 1)
            && number <= MOST_COUNTED
            && self.kind(self.past_space(after_space + 1)) != Some(&Kind::Digits);
        [".", ")", ":"].iter().any(|mark| self.is_mark(end, mark)) && is_end(end + 1) || dash
    }

    fn is_next_to_count(&self, one: &Found) -> bool {
        let after = self.lexicon.is(Role::Count, self.tokens, self.past_space(one.end)).is_some();
        let ends_here = |at: usize| self.lexicon.is(Role::Count, self.tokens, at) == Some(one.start.saturating_sub(1));
        let before = one.start >= 2 && (one.start.saturating_sub(4)..one.start).any(ends_here);
        (after && !self.follows_stock(one.start)) || before
    }

    /// Whether a number here is the number of pieces in stock.
    fn follows_stock(&self, at: usize) -> bool {
        self.word_before(at).is_some_and(|at| self.lexicon.is(Role::Stock, self.tokens, at).is_some())
    }

    /// The word right before a token, past a space.
    fn word_before(&self, at: usize) -> Option<usize> {
        let before = at.checked_sub(1)?;
        let at = if self.kind(before) == Some(&Kind::Space) { before.checked_sub(1)? } else { before };
        (self.kind(at) == Some(&Kind::Word)).then_some(at)
    }

    /// What is said of an amount in its sentence: whether it may be the customer's budget, and whether it is a price. The
    /// nearest word counts.
    fn what_is_before(&self, start: usize, end: usize) -> (bool, bool) {
        let after = self.past_space(end);
        if self.lexicon.is(Role::Budget, self.tokens, after).is_some() {
            return (true, false);
        }
        let mut words = 0;
        for at in (start.saturating_sub(TOKENS_BEFORE)..start).rev() {
            match self.tokens[at].kind {
                Kind::Word => words += 1,
                Kind::Line => break,
                Kind::Mark if matches!(self.tokens[at].text.as_str(), "." | "!" | "?" | ";") => break,
                _ => continue,
            }
            if words > WORDS_BEFORE {
                break;
            }
            // A cue of two words ends with a word that may be a price's by itself, so it is looked for first.
            let cue = (at.saturating_sub(6)..=at)
                .any(|from| self.lexicon.is(Role::Budget, self.tokens, from).is_some_and(|end| end == at + 1));
            if cue {
                return (true, false);
            }
            if self.lexicon.is(Role::Price, self.tokens, at).is_some() {
                return (false, true);
            }
        }
        (false, false)
    }
}

impl Found {
    fn new(start: usize, end: usize, value: Value) -> Self {
        Self { start, end, value, written: None, scale: 1, unit: None, spoken: false }
    }
}
