//! Searches a shop's documents: always by words, and also by meaning if there are vectors.
//!
//! A question has no passages if no chunk covers enough of its words ([`super::lexical`]) *and* none is similar enough in meaning
//! ([`Threshold`](super::hybrid::Threshold)). One of them suffices for an answer: a paraphrase shares no words with the page, and a model number is not
//! similar to anything.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use serde::Serialize;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::calibration::Calibration;
use super::hybrid::FETCH;
use super::lexical::FEW_WORDS;
use super::{Library, Passage, Query, Report, RetrievalError, SearchRules, Subject};
use crate::config::{KnowledgeConfig, SearchConfig, ShopConfig};
use crate::domain::{TenantId, Vocabulary};
use crate::nlu::long_text::read_text;
use crate::providers::embedding::Embedder;
use crate::providers::vector::{Collection, VectorIndex};

mod indexes;
mod meaning;
mod overview;
mod related;
mod update;
mod view;

use indexes::Indexes;
use meaning::Blind;
pub use overview::{Embedding, IndexedDocument, IndexedFolder, LastSync, Overview};
use view::{LazyView, Shelves, View};
pub use view::{Pages, vocabulary};

/// The documents of one shop, with their search.
pub struct Knowledge {
    tenant: TenantId,
    knowledge: KnowledgeConfig,
    config: SearchConfig,
    embedder: Arc<Embedder>,
    vectors: Arc<dyn VectorIndex>,
    shelves: ArcSwap<Shelves>,
    /// Shared by all shops.
    indexes: Arc<Indexes>,
    /// The calibration of each collection.
    calibrations: Mutex<HashMap<String, Calibration>>,
    last_sync: Mutex<Option<LastSync>>,
    /// Why the last search by meaning failed.
    complaint: Mutex<String>,
    /// Notified when vectors are lost. Shared by all shops.
    lost: Arc<Notify>,
}

/// The result of a search by words in some folders.
pub struct WordHits {
    view: Option<Arc<View>>,
    /// The chunks that answer.
    answering: Vec<(usize, f64)>,
    /// The best chunks, including those below the coverage threshold, because the search by meaning may confirm them.
    ranked: Vec<(usize, f64)>,
    /// The question to embed: one that says little, with its subject.
    meant: String,
}

/// How a question was searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    Words,
    WordsAndMeaning,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Found {
    /// The passages, best first; empty if none answers. Scores are from 0 to 1: cosines after a search by meaning, else shares of the
    /// question's words.
    pub passages: Vec<Passage>,
    pub by: By,
    /// The mean cosine of the nearest chunks.
    pub similarity: Option<f64>,
    /// The question's vector, for further searches.
    pub question: Option<Vec<f32>>,
}

impl Knowledge {
    /// Creates the default shop's search without documents; [`Self::read`] reads them.
    pub fn new(
        knowledge: KnowledgeConfig,
        config: SearchConfig,
        embedder: Arc<Embedder>,
        vectors: Arc<dyn VectorIndex>,
    ) -> Self {
        let (shelves, calibrations) = (ArcSwap::default(), Mutex::default());
        let (last_sync, complaint, lost) = (Mutex::default(), Mutex::default(), Arc::default());
        let (tenant, indexes) = (TenantId::default(), Arc::new(Indexes::new(config.indexes_max)));
        Self {
            tenant,
            knowledge,
            config,
            embedder,
            vectors,
            shelves,
            indexes,
            calibrations,
            last_sync,
            complaint,
            lost,
        }
    }

    /// Creates the search of another shop with the same services, without documents.
    pub fn of_shop(&self, shop: &ShopConfig) -> Self {
        let mut knowledge = self.knowledge.clone();
        knowledge.folder = shop.knowledge.clone().unwrap_or_default();
        let (embedder, vectors) = (self.embedder.clone(), self.vectors.clone());
        let new = Self::new(knowledge, self.config.clone(), embedder, vectors);
        Self { tenant: shop.tenant.clone(), indexes: self.indexes.clone(), lost: self.lost.clone(), ..new }
    }

    /// Returns what is notified when a question finds that the index has lost a shop's vectors.
    pub fn lost_vectors(&self) -> Arc<Notify> {
        self.lost.clone()
    }

    /// Reads the documents that personas with these folders see, and replaces the earlier ones.
    ///
    /// # Errors
    /// A folder exists but cannot be listed. The earlier documents stay in use.
    pub fn read(&self, personas: &BTreeSet<Vec<String>>, rules: &SearchRules) -> Result<(), RetrievalError> {
        let folders: BTreeSet<&str> = personas.iter().flatten().map(String::as_str).collect();
        let library = Arc::new(Library::load(&self.knowledge.folder, folders, rules, &self.knowledge.chunks)?);
        let earlier = self.shelves.load();
        let view = |folders: &Vec<String>| (folders.clone(), LazyView::of(library.shelf_of(folders), rules));
        let mut views: BTreeMap<Vec<String>, Arc<LazyView>> = personas.iter().map(view).collect();
        if !earlier.views.is_empty() {
            // No question waits for the new index, if the shop is asked. Turns of the earlier personas keep their documents.
            let is_used = |folders| earlier.views.get(folders).is_some_and(|view| view.is_indexed());
            self.index(views.iter().filter(|(folders, _)| is_used(*folders) || self.indexes.have_room()));
            let replaced = earlier.personas.difference(personas);
            views.extend(replaced.filter_map(|folders| Some((folders.clone(), earlier.views.get(folders)?.clone()))));
        }
        if library != earlier.library {
            *self.last_sync.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        self.shelves.store(Arc::new(Shelves { library, views, personas: personas.clone() }));
        Ok(())
    }

    /// Indexes the documents that were read, as far as there is room, so that no customer's question waits for it. Takes processor time.
    pub fn index_all(&self) {
        self.index(self.shelves.load_full().views.iter().filter(|_| self.indexes.have_room()));
    }

    fn index<'a>(&self, views: impl Iterator<Item = (&'a Vec<String>, &'a Arc<LazyView>)>) {
        views.for_each(|(_, view)| drop(self.indexes.view(view)));
    }

    fn view(&self, folders: &[String]) -> Option<Arc<View>> {
        Some(self.indexes.view(self.shelves.load().views.get(folders)?))
    }

    /// Returns the result of reading the documents of these folders.
    pub fn report(&self, folders: &[String]) -> Report {
        self.shelves.load().library.shelf_of(folders).report
    }

    /// Returns the vocabulary of the documents of these folders.
    pub fn vocabulary(&self, folders: &[String]) -> Arc<Vocabulary> {
        self.view(folders).map(|view| view.vocabulary.clone()).unwrap_or_default()
    }

    /// Whether search by meaning is enabled.
    pub fn has_meaning(&self) -> bool {
        self.embedder.is_on()
    }

    /// Finds the passages in these folders that answer.
    pub async fn find(&self, folders: &[String], query: &Query) -> Found {
        let hits = read_text(query.text.len(), || self.search_words(folders, query));
        self.find_with(folders, query, hits).await
    }

    /// Searches these folders only by words, the CPU-bound part of a search. A caller with a long question runs it on a thread
    /// for blocking work, and passes the result to [`Self::find_with`].
    pub fn search_words(&self, folders: &[String], query: &Query) -> WordHits {
        self.search_words_about(folders, query, None)
    }

    /// Searches by words for a question in a conversation about a subject.
    pub fn search_words_about(&self, folders: &[String], query: &Query, subject: Option<&Subject>) -> WordHits {
        let view = self.view(folders);
        let (answering, mut ranked) = view.as_ref().map_or_else(Default::default, |view| match self.has_meaning() {
            true => view.index.answering_and_ranked(query, subject),
            false => (view.index.answering_about(query, subject), Vec::new()),
        });
        ranked.truncate(FETCH);
        let says_little = || self.pages(folders).says_little(query);
        let meant = match subject.filter(|subject| !subject.words.is_empty() && self.has_meaning() && says_little()) {
            Some(subject) => format!("{}. {}", subject.words, query.text),
            None => query.text.clone(),
        };
        WordHits { view, answering, ranked, meant }
    }

    /// Finds the passages in these folders that answer, given the result of the search by words.
    pub async fn find_with(&self, folders: &[String], query: &Query, hits: WordHits) -> Found {
        let WordHits { view, answering: words, ranked, meant } = hits;
        let nothing = Found { passages: Vec::new(), by: By::Words, similarity: None, question: None };
        let Some(view) = view else { return nothing };
        let question = match self.question(&meant).await {
            Ok(question) => question,
            Err(cause) => {
                self.complain(&cause);
                return Found { passages: view.passages_by_words(&words, query), ..nothing };
            }
        };
        let nothing = Found { question: Some(question.clone()), ..nothing };
        let collections: Vec<Collection> = folders.iter().map(|folder| self.collection(folder)).collect();
        let near = timeout(self.config.vector_timeout, self.near(&view, &collections, query, &question, &ranked)).await;
        if let Ok(Ok(Some(_))) = &near {
            self.complaint.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        match near.unwrap_or(Err(Blind::Late)) {
            Ok(Some(near)) if words.is_empty() && self.lacks(&collections, query, &near) => {
                Found { by: By::WordsAndMeaning, similarity: Some(near.mean(query)), ..nothing }
            }
            Ok(Some(near)) => self.found(&view, &collections, query, &ranked, &near, nothing),
            Ok(None) => Found { passages: view.passages_by_words(&words, query), ..nothing },
            Err(cause) => {
                self.complain(&cause);
                Found { passages: view.passages_by_words(&words, query), ..nothing }
            }
        }
    }

    /// Returns the documents that personas with these folders see.
    pub fn pages(&self, folders: &[String]) -> Pages {
        Pages::of(self.shelves.load().views.get(folders), &self.indexes)
    }
}

impl Pages {
    /// Finds the passages that answer, only by words.
    pub fn find_by_words(&self, query: &Query) -> Found {
        self.find_by_words_about(query, None)
    }

    /// Finds passages by words for a question in a conversation about a subject.
    pub fn find_by_words_about(&self, query: &Query, subject: Option<&Subject>) -> Found {
        let find = |view: &View| view.passages_by_words(&view.index.answering_about(query, subject), query);
        let passages = self.view().map(find).unwrap_or_default();
        Found { passages, by: By::Words, similarity: None, question: None }
    }

    /// Whether the question has so few meaningful words that it depends on earlier messages.
    pub fn says_little(&self, query: &Query) -> bool {
        self.strong_words(query) <= FEW_WORDS
    }

    /// Returns how many meaningful words a question has.
    pub fn strong_words(&self, query: &Query) -> usize {
        self.index().map_or(usize::MAX, |index| index.strong_words(&query.text, query.language))
    }

    /// Whether the question has no meaningful word at all.
    pub fn names_nothing(&self, query: &Query) -> bool {
        self.index().is_none_or(|index| index.strong_words(&query.text, query.language) == 0)
    }
}
