//! Searches near what was quoted before: for a question that only makes sense after it.

use std::sync::Arc;

use super::Pages;
use super::view::View;
use crate::domain::Language;
use crate::retrieval::{Chunk, Passage, Query, Subject};

/// Passages with this share of the best score may all be the best one.
const CLOSE: f64 = 0.9;
/// How likely a section must be to answer a question whose words it does not cover, and how similar to a question that it lists. Of 60
/// colloquial questions about the telecom pages, 37 reach both, and 35 of these sections are right.
const LIKELY: f64 = 0.8;
const ALIKE: f64 = 0.15;
/// The same for a section of the document that the conversation is about.
const ALIKE_WITHIN: f64 = 0.3;

impl Pages {
    /// Finds the passages of the subject's document that share a word with the question or list a similar one, best first. They need not cover it.
    pub fn find_in_document(&self, query: &Query, subject: &Subject) -> Vec<Passage> {
        let Some(index) = self.index() else { return Vec::new() };
        let chunks = index.chunks();
        let hits = index.ranked(query, Some(subject)).into_iter();
        let of_document = hits.filter(|(place, _)| chunks[*place].path == subject.file);
        of_document.map(|(place, score)| chunks[place].passage(query.language, score)).take(query.limit).collect()
    }

    /// Returns the sections of pages that are nearest to a question, best first. They need not answer it.
    pub fn nearest_sections(&self, query: &Query) -> Vec<Passage> {
        let mut sections: Vec<Passage> = Vec::new();
        let Some(index) = self.index() else { return sections };
        let chunks = index.chunks();
        let mut hits = index.ranked(query, None);
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

    /// Returns a section of a page.
    pub fn section(&self, file: &str, section: &str, language: Language) -> Option<Passage> {
        let is_its = |chunk: &&Arc<Chunk>| chunk.path == file && chunk.section() == section;
        Some(self.chunks().iter().find(is_its)?.passage(language, 1.0))
    }

    /// Finds the section that most likely answers a question in words of its own. For a question that no passage covers.
    pub fn find_likely(&self, query: &Query) -> Vec<Passage> {
        self.likely_section(query, None, ALIKE)
    }

    /// Finds the section of the subject's document that most likely answers a question that no passage covers.
    pub fn find_likely_within(&self, query: &Query, subject: &Subject) -> Vec<Passage> {
        self.likely_section(query, Some(&subject.file), ALIKE_WITHIN)
    }

    fn likely_section(&self, query: &Query, file: Option<&str>, alike: f64) -> Vec<Passage> {
        let find = |view: &View| view.passages_by_words(&view.index.likely_section(query, file, LIKELY, alike), query);
        self.view().map(find).unwrap_or_default()
    }

    /// Returns the section next to a passage's that is about what the customer has named, such as the iPhone. `said` has the customer's
    /// messages, the latest one first.
    pub fn named_sibling(&self, passage: &Passage, said: &[&str], query: &Query) -> Option<Passage> {
        let index = self.index()?;
        let place = index.named_sibling(passage, said, query.language)?;
        Some(index.chunks()[place].passage(query.language, passage.score))
    }

    /// Sorts passages with close scores by how many of the question's meaningful words their headings have: what the question names is
    /// what the section is about. Another page does not come before that of the subject.
    pub fn sort_by_heading(&self, query: &Query, subject: Option<&Subject>, passages: &mut [Passage]) {
        let Some(best) = passages.first() else { return };
        let of_subject = subject.is_some_and(|subject| subject.file == best.file);
        let is_close =
            |passage: &&Passage| passage.score >= CLOSE * best.score && (!of_subject || passage.file == best.file);
        let close = passages.iter().take_while(is_close).count();
        let met = |passage: &Passage| self.words_met(&query.text, &passage.section, query.language);
        passages[..close].sort_by_key(|passage| std::cmp::Reverse(met(passage)));
    }

    /// Whether a passage is about something that the question names: its heading or a question that its section lists has it.
    pub fn is_about(&self, query: &Query, passage: &Passage) -> bool {
        self.words_met(&query.text, &format!("{}. {}", passage.section, self.questions_of(passage)), query.language) > 0
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

    /// Returns how similar a question is to the most similar one that a page in its language lists.
    pub fn likeness_to_listed(&self, query: &Query) -> f64 {
        self.index().map(|index| index.likeness_to_listed(&query.text, query.language)).unwrap_or_default()
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
