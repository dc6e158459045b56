//! Which numbers of a message may be the amount of a refund. One inside a question or a price never is: "I pay 65 a month, how much do
//! I get?"

use std::ops::Range;

use crate::domain::text::{Pattern, TokenStream, any_match, match_mask};
use crate::nlu::keywords::pattern_lists;

/// Words of a clause that says little else than a number.
const BARE: usize = 3;

pattern_lists! {
    /// `[amounts]` of the rule files: words that decide what a number means.
    pub(in crate::desks::telecom) AmountFile => AmountLists { how_much, price, question, request, uncertain }
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

impl AmountLists {
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
