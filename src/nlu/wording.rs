//! Messages as words, and patterns over them: what the rule files under `prompts/rules/` are written in.
//!
//! A customer's *giá*, *gia* and *gía* are one word here, but *mưa* is not *mua*: a word typed with marks must carry
//! the keyword's own marks, a word typed without any may stand for every marked one ([`Wording`] says when).
//!
//! A pattern is words in a row, inside one clause:
//!
//! | written | matches |
//! |---|---|
//! | `giá` | that word |
//! | `mua\|đặt_hàng` | either; `_` joins the words of one alternative |
//! | `được?` | that word or nothing |
//! | `ghế!` | only with its marks, since *ghe* without them is too often another word |
//! | `<product>` | any entry of that class |
//! | `#` | a word that begins with a digit and is no serial number |
//! | `..` | up to three words, whatever they are |
//! | `^`, `$` | the beginning and the end of a clause |

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::domain::text::fold;

mod pattern;
#[cfg(test)]
mod tests;
mod token;

pub use pattern::{InvalidPattern, Pattern};
pub use token::{Token, Wording};

/// A word in the two spellings that are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Spelling {
    /// Lower case with its marks, the tone moved to the end: *hoà*, *hòa* and a mistyped *hoà* are the same.
    exact: String,
    /// Without any mark.
    folded: String,
}

impl Spelling {
    fn of(word: &str) -> Self {
        Self { exact: token::exact(word), folded: fold(word) }
    }

    fn is_marked(&self) -> bool {
        self.exact != self.folded
    }
}

/// The abbreviations and the classes of words that the patterns of one rule file share.
#[derive(Debug, Default)]
pub struct Lexicon {
    aliases: HashMap<String, Vec<Spelling>>,
    classes: HashMap<String, Vec<pattern::Row>>,
    plain_words: HashSet<String>,
}

impl Lexicon {
    /// `aliases` maps how people type a word ("ko") to the word ("không"); `classes` names lists of alternatives.
    pub fn new(aliases: HashMap<String, String>, classes: HashMap<String, Vec<String>>) -> Self {
        let aliases = aliases
            .into_iter()
            .map(|(typed, meant)| (token::exact(&typed), meant.split_whitespace().map(Spelling::of).collect()))
            .collect();
        let rows = |entries: Vec<String>| entries.iter().map(|entry| pattern::row(entry.split_whitespace())).collect();
        let classes = classes.into_iter().map(|(name, entries)| (name, rows(entries))).collect();
        Self { aliases, classes, plain_words: HashSet::new() }
    }

    /// With the words that carry no mark anyway, and so stand for no marked word in a message that is typed with marks.
    pub fn with_plain_words(mut self, words: &[String]) -> Self {
        self.plain_words = words.iter().map(|word| token::exact(word)).collect();
        self
    }

    /// Every pattern of the list, or the first one that is written wrong.
    pub fn patterns(&self, written: &[String]) -> Result<Vec<Pattern>, InvalidPattern> {
        written.iter().map(|text| Pattern::parse(text, &self.classes)).collect()
    }

    pub fn read<'a>(&self, text: &'a str) -> Wording<'a> {
        Wording::read(text, &self.aliases, &self.plain_words)
    }
}

/// The words that any of the patterns covers, `hidden` ones not being seen: merged into one flag a word.
pub fn cover(patterns: &[Pattern], wording: &Wording<'_>, hidden: &[bool]) -> Vec<bool> {
    let mut covered = vec![false; wording.tokens().len()];
    for pattern in patterns {
        for Range { start, end } in pattern.find_all(wording, hidden) {
            covered[start..end].fill(true);
        }
    }
    covered
}
