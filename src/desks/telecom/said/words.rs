//! The words of a message with digits: customer ids, invoices and cases.

use std::ops::Range;

use super::{ID_DIGITS, INVOICE_DIGITS, LONG_NUMBER, Said, TelecomRules};
use crate::domain::telecom::{CaseId, InvoiceNumber};
use crate::domain::text::{Pattern, TokenStream};
use crate::nlu::facts::{Fact, Value};

/// Digits of the year in an invoice number such as `2025/10/17`.
const YEAR_DIGITS: usize = 4;

/// Matches of words that introduce a number: where the word after each of them begins, and where the match does, in order.
struct Introductions(Vec<(usize, usize)>);

impl Introductions {
    fn of(patterns: &[Pattern], stream: &TokenStream<'_>) -> Self {
        let tokens = stream.tokens();
        let found = patterns.iter().flat_map(|pattern| pattern.find_all(stream, &[]));
        let places = found.filter_map(|found| {
            let next = tokens.get(found.end)?;
            Some((next.span.start, tokens.get(found.start)?.span.start))
        });
        let mut places: Vec<(usize, usize)> = places.collect();
        places.sort_unstable();
        Self(places)
    }

    /// Returns where the words begin that introduce this one.
    fn before(&self, word: &Range<usize>) -> Option<usize> {
        let first = self.0.partition_point(|(next, _)| *next < word.start);
        self.0.get(first).filter(|(next, _)| word.contains(next)).map(|(_, from)| *from)
    }
}

impl TelecomRules {
    /// Reads the words with digits. A denied one counts for nothing, and a correction replaces those before it. Returns the places of
    /// words that are no amounts.
    pub(super) fn read_words(&self, stream: &TokenStream<'_>, facts: &[Fact], said: &mut Said) -> Vec<Range<usize>> {
        let (text, lists) = (stream.text(), &self.lists);
        let introductions = [&lists.user_id_words, &lists.invoice_words, &lists.phone_words];
        let [user_ids, invoices, phones] = introductions.map(|patterns| Introductions::of(patterns, stream));
        let [denied, corrected] = [&lists.denied, &lists.corrected].map(|patterns| starts_after(patterns, stream));
        let money = places(facts, |fact| matches!(fact.value, Value::Money(..)));
        let figures = places(facts, |fact| is_figure(fact, text));
        let mut numbers_of_things: Vec<Range<usize>> = Vec::new();
        for range in words(text) {
            let word = &text[range.clone()];
            let digits = word.bytes().filter(u8::is_ascii_digit).count();
            if digits == 0 || overlaps(&money, &range) {
                continue;
            }
            let (as_user_id, as_invoice) = (user_ids.before(&range), invoices.before(&range));
            // "Not the invoice INV-12345"
            let start = [as_user_id, as_invoice].into_iter().flatten().min().unwrap_or(range.start);
            let is_denied = denied.binary_search(&start).is_ok() && !is_apart(text, start);
            let replaces = corrected.binary_search(&start).is_ok();
            let invoice = word.parse::<InvoiceNumber>().ok();
            let looks_like_invoice = digits >= INVOICE_DIGITS
                && word.contains(['-', '/', '_'])
                && word.contains(|c: char| c.is_ascii_alphabetic());
            match (word.parse::<CaseId>(), invoice) {
                _ if is_denied => {}
                (Ok(case), _) => said.cases.push(case),
                (_, Some(number)) if looks_like_invoice || as_invoice.is_some() && !self.is_user_id(word) => {
                    put(&mut said.invoices, number, replaces);
                }
                _ if as_user_id.is_some() || self.is_user_id(word) => {
                    put(&mut said.user_ids, word.to_owned(), replaces);
                }
                _ => {
                    if replaces && !looks_like_user_id(word) {
                        said.others.retain(|other| looks_like_user_id(other));
                    }
                    said.others.push(word.to_owned());
                    let is_phone = phones.before(&range).is_some() && word.bytes().all(|b| b.is_ascii_digit());
                    if is_phone || overlaps(&figures, &range) && !begins_with_year(word) {
                        said.figures.push(word.to_owned());
                    }
                    if !looks_like_user_id(word) {
                        continue;
                    }
                }
            }
            numbers_of_things.push(range);
        }
        numbers_of_things
    }

    /// Whether a word has the letters and the digits of a customer id.
    fn is_user_id(&self, word: &str) -> bool {
        let letters = letters_of(word);
        looks_like_user_id(word) && self.user_id_letters.iter().any(|known| known.eq_ignore_ascii_case(letters))
    }
}

fn put<T>(list: &mut Vec<T>, new: T, replaces: bool) {
    if replaces {
        list.clear();
    }
    list.push(new);
}

/// Returns where the words after matches of these patterns begin, in order.
pub(super) fn starts_after(patterns: &[Pattern], stream: &TokenStream<'_>) -> Vec<usize> {
    Introductions::of(patterns, stream).0.into_iter().map(|(next, _)| next).collect()
}

/// Whether punctuation comes before this place: "no, 80" denies no number.
pub(super) fn is_apart(text: &str, start: usize) -> bool {
    text[..start].trim_end().ends_with([',', '.', ';', ':', '!', '–'])
}

fn places(facts: &[Fact], is_meant: impl Fn(&Fact) -> bool) -> Vec<Range<usize>> {
    facts.iter().filter(|fact| is_meant(fact)).map(|fact| fact.range.clone()).collect()
}

/// Whether a number is a date, a decimal number or a phone number, which proves no account.
fn is_figure(fact: &Fact, text: &str) -> bool {
    match &fact.value {
        Value::Date { year, month, day } => year.is_some() && month.is_some() && day.is_some(),
        Value::Number(number) => number.as_whole().is_none(),
        Value::Phone(_) => text[fact.range.start..].starts_with('+'),
        _ => false,
    }
}

/// Whether a word is like the end of `FV/2025/10/17`, whose letters may be missing.
fn begins_with_year(word: &str) -> bool {
    word.split_once('/').is_some_and(|(year, _)| year.len() == YEAR_DIGITS && year.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns the letters that a word begins with.
pub(super) fn letters_of(word: &str) -> &str {
    &word[..word.len() - word.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len()]
}

/// Whether a word is letters and then digits, like the ids of accounts.
pub(super) fn looks_like_user_id(word: &str) -> bool {
    let letters = letters_of(word).len();
    let digits = &word[letters..];
    (1..=4).contains(&letters) && ID_DIGITS.contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a word is a number too short for an id or an invoice.
pub(super) fn is_short_number(word: &str) -> bool {
    word.len() < LONG_NUMBER && word.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a range overlaps one of these, which are in order and apart.
pub(super) fn overlaps(ordered: &[Range<usize>], range: &Range<usize>) -> bool {
    let next = ordered.partition_point(|other| other.end <= range.start);
    ordered.get(next).is_some_and(|other| other.start < range.end)
}

/// Returns the words between spaces, without the punctuation around them.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    for piece in text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '(' | ')' | '"' | '?' | '!')) {
        let word = piece.trim_matches(|c: char| !c.is_alphanumeric());
        let start = at + (piece.len() - piece.trim_start_matches(|c: char| !c.is_alphanumeric()).len());
        if !word.is_empty() {
            found.push(start..start + word.len());
        }
        at += piece.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
    }
    found
}
