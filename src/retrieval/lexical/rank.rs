//! Scores passages and selects the answers.

use std::sync::Arc;

use super::super::Query;
use super::super::budget::Order;
use super::LexicalIndex;
use super::question::{Part, Question};
use crate::domain::Language;

/// The share of a question, weighted by the rarity of its words, that a passage must cover to be an answer.
pub const MIN_COVERAGE: f64 = 0.5;
/// The similarity to a listed question from which its section is an answer.
const MIN_LIKENESS: f64 = 0.5;
/// The same for a question without meaningful words: "how long does it take?".
const ALIKE: f64 = 0.6;
/// The coverage that a passage needs as well.
const LIKELY_COVERAGE: f64 = 0.3;
/// The factor for the score of a page in another language than the customer's.
pub const OTHER_LANGUAGE: f64 = 0.7;
/// Passages with less than this share of the best score are left out.
const TAIL: f64 = 0.35;
/// The constant k₁ of BM25: how quickly repetitions of a word stop counting.
const SATURATION: f64 = 1.2;
/// The weight of a weak word.
const WEAK: f64 = 0.25;
/// Scores that differ by less are a tie, in which products in stock come first.
const TIE: f64 = 0.04;
/// The factor for a catalogue row beyond the customer's budget.
const BEYOND_BUDGET: f64 = 0.6;
/// The factor for a page if the question asks for a price.
const PAGE_BESIDE_PRICE: f64 = 0.7;

/// A question with at most this many meaningful words depends on its subject: "còn loại nào rẻ hơn?", "màu đen có không".
pub const FEW_WORDS: usize = 2;
/// The similarity to a listed question from which one word of several suffices, or the probability of the section.
const SOMEWHAT_ALIKE: f64 = 0.3;
/// The probability from which a section answers a question that is somewhat like one that it lists.
const LIKELY: f64 = 0.8;
/// The largest share of a section's probability in the score.
const LEARNED: f64 = 0.5;

/// A passage with its scores.
#[derive(Clone)]
pub(super) struct Hit {
    pub piece: usize,
    pub score: f64,
    coverage: f64,
    /// How many of the question's meaningful words it has.
    words: usize,
    /// `raw_likeness`, or 0 if the passage has nothing of the question's content.
    likeness: f64,
    /// The similarity to the most similar question that the passage's section lists.
    raw_likeness: f64,
    /// How likely it is that its section answers, by the questions of all sections. 0 if the pages list few questions.
    probability: f64,
    /// Whether it is a catalogue row of a category that the question names.
    named: bool,
}

/// A question with the scores of all passages.
pub(super) struct Ranking<'a> {
    question: Arc<Question>,
    language: Language,
    index: &'a LexicalIndex,
    totals: Totals,
    hits: Vec<Hit>,
}

impl<'a> Ranking<'a> {
    pub fn of(query: &Query, index: &'a LexicalIndex) -> Self {
        let (question, language) = (index.parsed(&query.text, query.language), query.language);
        let totals = totals(&question, index);
        let hits = met(&question, &totals, query.pages_only, index);
        Self { question, language, index, totals, hits }
    }

    /// Returns how much of the question each passage has.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Returns the passages that answer, best first.
    pub fn answering(self) -> Vec<Hit> {
        let Self { question, language, index, mut hits, .. } = self;
        let strong = question.parts.iter().filter(|part| !part.weak).count();
        // One word of several is chance, unless the question is like one of the section.
        let is_covered = |hit: &Hit| {
            hit.coverage >= MIN_COVERAGE && (hit.words > 1 || strong < 2 || hit.raw_likeness >= SOMEWHAT_ALIKE)
        };
        let is_likely = |hit: &Hit| {
            hit.probability >= LIKELY && hit.raw_likeness >= SOMEWHAT_ALIKE && hit.coverage >= LIKELY_COVERAGE
        };
        hits.retain(|hit| hit.named || is_covered(hit) || hit.likeness >= MIN_LIKENESS || is_likely(hit));
        let mut hits = ordered(hits, &question, language, index);
        index.keep_own_language(&mut hits, language, |hit| hit.piece);
        let best = hits.first().map_or(0.0, |hit| hit.score);
        hits.retain(|hit| hit.score >= TAIL * best);
        settle_ties(&mut hits, &question, index);
        hits
    }

    /// Returns the passages that share a term with the question, or list a similar one, best first.
    pub fn related(&self) -> Vec<Hit> {
        let hits = self.hits.iter().filter(|hit| hit.score > 0.0).cloned().collect();
        let mut hits = ordered(hits, &self.question, self.language, self.index);
        settle_ties(&mut hits, &self.question, self.index);
        hits
    }
}

fn ordered(mut hits: Vec<Hit>, question: &Question, language: Language, index: &LexicalIndex) -> Vec<Hit> {
    for hit in &mut hits {
        hit.score = (hit.score * fitness(hit, question, language, index)).clamp(0.0, 1.0);
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.piece.cmp(&b.piece)));
    hits
}

/// For each passage, how much of a question it has.
pub(super) struct Totals {
    pub score: Vec<f64>,
    pub coverage: Vec<f64>,
    /// The number of meaningful words that are covered.
    words: Vec<usize>,
}

pub(super) fn totals(question: &Question, index: &LexicalIndex) -> Totals {
    let weight = |part: &Part| part.idf * if part.weak { WEAK } else { 1.0 };
    let asked: f64 = question.parts.iter().map(weight).sum();
    let to_cover = question.to_cover();
    let none = (0.0_f64, 0.0_f64);
    let mut totals = vec![none; index.pieces.len()];
    let mut met = vec![none; index.pieces.len()];
    let mut words = vec![0; index.pieces.len()];
    // What each listed question has in addition to its passage.
    let mut listed = vec![0.0; index.listed.len()];
    let mut met_listed = vec![0.0_f64; index.listed.len()];
    for part in &question.parts {
        // Most passages have none of the words. A passage stands here once for each way in which it has this one.
        let (mut pieces, mut questions) = (Vec::new(), Vec::new());
        for way in &part.ways {
            for posting in index.postings.get(&way.term).into_iter().flatten() {
                let frequency = f64::from(posting.frequency);
                let saturated = frequency / (frequency + SATURATION * index.lengths[posting.piece]);
                let (score, covered) = &mut met[posting.piece];
                *score = score.max(way.credit * saturated);
                if posting.shown {
                    *covered = covered.max(way.credit);
                }
                pieces.push(posting.piece);
            }
            for entry in index.listed_terms.get(&way.term).into_iter().flatten() {
                met_listed[*entry] = met_listed[*entry].max(way.credit);
                questions.push(*entry);
            }
        }
        let idf = if part.weak { 0.0 } else { part.idf };
        for entry in questions {
            let met_listed = std::mem::take(&mut met_listed[entry]);
            listed[entry] += idf * (met_listed - met[index.listed[entry]].1).max(0.0);
        }
        for piece in pieces {
            let (met_score, covered) = std::mem::replace(&mut met[piece], none);
            let (score, coverage) = &mut totals[piece];
            *score += weight(part) * met_score;
            *coverage += idf * covered;
            words[piece] += usize::from(!part.weak && covered > 0.0);
        }
    }
    let mut most = vec![0.0_f64; index.pieces.len()];
    for (more, piece) in listed.iter().zip(&index.listed) {
        most[*piece] = most[*piece].max(*more);
    }
    let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
    Totals {
        score: totals.iter().map(|(score, _)| share(*score, asked)).collect(),
        coverage: totals.iter().zip(&most).map(|((_, own), more)| share(own + more, to_cover)).collect(),
        words,
    }
}

/// Returns all passages with their raw scores, or none if the question has no searchable words.
fn met(question: &Question, totals: &Totals, pages_only: bool, index: &LexicalIndex) -> Vec<Hit> {
    let to_cover = question.to_cover();
    let likeness = index.likeness(&question.text);
    if to_cover <= 0.0 && !likeness.iter().any(|likeness| *likeness >= ALIKE) {
        return Vec::new();
    }
    let Totals { score, coverage, words } = totals;
    let probabilities =
        if index.trust > 0.0 { index.probabilities(&question.text) } else { vec![0.0; index.pieces.len()] };
    let mut named = vec![false; index.pieces.len()];
    question.named_categories(index).into_iter().for_each(|piece| named[piece] = true);
    let hits = (0..index.pieces.len()).map(|piece| {
        // "How much is …" is the frame of many questions: the likeness counts if the passage has a part of the content, too.
        let is_likely = if to_cover > 0.0 { coverage[piece] >= LIKELY_COVERAGE } else { likeness[piece] >= ALIKE };
        let raw_likeness = likeness[piece];
        let likeness = if is_likely { raw_likeness } else { 0.0 };
        let probability = probabilities[piece];
        let score = score[piece].max(likeness);
        let learns = index.section_of[piece].is_some();
        // Every section has some probability, even for a question about nothing here.
        let is_related = score > 0.0 || raw_likeness >= SOMEWHAT_ALIKE;
        let learned = if learns && is_related { LEARNED * index.trust } else { 0.0 };
        let score = (1.0 - learned) * score + learned * probability;
        let (coverage, words) = (coverage[piece], words[piece]);
        let named = named[piece];
        Hit { piece, score, coverage, words, likeness, raw_likeness, probability, named }
    });
    hits.filter(|hit| !pages_only || index.pieces[hit.piece].product.is_none()).collect()
}

fn fitness(hit: &Hit, question: &Question, language: Language, index: &LexicalIndex) -> f64 {
    let piece = &index.pieces[hit.piece];
    let tongue = if piece.language.is_none_or(|of| of == language) { 1.0 } else { OTHER_LANGUAGE };
    let money = match &piece.product {
        _ if question.budget.is_none() => 1.0,
        None => PAGE_BESIDE_PRICE,
        Some(product) if question.budget.allows(product.price) => 1.0,
        Some(_) => BEYOND_BUDGET,
    };
    tongue * money
}

/// Sorts catalogue rows with tied scores: in stock first, then by the requested price.
fn settle_ties(hits: &mut [Hit], question: &Question, index: &LexicalIndex) {
    let product = |hit: &Hit| index.pieces[hit.piece].product;
    if question.budget.order != Order::Any {
        // The cheapest of the named category, if any, else of the rows that cover as much as the best one.
        let any_named = hits.iter().any(|hit| hit.named);
        // "The cheapest office PC": a page is about it, and no category.
        if !any_named && hits.first().is_some_and(|best| product(best).is_none()) {
            return;
        }
        let asked_for = |hit: &Hit| product(hit).is_some() && hit.named == any_named;
        let best = hits.iter().filter(|hit| asked_for(hit)).map(|hit| hit.coverage).fold(0.0, f64::max);
        hits.sort_by_key(|hit| {
            let competes = asked_for(hit) && hit.coverage >= best - TIE;
            let price = product(hit).and_then(|product| product.price).unwrap_or(u64::MAX);
            let price = if question.budget.order == Order::Cheapest { price } else { u64::MAX - price };
            (!competes, competes.then_some((product(hit).is_some_and(|p| !p.in_stock), price)))
        });
        return;
    }
    let mut from = 0;
    while from < hits.len() {
        let top = hits[from].score;
        let tied = hits[from..].iter().take_while(|hit| top - hit.score < TIE).count();
        hits[from..from + tied].sort_by_key(|hit| product(hit).is_some_and(|product| !product.in_stock));
        from += tied;
    }
}
