//! Which numbers of a message may be the amount of a refund. One inside a question or a price never is: "I pay 65 a month, how much do
//! I get?"

use std::ops::Range;

use serde::Deserialize;

use crate::domain::text::{InvalidPattern, Lexicon, Pattern, TokenStream, any_match, match_mask};

/// Words of a clause that says little else than a number.
const BARE: usize = 3;

/// Words that decide what a number means.
#[derive(Debug)]
pub(in crate::desks) struct AmountWords {
    how_much: Vec<Pattern>,
    price: Vec<Pattern>,
    question: Vec<Pattern>,
    request: Vec<Pattern>,
    uncertain: Vec<Pattern>,
}

/// [`AmountWords`] as a rule file has them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::desks) struct AmountFile {
    how_much: Vec<String>,
    price: Vec<String>,
    question: Vec<String>,
    request: Vec<String>,
    uncertain: Vec<String>,
}

/// What a number may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Amount,
    /// An amount that the customer has to confirm: "around 20".
    Tentative,
    /// No amount.
    Never,
}

impl AmountWords {
    /// # Errors
    /// A pattern is malformed.
    pub fn new(file: &AmountFile, lexicon: &Lexicon) -> Result<Self, InvalidPattern> {
        let patterns = |written: &Vec<String>| lexicon.patterns(written);
        Ok(Self {
            how_much: patterns(&file.how_much)?,
            price: patterns(&file.price)?,
            question: patterns(&file.question)?,
            request: patterns(&file.request)?,
            uncertain: patterns(&file.uncertain)?,
        })
    }

    /// Returns what the number at a place of the text may be.
    pub(super) fn read<'a, 't>(&self, stream: &'a TokenStream<'t>) -> impl Fn(&Range<usize>) -> Use + use<'a, 't> {
        let mask = |patterns: &[Pattern]| match_mask(patterns, stream, &[]);
        let asks_amount = any_match(&self.how_much, stream, &[]);
        let [price, question] = [&self.price, &self.question].map(|patterns| mask(patterns));
        let [request, uncertain] = [&self.request, &self.uncertain].map(|patterns| mask(patterns));
        move |number| {
            let tokens = stream.tokens();
            let word = tokens.partition_point(|token| token.span.end <= number.start);
            if asks_amount || price.get(word) == Some(&true) {
                return Use::Never;
            }
            let clause = stream.clause(word);
            let says = |mask: &[bool]| mask[clause.clone()].contains(&true);
            let end = tokens[..clause.end].last().map_or(number.end, |last| last.span.end.max(number.end));
            let is_question = says(&question) || stream.text()[end..].trim_start().starts_with('?');
            match is_question {
                true if clause.len() > BARE && !says(&request) => Use::Never,
                true => Use::Tentative,
                false if says(&uncertain) => Use::Tentative,
                false => Use::Amount,
            }
        }
    }
}
