//! Detects reports of damage in what a customer writes.
//!
//! The words are data (`prompts/rules/orders.LANG.toml`). A false alarm costs a person a look; a missed report sends damaged goods
//! through the ordinary process, so an unclear text counts as a report. A text does not report damage that it
//!
//! - **denies**: a negation stands before the damage in its clause, with nothing between that ends it ("not even a bit torn",
//!   "không hề bị vỡ"), or around it ("có hư đâu"). A denial covers "or" and lists ("no cracks, dents or holes");
//! - **supposes**: "if it arrives broken", "nếu hàng bị hư".

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;

use crate::domain::text::{InvalidPattern, Lexicon, Pattern, TokenStream, Window};

#[cfg(test)]
pub(super) mod tests;

/// How many words before and after a word of damage are read: clauses are hardly longer, and the cost stays linear.
const AROUND: usize = 30;

/// The shop's words of damage, compiled. A clone shares them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "WordLists")]
pub struct DamageWords(Arc<Patterns>);

#[derive(Debug, Default)]
struct Patterns {
    lexicon: Lexicon,
    words: Vec<Pattern>,
    negations: Vec<Pattern>,
    carried: Vec<Pattern>,
    joined: Vec<Pattern>,
    insisted: Vec<Pattern>,
    around: Vec<(Vec<Pattern>, Vec<Pattern>)>,
    suppositions: Vec<Pattern>,
    supposed: Vec<Pattern>,
    doubts: Vec<Pattern>,
}

/// The lists as they are written in the rule file, which describes each.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WordLists {
    aliases: HashMap<String, String>,
    words: Vec<String>,
    negations: Vec<String>,
    carried: Vec<String>,
    joined: Vec<String>,
    insisted: Vec<String>,
    around: Vec<Around>,
    suppositions: Vec<String>,
    supposed: Vec<String>,
    doubts: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Around {
    before: Vec<String>,
    after: Vec<String>,
}

impl TryFrom<WordLists> for DamageWords {
    type Error = InvalidPattern;

    fn try_from(lists: WordLists) -> Result<Self, InvalidPattern> {
        let lexicon = Lexicon::new(lists.aliases, HashMap::new()).ignoring_diacritics();
        let around = |around: &Around| Ok((lexicon.patterns(&around.before)?, lexicon.patterns(&around.after)?));
        Ok(Self(Arc::new(Patterns {
            words: lexicon.patterns(&lists.words)?,
            negations: lexicon.patterns(&lists.negations)?,
            carried: lexicon.patterns(&lists.carried)?,
            joined: lexicon.patterns(&lists.joined)?,
            insisted: lexicon.patterns(&lists.insisted)?,
            around: lists.around.iter().map(around).collect::<Result<_, InvalidPattern>>()?,
            suppositions: lexicon.patterns(&lists.suppositions)?,
            supposed: lexicon.patterns(&lists.supposed)?,
            doubts: lexicon.patterns(&lists.doubts)?,
            lexicon,
        })))
    }
}

impl DamageWords {
    /// Makes a list of words of damage, and of words that deny it when they stand directly before one.
    ///
    /// # Errors
    /// One of the words is not a valid pattern.
    pub fn new(words: &[&str], negations: &[&str]) -> Result<Self, InvalidPattern> {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        WordLists { words: owned(words), negations: owned(negations), ..WordLists::default() }.try_into()
    }

    /// Whether the text reports damage.
    pub fn is_reported_in(&self, text: &str) -> bool {
        let stream = self.0.lexicon.tokenize(text);
        let reader = Reader { patterns: &self.0, stream: &stream };
        let mut dismissed: Option<Range<usize>> = None;
        for place in reader.places() {
            let follows = dismissed.as_ref().is_some_and(|before| reader.continues(before.end, &place));
            if !follows && !reader.is_denied(&place) && !reader.is_supposed(&place) {
                return true;
            }
            dismissed = Some(place);
        }
        false
    }
}

/// The words of damage over one text.
struct Reader<'s> {
    patterns: &'s Patterns,
    stream: &'s TokenStream<'s>,
}

impl Reader<'_> {
    fn len(&self) -> usize {
        self.stream.tokens().len()
    }

    fn clause_number(&self, word: usize) -> Option<usize> {
        self.stream.tokens().get(word).map(|token| token.clause)
    }

    /// The words before and after a place in its clause, at most [`AROUND`] each.
    fn clause_around(&self, place: &Range<usize>) -> (Range<usize>, Range<usize>) {
        let start = self.stream.clause(place.start).start.max(place.start.saturating_sub(AROUND));
        let end = self.stream.clause(place.end - 1).end.min(place.end + AROUND);
        (start..place.start, place.end..end)
    }

    /// The length of the longest match that begins at the first of these words and sees no others; 0: none.
    fn longest(&self, patterns: &[Pattern], words: Range<usize>) -> usize {
        let at = words.start;
        let window = Window { words, barred: &[] };
        patterns.iter().filter_map(|pattern| pattern.match_len(self.stream, at, &window)).max().unwrap_or(0)
    }

    /// The ranges of words that name damage, without overlaps.
    fn places(&self) -> Vec<Range<usize>> {
        let window = Window { words: 0..self.len(), barred: &[] };
        let negates = self.longest_everywhere(&self.patterns.negations, &window);
        let barred: Vec<bool> = negates.iter().map(|length| *length > 0).collect();
        let lengths = self.longest_everywhere(&self.patterns.words, &Window { barred: &barred, ..window });
        let mut places = Vec::new();
        let mut at = 0;
        while let Some(length) = lengths.get(at).copied() {
            if length > 0 {
                places.push(at..at + length);
            }
            at += length.max(1);
        }
        places
    }

    /// For each word, the length of the longest match that begins at it.
    fn longest_everywhere(&self, patterns: &[Pattern], window: &Window<'_>) -> Vec<usize> {
        let mut lengths = vec![0; self.len()];
        for pattern in patterns {
            for at in pattern.starts(self.stream) {
                let length = pattern.match_len(self.stream, at, window).unwrap_or(0);
                lengths[at] = length.max(lengths[at]);
            }
        }
        lengths
    }

    fn is_denied(&self, place: &Range<usize>) -> bool {
        let (before, after) = self.clause_around(place);
        let Patterns { insisted, negations, carried, around, .. } = self.patterns;
        if self.longest(insisted, after.clone()) > 0 {
            return false;
        }
        let ends_before =
            |patterns: &[Pattern]| before.clone().any(|at| self.longest(patterns, at..before.end) == before.end - at);
        self.last_opening(negations, carried, &before).is_some()
            || around.iter().any(|(first, last)| self.longest(last, after.clone()) > 0 && ends_before(first))
    }

    fn is_supposed(&self, place: &Range<usize>) -> bool {
        let (before, _) = self.clause_around(place);
        let Some(at) = self.last_opening(&self.patterns.suppositions, &self.patterns.supposed, &before) else {
            return false;
        };
        // "I am not sure if it is broken" is a report, not a supposition.
        !(before.start..at).any(|doubt| self.longest(&self.patterns.doubts, doubt..before.end) == at - doubt)
    }

    /// The position of the last opening that only `carried` words separate from the end.
    fn last_opening(&self, openings: &[Pattern], carried: &[Pattern], before: &Range<usize>) -> Option<usize> {
        let opens = |at: usize, opening: &Pattern| {
            let window = Window { words: at..before.end, barred: &[] };
            let length = opening.match_len(self.stream, at, &window);
            length.is_some_and(|length| self.is_covered_by(&[carried], at + length..before.end))
        };
        before.clone().rev().find(|at| openings.iter().any(|opening| opens(*at, opening)))
    }

    /// Whether a denial or supposition of damage that ends at `end` holds for this place too: "torn or broken", "no cracks, dents".
    fn continues(&self, end: usize, place: &Range<usize>) -> bool {
        let Patterns { words, joined, carried, .. } = self.patterns;
        let between = end..place.start;
        if self.clause_number(end - 1) == self.clause_number(place.start) {
            let join = self.longest(joined, between.clone());
            return between.is_empty()
                || (join > 0 && self.is_covered_by(&[carried], between.start + join..between.end));
        }
        // In another clause only where that clause is part of the list: "not broken, torn at the heel" reports damage.
        let (before, after) = self.clause_around(place);
        let is_next = between.len() == before.len();
        let join = self.longest(joined, before.clone());
        let is_bare =
            before.is_empty() || (join > 0 && self.is_covered_by(&[carried], before.start + join..before.end));
        is_next
            && is_bare
            && self.is_covered_by(&[words, joined, carried], after)
            && (join > 0 || self.is_joined_later(place.end))
    }

    /// Whether a list of damage ends with "or": without one, "it is not torn, broken" may report damage.
    fn is_joined_later(&self, from: usize) -> bool {
        let end = self.len().min(from + AROUND);
        let mut at = from;
        while at < end {
            match self.longest(&self.patterns.words, at..end) {
                0 => return self.longest(&self.patterns.joined, at..end) > 0,
                length => at += length,
            }
        }
        false
    }

    /// Whether the words are matches of these patterns and nothing else.
    fn is_covered_by(&self, lists: &[&[Pattern]], words: Range<usize>) -> bool {
        let mut at = words.start;
        while at < words.end {
            match lists.iter().map(|patterns| self.longest(patterns, at..words.end)).max() {
                Some(length) if length > 0 => at += length,
                _ => return false,
            }
        }
        true
    }
}
