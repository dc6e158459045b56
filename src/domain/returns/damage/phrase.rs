//! Messages as words, and phrases over them.
//!
//! | written | matches |
//! |---|---|
//! | `torn` | that word |
//! | `torn\|ripped` | either |
//! | `damag*` | words that begin so: damage, damages, damaged |
//! | `vỡ!` | only with its marks, since without them it is too often another word |
//! | `like?` | that word or nothing |
//! | `..` | up to three words of the clause, none of which denies |
//! | `$` | the end of the clause |

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use crate::domain::text::fold;

/// How many words `..` stands for at most.
const GAP: usize = 3;
/// What ends a clause.
const CLAUSE_ENDS: &str = ".,;:!?…()–—\n。，！？；：";

/// Words in a row.
#[derive(Clone, Debug)]
pub(super) struct Phrase {
    parts: Vec<Part>,
    /// What its first word can begin with, without marks; `None`: anything. It rules out most words quickly.
    first: Option<Vec<char>>,
}

#[derive(Clone, Debug)]
enum Part {
    AnyOf { words: Vec<Spelling>, optional: bool },
    Gap,
    End,
}

/// One way to write a word of a phrase.
#[derive(Clone, Debug)]
struct Spelling {
    exact: String,
    folded: String,
    goes_on: bool,
    marked: bool,
}

/// One word of a message.
#[derive(Clone, Debug)]
pub(super) struct Word {
    exact: String,
    folded: String,
    /// Words of one clause have the same.
    pub clause: usize,
}

impl Word {
    fn new(exact: String, clause: usize) -> Self {
        let folded = fold(&exact);
        Self { exact, folded, clause }
    }
}

/// Lower case, composed.
pub(super) fn exact(word: &str) -> String {
    word.nfc().collect::<String>().to_lowercase()
}

/// The words of a text, with abbreviations and contractions ("ko", "doesn't") spelled out.
pub(super) fn words_of(text: &str, aliases: &HashMap<String, Vec<String>>) -> Vec<Word> {
    // A hyphen between spaces is a dash.
    let text = exact(text).replace(" - ", "\n").replace(['’', '‘', '`'], "'").replace("n't", "nt");
    let mut words = Vec::new();
    for (clause, text) in text.split(|c| CLAUSE_ENDS.contains(c)).enumerate() {
        for typed in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            match aliases.get(typed) {
                Some(meant) => words.extend(meant.iter().map(|word| Word::new(word.clone(), clause))),
                None => words.push(Word::new(typed.to_owned(), clause)),
            }
        }
    }
    words
}

/// How many words the longest of the phrases has that `words` begin with; 0: none.
pub(super) fn longest(phrases: &[Phrase], words: &[Word]) -> usize {
    longest_across(phrases, words, &[])
}

/// The same, where `..` stands for no word that one of `barred` begins with.
pub(super) fn longest_across(phrases: &[Phrase], words: &[Word], barred: &[Phrase]) -> usize {
    phrases.iter().filter_map(|phrase| phrase.length(words, barred)).max().unwrap_or(0)
}

impl Phrase {
    pub fn parse(written: &str) -> Self {
        let part = |part: &str| match part {
            ".." => Part::Gap,
            "$" => Part::End,
            words => {
                let (words, optional) = words.strip_suffix('?').map_or((words, false), |words| (words, true));
                Part::AnyOf { words: words.split('|').map(Spelling::parse).collect(), optional }
            }
        };
        let parts: Vec<Part> = written.split_whitespace().map(part).collect();
        let first = match parts.first() {
            Some(Part::AnyOf { words, optional: false }) => {
                words.iter().map(|word| word.folded.chars().next()).collect()
            }
            _ => None,
        };
        Self { parts, first }
    }

    /// How many words it takes of those that `words` begin with, if they begin with it.
    pub fn length(&self, words: &[Word], barred: &[Self]) -> Option<usize> {
        let may_begin = |first: &Vec<char>| words.first().is_some_and(|word| word.folded.starts_with(first.as_slice()));
        if self.parts.is_empty() || !self.first.as_ref().is_none_or(may_begin) {
            return None;
        }
        length(&self.parts, words, 0, barred)
    }
}

fn length(parts: &[Part], words: &[Word], at: usize, barred: &[Phrase]) -> Option<usize> {
    let Some((part, rest)) = parts.split_first() else { return Some(at) };
    match part {
        Part::AnyOf { words: any, optional } => {
            let fits = words.get(at).is_some_and(|word| any.iter().any(|spelling| spelling.fits(word)));
            let taken = fits.then(|| length(rest, words, at + 1, barred)).flatten();
            taken.or_else(|| optional.then(|| length(rest, words, at, barred))?)
        }
        Part::Gap => {
            let clause = words.first()?.clause;
            let may_skip = |at: &usize| {
                words.get(*at).is_some_and(|word| word.clause == clause) && longest(barred, &words[*at..]) == 0
            };
            let skipped = (at..at + GAP).take_while(may_skip).count();
            (0..=skipped).find_map(|skip| length(rest, words, at + skip, barred))
        }
        Part::End => {
            let goes_on = words.get(at).is_some_and(|word| at > 0 && word.clause == words[at - 1].clause);
            (!goes_on).then(|| length(rest, words, at, barred))?
        }
    }
}

impl Spelling {
    fn parse(written: &str) -> Self {
        let (word, goes_on) = written.strip_suffix('*').map_or((written, false), |word| (word, true));
        let (word, marked) = word.strip_suffix('!').map_or((word, false), |word| (word, true));
        Self { exact: exact(word), folded: fold(word), goes_on, marked }
    }

    fn fits(&self, word: &Word) -> bool {
        // A word typed with marks must carry the phrase's own: "vô" is not "vỡ". One without any may be any of them.
        let is_bare = word.exact == word.folded && !self.marked;
        self.compare(&word.exact, &self.exact) || (is_bare && self.compare(&word.folded, &self.folded))
    }

    fn compare(&self, word: &str, spelling: &str) -> bool {
        if self.goes_on { word.starts_with(spelling) } else { word == spelling }
    }
}
