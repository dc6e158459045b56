//! The search by meaning, with the vectors of an embedding model.

use std::collections::HashMap;
use std::sync::PoisonError;

use tracing::{debug, warn};

use super::view::View;
use super::{By, Found, Knowledge};
use crate::providers::embedding::EmbeddingError;
use crate::providers::vector::{Collection, Labels, VectorError, cosine};
use crate::retrieval::calibration::Calibration;
use crate::retrieval::hybrid::{self, FETCH, Lists, Near, Threshold};
use crate::retrieval::{Query, in_one_language};

/// The most catalogue rows that are fetched to find the pages among them.
const MOST_ROWS: usize = 500;

/// Why a question was not searched by meaning.
#[derive(Debug, thiserror::Error)]
pub(super) enum Blind {
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
    #[error(transparent)]
    Vectors(#[from] VectorError),
    #[error("the search took too long")]
    Late,
    #[error("the index has lost the vectors of the documents, which are embedded again")]
    Lost,
}

/// The result of a search by meaning.
pub(super) struct Meaning {
    nearest: Vec<Near>,
    /// The vectors of candidates that only the search by words found.
    others: HashMap<usize, Vec<f32>>,
    /// The cosine of every candidate.
    similarity: HashMap<usize, f64>,
}

impl Meaning {
    pub(super) fn mean(&self, query: &Query) -> f64 {
        hybrid::mean_similarity(&self.nearest, query.limit)
    }
}

impl Knowledge {
    /// Logs why search by meaning fails: as a warning the first time, then as debug output.
    pub(super) fn complain(&self, cause: &Blind) {
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

    /// Whether the last sync succeeded and left vectors.
    fn is_synced(&self) -> bool {
        let last_sync = self.last_sync.lock().unwrap_or_else(PoisonError::into_inner);
        last_sync.as_ref().is_some_and(|sync| sync.has_vectors)
    }

    pub(super) async fn question(&self, text: &str) -> Result<Vec<f32>, Blind> {
        Ok(self.embedder.query(text).await?)
    }

    /// Merges the two lists.
    pub(super) fn found(
        &self,
        view: &View,
        collections: &[Collection],
        query: &Query,
        words: &[(usize, f64)],
        meaning: &Meaning,
        nothing: Found,
    ) -> Found {
        let Meaning { nearest, others, similarity } = meaning;
        let unrelated = self.calibrated(collections, Calibration::unrelated).into_iter().fold(0.0, f64::max);
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
    pub(super) fn lacks(&self, collections: &[Collection], query: &Query, meaning: &Meaning) -> bool {
        let proposed = self.calibrated(collections, |calibration| calibration.threshold);
        Threshold::of(&self.config, self.embedder.model(), proposed).lacks(&meaning.nearest, query.limit)
    }

    /// Returns a value from the calibration of each collection.
    fn calibrated(&self, collections: &[Collection], what: impl Fn(&Calibration) -> f64) -> Vec<f64> {
        let calibrations = self.calibrations.lock().unwrap_or_else(PoisonError::into_inner);
        let own = collections.iter().filter_map(|collection| calibrations.get(&collection.name));
        own.map(what).collect()
    }

    /// Finds the chunks nearest to the question, and the cosines of all candidates. Returns `None` without vectors of these
    /// documents.
    pub(super) async fn near(
        &self,
        view: &View,
        collections: &[Collection],
        query: &Query,
        question: &[f32],
        words: &[(usize, f64)],
    ) -> Result<Option<Meaning>, Blind> {
        let space = self.embedder.space().await?;
        let mut nearest: Vec<Near> = Vec::new();
        let mut is_empty = true;
        // Rows may be nearer than all pages.
        let rows = view.index.chunks().iter().filter(|chunk| query.pages_only && chunk.product.is_some()).count();
        let count = FETCH + rows.min(MOST_ROWS);
        for collection in collections {
            let hits = self.vectors.query(collection, &space, question, count, &Labels::new()).await?;
            is_empty &= hits.is_empty();
            // A removed chunk may still have a vector.
            nearest.extend(hits.into_iter().filter_map(|hit| {
                let chunk = *view.places.get(&hit.id)?;
                let is_wanted = !query.pages_only || view.index.chunks()[chunk].product.is_none();
                is_wanted.then_some(Near { chunk, similarity: hit.similarity, vector: hit.vector })
            }));
        }
        if is_empty && !view.index.chunks().is_empty() && self.is_synced() {
            self.lost.notify_one();
            return Err(Blind::Lost);
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
        for collection in collections.iter().filter(|_| !missing.is_empty()) {
            for (id, vector) in self.vectors.vectors(collection, &missing).await? {
                if let Some(place) = view.places.get(&id) {
                    similarity.insert(*place, cosine(question, &vector));
                    others.insert(*place, vector);
                }
            }
        }
        Ok(Some(Meaning { nearest, others, similarity }))
    }
}
