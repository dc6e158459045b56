//! Splits a question into the parts that a passage should cover, and finds the goods that it names.

use super::super::budget::{Budget, take_budget};
use super::super::rules::Words;
use super::super::terms::{Token, is_plain_number};
use super::{LexicalIndex, Term};
use crate::domain::Language;

/// A parsed question.
pub(super) struct Question {
    pub text: String,
    pub parts: Vec<Part>,
    pub budget: Budget,
}

/// A word or phrase of the question.
pub(super) struct Part {
    /// The ways in which a passage may express it.
    pub ways: Vec<Way>,
    /// The inverse document frequency.
    pub idf: f64,
    /// A word that is on every page of a shop. It helps to rank, but is not an answer.
    pub weak: bool,
}

impl Part {
    /// Whether it is a number with its unit, or a code: "180hz", "am5".
    pub fn is_exact(&self) -> bool {
        let has_digit = |word: &str| word.contains(|c: char| c.is_ascii_digit());
        self.ways.iter().any(|way| matches!(&way.term, Term::Root(word) if has_digit(word)))
    }
}

pub(super) struct Way {
    pub term: Term,
    /// The credit for this way, from 0 to 1.
    pub credit: f64,
}

/// The credit for a word that differs only in diacritics ("vâng" for "vàng").
const OTHER_MARKS: f64 = 0.3;
/// The credit for one syllable of a probable word of two ("thời" of "thời tiết").
const LONE_SYLLABLE: f64 = 0.4;
/// The weight of such a syllable in the question. Two of them weigh little more than a whole word.
const HALF_A_WORD: f64 = 0.6;
/// The credit for the wider meanings of a phrase ("ssd" is also storage). The rarest one gets full credit.
const WIDER_MEANING: f64 = 0.3;

impl Question {
    pub fn of(text: &str, language: Language, index: &LexicalIndex) -> Self {
        let rules = index.rules.words(Some(language));
        let (budget, words) = take_budget(text, rules);
        let mut parts = Vec::new();
        let mut at = 0;
        // The start of a run of words outside of phrases. Only these can be syllables of one word.
        let mut free = 0;
        while at < words.len() {
            let here = &words[at..];
            let (length, meanings) = rules.meanings.longest_at(here);
            let stop = rules.stop.starts(here);
            if length > 0 && length >= stop {
                parts.push(meant(&meanings, &here[..length], rules, index));
                at += length;
                free = at;
            } else if stop > 0 {
                at += stop;
            } else {
                let weak = rules.weak.starts(here);
                for n in at..at + weak.max(1) {
                    let before = (n > free).then(|| &words[n - 1]);
                    let after = words.get(n + 1).filter(|_| rules.meanings.starts(&words[n + 1..]) == 0);
                    let word = Word { word: &words[n], before, after };
                    parts.push(word.part(language, weak > 0, index));
                }
                at += weak.max(1);
            }
        }
        Self { text: text.to_owned(), parts, budget }
    }

    /// The meaningful words.
    pub fn strong(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| !part.weak)
    }

    /// The weight of the meaningful words.
    pub fn to_cover(&self) -> f64 {
        self.strong().map(|part| part.idf).sum()
    }

    /// Returns the catalogue rows of the categories that the question names, with repetitions.
    pub fn named_categories(&self, index: &LexicalIndex) -> Vec<usize> {
        self.rows_of_categories(index).flatten().collect()
    }

    /// Returns the catalogue rows of each category that the question names: of the narrowest meaning that is one, where a phrase has
    /// several ("mechanical keyboard").
    pub fn rows_of_categories(&self, index: &LexicalIndex) -> impl Iterator<Item = Vec<usize>> {
        let of_way = |way: &Way| {
            let Term::Meaning(meaning) = way.term else { return None };
            let rows = index.postings.get(&Term::Category(meaning))?;
            Some(rows.iter().map(|posting| posting.piece).collect())
        };
        self.parts.iter().filter_map(move |part| part.ways.iter().find_map(of_way))
    }
}

fn meant(meanings: &[u32], words: &[Token], rules: &Words, index: &LexicalIndex) -> Part {
    let mut ways: Vec<(f64, Term)> =
        meanings.iter().map(|n| Term::Meaning(*n)).map(|term| (index.idf(&term), term)).collect();
    ways.sort_by(|a, b| b.0.total_cmp(&a.0));
    let idf = ways.first().map_or(0.0, |(idf, _)| *idf);
    let credit = |n| if n == 0 { 1.0 } else { WIDER_MEANING };
    let ways = ways.into_iter().enumerate().map(|(n, (_, term))| Way { term, credit: credit(n) }).collect();
    let weak = rules.weak.starts(words) == words.len();
    Part { ways, idf, weak }
}

/// A word outside of phrases, with its neighbours outside of phrases.
struct Word<'a> {
    word: &'a Token,
    before: Option<&'a Token>,
    after: Option<&'a Token>,
}

impl Word<'_> {
    fn part(&self, language: Language, weak: bool, index: &LexicalIndex) -> Part {
        let rules = index.rules.words(Some(language));
        let credit = if index.rules.is_syllabic(language) && self.is_half_a_word(rules) { LONE_SYLLABLE } else { 1.0 };
        let root = Term::Root(self.word.root.clone());
        let mut ways = Vec::with_capacity(4);
        let idf = if self.word.marked {
            let marked = Term::Marked(self.word.exact.clone());
            let idf = index.idf(&marked);
            ways.push(Way { term: marked, credit });
            ways.push(Way { term: root, credit: credit * OTHER_MARKS });
            idf
        } else {
            let idf = index.idf(&root);
            ways.push(Way { term: root, credit });
            idf
        };
        let idf = if credit < 1.0 { idf * HALF_A_WORD } else { idf };
        if credit < 1.0 {
            let pair = |a: &Token, b: &Token| Way { term: Term::Pair(a.root.clone(), b.root.clone()), credit: 1.0 };
            ways.extend(self.before.map(|before| pair(before, self.word)));
            ways.extend(self.after.map(|after| pair(self.word, after)));
        }
        // Every catalogue contains the "15" of "iPhone 15".
        let weak = weak || (self.word.root.len() <= 2 && is_plain_number(&self.word.root));
        Part { ways, idf, weak }
    }

    fn is_half_a_word(&self, rules: &Words) -> bool {
        let partner = |other: &Token| other.syllable && rules.stop.starts(std::slice::from_ref(other)) == 0;
        self.word.syllable && [self.before, self.after].into_iter().flatten().any(partner)
    }
}

impl LexicalIndex {
    /// Returns the categories of the catalogue that a question names, in their order: keyboards and laptops in "a keyboard for my
    /// laptop".
    pub fn categories(&self, text: &str, language: Language) -> Vec<String> {
        let mut named: Vec<String> = Vec::new();
        for rows in self.parsed(text, language).rows_of_categories(self) {
            for section in rows.into_iter().map(|row| self.pieces[row].section()) {
                if !named.iter().any(|named| *named == section) {
                    named.push(section.into_owned());
                }
            }
        }
        named
    }

    /// Returns whether a question names categories of the catalogue, but not this one.
    pub fn names_other_category(&self, text: &str, category: &str, language: Language) -> bool {
        let named = self.categories(text, language);
        !named.is_empty() && !named.iter().any(|named| named == category)
    }

    /// Returns the numbers with a unit of a question, without its budget: "27inch", "2tb".
    pub fn quantities(&self, text: &str, language: Language) -> Vec<String> {
        let words = self.rules.words(Some(language));
        let (_, tokens) = take_budget(text, words);
        let quantities = tokens.into_iter().filter(|token| words.analyzer.bare_number(&token.exact).is_some());
        quantities.map(|token| token.exact).collect()
    }
}
