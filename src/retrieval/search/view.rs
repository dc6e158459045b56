//! The documents as one persona sees them, indexed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use arc_swap::ArcSwapOption;

use super::indexes::Indexes;
use crate::domain::Vocabulary;
use crate::nlu::long_text::work_long;
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

/// A view that is indexed when it is used ([`Indexes::view`]).
pub(super) struct LazyView {
    shelf: Shelf,
    rules: SearchRules,
    view: ArcSwapOption<View>,
    /// Held while the documents are indexed.
    indexing: Mutex<()>,
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
        let view =
            Arc::new(Self { shelf, rules: rules.clone(), view: ArcSwapOption::empty(), indexing: Mutex::default() });
        views.push(Arc::downgrade(&view));
        view
    }

    /// Indexes the documents, unless they are indexed already.
    pub(super) fn index_now(&self) -> Arc<View> {
        self.view.load_full().unwrap_or_else(|| work_long(|| self.index_once()))
    }

    fn index_once(&self) -> Arc<View> {
        let _only = self.indexing.lock().unwrap_or_else(PoisonError::into_inner);
        self.view.load_full().unwrap_or_else(|| {
            let view = Arc::new(View::index(self.shelf.clone(), &self.rules));
            self.view.store(Some(view.clone()));
            view
        })
    }

    pub(super) fn is_indexed(&self) -> bool {
        self.view.load().is_some()
    }

    /// Drops the index. Searches that have it keep it until they end.
    pub(super) fn drop_index(&self) {
        self.view.store(None);
    }
}

/// The documents that a persona sees, as of one moment: they stay the same when the documents are read again. Empty for folders that were
/// not read.
#[derive(Clone, Default)]
pub struct Pages(Option<(Arc<Indexes>, Arc<LazyView>)>, OnceLock<Arc<View>>);

impl Pages {
    pub(super) fn of(view: Option<&Arc<LazyView>>, indexes: &Arc<Indexes>) -> Self {
        Self(view.map(|view| (indexes.clone(), view.clone())), OnceLock::new())
    }

    pub(in crate::retrieval) fn view(&self) -> Option<&View> {
        let Self(pages, view) = self;
        pages.as_ref().map(|(indexes, lazy)| &**view.get_or_init(|| indexes.view(lazy)))
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
    /// The memory that it takes, in bytes, as far as that is much.
    pub(super) bytes: usize,
}

impl View {
    fn index(shelf: Shelf, rules: &SearchRules) -> Self {
        let index = LexicalIndex::build(shelf, rules);
        let places = index.chunks().iter().enumerate().map(|(place, chunk)| (chunk.id(), place)).collect();
        let vocabulary = Arc::new(vocabulary(index.chunks()));
        let titles = Titles::new(index.chunks(), rules);
        let bytes = index.bytes();
        Self { index, titles, places, vocabulary, bytes }
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
