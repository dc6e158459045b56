//! The documents as one persona sees them, indexed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use crate::domain::Vocabulary;
use crate::nlu::long_text::made_once;
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
}

/// A view, indexed when it is first used.
pub(super) struct LazyView {
    shelf: Shelf,
    rules: SearchRules,
    view: OnceLock<View>,
}

/// The views in use. Shops with the same documents and rules share one, and so do the documents before and after a reload that changed
/// none.
static VIEWS: Mutex<Vec<Weak<LazyView>>> = Mutex::new(Vec::new());

impl LazyView {
    pub(super) fn of(shelf: Shelf, rules: &SearchRules) -> Arc<Self> {
        let mut views = VIEWS.lock().unwrap_or_else(PoisonError::into_inner);
        views.retain(|view| view.strong_count() > 0);
        let is_same = |view: &Arc<Self>| view.rules.source == rules.source && view.shelf == shelf;
        if let Some(same) = views.iter().filter_map(Weak::upgrade).find(is_same) {
            return same;
        }
        let view = Arc::new(Self { shelf, rules: rules.clone(), view: OnceLock::new() });
        views.push(Arc::downgrade(&view));
        view
    }

    /// Indexes the documents, unless they are indexed already.
    pub(super) fn index_now(&self) -> &View {
        made_once(&self.view, || View::index(self.shelf.clone(), &self.rules))
    }
}

impl Deref for LazyView {
    type Target = View;

    fn deref(&self) -> &View {
        self.index_now()
    }
}

/// The documents that a persona sees, as of one moment: they stay the same when the documents are read again. Empty for folders that were
/// not read.
#[derive(Clone, Default)]
pub struct Pages(pub(super) Option<Arc<LazyView>>);

impl Pages {
    pub(in crate::retrieval) fn view(&self) -> Option<&View> {
        self.0.as_ref().map(|view| view.index_now())
    }

    pub(in crate::retrieval) fn index(&self) -> Option<&LexicalIndex> {
        self.view().map(|view| &view.index)
    }

    pub(in crate::retrieval) fn chunks(&self) -> &[Arc<Chunk>] {
        self.index().map(LexicalIndex::chunks).unwrap_or_default()
    }
}

pub(in crate::retrieval) struct View {
    pub(in crate::retrieval) index: LexicalIndex,
    pub(in crate::retrieval) titles: Titles,
    /// The index of each chunk by its id.
    pub(in crate::retrieval) places: HashMap<String, usize>,
    pub(super) vocabulary: Arc<Vocabulary>,
}

impl View {
    fn index(shelf: Shelf, rules: &SearchRules) -> Self {
        let index = LexicalIndex::build(shelf, rules);
        let places = index.chunks().iter().enumerate().map(|(place, chunk)| (chunk.id(), place)).collect();
        let vocabulary = Arc::new(vocabulary(index.chunks()));
        let titles = Titles::new(index.chunks(), rules);
        Self { index, titles, places, vocabulary }
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
            for text in [&*chunk.title, &*chunk.section(), &*chunk.text] {
                vocabulary.add_page(text);
            }
        }
    }
    vocabulary
}
