//! A secret line in the prompt: a reply that contains it quotes its instructions.

use std::collections::VecDeque;
use std::fmt;

use crate::nlu::facts::is_unseen;

/// How the line begins: a text that does not occur by chance.
const MARK: &str = "fdcanary";
/// Letters of the secret, of which the first is [`FIRST`]: one of 2^70.
const LETTERS: usize = 16;
/// A letter with which hardly a word ends: a word that does is shown only with the next one.
const FIRST: char = 'q';
/// At the end of a reply, so many letters of the secret are a leak already.
const ENOUGH: usize = 8;

/// The secret: letters alone, so that numbers around it (a list of letters, say) do not matter.
#[derive(Clone, PartialEq, Eq)]
pub struct Canary {
    secret: Vec<char>,
    mark: Vec<char>,
}

impl fmt::Debug for Canary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Canary")
    }
}

impl Canary {
    /// Made of random bytes, which the caller draws once for the process.
    pub fn new(random: [u8; LETTERS]) -> Self {
        let rest = random.iter().skip(1).map(|byte| char::from(b'a' + byte % 26));
        let secret = std::iter::once(FIRST).chain(rest).collect();
        Self { secret, mark: MARK.chars().collect() }
    }

    /// The line for a prompt.
    pub fn line(&self) -> String {
        let secret: String = self.secret.iter().map(char::to_ascii_uppercase).collect();
        format!("Ref: FD-CANARY-{secret}")
    }
}

/// The result of checking the next character.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// A text that does not belong to the secret.
    Clear(String),
    Leak,
}

/// A text that is watched for the secret, however it is spaced, cased or marked up.
pub(super) struct Watched<'a> {
    mark: Matching<'a>,
    secret: Matching<'a>,
    /// What may be the beginning of the secret.
    held: VecDeque<char>,
    /// How many characters came out of `held` so far.
    released: usize,
    /// Positions of the letters that may belong to the secret, counted from the reply's first character.
    letters: VecDeque<usize>,
}

impl<'a> Watched<'a> {
    pub(super) fn new(canary: &'a Canary) -> Self {
        Self {
            mark: Matching::new(&canary.mark),
            secret: Matching::new(&canary.secret),
            held: VecDeque::new(),
            released: 0,
            letters: VecDeque::new(),
        }
    }

    pub(super) fn push(&mut self, c: char) -> Seen {
        let plain: Vec<char> = if is_unseen(c) { Vec::new() } else { letters(c) };
        let place = self.released + self.held.len();
        self.held.push_back(c);
        if !plain.is_empty() {
            self.letters.push_back(place);
        }
        for letter in plain {
            if self.mark.step(letter) | self.secret.step(letter) {
                self.held.clear();
                return Seen::Leak;
            }
        }
        self.release()
    }

    pub(super) fn finish(&mut self) -> Seen {
        if self.secret.matched >= ENOUGH {
            return Seen::Leak;
        }
        Seen::Clear(self.held.drain(..).collect())
    }

    /// Releases the text before the longest partial match of the secret.
    fn release(&mut self) -> Seen {
        // One character may be several letters; each match is at least as many characters long as this.
        let matched = self.mark.matched.max(self.secret.matched);
        let surplus = self.letters.len().saturating_sub(matched);
        self.letters.drain(..surplus);
        let end = self.released + self.held.len();
        let keep = self.letters.front().copied().filter(|_| matched > 0).unwrap_or(end).saturating_sub(self.released);
        self.released += keep;
        Seen::Clear(self.held.drain(..keep).collect())
    }
}

/// A letter in lower case and without marks; nothing for what is no letter.
fn letters(c: char) -> Vec<char> {
    use unicode_normalization::UnicodeNormalization;
    // NFKD does not change ASCII.
    if c.is_ascii() {
        return Some(c.to_ascii_lowercase()).filter(char::is_ascii_alphabetic).into_iter().collect();
    }
    c.nfkd().flat_map(char::to_lowercase).filter(char::is_ascii_alphabetic).collect()
}

/// How much of a pattern the end of a text is (Knuth, Morris, Pratt).
struct Matching<'a> {
    pattern: &'a [char],
    /// For each beginning of the pattern, its longest beginning that is also its end.
    back: Vec<usize>,
    matched: usize,
}

impl<'a> Matching<'a> {
    fn new(pattern: &'a [char]) -> Self {
        let mut back = vec![0; pattern.len()];
        for at in 1..pattern.len() {
            let mut length: usize = back[at - 1];
            while length > 0 && pattern[at] != pattern[length] {
                length = back[length - 1];
            }
            back[at] = length + usize::from(pattern[at] == pattern[length]);
        }
        Self { pattern, back, matched: 0 }
    }

    /// Takes a letter; whether the whole pattern is there now.
    fn step(&mut self, letter: char) -> bool {
        while self.matched > 0 && self.pattern[self.matched] != letter {
            self.matched = self.back[self.matched - 1];
        }
        self.matched += usize::from(self.pattern[self.matched] == letter);
        let whole = self.matched == self.pattern.len();
        if whole {
            self.matched = self.back[self.matched - 1];
        }
        whole
    }
}
