//! A reply that quotes the model's instructions, known by the words that follow one another in both.

use std::collections::HashMap;

use super::canary::Seen;
use crate::domain::text::fold;

/// So many words in a row of the instructions are a leak.
const RUN: usize = 12;
/// Runs of at least so many words are held back until they end.
const HELD_RUN: usize = 5;
/// So many words in such runs are a leak, however short each of them is.
const IN_RUNS: usize = 36;

/// A text as folded words, to be followed word by word.
#[derive(Default)]
struct Script {
    words: Vec<String>,
    places: HashMap<String, Vec<usize>>,
    /// For each place after a run that ends now, the run's length.
    runs: HashMap<usize, usize>,
}

impl Script {
    fn add(&mut self, text: &str) {
        for word in crate::domain::text::words(text) {
            self.places.entry(word.clone()).or_default().push(self.words.len());
            self.words.push(word);
        }
        // No run goes from one text into the next.
        self.words.push(String::new());
    }

    /// Takes the next word; how many words in a row now stand here in the same order.
    fn follow(&mut self, word: &str) -> usize {
        let places = self.places.get(word).map_or(&[][..], Vec::as_slice);
        self.runs = places.iter().map(|at| (at + 1, self.runs.get(at).copied().unwrap_or(0) + 1)).collect();
        self.runs.values().copied().max().unwrap_or(0)
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
    pub(super) fn new<'t>(
        instructions: impl IntoIterator<Item = &'t str>,
        quotable: impl IntoIterator<Item = &'t str>,
    ) -> Self {
        let (mut secret, mut open) = (Script::default(), Script::default());
        instructions.into_iter().for_each(|text| secret.add(text));
        quotable.into_iter().for_each(|text| open.add(text));
        Self { instructions: secret, quotable: open, held: String::new(), word: String::new(), run: 0, in_runs: 0 }
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
