//! The ways to find documents.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;

use super::questions::Question;
use crate::cli::index::progress_bar;
use crate::providers::embedding::Embedder;
use crate::providers::vector::cosine;
use crate::retrieval::fusion::{RANK_CONSTANT, reciprocal_rank};
use crate::retrieval::{Chunk, LexicalIndex, Shelf};

/// Puts chunks in an order.
#[async_trait]
pub(super) trait Ranker: Sync {
    /// As it is called in the output.
    fn name(&self) -> &'static str;

    /// All chunks that have anything to do with the question, best first.
    async fn rank(&self, question: &Question) -> anyhow::Result<Vec<Arc<Chunk>>>;
}

/// By words.
pub(super) struct Lexical(LexicalIndex);

impl Lexical {
    pub fn new(index: LexicalIndex) -> Self {
        Self(index)
    }
}

#[async_trait]
impl Ranker for Lexical {
    fn name(&self) -> &'static str {
        "lexical"
    }

    async fn rank(&self, question: &Question) -> anyhow::Result<Vec<Arc<Chunk>>> {
        let ranked = self.0.ranked(&question.query, question.language());
        Ok(ranked.into_iter().map(|(chunk, _)| chunk).collect())
    }
}

/// By meaning: exact cosine similarity over vectors in memory, which is what every index of vectors comes near to.
pub(super) struct Vector<'a> {
    embedder: &'a Embedder,
    chunks: Vec<(Arc<Chunk>, Vec<f32>)>,
}

/// Chunks that are embedded between two steps of the progress bar.
const STEP: usize = 16;

impl<'a> Vector<'a> {
    pub async fn new(embedder: &'a Embedder, shelf: &Shelf) -> anyhow::Result<Self> {
        let bar = progress_bar("Embedding");
        bar.set_length(shelf.chunks.len() as u64);
        let mut chunks = Vec::with_capacity(shelf.chunks.len());
        for batch in shelf.chunks.chunks(STEP) {
            let texts: Vec<String> = batch.iter().map(|chunk| chunk.embedded_text()).collect();
            chunks.extend(batch.iter().cloned().zip(embedder.passages(&texts).await?));
            bar.inc(batch.len() as u64);
        }
        bar.finish_and_clear();
        Ok(Self { embedder, chunks })
    }
}

#[async_trait]
impl Ranker for Vector<'_> {
    fn name(&self) -> &'static str {
        "vector"
    }

    async fn rank(&self, question: &Question) -> anyhow::Result<Vec<Arc<Chunk>>> {
        let asked = self.embedder.query(&question.query).await?;
        let mut ranked: Vec<(f64, &Arc<Chunk>)> =
            self.chunks.iter().map(|(chunk, vector)| (cosine(&asked, vector), chunk)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(ranked.into_iter().map(|(_, chunk)| chunk.clone()).collect())
    }
}

/// Both, joined by reciprocal rank.
pub(super) struct Hybrid<'a>(pub &'a Lexical, pub &'a Vector<'a>);

#[async_trait]
impl Ranker for Hybrid<'_> {
    fn name(&self) -> &'static str {
        "hybrid"
    }

    async fn rank(&self, question: &Question) -> anyhow::Result<Vec<Arc<Chunk>>> {
        let lists = [self.0.rank(question).await?, self.1.rank(question).await?];
        let ids: Vec<Vec<String>> = lists.iter().map(|list| list.iter().map(|chunk| chunk.id()).collect()).collect();
        let chunks: HashMap<&String, &Arc<Chunk>> = ids.iter().flatten().zip(lists.iter().flatten()).collect();
        let joined = reciprocal_rank(&ids, RANK_CONSTANT);
        Ok(joined.iter().filter_map(|(id, _)| chunks.get(id).map(|chunk| Arc::clone(chunk))).collect())
    }
}

/// The different documents of a ranking of chunks, by the stems of their files.
pub(super) fn documents(ranking: &[Arc<Chunk>]) -> Vec<String> {
    let mut documents: Vec<String> = Vec::new();
    for chunk in ranking {
        let stem = stem(&chunk.path);
        if !documents.iter().any(|document| document == stem) {
            documents.push(stem.to_owned());
        }
    }
    documents
}

/// `a/b.md` is `b`.
pub(super) fn stem(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}
