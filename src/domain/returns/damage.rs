//! Words that tell of damage (seed 001, step 4), in English and Vietnamese, inflected and without marks.
//!
//! The words are the shop's (`prompts/rules/orders.toml`) and come in as data. A word too many costs a person a look; one
//! too few sends damaged goods on their way, so what is not clear counts as damage. Damage is not told where it is
//!
//! - **denied**: a negation stands before it in its clause with nothing between that would end it ("not even a bit torn",
//!   "không hề bị vỡ"), or around it ("có hư đâu"); a denial goes on over "or" and over a list ("no cracks, dents or holes");
//! - **supposed**: "if it arrives broken", "nếu hàng bị hư".
//!
//! [`phrase`] says how the phrases of the data are written.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;

use phrase::{Phrase, Word, longest, longest_across};

mod phrase;
#[cfg(test)]
pub(super) mod tests;

/// How many words on either side of a word of damage are read: a clause is hardly longer, and no text costs more.
const AROUND: usize = 30;

/// The words, ready to be looked for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Lists")]
pub struct DamageWords {
    aliases: HashMap<String, Vec<String>>,
    words: Vec<Phrase>,
    negations: Vec<Phrase>,
    carried: Vec<Phrase>,
    joined: Vec<Phrase>,
    insisted: Vec<Phrase>,
    around: Vec<(Vec<Phrase>, Vec<Phrase>)>,
    suppositions: Vec<Phrase>,
    supposed: Vec<Phrase>,
    doubts: Vec<Phrase>,
}

/// As the file has them; it says what each list is for.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Lists {
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

impl From<Lists> for DamageWords {
    fn from(lists: Lists) -> Self {
        let aliases = lists.aliases.iter();
        let around = lists.around.iter();
        Self {
            aliases: aliases.map(|(typed, meant)| (phrase::exact(typed), spelled(meant))).collect(),
            words: phrases(&lists.words),
            negations: phrases(&lists.negations),
            carried: phrases(&lists.carried),
            joined: phrases(&lists.joined),
            insisted: phrases(&lists.insisted),
            around: around.map(|around| (phrases(&around.before), phrases(&around.after))).collect(),
            suppositions: phrases(&lists.suppositions),
            supposed: phrases(&lists.supposed),
            doubts: phrases(&lists.doubts),
        }
    }
}

fn spelled(meant: &str) -> Vec<String> {
    meant.split_whitespace().map(phrase::exact).collect()
}

fn phrases(written: &[impl AsRef<str>]) -> Vec<Phrase> {
    written.iter().map(|phrase| Phrase::parse(phrase.as_ref())).collect()
}

impl DamageWords {
    /// Phrases of damage, and phrases that deny it when they stand directly before one.
    pub fn new(words: &[impl AsRef<str>], negations: &[impl AsRef<str>]) -> Self {
        Self { words: phrases(words), negations: phrases(negations), ..Self::default() }
    }

    /// Whether the text tells of damage.
    pub fn is_told_in(&self, text: &str) -> bool {
        let words = phrase::words_of(text, &self.aliases);
        let mut dismissed: Option<Range<usize>> = None;
        for place in self.places(&words) {
            let follows = dismissed.as_ref().is_some_and(|before| self.goes_on(&words, before.end, &place));
            if !follows && !self.is_denied(&words, &place) && !self.is_supposed(&words, &place) {
                return true;
            }
            dismissed = Some(place);
        }
        false
    }

    /// Where the text speaks of damage, without overlaps.
    fn places(&self, words: &[Word]) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let length = longest_across(&self.words, &words[at..], &self.negations);
            if length > 0 {
                places.push(at..at + length);
            }
            at += length.max(1);
        }
        places
    }

    fn is_denied(&self, words: &[Word], place: &Range<usize>) -> bool {
        let (before, after) = clause_around(words, place);
        if longest(&self.insisted, after) > 0 {
            return false;
        }
        let around = |(first, last): &(Vec<Phrase>, Vec<Phrase>)| {
            longest(last, after) > 0 && (0..before.len()).any(|at| longest(first, &before[at..]) == before.len() - at)
        };
        self.opens(&self.negations, &self.carried, before).is_some() || self.around.iter().any(around)
    }

    fn is_supposed(&self, words: &[Word], place: &Range<usize>) -> bool {
        let (before, _) = clause_around(words, place);
        let Some(at) = self.opens(&self.suppositions, &self.supposed, before) else { return false };
        // "I am not sure if it is broken" supposes nothing.
        !(0..at).any(|doubt| longest(&self.doubts, &before[doubt..]) == at - doubt)
    }

    /// Where the last of these phrases stands behind which the clause holds nothing but what it may carry.
    fn opens(&self, openings: &[Phrase], carried: &[Phrase], before: &[Word]) -> Option<usize> {
        (0..before.len()).rev().find(|at| {
            let rest = &before[*at..];
            openings
                .iter()
                .any(|opening| opening.length(rest, &[]).is_some_and(|length| covers(carried, &rest[length..])))
        })
    }

    /// Whether what was said of the damage before, which ends at `end`, holds for this one too: "torn or broken", "no cracks, dents".
    fn goes_on(&self, words: &[Word], end: usize, place: &Range<usize>) -> bool {
        let between = &words[end..place.start];
        if words[end - 1].clause == words[place.start].clause {
            let joined = longest(&self.joined, between);
            return between.is_empty() || (joined > 0 && covers(&self.carried, &between[joined..]));
        }
        // In another clause only where that holds nothing else: "not broken, torn at the heel" tells of damage.
        let (before, after) = clause_around(words, place);
        let is_next = between.len() == before.len();
        let joined = longest(&self.joined, before);
        let is_bare = before.is_empty() || (joined > 0 && covers(&self.carried, &before[joined..]));
        is_next && is_bare && self.is_list(after) && (joined > 0 || self.is_joined_later(first(&words[place.end..])))
    }

    /// Whether a list goes on to its last "or": without one, "it is not torn, broken" may tell of damage.
    fn is_joined_later(&self, words: &[Word]) -> bool {
        let mut at = 0;
        while at < words.len() {
            match longest(&self.words, &words[at..]) {
                0 => return longest(&self.joined, &words[at..]) > 0,
                length => at += length,
            }
        }
        false
    }

    /// Whether there is nothing in it but damage and what joins it.
    fn is_list(&self, words: &[Word]) -> bool {
        let mut at = 0;
        while at < words.len() {
            let rest = &words[at..];
            match [&self.words, &self.joined, &self.carried].map(|phrases| longest(phrases, rest)).into_iter().max() {
                Some(length) if length > 0 => at += length,
                _ => return false,
            }
        }
        true
    }
}

/// Whether the words are nothing but these phrases.
fn covers(phrases: &[Phrase], words: &[Word]) -> bool {
    let mut at = 0;
    while at < words.len() {
        match longest(phrases, &words[at..]) {
            0 => return false,
            length => at += length,
        }
    }
    true
}

/// The words before and after a place in its clause, at most [`AROUND`] words each.
fn clause_around<'w>(words: &'w [Word], place: &Range<usize>) -> (&'w [Word], &'w [Word]) {
    let start = words.partition_point(|word| word.clause < words[place.start].clause);
    let end = words.partition_point(|word| word.clause <= words[place.end - 1].clause);
    (&words[start.max(place.start.saturating_sub(AROUND))..place.start], first(&words[place.end..end]))
}

/// At most [`AROUND`] of the words.
fn first(words: &[Word]) -> &[Word] {
    &words[..words.len().min(AROUND)]
}
