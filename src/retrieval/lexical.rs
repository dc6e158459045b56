//! Search by words: BM25 in memory, insensitive to diacritics, with a rule for "nothing fits".
//!
//! A question becomes *parts* (`question`), each a word or a phrase with the ways in which a passage may say it. A way has a credit:
//! 1 for the same meaning, less for a single syllable out of a pair or for other diacritics. For a passage,
//!
//! - its **score** is Σ weight·idf·credit·saturation(tf) over the parts, divided by Σ weight·idf: the share of what was asked that
//!   the passage speaks of, 0 to 1. Saturation is BM25's tf/(tf + k₁(1 − b + b·length/average)) with k₁ = 1.2, b = 0.4; a word in the title counts
//!   twice, in the section one and a half times. A page in another language than the customer's keeps [`OTHER_LANGUAGE`] of it;
//!   where the shop wrote it in the customer's language too (`delivery.en.md` beside `delivery.vi.md`), it is an answer only if
//!   nothing in the customer's language is.
//! - its **coverage** is the same share without saturation and weak words: how much of the question it mentions at all.
//!
//! **Nothing fits** when no passage covers [`MIN_COVERAGE`] of the question; words that no document has count as the rarest ones.
//! One exception: a catalogue row whose category the question names is an answer whatever else was said ("laptop for students").
//! Passages below that, or far below the best one, are not returned. The numbers were chosen on the
//! first 100 lines of `tests/data/retrieval.jsonl` and 40 of `tests/data/unanswerable.jsonl`.
//!
//! No crate does this: those for BM25 score documents but tell neither the share of a question that was met nor credits by way of writing.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::chunk::Chunk;
use super::folder::{self, Report, Shelf};
use super::rules::SearchRules;
use super::terms::Token;
use super::{Passage, Query, RetrievalError};
use crate::config::ChunkConfig;
use crate::domain::Language;
use crate::domain::language::LanguageProfile;

mod question;
mod rank;

pub use rank::{MIN_COVERAGE, OTHER_LANGUAGE};

/// What is looked up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Term {
    /// A word without its diacritics and its English ending.
    Root(String),
    /// A word with the diacritics that it has.
    Marked(String),
    /// Two words beside each other, without diacritics.
    Pair(String, String),
    /// A synonym group.
    Meaning(u32),
    /// A synonym group that names the category of a catalogue row.
    Category(u32),
}

/// An index over the chunks of one shelf or several. It does not change: a folder that did is loaded anew.
pub struct LexicalIndex {
    rules: SearchRules,
    pieces: Vec<Arc<Chunk>>,
    postings: HashMap<Term, Vec<Posting>>,
    /// BM25's 1 − b + b·length/average for each passage.
    lengths: Vec<f64>,
    /// The pages that the shop wrote in several languages, in each of them.
    written_in: HashSet<(String, Language)>,
    report: Report,
}

/// A passage that has a term, and how often, weighted by where.
#[derive(Clone, Copy, Debug)]
struct Posting {
    piece: usize,
    frequency: f64,
}

const TITLE_WEIGHT: f64 = 2.0;
const SECTION_WEIGHT: f64 = 1.5;
/// BM25's b. Passages are of much the same size by construction, so length says little.
const LENGTH_WEIGHT: f64 = 0.4;

impl LexicalIndex {
    /// Reads and indexes the files at the top of a folder ([`folder::read`] says which), cut up by the default sizes.
    ///
    /// # Errors
    /// The folder is there but cannot be listed.
    pub fn load(folder: &Path, rules: &SearchRules) -> Result<Self, RetrievalError> {
        Ok(Self::build(folder::read(folder, "", rules, &ChunkConfig::default())?, rules))
    }

    /// What came of reading the folder.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Indexes what was read, for instance what [`super::Library::shelf_of`] a persona's folders gives.
    pub fn build(shelf: Shelf, rules: &SearchRules) -> Self {
        let Shelf { chunks: pieces, report } = shelf;
        let mut postings: HashMap<Term, Vec<Posting>> = HashMap::new();
        let mut counts = Vec::with_capacity(pieces.len());
        for (n, piece) in pieces.iter().enumerate() {
            let mut frequencies: HashMap<Term, f64> = HashMap::new();
            let searched = piece.searched.as_ref().unwrap_or(&piece.text);
            for (text, weight) in [(&piece.title, TITLE_WEIGHT), (&piece.section(), SECTION_WEIGHT), (searched, 1.0)] {
                for term in terms_of(&rules.analyzer.tokens(text), rules) {
                    *frequencies.entry(term).or_default() += weight;
                }
            }
            if piece.product.is_some() {
                let section = rules.analyzer.tokens(&piece.section());
                frequencies.extend(meanings_of(&section, rules).map(|meaning| (Term::Category(meaning), 1.0)));
            }
            counts.push(searched.split_whitespace().count());
            for (term, frequency) in frequencies {
                postings.entry(term).or_default().push(Posting { piece: n, frequency });
            }
        }
        let average = (as_f64(counts.iter().sum()) / as_f64(counts.len().max(1))).max(1.0);
        let lengths = counts.into_iter().map(|n| 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * as_f64(n) / average).collect();
        let written_in = pieces.iter().filter_map(|piece| Some((page_of(piece)?, piece.language?))).collect();
        Self { rules: rules.clone(), pieces, postings, lengths, written_in, report }
    }

    /// Without pages in other languages that are there in this one too, unless nothing in this one is left.
    pub fn keep_own_language<T>(&self, found: &mut Vec<T>, language: Language, place: impl Fn(&T) -> usize) {
        let is_own = |found: &T| self.pieces[place(found)].language.is_none_or(|of| of == language);
        if !found.iter().any(is_own) {
            return;
        }
        let is_there = |found: &T| {
            page_of(&self.pieces[place(found)]).is_some_and(|page| self.written_in.contains(&(page, language)))
        };
        found.retain(|found| is_own(found) || !is_there(found));
    }

    /// The passages that answer, best first; none if nothing fits. The same index and query give the same list.
    ///
    /// Catalogue rows that fit alike come in stock first, or by the price that was asked for ("rẻ nhất"), so the scores of
    /// neighbours may rise a little. The answer's `limit` is the query's.
    pub fn search(&self, query: &Query) -> Vec<Passage> {
        let question = question::Question::of(&query.text, query.language, self);
        let hits = rank::rank(&question, query.language, self);
        let passage = |hit: &rank::Hit| self.pieces[hit.piece].passage(query.language, hit.score);
        hits.iter().take(query.limit).map(passage).collect()
    }

    /// The words and phrases of a question that stand for something: neither stop words nor those of every page.
    pub fn strong_words(&self, text: &str, language: Language) -> usize {
        question::Question::of(text, language, self).parts.iter().filter(|part| !part.weak).count()
    }

    /// The languages of the shop.
    pub fn languages(&self) -> &[LanguageProfile] {
        &self.rules.languages
    }

    /// What is searched; hits name its places.
    pub fn chunks(&self) -> &[Arc<Chunk>] {
        &self.pieces
    }

    /// The places of the chunks that answer, best first, with the share of the question that each speaks of.
    pub fn answering(&self, text: &str, language: Language) -> Vec<(usize, f64)> {
        let question = question::Question::of(text, language, self);
        rank::rank(&question, language, self).into_iter().map(|hit| (hit.piece, hit.score)).collect()
    }

    /// The places of all chunks that share anything with the question, best first, whether or not they answer it: what is
    /// joined with other lists, or measured. The scores and the order are [`Self::search`]'s.
    pub fn ranked(&self, text: &str, language: Language) -> Vec<(usize, f64)> {
        let question = question::Question::of(text, language, self);
        rank::rank_all(&question, language, self).into_iter().map(|hit| (hit.piece, hit.score)).collect()
    }

    /// How rare a term is: BM25's ln(1 + (N − n + ½)/(n + ½)), highest for one that no passage has. The ½ on top keeps the
    /// words of a folder with few pages from weighing nothing beside one that it does not have.
    fn idf(&self, term: &Term) -> f64 {
        let (all, with) = (as_f64(self.pieces.len()), as_f64(self.postings.get(term).map_or(0, Vec::len)));
        0.5 + (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }
}

fn terms_of(words: &[Token], rules: &SearchRules) -> Vec<Term> {
    let mut terms: Vec<Term> = meanings_of(words, rules).map(Term::Meaning).collect();
    for (n, word) in words.iter().enumerate() {
        terms.push(Term::Root(word.root.clone()));
        terms.extend(rules.analyzer.bare_number(&word.root).map(|number| Term::Root(number.to_owned())));
        if word.marked {
            terms.push(Term::Marked(word.exact.clone()));
        }
        if let Some(next) = words.get(n + 1) {
            terms.push(Term::Pair(word.root.clone(), next.root.clone()));
        }
    }
    terms
}

/// The meanings of all the phrases of a text, longer and shorter ones; a word that is in two phrases of one meaning counts once.
fn meanings_of(words: &[Token], rules: &SearchRules) -> impl Iterator<Item = u32> {
    (0..words.len()).flat_map(|n| {
        let mut meanings: Vec<u32> = rules.meanings.all_at(&words[n..]).map(|(_, meaning)| meaning).collect();
        meanings.sort_unstable();
        meanings.dedup();
        meanings
    })
}

/// The name that a page has in all its languages: `delivery.md` for `delivery.en.md`. `None`: its name names no language.
fn page_of(piece: &Chunk) -> Option<String> {
    let language = format!(".{}.", piece.language?.code());
    let (stem, ending) = piece.path.rsplit_once(language.as_str())?;
    Some(format!("{stem}.{ending}"))
}

/// Counts of passages and words are far below 2⁵².
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
