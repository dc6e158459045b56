//! Cuts a message where a new subject may begin.

use std::ops::Range;

use super::{CommerceRules, Says, either};
use crate::desks::commerce::said::MOST_PIECES;
use crate::domain::WordSet;
use crate::domain::text::{any_match, match_mask};
use crate::nlu::counts::Count;
use crate::nlu::pick::Pick;

/// What a piece has so far of a choice and its numbers.
#[derive(Default)]
struct Group {
    has_choice: bool,
    /// The number before the first choice.
    number: Option<u64>,
    ends_with_number: bool,
}

/// A word of a piece.
struct Word {
    number: Option<u64>,
    is_choice: bool,
    is_before_choice: bool,
    is_before_number: bool,
}

impl Group {
    /// Whether another choice with its number begins: the second 2 of "2 black 2 white", or the white of "black 40 white 41".
    fn ends_before(&self, word: &Word) -> bool {
        match (self.number, word.number) {
            _ if !self.has_choice => false,
            (Some(first), Some(number)) => word.is_before_choice && (first <= MOST_PIECES) == (number <= MOST_PIECES),
            (None, None) => word.is_choice && self.ends_with_number && word.is_before_number,
            _ => false,
        }
    }

    fn add(&mut self, word: &Word) {
        self.number = self.number.or(word.number.filter(|_| !self.has_choice));
        self.has_choice |= word.is_choice;
        self.ends_with_number = word.number.is_some();
    }
}

impl CommerceRules {
    /// Returns the pieces of a text, as bytes: between punctuation, and between words such as "and". Numbers stay whole.
    pub fn pieces(&self, text: &str) -> Vec<Range<usize>> {
        self.pieces_with(text, &WordSet::default())
    }

    /// Returns the pieces of a text, and cuts before each further choice with its number as well: "2 black 2 white".
    pub fn pieces_with(&self, text: &str, choices: &WordSet) -> Vec<Range<usize>> {
        let stream = self.lexicon.tokenize(text);
        let (numbers, mut joins) = (self.counts.find(&stream), match_mask(&self.lists.joins, &stream, &[]));
        if self.says.iter().any(|(says, patterns)| *says == Says::Compares && any_match(patterns, &stream, &[])) {
            joins = either(&joins, &match_mask(&self.lists.alternatives, &stream, &[]));
        }
        let continues = |at: usize| numbers.iter().any(|count| count.words.contains(&at) && count.words.start < at);
        let (mut pieces, mut begun, mut clause, mut group) = (Vec::new(), None, None, Group::default());
        let is_choice = |at: usize| {
            let word = stream.tokens().get(at).map(|token| token.folded());
            word.is_some_and(|word| choices.contains(word) && word.parse::<u64>().is_err())
        };
        let count_at = |at: usize| numbers.iter().find(|count| count.words.start == at);
        for (at, token) in stream.tokens().iter().enumerate() {
            let is_join = joins[at] && !continues(at);
            let next = count_at(at).map_or(at + 1, |count| count.words.end);
            let seen = Word {
                number: count_at(at).map(|count| count.value),
                is_choice: is_choice(at),
                is_before_choice: is_choice(next) || is_choice(next + 1),
                is_before_number: count_at(next).is_some(),
            };
            let is_new_clause = clause.is_some_and(|clause| clause != token.clause) && !continues(at);
            let is_cut = is_join || is_new_clause || group.ends_before(&seen);
            if is_cut {
                group = Group::default();
            }
            group.add(&seen);
            clause = Some(token.clause);
            if is_cut && let Some(start) = begun.take() {
                pieces.push(start..token.span.start);
            }
            begun = begun.or((!is_join).then_some(token.span.start));
        }
        pieces.extend(begun.map(|start| start..text.len()));
        pieces
    }

    /// Returns where the number of an option begins, which counts nothing: the 2 of "does number 2 come in 43?". `left`: the message
    /// without the words that point at the option.
    pub(super) fn option_number(&self, pick: &Pick, left: &str, numbers: &[Count]) -> Option<usize> {
        let Pick::Nth(at) = pick else { return None };
        let is_option = |count: &&Count| count.value == *at as u64 + 1;
        let left = self.counts.find(&self.lexicon.tokenize(left)).iter().filter(is_option).count();
        let mut all = numbers.iter().filter(is_option);
        let first = all.next()?;
        (all.count() >= left).then_some(first.words.start)
    }

    /// Cuts a message into what leaves the cart and what is wanted instead: "swap the socks for polish", "drop the 38 and take a 40".
    pub fn cut_exchange<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let stream = self.lexicon.tokenize(text);
        let first = |of: &[Says]| {
            let patterns = self.says.iter().filter(|(says, _)| of.contains(says)).flat_map(|(_, patterns)| patterns);
            patterns.filter_map(|pattern| pattern.find(&stream, &[])).map(|words| words.start).min()
        };
        if let Some(swaps) = first(&[Says::Swaps]) {
            let is_between = match_mask(&self.lists.exchanged, &stream, &[]);
            let at = (swaps + 1..is_between.len()).find(|at| is_between[*at])?;
            let span = &stream.tokens()[at].span;
            return Some((&text[..span.start], &text[span.end..]));
        }
        let (added, removed) = (first(&[Says::Wants, Says::More, Says::Keeps])?, first(&[Says::Remove])?);
        let (before, after) = text.split_at(stream.tokens()[added.max(removed)].span.start);
        Some(if added > removed { (before, after) } else { (after, before) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::Prompts;

    #[test]
    fn each_choice_with_a_number_is_a_piece() {
        let rules = CommerceRules::read(&Prompts::shipped()).expect("the shipped rules");
        let choices = ["black", "white", "grey", "40"].into_iter().collect();
        for (text, expected) in [
            ("2 black 2 white 2 grey", &["2 black ", "2 white ", "2 grey"][..]),
            ("socks one black one white", &["socks one black ", "one white"]),
            ("black 40 white 41", &["black 40 ", "white 41"]),
            ("2 black size 40", &["2 black size 40"]),
            ("2 black 40 1 white 41", &["2 black 40 ", "1 white 41"]),
            ("size 40 black 2 pairs", &["size 40 black 2 pairs"]),
        ] {
            let pieces = rules.pieces_with(text, &choices);
            let pieces: Vec<&str> = pieces.into_iter().map(|piece| &text[piece]).collect();
            assert_eq!(pieces, expected, "{text}");
        }
    }

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
