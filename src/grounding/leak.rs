//! A reply that quotes the model's instructions, known by the words that follow one another in both.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use super::canary::Seen;
use crate::domain::text::{fold, words};

/// So many words in a row of the instructions are a leak.
const RUN: usize = 12;
/// Runs of at least so many words are held back until they end.
const HELD_RUN: usize = 5;
/// So many words in such runs are a leak, however short each of them is.
const IN_RUNS: usize = 36;

/// Where each folded word of a text stands, by the word's hash.
#[derive(Debug)]
pub(super) struct WordPlaces(Vec<(u64, usize)>);

impl WordPlaces {
    pub(super) fn of(text: &str) -> Self {
        let mut places: Vec<(u64, usize)> = words(text).iter().map(|word| hash(word)).zip(0..).collect();
        places.sort_unstable();
        Self(places)
    }

    /// The places of a word, in order.
    fn places(&self, word: u64) -> impl Iterator<Item = usize> {
        let first = self.0.partition_point(|(other, _)| *other < word);
        self.0[first..].iter().take_while(move |(other, _)| *other == word).map(|(_, at)| *at)
    }
}

fn hash(word: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(word)
}

/// Texts that are followed word by word.
#[derive(Default)]
struct Script {
    texts: Vec<Arc<WordPlaces>>,
    /// For each text and place after a run that ends now, the run's length. Sorted.
    runs: Vec<((usize, usize), usize)>,
}

impl Script {
    fn of(texts: impl IntoIterator<Item = Arc<WordPlaces>>) -> Self {
        Self { texts: texts.into_iter().collect(), runs: Vec::new() }
    }

    /// Takes the next word; how many words in a row now stand here in the same order.
    fn follow(&mut self, word: u64) -> usize {
        let earlier = std::mem::take(&mut self.runs);
        let run_before = |place: (usize, usize)| {
            earlier.binary_search_by_key(&place, |(next, _)| *next).map_or(0, |found| earlier[found].1)
        };
        for (number, text) in self.texts.iter().enumerate() {
            let runs = text.places(word).map(|at| ((number, at + 1), run_before((number, at)) + 1));
            self.runs.extend(runs);
        }
        self.runs.iter().map(|(_, length)| *length).max().unwrap_or(0)
    }
}

/// Watches a reply for runs of words of the instructions that are in no text that may be quoted.
pub(super) struct LeakWatch {
    instructions: Script,
    quotable: Script,
    held: String,
    /// The word that is being written.
    word: String,
    run: usize,
    in_runs: usize,
}

impl LeakWatch {
    pub(super) fn new(
        instructions: impl IntoIterator<Item = Arc<WordPlaces>>,
        quotable: impl IntoIterator<Item = Arc<WordPlaces>>,
    ) -> Self {
        Self {
            instructions: Script::of(instructions),
            quotable: Script::of(quotable),
            held: String::new(),
            word: String::new(),
            run: 0,
            in_runs: 0,
        }
    }

    pub(super) fn push(&mut self, c: char) -> Seen {
        self.held.push(c);
        if c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c) {
            self.word.push(c);
            return Seen::Clear(String::new());
        }
        self.end_word()
    }

    pub(super) fn finish(&mut self) -> Seen {
        match self.end_word() {
            Seen::Leak => Seen::Leak,
            Seen::Clear(text) => Seen::Clear(text + &std::mem::take(&mut self.held)),
        }
    }

    fn end_word(&mut self) -> Seen {
        let folded = fold(&std::mem::take(&mut self.word));
        for word in folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let word = hash(word);
            let run = self.instructions.follow(word);
            let is_quoted = self.quotable.follow(word) >= run;
            self.run = if is_quoted { 0 } else { run };
            self.in_runs += match self.run {
                run if run > HELD_RUN => 1,
                HELD_RUN => HELD_RUN,
                _ => 0,
            };
            if self.run >= RUN || self.in_runs >= IN_RUNS {
                self.held.clear();
                return Seen::Leak;
            }
        }
        if self.run >= HELD_RUN { Seen::Clear(String::new()) } else { Seen::Clear(std::mem::take(&mut self.held)) }
    }
}
