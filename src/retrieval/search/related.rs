//! Searches near what was quoted before: for a question that only makes sense after it.

use std::sync::Arc;

use super::{Knowledge, View};
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

impl Knowledge {
    /// Finds the passages of the subject's document that share a word with the question or list a similar one, best first. They need not cover it.
    pub fn find_in_document(&self, folders: &[String], query: &Query, subject: &Subject) -> Vec<Passage> {
        let find = |view: &View| {
            let chunks = view.index.chunks();
            let hits = view.index.ranked(query, Some(subject)).into_iter();
            let of_document = hits.filter(|(place, _)| chunks[*place].path == subject.file);
            of_document.map(|(place, score)| chunks[place].passage(query.language, score)).take(query.limit).collect()
        };
        self.with_view(folders, find).unwrap_or_default()
    }

    /// Returns the sections of pages that are nearest to a question, best first. They need not answer it.
    pub fn nearest_sections(&self, folders: &[String], query: &Query) -> Vec<Passage> {
        let find = |view: &View| {
            let (index, chunks) = (&view.index, view.index.chunks());
            let mut hits = index.ranked(query, None);
            index.keep_own_language(&mut hits, query.language, |(place, _)| *place);
            let mut sections: Vec<Passage> = Vec::new();
            for (place, score) in hits.into_iter().filter(|(place, _)| chunks[*place].product.is_none()) {
                let passage = chunks[place].passage(query.language, score);
                if !sections.iter().any(|known| known.file == passage.file && known.section == passage.section) {
                    sections.push(passage);
                }
            }
            sections.truncate(query.limit);
            sections
        };
        self.with_view(folders, find).unwrap_or_default()
    }

    /// Returns a section of a page.
    pub fn section(&self, folders: &[String], file: &str, section: &str, language: Language) -> Option<Passage> {
        let find = |view: &View| {
            let is_its = |chunk: &&Arc<Chunk>| chunk.path == file && chunk.section() == section;
            Some(view.index.chunks().iter().find(is_its)?.passage(language, 1.0))
        };
        self.with_view(folders, find)?
    }

    /// Finds the section that most likely answers a question in words of its own. For a question that no passage covers.
    pub fn find_likely(&self, folders: &[String], query: &Query) -> Vec<Passage> {
        let find = |view: &View| view.passages_by_words(&view.index.likely_section(query, None, LIKELY, ALIKE), query);
        self.with_view(folders, find).unwrap_or_default()
    }

    /// Finds the section of the subject's document that most likely answers a question that no passage covers.
    pub fn find_likely_within(&self, folders: &[String], query: &Query, subject: &Subject) -> Vec<Passage> {
        let file = Some(subject.file.as_str());
        let find =
            |view: &View| view.passages_by_words(&view.index.likely_section(query, file, LIKELY, ALIKE_WITHIN), query);
        self.with_view(folders, find).unwrap_or_default()
    }

    /// Returns the section next to a passage's that is about what the customer has named, such as the iPhone. `said` has the customer's
    /// messages, the latest one first.
    pub fn named_sibling(
        &self,
        folders: &[String],
        passage: &Passage,
        said: &[&str],
        query: &Query,
    ) -> Option<Passage> {
        let find = |view: &View| {
            let place = view.index.named_sibling(passage, said, query.language)?;
            Some(view.index.chunks()[place].passage(query.language, passage.score))
        };
        self.with_view(folders, find)?
    }

    /// Sorts passages with close scores by how many of the question's meaningful words their headings have: what the question names is
    /// what the section is about. Another page does not come before that of the subject.
    pub fn sort_by_heading(
        &self,
        folders: &[String],
        query: &Query,
        subject: Option<&Subject>,
        passages: &mut [Passage],
    ) {
        let Some(best) = passages.first() else { return };
        let of_subject = subject.is_some_and(|subject| subject.file == best.file);
        let is_close =
            |passage: &&Passage| passage.score >= CLOSE * best.score && (!of_subject || passage.file == best.file);
        let close = passages.iter().take_while(is_close).count();
        let met = |passage: &Passage| self.words_met(folders, &query.text, &passage.section, query.language);
        passages[..close].sort_by_key(|passage| std::cmp::Reverse(met(passage)));
    }

    /// Whether a passage is about something that the question names: its heading or a question that its section lists has it.
    pub fn is_about(&self, folders: &[String], query: &Query, passage: &Passage) -> bool {
        let is_about = |view: &View| {
            let text = format!("{}. {}", passage.section, questions_of(view, passage));
            view.index.met_of(&query.text, &text, query.language).0 > 0
        };
        self.with_view(folders, is_about).unwrap_or_default()
    }

    /// Returns how many of a question's meaningful words a section has in its heading, its passage or its listed questions, and how many
    /// there are.
    pub fn met_by(&self, folders: &[String], query: &Query, passage: &Passage) -> (usize, usize) {
        let met = |view: &View| {
            let text = format!("{}. {}. {}", passage.section, passage.text, questions_of(view, passage));
            view.index.met_of(&query.text, &text, query.language)
        };
        self.with_view(folders, met).unwrap_or_default()
    }

    /// Returns the weight of a question's meaningful words that a text has: rare words weigh more.
    pub fn weight_met(&self, folders: &[String], question: &str, text: &str, language: Language) -> f64 {
        self.with_view(folders, |view| view.index.weight_met(question, text, language)).unwrap_or_default()
    }

    /// Returns the weight of a question's meaningful words that a passage or the questions of its section have.
    pub fn weight_met_by(&self, folders: &[String], query: &Query, passage: &Passage) -> f64 {
        let met = |view: &View| {
            let text = format!("{}. {}", passage.text, questions_of(view, passage));
            view.index.weight_met(&query.text, &text, query.language)
        };
        self.with_view(folders, met).unwrap_or_default()
    }

    /// Returns how similar a question is to the most similar one that a page in its language lists.
    pub fn likeness_to_listed(&self, folders: &[String], query: &Query) -> f64 {
        let most = |view: &View| view.index.likeness_to_listed(&query.text, query.language);
        self.with_view(folders, most).unwrap_or_default()
    }

    /// Returns how many of a question's meaningful words a text has.
    pub fn words_met(&self, folders: &[String], question: &str, text: &str, language: Language) -> usize {
        self.with_view(folders, |view| view.index.met_of(question, text, language).0).unwrap_or_default()
    }
}

/// Returns the questions that a passage's section lists.
fn questions_of(view: &View, passage: &Passage) -> String {
    let is_its = |chunk: &&Arc<Chunk>| chunk.path == passage.file && chunk.section() == passage.section;
    let chunk = view.index.chunks().iter().find(is_its);
    chunk.map(|chunk| chunk.questions.join(". ")).unwrap_or_default()
}
