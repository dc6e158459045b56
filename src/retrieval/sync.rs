//! Keeping a collection of vectors in line with a folder of documents.
//!
//! A chunk's id is made of what is embedded ([`Chunk::id`]), so what changed is the difference of two sets. Whatever happens in the
//! middle, the collection holds vectors of chunks and nothing else, and the next run does the rest: every batch is stored as
//! soon as it is embedded, and what left the folder is removed last, so that it is found until its successor is.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use serde::Serialize;
use tracing::{info, warn};

use super::chunk::Chunk;
use super::folder::Shelf;
use crate::providers::embedding::{Embedder, EmbeddingError};
use crate::providers::vector::{Collection, Record, VectorError, VectorIndex};

/// What would change.
#[derive(Debug)]
pub struct Plan<'a> {
    /// Each with its id, in the order of the documents.
    pub missing: Vec<(String, &'a Chunk)>,
    /// The ids of what left the folder or changed in it.
    pub gone: Vec<String>,
    /// Chunks that are there already.
    pub kept: usize,
}

/// Where the vectors go, and who makes them.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    pub index: &'a dyn VectorIndex,
    pub embedder: &'a Embedder,
    pub collection: &'a Collection,
    /// Chunks that are embedded and stored together.
    pub batch: usize,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Chunks that were embedded or refused.
    pub done: usize,
    /// Chunks that the collection lacked.
    pub total: usize,
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncReport {
    pub documents: usize,
    /// Different chunks of these documents; the sum of the next two and of `refused`.
    pub chunks: usize,
    pub kept: usize,
    pub embedded: usize,
    /// Vectors of chunks that are no more.
    pub removed: usize,
    /// Chunks that say too little to be indexed.
    pub dropped: usize,
    pub refused: Vec<RefusedChunk>,
    pub seconds: f64,
}

/// A chunk that the model does not embed. It is found by its words alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedChunk {
    pub file: String,
    /// Its headings, joined by ` > `.
    pub section: String,
    pub why: String,
}

/// Why a run ended early. What it had embedded is kept.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    #[error(transparent)]
    Vectors(#[from] VectorError),
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
}

/// Compares; touches nothing.
pub async fn plan<'a>(
    index: &dyn VectorIndex,
    collection: &Collection,
    shelf: &'a Shelf,
) -> Result<Plan<'a>, VectorError> {
    let there = index.ids(collection).await?;
    let mut wanted: HashSet<String> = HashSet::new();
    let (mut missing, mut kept) = (Vec::new(), 0);
    for chunk in &shelf.chunks {
        let id = chunk.id();
        if wanted.contains(&id) {
            continue;
        }
        match there.contains(&id) {
            true => kept += 1,
            false => missing.push((id.clone(), chunk.as_ref())),
        }
        wanted.insert(id);
    }
    let mut gone: Vec<String> = there.difference(&wanted).cloned().collect();
    gone.sort();
    Ok(Plan { missing, gone, kept })
}

/// Brings the collection into line with the documents, making it if it is not there.
///
/// # Errors
/// [`VectorError::OtherSpace`] if another model made the collection; nothing is changed then. Otherwise either service does not
/// answer, or refuses more than single texts.
pub async fn sync(
    target: &Target<'_>,
    shelf: &Shelf,
    progress: &(dyn Fn(Progress) + Send + Sync),
) -> Result<SyncReport, SyncError> {
    let started = Instant::now();
    let Target { index, embedder, collection, batch } = *target;
    index.open(collection, &embedder.space().await?).await?;
    let Plan { missing, gone, kept } = plan(index, collection, shelf).await?;
    let mut report = SyncReport {
        documents: shelf.report.documents,
        chunks: kept + missing.len(),
        kept,
        dropped: shelf.report.dropped.len(),
        ..SyncReport::default()
    };
    let total = missing.len();
    progress(Progress { done: 0, total });
    for (n, batch) in missing.chunks(batch.max(1)).enumerate() {
        let mut vectors = embed(embedder, batch).await?;
        let mut records = Vec::with_capacity(batch.len());
        for (n, (id, chunk)) in batch.iter().enumerate() {
            match vectors.remove(&n) {
                Some(Ok(vector)) => records.push(record(id, chunk, vector)),
                Some(Err(why)) => report.refused.push(refused(chunk, why)),
                None => report.refused.push(refused(chunk, "no vector came".to_owned())),
            }
        }
        if !records.is_empty() {
            index.upsert(collection, &records).await?;
        }
        report.embedded += records.len();
        progress(Progress { done: (n * target.batch.max(1) + batch.len()).min(total), total });
    }
    if !gone.is_empty() {
        index.delete(collection, &gone).await?;
    }
    report.removed = gone.len();
    report.seconds = started.elapsed().as_secs_f64();
    info!(
        collection = collection.name,
        embedded = report.embedded,
        removed = report.removed,
        kept = report.kept,
        refused = report.refused.len(),
        seconds = report.seconds,
        "Vectors brought into line with the documents"
    );
    Ok(report)
}

/// A vector, or why the model made none, for the n-th text.
type Vectors = HashMap<usize, Result<Vec<f32>, String>>;

/// Where the texts together are not embedded, each is tried by itself. One that fails although the model answers is refused.
async fn embed(embedder: &Embedder, batch: &[(String, &Chunk)]) -> Result<Vectors, EmbeddingError> {
    let texts: Vec<String> = batch.iter().map(|(_, chunk)| chunk.embedded_text()).collect();
    match embedder.passages(&texts).await {
        Ok(vectors) => return Ok(vectors.into_iter().map(Ok).enumerate().collect()),
        Err(EmbeddingError::Off) => return Err(EmbeddingError::Off),
        Err(error) => warn!(%error, texts = texts.len(), "Texts are not embedded together; each is tried by itself"),
    }
    let mut vectors = Vectors::new();
    for (n, text) in texts.iter().enumerate() {
        let vector = match embedder.passages(std::slice::from_ref(text)).await {
            Ok(mut vectors) => vectors.pop().ok_or_else(|| "no vector came".to_owned()),
            Err(error) => {
                // A word that every model embeds: if that fails too, it is not the text.
                embedder.query("?").await.map_err(|_| error.clone())?;
                Err(error.to_string())
            }
        };
        vectors.insert(n, vector);
    }
    Ok(vectors)
}

fn record(id: &str, chunk: &Chunk, vector: Vec<f32>) -> Record {
    Record { id: id.to_owned(), vector, text: chunk.text.clone(), metadata: chunk.labels() }
}

fn refused(chunk: &Chunk, why: String) -> RefusedChunk {
    warn!(file = chunk.path, section = chunk.section(), "The embedding model refuses a chunk: {why}");
    RefusedChunk { file: chunk.path.clone(), section: chunk.section(), why }
}
