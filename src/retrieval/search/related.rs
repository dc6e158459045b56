//! Searches near what was quoted before: for a question that only makes sense after it.

use std::sync::Arc;

use super::Pages;
use super::view::View;
use crate::domain::Language;
use crate::retrieval::{Chunk, Passage, Query, Subject};

impl Pages {
    /// Finds the passages of the subject's document that share a word with the question or list a similar one, best first. They need not cover it.
    pub fn find_in_document(&self, query: &Query, subject: &Subject) -> Vec<Passage> {
        let Some(index) = self.index() else { return Vec::new() };
        let chunks = index.chunks();
        let hits = index.ranked(query).into_iter();
        let of_document = hits.filter(|(place, _)| chunks[*place].path == subject.file);
        of_document.map(|(place, score)| chunks[place].passage(query.language, score)).take(query.limit).collect()
    }

    /// Returns the sections of pages that are nearest to a question, best first. They need not answer it.
    pub fn nearest_sections(&self, query: &Query) -> Vec<Passage> {
        let mut sections: Vec<Passage> = Vec::new();
        let Some(index) = self.index() else { return sections };
        let chunks = index.chunks();
        let mut hits = index.ranked(query);
        index.keep_own_language(&mut hits, query.language, |(place, _)| *place);
        for (place, score) in hits.into_iter().filter(|(place, _)| chunks[*place].product.is_none()) {
            let passage = chunks[place].passage(query.language, score);
            if !sections.iter().any(|known| known.file == passage.file && known.section == passage.section) {
                sections.push(passage);
            }
        }
        sections.truncate(query.limit);
        sections
    }

    /// Returns the sections that may answer a message in a conversation about a subject, with the probability of each, best first.
    pub fn likely_sections(&self, query: &Query, subject: Option<&Subject>) -> Vec<Passage> {
        let find = |view: &View| view.passages_by_words(&view.index.likely_sections(query, subject), query);
        self.view().map(find).unwrap_or_default()
    }

    /// Returns a section of a page.
    pub fn section(&self, file: &str, section: &str, language: Language) -> Option<Passage> {
        let is_its = |chunk: &&Arc<Chunk>| chunk.path == file && chunk.section() == section;
        Some(self.chunks().iter().find(is_its)?.passage(language, 1.0))
    }

    /// Returns the section next to a passage's that is about what the customer has named, such as the iPhone. `said` has the customer's
    /// messages, the latest one first.
    pub fn named_sibling(&self, passage: &Passage, said: &[&str], query: &Query) -> Option<Passage> {
        let index = self.index()?;
        let place = index.named_sibling(passage, said, query.language)?;
        Some(index.chunks()[place].passage(query.language, passage.score))
    }

    /// Returns how many of a question's meaningful words a section has in its heading, its passage or its listed questions, and how many
    /// there are.
    pub fn met_by(&self, query: &Query, passage: &Passage) -> (usize, usize) {
        let text = format!("{}. {}. {}", passage.section, passage.text, self.questions_of(passage));
        self.met_of(&query.text, &text, query.language)
    }

    /// Whether a section has most of a question's meaningful words, in its heading, its passage or its listed questions.
    pub fn covers(&self, query: &Query, passage: &Passage) -> bool {
        let (met, all) = self.met_by(query, passage);
        met > 0 && 2 * met >= all
    }

    /// Returns the weight of a question's meaningful words that a text has: rare words weigh more.
    pub fn weight_met(&self, question: &str, text: &str, language: Language) -> f64 {
        self.index().map(|index| index.weight_met(question, text, language)).unwrap_or_default()
    }

    /// Returns the weight of a question's meaningful words that a passage or the questions of its section have.
    pub fn weight_met_by(&self, query: &Query, passage: &Passage) -> f64 {
        let text = format!("{}. {}", passage.text, self.questions_of(passage));
        self.weight_met(&query.text, &text, query.language)
    }

    /// Returns how many of a question's meaningful words a text has.
    pub fn words_met(&self, question: &str, text: &str, language: Language) -> usize {
        self.met_of(question, text, language).0
    }

    /// Returns how many of a question's meaningful words a text has, and how many there are.
    pub(in crate::retrieval) fn met_of(&self, question: &str, text: &str, language: Language) -> (usize, usize) {
        self.index().map(|index| index.met_of(question, text, language)).unwrap_or_default()
    }

    /// Returns the questions that a passage's section lists.
    fn questions_of(&self, passage: &Passage) -> String {
        let is_its = |chunk: &&Arc<Chunk>| chunk.path == passage.file && chunk.section() == passage.section;
        self.chunks().iter().find(is_its).map(|chunk| chunk.questions.join(". ")).unwrap_or_default()
    }
}
