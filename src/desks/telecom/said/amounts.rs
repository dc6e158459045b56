//! Which numbers of a message may be the amount of a refund. One inside a question or a price never is: "I pay 65 a month, how much do
//! I get?"

use std::ops::Range;

use crate::domain::text::{Pattern, TokenStream, any_match, match_mask};
use crate::nlu::keywords::pattern_lists;

/// Words of a clause that says little else than a number.
const BARE: usize = 3;

pattern_lists! {
    /// `[amounts]` of the rule files: words that decide what a number means.
    pub(in crate::desks::telecom) AmountFile => AmountLists { how_much, price, question, request }
}

impl AmountLists {
    /// Returns whether the number at a place of the text may be an amount.
    pub(super) fn read<'a, 't>(&self, stream: &'a TokenStream<'t>) -> impl Fn(&Range<usize>) -> bool + use<'a, 't> {
        let mask = |patterns: &[Pattern]| match_mask(patterns, stream, &[]);
        let asks_amount = any_match(&self.how_much, stream, &[]);
        let [price, question, request] = [&self.price, &self.question, &self.request].map(|patterns| mask(patterns));
        move |number| {
            let tokens = stream.tokens();
            let word = tokens.partition_point(|token| token.span.end <= number.start);
            if asks_amount || price.get(word) == Some(&true) {
                return false;
            }
            let clause = stream.clause(word);
            let says = |mask: &[bool]| mask[clause.clone()].contains(&true);
            let end = tokens[..clause.end].last().map_or(number.end, |last| last.span.end.max(number.end));
            let is_question = says(&question) || stream.text()[end..].trim_start().starts_with('?');
            !is_question || clause.len() <= BARE || says(&request)
        }
    }
}
