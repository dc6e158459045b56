//! Cuts a message where a new subject may begin.

use std::ops::Range;

use super::CommerceRules;
use crate::domain::text::match_mask;

impl CommerceRules {
    /// Returns the pieces of a text, as bytes: between punctuation, and between words such as "and". Numbers stay whole.
    pub fn pieces(&self, text: &str) -> Vec<Range<usize>> {
        let stream = self.lexicon.tokenize(text);
        let (numbers, joins) = (self.counts.find(&stream), match_mask(&self.joins, &stream, &[]));
        let continues = |at: usize| numbers.iter().any(|count| count.words.contains(&at) && count.words.start < at);
        let (mut pieces, mut begun, mut clause) = (Vec::new(), None, None);
        for (at, token) in stream.tokens().iter().enumerate() {
            let is_join = joins[at] && !continues(at);
            let is_cut = is_join || (clause.is_some_and(|clause| clause != token.clause) && !continues(at));
            clause = Some(token.clause);
            if is_cut && let Some(start) = begun.take() {
                pieces.push(start..token.span.start);
            }
            begun = begun.or((!is_join).then_some(token.span.start));
        }
        pieces.extend(begun.map(|start| start..text.len()));
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::Prompts;

    #[test]
    fn pieces_are_cut_at_joins_and_punctuation() {
        let rules = CommerceRules::read(&Prompts::shipped()).expect("the shipped rules");
        for (text, expected) in [
            ("one blue 42 and one black 40", &["one blue 42 ", "one black 40"][..]),
            ("sz 41, 1 pair. n polish", &["sz 41, ", "1 pair. ", "polish"]),
            ("viatu na soksi", &["viatu ", "soksi"]),
            ("chini ya elfu moja na mia mbili", &["chini ya elfu moja na mia mbili"]),
            ("under 2,000 please", &["under 2,000 please"]),
            ("Size 40. When is it here? ", &["Size 40. ", "When is it here? "]),
            ("and", &[]),
        ] {
            let pieces: Vec<&str> = rules.pieces(text).into_iter().map(|piece| &text[piece]).collect();
            assert_eq!(pieces, expected, "{text}");
        }
    }
}
