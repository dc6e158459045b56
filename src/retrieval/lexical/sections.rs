//! How likely each section of the pages is to answer a message in a conversation.
//!
//! A multinomial logistic regression: the sections and "none of them" compete by the weighted sums of a few figures. The weights were
//! learned from 2,000 turns of dialogues and 1,000 short questions about what was quoted ("how long does it take?"), whose sections are in
//! `tests/data/dialogues/sections.tsv`, and from questions that no page answers; the tests of this module learn them again.

use std::collections::BTreeMap;

use super::rank::{Ranking, Totals, totals};
use super::{LexicalIndex, ScoredChunks, as_f64, scores};
use crate::retrieval::{Query, Subject};

#[cfg(test)]
pub(super) mod tests;

/// What is known of a section for a message: the score of its words and the similarity to a listed question ([`super`]), the logarithm of
/// its probability by the words of all sections if the pages list enough questions, how many of the message's meaningful words its
/// heading has, whether its document was quoted last, whether it was, whether it was and the message has no meaningful word, and whether
/// its document was quoted last and the message is short.
type Figures = [f64; FIGURES];
const FIGURES: usize = 8;
/// What is known of "none of them": 1, the largest coverage, similarity and score of any section, whether a document was quoted, and
/// whether the message is short.
type NoneFigures = [f64; 6];

const WEIGHTS: Figures = [5.14, 6.35, 0.36, 1.01, 2.22, 2.73, 1.32, 2.19];
const NONE_WEIGHTS: NoneFigures = [3.62, -1.64, 0.96, 2.91, -0.95, 1.23];
/// Added for a page in another language. Not learned: the sample pages exist in all languages.
const OTHER_LANGUAGE: f64 = -3.0;
/// A smaller probability tells nothing more.
const LEAST: f64 = 1e-9;
/// The most words of a short message.
const SHORT: usize = 6;
/// Words of a heading that count.
const HEADING_WORDS: usize = 2;
/// How likely a section must be to answer: less where the message is known to be about the shop, such as after a quotation.
const LIKELY: f64 = 0.8;
const LIKELY_NEXT: f64 = 0.35;
/// How likely all sections together must be to answer where none is likely enough. With less, those that list questions share words with the
/// message by chance.
const ANY_LIKELY: f64 = 0.6;
/// How much what is learned must be trusted for that: about 45 listed questions for each section.
const SURE: f64 = 0.9;
/// How likely a section must be to be returned after the best one.
const POSSIBLE: f64 = 0.1;

impl LexicalIndex {
    /// Returns the sections that probably answer and the rows of the catalogue that were found by words, best first. If no section is
    /// likely enough, sections answer only if some were found by words.
    pub(super) fn likely_first(&self, query: &Query, subject: Option<&Subject>, ranking: Ranking<'_>) -> ScoredChunks {
        let mut likely = self.likely_among(query, subject, ranking.totals());
        if self.trust <= 0.0 {
            // The words decide which passages answer, and the figures only their order.
            let found = scores(ranking.answering());
            likely.retain(|(place, _)| found.iter().any(|(known, _)| known == place));
            let all: f64 = likely.iter().map(|(_, probability)| probability).sum();
            likely.iter_mut().for_each(|(_, probability)| *probability /= all);
            return self.with_rows(likely, found);
        }
        let least = if subject.is_some() { LIKELY_NEXT } else { LIKELY };
        if likely.first().is_none_or(|(_, probability)| *probability < least) {
            let any: f64 = likely.iter().map(|(_, probability)| probability).sum();
            let mut found = scores(ranking.answering());
            if self.trust >= SURE && any < ANY_LIKELY {
                found.retain(|(place, _)| self.pieces[*place].questions.is_empty());
                return found;
            }
            let found_page = found.iter().find(|(place, _)| self.section_of[*place].is_some());
            let (Some((_, best)), Some(&(_, most))) = (found_page, likely.first()) else { return found };
            // The score by words stays: rows compete with it.
            let factor = best / most;
            likely.retain(|(_, probability)| *probability >= POSSIBLE * most);
            likely.iter_mut().for_each(|(_, probability)| *probability *= factor);
            return self.with_rows(likely, found);
        }
        likely.retain(|(_, probability)| *probability >= POSSIBLE);
        let has_rows = !query.pages_only && self.section_of.contains(&None);
        if has_rows { self.with_rows(likely, scores(ranking.answering())) } else { likely }
    }

    /// Merges sections with the rows among what was found. The rows keep their order, which is not only that of their scores.
    fn with_rows(&self, sections: ScoredChunks, found: ScoredChunks) -> ScoredChunks {
        let (mut merged, mut sections) = (Vec::new(), sections.into_iter().peekable());
        for row in found.into_iter().filter(|(place, _)| self.section_of[*place].is_none()) {
            while let Some(section) = sections.next_if(|(_, score)| *score >= row.1) {
                merged.push(section);
            }
            merged.push(row);
        }
        merged.extend(sections);
        merged
    }

    /// Returns the best chunk of each section of the pages with the probability that the section answers, best first. With that of no
    /// answer, the probabilities are together 1.
    pub fn likely_sections(&self, query: &Query, subject: Option<&Subject>) -> ScoredChunks {
        self.likely_among(query, subject, &totals(&self.parsed(&query.text, query.language), self))
    }

    fn likely_among(&self, query: &Query, subject: Option<&Subject>, totals: &Totals) -> ScoredChunks {
        let (figures, none) = self.figures(query, subject, totals);
        let none = weighted(&none, &NONE_WEIGHTS);
        let mut best: BTreeMap<Option<usize>, (usize, f64)> = BTreeMap::new();
        for (place, figures) in figures {
            let is_own = self.pieces[place].language.is_none_or(|of| of == query.language);
            let score = weighted(&figures, &WEIGHTS) + if is_own { 0.0 } else { OTHER_LANGUAGE };
            let known = best.entry(self.section_of[place]).or_insert((place, score));
            if score > known.1 {
                *known = (place, score);
            }
        }
        let most = best.values().map(|(_, score)| *score).fold(none, f64::max);
        let all = best.values().map(|(_, score)| (score - most).exp()).sum::<f64>() + (none - most).exp();
        let mut likely: ScoredChunks =
            best.into_values().map(|(place, score)| (place, (score - most).exp() / all)).collect();
        likely.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        likely
    }

    /// Returns what is known of each chunk of the pages in the message's language, and of none of them.
    fn figures(
        &self,
        query: &Query,
        subject: Option<&Subject>,
        totals: &Totals,
    ) -> (Vec<(usize, Figures)>, NoneFigures) {
        let says_nothing = self.parsed(&query.text, query.language).strong().next().is_none();
        let (likeness, probabilities) = (self.likeness(&query.text), self.probabilities(&query.text));
        let mut places: Vec<usize> = (0..self.pieces.len()).filter(|place| self.section_of[*place].is_some()).collect();
        self.keep_own_language(&mut places, query.language, |place| *place);
        let largest = |of: &[f64]| places.iter().map(|place| of[*place]).fold(0.0, f64::max);
        let is_short = query.text.split_whitespace().count() <= SHORT;
        let quoted = subject.filter(|subject| !subject.is_general());
        let none = [
            1.0,
            largest(&totals.coverage),
            largest(&likeness),
            largest(&totals.score),
            f64::from(quoted.is_some()),
            f64::from(is_short),
        ];
        let of_chunk = |place: usize| {
            let (piece, section) = (&self.pieces[place], self.pieces[place].section());
            let is_same = quoted.is_some_and(|subject| subject.file == piece.path);
            let is_last = is_same && quoted.is_some_and(|subject| subject.section == section);
            let named = self.met_of(&query.text, &section, query.language).0;
            let figures = [
                totals.score[place],
                likeness[place],
                if self.trust > 0.0 { probabilities[place].max(LEAST).ln() } else { 0.0 },
                as_f64(named.min(HEADING_WORDS)),
                f64::from(is_same),
                f64::from(is_last),
                f64::from(is_last && says_nothing),
                f64::from(is_same && is_short),
            ];
            (place, figures)
        };
        (places.into_iter().map(of_chunk).collect(), none)
    }
}

fn weighted(figures: &[f64], weights: &[f64]) -> f64 {
    figures.iter().zip(weights).map(|(figure, weight)| figure * weight).sum()
}
