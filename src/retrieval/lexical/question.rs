//! A question as the parts that a passage should speak of.

use super::super::budget::{Budget, take_budget};
use super::super::terms::{Token, tokens};
use super::{LexicalIndex, Term};
use crate::domain::Language;

/// A question, taken apart.
pub(super) struct Question {
    pub parts: Vec<Part>,
    pub budget: Budget,
}

/// A word or phrase of the question.
pub(super) struct Part {
    /// The ways in which a passage may say it.
    pub ways: Vec<Way>,
    /// How rare it is.
    pub idf: f64,
    /// Every shop page has such a word: it helps to rank but is no answer.
    pub weak: bool,
}

pub(super) struct Way {
    pub term: Term,
    /// How much of the part a passage meets that says it in this way, 0 to 1.
    pub credit: f64,
}

/// Another word of the same spelling but for its diacritics ("vâng" for "vàng").
const OTHER_MARKS: f64 = 0.3;
/// One syllable of what is probably a word of two ("thời" of "thời tiết").
const LONE_SYLLABLE: f64 = 0.5;
/// A phrase that stands for several meanings has its rarest for sure, the wider ones perhaps ("ssd" is storage too).
const WIDER_MEANING: f64 = 0.3;

impl Question {
    pub fn of(text: &str, language: Language, index: &LexicalIndex) -> Self {
        let rules = &index.rules;
        let (budget, words) = take_budget(&tokens(text, &rules.units), rules);
        let mut parts: Vec<Part> = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let here = &words[at..];
            let (length, meanings) = rules.meanings.longest_at(here);
            let stop = rules.stop.starts(here);
            if length > 0 && length >= stop {
                parts.push(meant(&meanings, &here[..length], index));
                at += length;
                continue;
            }
            if stop > 0 {
                at += stop;
                continue;
            }
            let weak = rules.weak.starts(here);
            for n in at..at + weak.max(1) {
                parts.push(said(&words, n, language, weak > 0, index));
            }
            at += weak.max(1);
        }
        Self { parts, budget }
    }
}

fn meant(meanings: &[u32], words: &[Token], index: &LexicalIndex) -> Part {
    let mut ways: Vec<(f64, Term)> =
        meanings.iter().map(|n| Term::Meaning(*n)).map(|term| (index.idf(&term), term)).collect();
    ways.sort_by(|a, b| b.0.total_cmp(&a.0));
    let idf = ways.first().map_or(0.0, |(idf, _)| *idf);
    let credit = |n| if n == 0 { 1.0 } else { WIDER_MEANING };
    let ways = ways.into_iter().enumerate().map(|(n, (_, term))| Way { term, credit: credit(n) }).collect();
    let weak = index.rules.weak.starts(words) == words.len();
    Part { ways, idf, weak }
}

fn said(words: &[Token], n: usize, language: Language, weak: bool, index: &LexicalIndex) -> Part {
    let word = &words[n];
    let folded = Term::Folded(word.folded.clone());
    let beside = [n.checked_sub(1), Some(n + 1)].map(|at| at.and_then(|at| words.get(at)));
    let syllable = language == Language::VI && word.is_syllable();
    let content = |other: &Token| other.is_syllable() && index.rules.stop.starts(std::slice::from_ref(other)) == 0;
    let credit = if syllable && beside.iter().flatten().any(|other| content(other)) { LONE_SYLLABLE } else { 1.0 };

    let (mut ways, idf) = if word.has_marks() {
        let marked = Term::Marked(word.exact.clone());
        let idf = index.idf(&marked);
        (vec![Way { term: marked, credit }, Way { term: folded, credit: credit * OTHER_MARKS }], idf)
    } else {
        let idf = index.idf(&folded);
        (vec![Way { term: folded, credit }], idf)
    };
    if credit < 1.0 {
        let pair = |a: &Token, b: &Token| Way { term: Term::Pair(a.folded.clone(), b.folded.clone()), credit: 1.0 };
        ways.extend(beside[0].map(|before| pair(before, word)));
        ways.extend(beside[1].map(|after| pair(word, after)));
    }
    Part { ways, idf, weak }
}
