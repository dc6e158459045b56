//! Searches near what was quoted before: for a question that only makes sense after it.

use super::{Knowledge, View};
use crate::domain::Language;
use crate::retrieval::{Passage, Query, Subject};

impl Knowledge {
    /// Finds the passages of the subject's document that share a word with the question, best first. They need not cover it.
    pub fn find_in_document(&self, folders: &[String], query: &Query, subject: &Subject) -> Vec<Passage> {
        let find = |view: &View| {
            let chunks = view.index.chunks();
            let hits = view.index.ranked(query, Some(subject)).into_iter();
            let of_document = hits.filter(|(place, _)| chunks[*place].path == subject.file);
            of_document.map(|(place, score)| chunks[place].passage(query.language, score)).take(query.limit).collect()
        };
        self.with_view(folders, find).unwrap_or_default()
    }

    /// Returns how many of a question's meaningful words a text has.
    pub fn words_met(&self, folders: &[String], question: &str, text: &str, language: Language) -> usize {
        self.with_view(folders, |view| view.index.met_of(question, text, language).0).unwrap_or_default()
    }
}
