//! Searches a shop's documents: always by words, and also by meaning if there are vectors.
//!
//! A question has no passages if no chunk covers enough of its words ([`super::lexical`]) *and* none is similar enough in meaning
//! ([`Threshold`]). One of them suffices for an answer: a paraphrase shares no words with the page, and a model number is not
//! similar to anything.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use arc_swap::ArcSwap;
use chrono::Utc;
use serde::Serialize;
use tokio::time::timeout;
use tracing::{debug, warn};

use super::calibration::Calibration;
use super::hybrid::{self, FETCH, Lists, Near, Threshold};
use super::lexical::FEW_WORDS;
use super::library::collection_name;
use super::sync::{Progress, SyncError, SyncReport, Target, sync};
use super::{
    Chunk, LexicalIndex, Library, Passage, Query, Report, RetrievalError, SearchRules, Shelf, Subject, in_one_language,
};
use crate::config::{KnowledgeConfig, SearchConfig, ShopConfig};
use crate::domain::{TenantId, Vocabulary};
use crate::providers::embedding::{Embedder, EmbeddingError};
use crate::providers::vector::{Collection, Labels, VectorError, VectorIndex, cosine};

mod overview;
mod related;

pub use overview::{Embedding, IndexedDocument, IndexedFolder, LastSync, Overview};

/// The documents of one shop, with their search.
pub struct Knowledge {
    tenant: TenantId,
    knowledge: KnowledgeConfig,
    config: SearchConfig,
    embedder: Arc<Embedder>,
    vectors: Arc<dyn VectorIndex>,
    shelves: ArcSwap<Shelves>,
    /// The calibration of each collection.
    calibrations: Mutex<HashMap<String, Calibration>>,
    last_sync: Mutex<Option<LastSync>>,
    /// Why the last search by meaning failed.
    complaint: Mutex<String>,
}

/// The documents that were read. Replaced as a whole when a file changes.
#[derive(Default)]
struct Shelves {
    library: Arc<Library>,
    /// The view of personas with these folders.
    views: BTreeMap<Vec<String>, Arc<LazyView>>,
    /// The files of the rules that the views were indexed with.
    rules: Arc<str>,
}

/// A view, indexed at the first question, or by [`Knowledge::index_all`].
type LazyView = LazyLock<View, Box<dyn FnOnce() -> View + Send>>;

pub(super) struct View {
    pub(super) index: LexicalIndex,
    /// The index of each chunk by its id.
    pub(super) places: HashMap<String, usize>,
    vocabulary: Arc<Vocabulary>,
    collections: Vec<Collection>,
}

/// The result of a search by words in some folders.
pub struct WordHits {
    shelves: Arc<Shelves>,
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

/// Why a question was not searched by meaning.
#[derive(Debug, thiserror::Error)]
enum Blind {
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
    #[error(transparent)]
    Vectors(#[from] VectorError),
    #[error("the search took too long")]
    Late,
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
        let (last_sync, complaint) = (Mutex::default(), Mutex::default());
        let tenant = TenantId::default();
        Self { tenant, knowledge, config, embedder, vectors, shelves, calibrations, last_sync, complaint }
    }

    /// Creates the search of another shop with the same services, without documents.
    pub fn of_shop(&self, shop: &ShopConfig) -> Self {
        let mut knowledge = self.knowledge.clone();
        knowledge.folder = shop.knowledge.clone().unwrap_or_default();
        let (embedder, vectors) = (self.embedder.clone(), self.vectors.clone());
        Self { tenant: shop.tenant.clone(), ..Self::new(knowledge, self.config.clone(), embedder, vectors) }
    }

    /// Reads the documents that personas with these folders see, and replaces the earlier ones. Folders without a change are not
    /// indexed again.
    ///
    /// # Errors
    /// A folder exists but cannot be listed. The earlier documents stay in use.
    pub fn read(&self, personas: &BTreeSet<Vec<String>>, rules: &SearchRules) -> Result<(), RetrievalError> {
        let folders: BTreeSet<&str> = personas.iter().flatten().map(String::as_str).collect();
        let library = Arc::new(Library::load(&self.knowledge.folder, folders, rules, &self.knowledge.chunks)?);
        let earlier = self.shelves.load();
        let unchanged = |folders: &Vec<String>| {
            let is_unchanged = |folder| library.shelves.get(folder) == earlier.library.shelves.get(folder);
            let view = earlier.views.get(folders).filter(|_| earlier.rules == rules.source)?;
            folders.iter().all(is_unchanged).then(|| view.clone())
        };
        let view = |folders: &Vec<String>| {
            if let Some(view) = unchanged(folders) {
                return (folders.clone(), view);
            }
            let collections = folders.iter().map(|folder| self.collection(folder)).collect();
            let (library, rules, of) = (library.clone(), rules.clone(), folders.clone());
            let index: Box<dyn FnOnce() -> View + Send> =
                Box::new(move || View::index(library.shelf_of(&of), &rules, collections));
            (folders.clone(), Arc::new(LazyLock::new(index)))
        };
        let views = personas.iter().map(view).collect();
        self.shelves.store(Arc::new(Shelves { library, views, rules: rules.source.clone() }));
        Ok(())
    }

    /// Indexes all documents that were read, so that no customer's question waits for it. Takes processor time.
    pub fn index_all(&self) {
        for view in self.shelves.load_full().views.values() {
            LazyLock::force(view.as_ref());
        }
    }

    /// Returns the result of reading the documents of these folders.
    pub fn report(&self, folders: &[String]) -> Report {
        self.shelves.load().library.shelf_of(folders).report
    }

    /// Returns the vocabulary of the documents of these folders.
    pub fn vocabulary(&self, folders: &[String]) -> Arc<Vocabulary> {
        let shelves = self.shelves.load();
        shelves.views.get(folders).map(|view| view.vocabulary.clone()).unwrap_or_default()
    }

    /// Whether search by meaning is enabled.
    pub fn has_meaning(&self) -> bool {
        self.embedder.is_on()
    }

    /// Finds the passages in these folders that answer.
    pub async fn find(&self, folders: &[String], query: &Query) -> Found {
        self.find_with(folders, query, self.search_words(folders, query)).await
    }

    /// Searches these folders only by words, the CPU-bound part of a search. A caller with a long question runs it on a thread
    /// for blocking work, and passes the result to [`Self::find_with`].
    pub fn search_words(&self, folders: &[String], query: &Query) -> WordHits {
        self.search_words_about(folders, query, None)
    }

    /// Searches by words for a question in a conversation about a subject.
    pub fn search_words_about(&self, folders: &[String], query: &Query, subject: Option<&Subject>) -> WordHits {
        let shelves = self.shelves.load_full();
        let (answering, mut ranked) =
            shelves.views.get(folders).map_or_else(Default::default, |view| match self.has_meaning() {
                true => view.index.answering_and_ranked(query, subject),
                false => (view.index.answering_about(query, subject), Vec::new()),
            });
        ranked.truncate(FETCH);
        let says_little = || self.says_little(folders, query);
        let meant = match subject.filter(|_| self.has_meaning() && says_little()) {
            Some(subject) => format!("{}. {}", subject.words, query.text),
            None => query.text.clone(),
        };
        WordHits { shelves, answering, ranked, meant }
    }

    /// Finds the passages in these folders that answer, given the result of the search by words.
    pub async fn find_with(&self, folders: &[String], query: &Query, hits: WordHits) -> Found {
        let WordHits { shelves, answering: words, ranked, meant } = hits;
        let nothing = Found { passages: Vec::new(), by: By::Words, similarity: None, question: None };
        let Some(view) = shelves.views.get(folders) else { return nothing };
        let question = match self.question(&meant).await {
            Ok(question) => question,
            Err(cause) => {
                self.complain(&cause);
                return Found { passages: view.passages_by_words(&words, query), ..nothing };
            }
        };
        let nothing = Found { question: Some(question.clone()), ..nothing };
        let near = timeout(self.config.vector_timeout, self.near(view, query, &question, &ranked)).await;
        match near.unwrap_or(Err(Blind::Late)) {
            Ok(Some(near)) if words.is_empty() && self.lacks(view, query, &near) => {
                Found { by: By::WordsAndMeaning, similarity: Some(near.mean(query)), ..nothing }
            }
            Ok(Some(near)) => self.found(view, query, &ranked, &near, nothing),
            Ok(None) => Found { passages: view.passages_by_words(&words, query), ..nothing },
            Err(cause) => {
                self.complain(&cause);
                Found { passages: view.passages_by_words(&words, query), ..nothing }
            }
        }
    }

    /// Finds the passages in these folders that answer, only by words.
    pub fn find_by_words(&self, folders: &[String], query: &Query) -> Found {
        self.find_by_words_about(folders, query, None)
    }

    /// Finds passages by words for a question in a conversation about a subject.
    pub fn find_by_words_about(&self, folders: &[String], query: &Query, subject: Option<&Subject>) -> Found {
        let find = |view: &View| view.passages_by_words(&view.index.answering_about(query, subject), query);
        let passages = self.with_view(folders, find).unwrap_or_default();
        Found { passages, by: By::Words, similarity: None, question: None }
    }

    /// Reads the view of personas with these folders.
    pub(super) fn with_view<T>(&self, folders: &[String], read: impl FnOnce(&View) -> T) -> Option<T> {
        self.shelves.load().views.get(folders).map(|view| read(view))
    }

    /// Whether the question has so few meaningful words that it depends on earlier messages.
    pub fn says_little(&self, folders: &[String], query: &Query) -> bool {
        let few = |view: &View| view.index.strong_words(&query.text, query.language) <= FEW_WORDS;
        self.with_view(folders, few).unwrap_or_default()
    }

    /// Whether the question has no meaningful word at all.
    pub fn names_nothing(&self, folders: &[String], query: &Query) -> bool {
        self.with_view(folders, |view| view.index.strong_words(&query.text, query.language) == 0).unwrap_or(true)
    }

    /// Logs why search by meaning fails: as a warning the first time, then as debug output.
    fn complain(&self, cause: &Blind) {
        if matches!(cause, Blind::Embedding(EmbeddingError::Off)) {
            return;
        }
        let cause = cause.to_string();
        let mut complaint = self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        if *complaint == cause {
            debug!(error = %cause, "Still searching only by words");
        } else {
            warn!(error = %cause, "Searching only by words");
            *complaint = cause;
        }
    }

    async fn question(&self, text: &str) -> Result<Vec<f32>, Blind> {
        Ok(self.embedder.query(text).await?)
    }

    /// Merges the two lists.
    fn found(&self, view: &View, query: &Query, words: &[(usize, f64)], meaning: &Meaning, nothing: Found) -> Found {
        let Meaning { nearest, others, similarity } = meaning;
        let unrelated = self.calibrated(view, Calibration::unrelated).into_iter().fold(0.0, f64::max);
        let chunks = view.index.chunks();
        let lists = Lists { words, near: nearest, others, unrelated };
        let score = |place: usize| similarity.get(&place).copied().unwrap_or_default().clamp(0.0, 1.0);
        let passage = |place: usize| chunks[place].passage(query.language, score(place));
        let mut places = hybrid::order(chunks, &lists);
        view.index.keep_own_language(&mut places, query.language, |place| *place);
        let mut passages = places.into_iter().take(query.limit).map(passage).collect();
        in_one_language(&mut passages, query.language);
        Found { passages, by: By::WordsAndMeaning, similarity: Some(meaning.mean(query)), ..nothing }
    }

    /// Whether no chunk is similar enough.
    fn lacks(&self, view: &View, query: &Query, meaning: &Meaning) -> bool {
        let proposed = self.calibrated(view, |calibration| calibration.threshold);
        Threshold::of(&self.config, self.embedder.model(), proposed).lacks(&meaning.nearest, query.limit)
    }

    /// Returns a value from the calibration of each collection of the view.
    fn calibrated(&self, view: &View, what: impl Fn(&Calibration) -> f64) -> Vec<f64> {
        let calibrations = self.calibrations.lock().unwrap_or_else(PoisonError::into_inner);
        let own = view.collections.iter().filter_map(|collection| calibrations.get(&collection.name));
        own.map(what).collect()
    }

    /// Finds the chunks nearest to the question, and the cosines of all candidates. Returns `None` without vectors of these
    /// documents.
    async fn near(
        &self,
        view: &View,
        query: &Query,
        question: &[f32],
        words: &[(usize, f64)],
    ) -> Result<Option<Meaning>, Blind> {
        let mut nearest: Vec<Near> = Vec::new();
        for collection in &view.collections {
            let hits = self.vectors.query(collection, question, FETCH, &Labels::new()).await?;
            // A removed chunk may still have a vector.
            nearest.extend(hits.into_iter().filter_map(|hit| {
                let chunk = *view.places.get(&hit.id)?;
                let is_wanted = !query.pages_only || view.index.chunks()[chunk].product.is_none();
                is_wanted.then_some(Near { chunk, similarity: hit.similarity, vector: hit.vector })
            }));
        }
        if nearest.is_empty() {
            return Ok(None);
        }
        nearest.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        nearest.truncate(FETCH);
        let mut similarity: HashMap<usize, f64> =
            nearest.iter().map(|near| (near.chunk, f64::from(near.similarity))).collect();
        let mut others = HashMap::new();
        let missing: Vec<String> = words
            .iter()
            .filter(|(place, _)| !similarity.contains_key(place))
            .map(|(place, _)| view.index.chunks()[*place].id())
            .collect();
        for collection in view.collections.iter().filter(|_| !missing.is_empty()) {
            for (id, vector) in self.vectors.vectors(collection, &missing).await? {
                if let Some(place) = view.places.get(&id) {
                    similarity.insert(*place, cosine(question, &vector));
                    others.insert(*place, vector);
                }
            }
        }
        Ok(Some(Meaning { nearest, others, similarity }))
    }

    fn collection(&self, folder: &str) -> Collection {
        let name = collection_name(&self.knowledge.collection, folder);
        Collection { tenant: self.tenant.clone(), name }
    }

    /// Updates the vectors to the documents that were read.
    ///
    /// # Errors
    /// See [`sync`]. Batches that were stored stay stored.
    pub async fn sync(&self) -> Result<Vec<SyncReport>, SyncError> {
        let reports = self.sync_shelves().await;
        *self.last_sync.lock().unwrap_or_else(PoisonError::into_inner) = Some(LastSync::of(Utc::now(), &reports));
        reports
    }

    async fn sync_shelves(&self) -> Result<Vec<SyncReport>, SyncError> {
        let shelves = self.shelves.load_full();
        let mut reports = Vec::new();
        for (folder, shelf) in &shelves.library.shelves {
            let collection = self.collection(folder);
            let target = Target {
                index: self.vectors.as_ref(),
                embedder: &self.embedder,
                collection: &collection,
                batch: self.config.batch,
            };
            reports.push(sync(&target, shelf, &|_: Progress| {}).await?);
            self.calibrate(collection, shelf).await?;
        }
        Ok(reports)
    }

    /// Calibrates with the existing vectors and adds none, for a process next to the server that maintains them.
    ///
    /// # Errors
    /// The index does not answer.
    pub async fn look_at_vectors(&self) -> Result<(), VectorError> {
        let shelves = self.shelves.load_full();
        for (folder, shelf) in &shelves.library.shelves {
            self.calibrate(self.collection(folder), shelf).await?;
        }
        Ok(())
    }

    async fn calibrate(&self, collection: Collection, shelf: &Shelf) -> Result<(), VectorError> {
        let calibration = Calibration::of(self.vectors.as_ref(), &collection, shelf).await?;
        let mut calibrations = self.calibrations.lock().unwrap_or_else(PoisonError::into_inner);
        match calibration {
            Some(calibration) => calibrations.insert(collection.name, calibration),
            None => calibrations.remove(&collection.name),
        };
        Ok(())
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

/// The result of a search by meaning.
struct Meaning {
    nearest: Vec<Near>,
    /// The vectors of candidates that only the search by words found.
    others: HashMap<usize, Vec<f32>>,
    /// The cosine of every candidate.
    similarity: HashMap<usize, f64>,
}

impl Meaning {
    fn mean(&self, query: &Query) -> f64 {
        hybrid::mean_similarity(&self.nearest, query.limit)
    }
}

impl View {
    fn index(shelf: Shelf, rules: &SearchRules, collections: Vec<Collection>) -> Self {
        let index = LexicalIndex::build(shelf, rules);
        let places = index.chunks().iter().enumerate().map(|(place, chunk)| (chunk.id(), place)).collect();
        let vocabulary = Arc::new(vocabulary(index.chunks()));
        Self { index, places, vocabulary, collections }
    }

    fn passages_by_words(&self, words: &[(usize, f64)], query: &Query) -> Vec<Passage> {
        let chunks = self.index.chunks();
        let passages = words.iter().map(|(place, score)| chunks[*place].passage(query.language, *score));
        let mut passages = passages.take(query.limit).collect();
        in_one_language(&mut passages, query.language);
        passages
    }
}
