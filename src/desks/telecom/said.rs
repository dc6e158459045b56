//! What a message says about an account and a refund: user ids, invoice and case numbers, amounts and the reason.

use std::collections::BTreeMap;

use super::memory::Asked;
use super::rules::TelecomRules;
use crate::domain::commerce::{Currency, Money};
use crate::domain::telecom::{CaseId, InvoiceNumber, RefundReason};
use crate::domain::text::{Pattern, TokenStream, any_match};
use crate::nlu::facts::{self, Value};

mod amounts;
mod grosze;
mod words;

pub(super) use amounts::{AmountFile, AmountLists};
use grosze::{grosze, with_grosze};
use words::{is_apart, is_short_number, letters_of, looks_like_user_id, overlaps, starts_after};

/// The name of the złoty in `rules/facts.toml`.
const PLN: &str = "pln";
/// Digits of a word with a hyphen or slash that is an invoice number without being called so.
const INVOICE_DIGITS: usize = 3;
/// Digits of a number that is no amount, speed, channel or error code.
const LONG_NUMBER: usize = 5;
/// Numbers in words up to here are no amounts without a currency.
const SMALL_WORD: u64 = 10;
/// A negation denies a reason that begins this many words after it: "not an overcharge".
const NEGATED_WORDS: usize = 2;
/// Digits of a customer id after its letters.
const ID_DIGITS: std::ops::RangeInclusive<usize> = 2..=12;

/// What a message says, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::desks) struct Said {
    /// Called a customer id, or written like one: "my customer id is 445566", "u123".
    user_ids: Vec<String>,
    invoices: Vec<InvoiceNumber>,
    pub cases: Vec<CaseId>,
    /// Amounts in złoty. `None` has more than two decimals.
    amounts: Vec<Option<Money>>,
    /// Numbers without a unit, which may be amounts.
    numbers: Vec<Option<Money>>,
    pub reason: Option<RefundReason>,
    /// The reason, if the desk has asked for one.
    pub reason_if_asked: Option<RefundReason>,
    /// Wants back all of an invoice.
    pub whole: bool,
    /// Whether it corrects an earlier message: "actually", "I meant".
    pub corrects: bool,
    /// Refers to the claim before.
    pub same: bool,
    /// Other words with a digit. They may be ids, invoices, devices or figures.
    others: Vec<String>,
    /// Those of the others that are dates, phone numbers or decimal numbers, and prove no account.
    figures: Vec<String>,
}

/// An amount that a message names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::desks) enum SaidAmount {
    One(Money),
    /// It has more than two decimals.
    TooExact,
    /// There is none, or several of which any may be meant.
    Unclear,
}

impl Said {
    /// Returns what the customer calls the customer id.
    pub fn user_id(&self) -> Option<&str> {
        self.user_ids.first().map(String::as_str)
    }

    /// Returns the word that may be the customer id if the desk asked for it: letters with digits, or a long number.
    pub fn guessed_user_id(&self) -> Option<&str> {
        let like_id = self.others.iter().find(|word| looks_like_user_id(word));
        like_id.or_else(|| self.others.iter().find(|word| !is_short_number(word))).map(String::as_str)
    }

    /// Returns the word that may correct this customer id: it has the same letters before its digits.
    pub fn corrected_user_id(&self, known: &str) -> Option<&str> {
        let letters = letters_of(known);
        let is_like = |word: &&String| looks_like_user_id(word) && letters_of(word).eq_ignore_ascii_case(letters);
        self.others.iter().find(is_like).map(String::as_str)
    }

    /// Returns the invoice number, also an unnamed one if the desk asked for it. A short number proves no account: it is an amount. A
    /// word that is the customer's id is no invoice.
    pub fn invoice(&self, asked: Option<Asked>, user_id: Option<&str>) -> Option<InvoiceNumber> {
        if let Some(named) = self.invoices.first() {
            return Some(named.clone());
        }
        let is_id = |word: &str| looks_like_user_id(word) && user_id.is_some_and(|id| id.eq_ignore_ascii_case(word));
        let may_be = |word: &&String| match asked {
            _ if is_id(word) || self.figures.contains(word) => false,
            // "I have 2 of them" names none.
            Some(Asked::Invoice) => word.bytes().filter(u8::is_ascii_digit).count() >= INVOICE_DIGITS,
            Some(Asked::Proof) => !is_short_number(word),
            _ => false,
        };
        self.others.iter().filter(may_be).find_map(|word| word.parse().ok())
    }

    /// Whether the message names this invoice, whatever it calls it.
    pub fn names_invoice(&self, number: &InvoiceNumber) -> bool {
        let others = self.others.iter().filter_map(|word| word.parse().ok());
        let is_meant = |named: &InvoiceNumber| number.is_meant_by(named) || named.is_meant_by(number);
        self.invoices.iter().cloned().chain(others).any(|named| is_meant(&named))
    }

    /// Returns the amount, also a bare number if it can only be one. Of "zero, no: 65 PLN" it is the 65.
    pub fn amount(&self, takes_numbers: bool) -> SaidAmount {
        let has_grosze = |number: &&Option<Money>| number.is_none_or(|number| number.minor % 100 != 0);
        let mut all = self.amounts.clone();
        match all.is_empty() {
            true if takes_numbers => all.clone_from(&self.numbers),
            true => {}
            // "My plan costs 45 PLN, so 4.50."
            false => all.extend(self.numbers.iter().filter(has_grosze)),
        }
        all.dedup();
        if all.len() > 1 {
            all.retain(|amount| amount.is_none_or(|amount| amount.minor > 0));
        }
        match all[..] {
            [Some(amount)] => SaidAmount::One(amount),
            [None] => SaidAmount::TooExact,
            _ => SaidAmount::Unclear,
        }
    }

    /// Returns the only number with grosze: in a message about a refund, it can only be an amount.
    pub fn exact_amount(&self) -> SaidAmount {
        let mut exact = self.numbers.iter().flatten().filter(|number| number.minor % 100 != 0);
        match (exact.next(), exact.next()) {
            (Some(amount), None) => SaidAmount::One(*amount),
            _ => SaidAmount::Unclear,
        }
    }

    /// Whether the message names this amount, with its currency or without.
    pub fn names_amount(&self, amount: Money) -> bool {
        self.amounts.contains(&Some(amount)) || self.numbers.contains(&Some(amount))
    }

    /// Whether the message names an account or a proof of one.
    pub fn names_account(&self) -> bool {
        !self.user_ids.is_empty() || !self.invoices.is_empty()
    }

    /// Whether the message names what a refund is about.
    pub fn is_concrete(&self) -> bool {
        !self.invoices.is_empty() || !self.amounts.is_empty()
    }

    /// Whether the message claims an amount for a reason or from an invoice, whatever words it uses.
    pub fn claims(&self) -> bool {
        !self.amounts.is_empty() && (self.reason.is_some() || !self.invoices.is_empty())
    }

    /// Whether the message surely names what belongs to an account or, if the desk asked for a number, a long one.
    pub fn names(&self, asked: Asked) -> bool {
        let is_long = |word: &String| word.len() >= LONG_NUMBER && word.bytes().all(|b| b.is_ascii_digit());
        let has_number = asked != Asked::Amount && self.others.iter().any(is_long);
        self.is_concrete() || !self.user_ids.is_empty() || !self.cases.is_empty() || has_number
    }

    /// Whether the message gives what the desk asked for.
    pub fn answers(&self, asked: Asked) -> bool {
        match asked {
            Asked::UserId => self.user_id().or(self.guessed_user_id()).is_some(),
            Asked::Proof => self.invoice(Some(asked), None).is_some() || self.user_id().is_some(),
            Asked::Invoice => self.invoice(Some(asked), None).is_some(),
            Asked::Amount => {
                // "4.50, from 23 to 25 November"
                self.whole
                    || [self.amount(true), self.exact_amount()].iter().any(|amount| *amount != SaidAmount::Unclear)
            }
            Asked::Reason => self.reason.or(self.reason_if_asked).is_some(),
            Asked::Details | Asked::Person | Asked::Confirm => false,
        }
    }
}

impl TelecomRules {
    /// Reads what a message says about an account and a refund.
    pub(super) fn said_in(&self, stream: &TokenStream<'_>) -> Said {
        let (text, lists) = (stream.text(), &self.lists);
        let [negated, minus, corrected] =
            [&lists.negated, &lists.minus, &lists.corrected].map(|patterns| starts_after(patterns, stream));
        let facts = with_grosze(facts::read(text, &self.facts), text, &self.facts);
        let mut said = Said::default();
        let numbers_of_things = self.read_words(stream, &facts, &mut said);
        let may_be_amount = self.amounts.read(stream);
        for fact in facts.iter().filter(|fact| !overlaps(&numbers_of_things, &fact.range)) {
            // "One" and "two" are in much talk, and *ten* is Polish for "this".
            if fact.spoken
                && matches!(fact.value, Value::Number(number) if number.as_whole().is_some_and(|whole| whole <= SMALL_WORD))
            {
                continue;
            }
            if !may_be_amount(&fact.range) {
                continue;
            }
            let is_after = |starts: &[usize]| starts.binary_search(&fact.range.start).is_ok();
            let signed = text[..fact.range.start].strip_suffix(['-', '−']);
            let is_negative = is_after(&minus) || signed.is_some_and(|text| !text.ends_with(char::is_alphanumeric));
            let replaces = is_after(&corrected);
            // "Not 80" denies the number, and "wait no, 90" corrects it.
            let (list, amount) = match &fact.value {
                _ if is_after(&negated) && !is_apart(text, fact.range.start) => continue,
                Value::Money(amount, currency) if currency == PLN => (&mut said.amounts, *amount),
                Value::Number(number) if replaces && !said.amounts.is_empty() => (&mut said.amounts, *number),
                Value::Number(number) => (&mut said.numbers, *number),
                _ => continue,
            };
            if replaces {
                list.clear();
            }
            list.push(if is_negative { Some(Money::zero(Currency::Pln)) } else { grosze(amount) });
        }
        let says = |patterns: &[Pattern]| any_match(patterns, stream, &[]);
        said.whole = says(&lists.whole);
        said.corrects = says(&lists.corrected);
        said.same = says(&lists.same);
        let negations: Vec<usize> =
            lists.negated.iter().flat_map(|pattern| pattern.find_all(stream, &[])).map(|found| found.end).collect();
        let is_denied = |at: usize| {
            negations.iter().any(|end| {
                let between = (*end..=at).take(NEGATED_WORDS).any(|word| word == at);
                between && !has_pause(stream, *end, at)
            })
        };
        let gives = |patterns: &[Pattern]| {
            patterns.iter().flat_map(|pattern| pattern.find_all(stream, &[])).any(|found| !is_denied(found.start))
        };
        let find = |reasons: &BTreeMap<RefundReason, Vec<Pattern>>| {
            reasons.iter().find(|(_, patterns)| gives(patterns)).map(|(reason, _)| *reason)
        };
        said.reason = find(&self.reasons);
        said.reason_if_asked = find(&self.reasons_if_asked);
        said
    }
}

/// Whether there is punctuation before or between these words: "No, an overcharge" denies nothing.
fn has_pause(stream: &TokenStream<'_>, from: usize, to: usize) -> bool {
    let tokens = stream.tokens();
    let start = from.checked_sub(1).map_or(0, |before| tokens[before].span.end);
    stream.text()[start..tokens[to].span.start].contains([',', '.', ';', ':', '!', '?', '–'])
}

#[cfg(test)]
mod tests;
