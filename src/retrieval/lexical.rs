//! Searches by words: BM25 in memory, which ignores diacritics and detects when no passage answers.
//!
//! A question is split into *parts* (`question`): words or phrases, each with the ways in which a passage may express
//! it. A way has a credit: 1 for the same meaning, less for a single syllable of a pair or for other diacritics. For
//! each passage:
//!
//! - The **score** is Σ weight·idf·credit·saturation(tf) over the parts, divided by Σ weight·idf: the share of the
//!   question that the passage covers, from 0 to 1. The saturation is BM25's tf/(tf + k₁(1 − b + b·length/average))
//!   with k₁ = 1.2 and b = 0.4. A word in the title counts twice, in the section one and a half times. A page in
//!   another language keeps [`OTHER_LANGUAGE`] of its score. If the page also exists in the customer's language
//!   (`delivery.en.md` and `delivery.vi.md`), it is no answer.
//! - The **coverage** is the same share without saturation and weak words. Words count where the passage has them, or the
//!   one question that its section lists and that has most of the others: words of two listed questions together prove
//!   nothing.
//!
//! - The **probability** that the passage's section answers is learned from the questions and texts of all sections
//!   ([`Groups`]). Up to half of a page's score is from it, the more the more questions the pages list.
//!
//! There is **no answer** if no passage has a coverage of [`MIN_COVERAGE`], where words that no document contains count
//! as the rarest ones. As an exception, a catalogue row is an answer if the question names its category ("laptop for
//! students"); so is a section that is very probable and lists a similar question. Passages below that, or far below the best one, are not returned. The numbers were chosen with the first
//! 100 lines of `tests/data/retrieval.jsonl` and 40 of `tests/data/unanswerable.jsonl`.
//!
//! Which section of the pages answers in a conversation is decided by `sections` where one is likely enough. What stands above decides
//! elsewhere, and among rows of the catalogue.
//!
//! Crates for BM25 compute a score, but neither coverage nor credits.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::budget::{Budget, take_budget};
use super::chunk::Chunk;
use super::folder::Shelf;
use super::rules::{SearchRules, Words};
use super::terms::Token;
use super::{Query, Subject};
use crate::domain::Language;
use crate::domain::language::LanguageProfile;
use crate::domain::memo::Memo;
use crate::nlu::examples::{Counts, Groups, Nearest};

mod emphasis;
mod met;
mod question;
mod rank;
mod sections;
mod split;

use question::Question;
pub use rank::{FEW_WORDS, MIN_COVERAGE, OTHER_LANGUAGE};
use rank::{Hit, Ranking};

/// A term of the index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Term {
    /// A word without diacritics and ending.
    Root(String),
    /// A word with its diacritics.
    Marked(String),
    /// Two adjacent words, without diacritics.
    Pair(String, String),
    /// A synonym group.
    Meaning(u32),
    /// A synonym group in the category of a catalogue row.
    Category(u32),
}

/// An immutable index of the chunks of one or more folders.
pub struct LexicalIndex {
    pub(super) rules: SearchRules,
    pieces: Vec<Arc<Chunk>>,
    postings: HashMap<Term, Vec<Posting>>,
    /// The factor 1 − b + b·length/average of BM25 for each passage.
    lengths: Vec<f64>,
    /// The pages that exist in several languages, each with its languages.
    written_in: HashSet<(String, Language)>,
    /// The questions that chunks list.
    questions: Nearest,
    /// The chunks of each question's section.
    answers: Vec<Vec<usize>>,
    /// Tells which section a question belongs to.
    sections: Groups,
    /// How much `sections` counts, 0 to 1: little where the pages list few questions.
    trust: f64,
    /// The section of each chunk in `sections`. A catalogue row has none.
    section_of: Vec<Option<usize>>,
    /// The chunk of each entry of `listed_terms`: a question and a chunk that lists it.
    listed: Vec<usize>,
    /// The entries of `listed` whose question has a term.
    listed_terms: HashMap<Term, Vec<usize>>,
    /// The budgets of the texts that came last.
    budgets: Memo<String, Budget>,
    /// The parsed questions that came last. A turn compares one with many texts.
    parsed: Memo<(Language, String), Question>,
    /// The terms of the texts that questions were compared with last: mostly catalogue rows.
    compared: Memo<(Language, String), HashSet<Term>>,
    /// The similarity of the texts that came last to what each chunk lists. A turn ranks the chunks for one text several times.
    alike: Memo<String, Vec<f64>>,
    /// The probability of each of `sections` for these texts.
    probable: Memo<String, Vec<f64>>,
}

/// The most questions, and the most texts, that are kept parsed: a few megabytes.
const QUESTIONS: usize = 256;
const TEXTS: usize = 2048;
/// The most texts whose similarities and probabilities are kept, those of a few turns.
const COMPARED_TEXTS: usize = 16;

/// The positions of chunks with their scores, best first.
type ScoredChunks = Vec<(usize, f64)>;

/// A passage with a term, and the term's weighted frequency.
#[derive(Clone, Copy, Debug)]
struct Posting {
    piece: usize,
    /// A sum of weights, which this type holds exactly.
    frequency: f32,
    /// Whether the passage itself has the term, and not only a question that its section lists.
    shown: bool,
}

const TITLE_WEIGHT: f32 = 2.0;
const SECTION_WEIGHT: f32 = 1.5;
/// The number of listed questions for each section at which what is learned from them counts half. With fewer, it does not count, since a probability that is learned from little is too sure.
const FEW_QUESTIONS: f64 = 5.0;
/// The constant b of BM25. It is small, because all passages have a similar length.
const LENGTH_WEIGHT: f64 = 0.4;

impl LexicalIndex {
    /// Indexes documents, for example those of [`super::Library::shelf_of`].
    pub fn build(shelf: Shelf, rules: &SearchRules) -> Self {
        let pieces = shelf.chunks;
        let mut postings: HashMap<Term, Vec<Posting>> = HashMap::new();
        let mut counts = Vec::with_capacity(pieces.len());
        let mut terms_of_questions: HashMap<(&str, Option<Language>), Vec<Term>> = HashMap::new();
        let mut listed = Vec::new();
        let mut listed_terms: HashMap<Term, Vec<usize>> = HashMap::new();
        for (n, piece) in pieces.iter().enumerate() {
            let words = rules.words(piece.language);
            let mut frequencies: HashMap<Term, (f32, bool)> = HashMap::new();
            let searched = piece.searched.as_ref().unwrap_or(&piece.text);
            let section = piece.section();
            let fields = [(&*piece.title, TITLE_WEIGHT), (&*section, SECTION_WEIGHT), (searched, 1.0)];
            for (text, weight) in fields {
                for term in terms_of(&words.analyzer.tokens(text), words) {
                    let (frequency, shown) = frequencies.entry(term).or_default();
                    *frequency += weight;
                    *shown = true;
                }
            }
            for question in &piece.questions {
                // Each chunk of a section lists all its questions.
                let terms = terms_of_questions
                    .entry((question, piece.language))
                    .or_insert_with(|| terms_of(&words.analyzer.tokens(question), words));
                terms.iter().for_each(|term| frequencies.entry(term.clone()).or_default().0 += 1.0);
                let terms: HashSet<&Term> = terms.iter().collect();
                terms.into_iter().for_each(|term| listed_terms.entry(term.clone()).or_default().push(listed.len()));
                listed.push(n);
            }
            if piece.product.is_some() {
                let section = words.analyzer.tokens(&piece.section());
                frequencies.extend(meanings_of(&section, words).map(|meaning| (Term::Category(meaning), (1.0, true))));
            }
            counts.push(searched.split_whitespace().count());
            for (term, (frequency, shown)) in frequencies {
                postings.entry(term).or_default().push(Posting { piece: n, frequency, shown });
            }
        }
        postings.values_mut().for_each(Vec::shrink_to_fit);
        listed_terms.values_mut().for_each(Vec::shrink_to_fit);
        let average = (as_f64(counts.iter().sum()) / as_f64(counts.len().max(1))).max(1.0);
        let lengths = counts.into_iter().map(|n| 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * as_f64(n) / average).collect();
        let written_in = pieces.iter().filter_map(|piece| Some((page_of(piece)?, piece.language?))).collect();
        let mut sections: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (n, piece) in pieces.iter().enumerate() {
            piece.questions.iter().for_each(|question| sections.entry(question).or_default().push(n));
        }
        let questions: HashMap<&str, Counts> =
            sections.keys().map(|question| (*question, Counts::of(question))).collect();
        let (section_of, learned, sections_count) = learn_sections(&pieces, &questions);
        let questions = Nearest::new(&sections.keys().map(|question| &questions[question]).collect::<Vec<_>>());
        let (listed_count, few) = (as_f64(sections.len()), FEW_QUESTIONS * as_f64(sections_count));
        let trust = if listed_count < few { 0.0 } else { listed_count / (listed_count + few).max(1.0) };
        let answers = sections.into_values().collect();
        let rules = rules.clone();
        Self {
            rules,
            postings,
            lengths,
            written_in,
            questions,
            answers,
            sections: learned,
            trust,
            section_of,
            listed,
            listed_terms,
            pieces,
            budgets: Memo::new(QUESTIONS),
            parsed: Memo::new(QUESTIONS),
            compared: Memo::new(TEXTS),
            alike: Memo::new(COMPARED_TEXTS),
            probable: Memo::new(COMPARED_TEXTS),
        }
    }

    /// Estimates the bytes of memory that the index takes, without those of the chunks.
    pub fn bytes(&self) -> usize {
        let terms = bytes_of(&self.postings) + bytes_of(&self.listed_terms);
        // The similarities and probabilities of as many texts as are kept.
        let compared = COMPARED_TEXTS * size_of::<f64>() * (self.pieces.len() + self.section_of.len());
        terms + self.questions.bytes() + self.sections.bytes() + compared
    }

    /// Removes pages that also exist in this language.
    pub fn keep_own_language<T>(&self, found: &mut Vec<T>, language: Language, place: impl Fn(&T) -> usize) {
        let is_own = |found: &T| self.pieces[place(found)].language.is_none_or(|of| of == language);
        let is_there = |found: &T| {
            page_of(&self.pieces[place(found)]).is_some_and(|page| self.written_in.contains(&(page, language)))
        };
        found.retain(|found| is_own(found) || !is_there(found));
    }

    /// Counts the meaningful words and phrases of a question: neither stop words nor weak words.
    pub fn strong_words(&self, text: &str, language: Language) -> usize {
        self.parsed(text, language).parts.iter().filter(|part| !part.weak).count()
    }

    /// Returns the budget that a question names.
    pub fn budget(&self, text: &str) -> Budget {
        *self.budgets.of(text.to_owned(), |text| take_budget(text, self.rules.words(None)).0)
    }

    /// Returns whether only rows of the catalogue have a word.
    pub fn is_of_products(&self, word: &str, language: Language) -> bool {
        let tokens = self.rules.words(Some(language)).analyzer.tokens(word);
        let is_product = |token: &Token| {
            let postings = self.postings.get(&Term::Root(token.root.clone()));
            postings.is_some_and(|found| found.iter().all(|posting| self.pieces[posting.piece].product.is_some()))
        };
        !tokens.is_empty() && tokens.iter().all(is_product)
    }

    /// The languages of the shop.
    pub fn languages(&self) -> &[LanguageProfile] {
        &self.rules.languages
    }

    /// Returns the indexed chunks. Hits refer to their positions.
    pub fn chunks(&self) -> &[Arc<Chunk>] {
        &self.pieces
    }

    /// Returns the indices of the chunks that answer, best first, with the share of the question that each covers, or with the probability of
    /// its section. The question may be in a conversation about a subject.
    ///
    /// Catalogue rows with almost equal scores are sorted by stock or by the requested price ("rẻ nhất"), so scores may rise slightly within
    /// the list.
    pub fn answering_about(&self, query: &Query, subject: Option<&Subject>) -> ScoredChunks {
        self.likely_first(query, subject, Ranking::of(query, self))
    }

    /// Returns the indices of all chunks that share a term with the question or list a similar one, whether or not they answer it.
    /// Scores and order are those of [`Self::answering_about`].
    pub fn ranked(&self, query: &Query) -> ScoredChunks {
        scores(Ranking::of(query, self).related())
    }

    /// Returns the results of [`Self::answering_about`] and [`Self::ranked`].
    pub fn answering_and_ranked(&self, query: &Query, subject: Option<&Subject>) -> (ScoredChunks, ScoredChunks) {
        let ranking = Ranking::of(query, self);
        let ranked = scores(ranking.related());
        (self.likely_first(query, subject, ranking), ranked)
    }

    /// Returns, for each chunk, the similarity of a question to the most similar one that the chunk's section lists.
    fn likeness(&self, question: &str) -> Arc<Vec<f64>> {
        self.alike.of(question.to_owned(), |text| {
            let mut likeness = vec![0.0_f64; self.pieces.len()];
            let similar = self.questions.similarities(&Counts::of(text));
            for (similarity, chunks) in similar.iter().zip(&self.answers) {
                chunks.iter().for_each(|chunk| likeness[*chunk] = likeness[*chunk].max(*similarity));
            }
            likeness
        })
    }

    /// Returns, for each chunk, how likely it is that its section answers a question.
    fn probabilities(&self, question: &str) -> Vec<f64> {
        let of_sections = self.probable.of(question.to_owned(), |text| self.sections.probabilities(&Counts::of(text)));
        let of_chunk = |section: &Option<usize>| section.and_then(|n| of_sections.get(n)).copied().unwrap_or_default();
        self.section_of.iter().map(of_chunk).collect()
    }

    /// Returns the inverse document frequency of a term: BM25's ln(1 + (N − n + ½)/(n + ½)), highest for a term that no
    /// passage contains. The ½ in the numerator keeps words relevant in a folder with few pages.
    fn idf(&self, term: &Term) -> f64 {
        let (all, with) = (as_f64(self.pieces.len()), as_f64(self.postings.get(term).map_or(0, Vec::len)));
        0.5 + (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }
}

/// Estimates the bytes of memory that terms take, with what is known of each.
fn bytes_of<T>(terms: &HashMap<Term, Vec<T>>) -> usize {
    let letters = |term: &Term| match term {
        Term::Root(word) | Term::Marked(word) => word.capacity(),
        Term::Pair(first, second) => first.capacity() + second.capacity(),
        Term::Meaning(_) | Term::Category(_) => 0,
    };
    let entries = terms.iter().map(|(term, entries)| letters(term) + size_of_val(&**entries));
    terms.capacity() * size_of::<(Term, Vec<T>)>() + entries.sum::<usize>()
}

fn scores(hits: Vec<Hit>) -> ScoredChunks {
    hits.into_iter().map(|hit| (hit.piece, hit.score)).collect()
}

/// Learns the sections of pages from their questions and texts. Returns the section of each chunk as well, and their number.
fn learn_sections(pieces: &[Arc<Chunk>], questions: &HashMap<&str, Counts>) -> (Vec<Option<usize>>, Groups, usize) {
    let mut numbers: HashMap<(&str, Cow<'_, str>), usize> = HashMap::new();
    let text_of = |piece: &Arc<Chunk>| piece.product.is_none().then(|| Counts::of(&piece.text));
    let texts: Vec<Option<Counts>> = pieces.iter().map(text_of).collect();
    let mut section_of = Vec::with_capacity(pieces.len());
    let mut examples: Vec<(usize, &Counts)> = Vec::new();
    for (piece, text) in pieces.iter().zip(&texts) {
        let Some(text) = text else {
            section_of.push(None);
            continue;
        };
        let next = numbers.len();
        let section = *numbers.entry((&piece.path, piece.section())).or_insert(next);
        section_of.push(Some(section));
        examples.push((section, text));
        // Each chunk of a section lists all its questions.
        if section == next {
            examples.extend(piece.questions.iter().map(|question| (section, &questions[question.as_str()])));
        }
    }
    (section_of, Groups::new(&examples, numbers.len()), numbers.len())
}

fn terms_of(words: &[Token], rules: &Words) -> Vec<Term> {
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

/// Returns the meanings of all phrases of a text. A word in two phrases of the same meaning counts once.
fn meanings_of(words: &[Token], rules: &Words) -> impl Iterator<Item = u32> {
    (0..words.len()).flat_map(|n| {
        let mut meanings: Vec<u32> = rules.meanings.all_at(&words[n..]).map(|(_, meaning)| meaning).collect();
        meanings.sort_unstable();
        meanings.dedup();
        meanings
    })
}

/// Returns the name that the translations of a page share: the id of its front matter, or its file's name without the language,
/// `delivery.md` for `delivery.en.md`. `None` if it has neither.
fn page_of(piece: &Chunk) -> Option<String> {
    if let Some(id) = &piece.page_id {
        return Some(id.clone());
    }
    let language = format!(".{}.", piece.language?.code());
    let (stem, ending) = piece.path.rsplit_once(language.as_str())?;
    Some(format!("{stem}.{ending}"))
}

/// Converts a count. Counts of passages and words are far below 2⁵².
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
