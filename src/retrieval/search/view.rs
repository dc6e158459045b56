//! The documents as one persona sees them, indexed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};

use crate::domain::Vocabulary;
use crate::providers::vector::Collection;
use crate::retrieval::mention::Titles;
use crate::retrieval::{Chunk, LexicalIndex, Library, Passage, Query, SearchRules, Shelf, in_one_language};

/// The documents that were read. Replaced as a whole when a file changes.
#[derive(Default)]
pub(super) struct Shelves {
    pub(super) library: Arc<Library>,
    /// The view of personas with these folders, and of those that the last reading replaced.
    pub(super) views: BTreeMap<Vec<String>, Arc<LazyView>>,
    /// The folders of the current personas.
    pub(super) personas: BTreeSet<Vec<String>>,
    /// The files of the rules that the views were indexed with.
    pub(super) rules: Arc<str>,
}

/// A view, indexed at the first question, or by [`Knowledge::index_all`](super::Knowledge::index_all).
pub(super) type LazyView = LazyLock<View, Box<dyn FnOnce() -> View + Send>>;

pub(in crate::retrieval) struct View {
    pub(in crate::retrieval) index: LexicalIndex,
    pub(in crate::retrieval) titles: Titles,
    /// The index of each chunk by its id.
    pub(in crate::retrieval) places: HashMap<String, usize>,
    pub(super) vocabulary: Arc<Vocabulary>,
    pub(super) collections: Vec<Collection>,
}

impl View {
    pub(super) fn index(shelf: Shelf, rules: &SearchRules, collections: Vec<Collection>) -> Self {
        let index = LexicalIndex::build(shelf, rules);
        let places = index.chunks().iter().enumerate().map(|(place, chunk)| (chunk.id(), place)).collect();
        let vocabulary = Arc::new(vocabulary(index.chunks()));
        let titles = Titles::new(index.chunks(), rules);
        Self { index, titles, places, vocabulary, collections }
    }

    pub(super) fn passages_by_words(&self, words: &[(usize, f64)], query: &Query) -> Vec<Passage> {
        let chunks = self.index.chunks();
        let passages = words.iter().map(|(place, score)| chunks[*place].passage(query.language, *score));
        let mut passages = passages.take(query.limit).collect();
        in_one_language(&mut passages, query.language);
        passages
    }
}

/// Returns the vocabulary of these chunks.
pub fn vocabulary(chunks: &[Arc<Chunk>]) -> Vocabulary {
    let mut vocabulary = Vocabulary::default();
    for chunk in chunks {
        if chunk.product.is_some() {
            vocabulary.add_goods(&chunk.title, chunk.searched.as_deref().unwrap_or(&chunk.text));
        } else {
            for text in [&chunk.title, &chunk.section(), &chunk.text] {
                vocabulary.add_page(text);
            }
        }
    }
    vocabulary
}
