//! Updates a collection of vectors to a folder of documents.
//!
//! A chunk's id is a hash of the embedded text ([`Chunk::id`]), so comparing two sets of ids finds all changes. An
//! interrupted run is completed by the next one: each batch is stored immediately after its embedding. Outdated vectors are
//! removed last, so that a passage can be found until its replacement is stored.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use serde::Serialize;
use tracing::{info, warn};

use super::chunk::Chunk;
use super::folder::Shelf;
use crate::providers::embedding::{Embedder, EmbeddingError};
use crate::providers::vector::{Collection, Record, VectorError, VectorIndex};

/// The changes that a run would make.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The chunks to embed, each with its id, in the order of the documents.
    pub missing: Vec<(String, &'a Chunk)>,
    /// The ids of vectors to remove.
    pub gone: Vec<String>,
    /// The number of chunks that are already stored.
    pub kept: usize,
}

/// The collection to update, and the embedder.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    pub index: &'a dyn VectorIndex,
    pub embedder: &'a Embedder,
    pub collection: &'a Collection,
    /// The number of chunks to embed and store together.
    pub batch: usize,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The number of chunks that were embedded or refused.
    pub done: usize,
    /// The number of chunks to embed.
    pub total: usize,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncReport {
    pub documents: usize,
    /// The number of different chunks: the sum of the next two and of `refused`.
    pub chunks: usize,
    pub kept: usize,
    pub embedded: usize,
    /// The number of removed vectors.
    pub removed: usize,
    /// The number of chunks with too little content to be indexed.
    pub dropped: usize,
    pub refused: Vec<RefusedChunk>,
    pub seconds: f64,
}

/// A chunk that the model refuses to embed. It is found only by its words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedChunk {
    pub file: String,
    /// The headings above it, joined by ` > `.
    pub section: String,
    pub why: String,
}

/// Why a run ended early. Stored batches are kept.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    #[error(transparent)]
    Vectors(#[from] VectorError),
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
}

/// Compares the collection with the documents. Changes nothing.
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

/// Updates the collection to the documents, and creates it if it does not exist.
///
/// # Errors
/// [`VectorError::OtherSpace`] if the collection is of another model, which changes nothing. Otherwise a service does
/// not answer, or refuses more than single texts.
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
        tenant = %collection.tenant,
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

/// For each text, its vector or why the model refused it.
type Vectors = HashMap<usize, Result<Vec<f32>, String>>;

/// Embeds texts. If that fails for the batch, tries each text separately; a text that fails although the model answers
/// is refused.
async fn embed(embedder: &Embedder, batch: &[(String, &Chunk)]) -> Result<Vectors, EmbeddingError> {
    let texts: Vec<String> = batch.iter().map(|(_, chunk)| chunk.embedded_text()).collect();
    match embedder.passages(&texts).await {
        Ok(vectors) => return Ok(vectors.into_iter().map(Ok).enumerate().collect()),
        Err(EmbeddingError::Off) => return Err(EmbeddingError::Off),
        Err(error) => warn!(%error, texts = texts.len(), "Could not embed a batch of texts: trying each separately"),
    }
    let mut vectors = Vectors::new();
    for (n, text) in texts.iter().enumerate() {
        let mut embedded = embedder.passages(std::slice::from_ref(text)).await;
        if let Err(error) = &embedded {
            // Every model embeds this word: if it fails too, the text is not the cause.
            embedder.query("?").await.map_err(|_| error.clone())?;
            if error.is_passing() {
                embedded = embedder.passages(std::slice::from_ref(text)).await;
            }
        }
        let vector = match embedded {
            Ok(mut vectors) => vectors.pop().ok_or_else(|| "no vector came".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        vectors.insert(n, vector);
    }
    Ok(vectors)
}

fn record(id: &str, chunk: &Chunk, vector: Vec<f32>) -> Record {
    Record { id: id.to_owned(), vector, text: chunk.text.clone(), metadata: chunk.labels() }
}

fn refused(chunk: &Chunk, why: String) -> RefusedChunk {
    warn!(file = chunk.path, section = &*chunk.section(), "The embedding model refused a chunk: {why}");
    RefusedChunk { file: chunk.path.clone(), section: chunk.section().into_owned(), why }
}
