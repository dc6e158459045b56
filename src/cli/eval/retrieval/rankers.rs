//! The ways to find documents.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;

use super::questions::Question;
use crate::cli::index::progress_bar;
use crate::config::SearchConfig;
use crate::providers::embedding::Embedder;
use crate::providers::vector::cosine;
use crate::retrieval::calibration::Calibration;
use crate::retrieval::hybrid::{self, FETCH, Lists, Near, Threshold};
use crate::retrieval::{Chunk, LexicalIndex};

/// Passages of an answer, as desks ask for them: so many of the nearest tell whether there is one.
const PASSAGES: usize = 8;

/// Puts chunks in an order.
#[async_trait]
pub(super) trait Ranker: Sync {
    /// As it is called in the output.
    fn name(&self) -> &'static str;

    /// The chunks that have anything to do with the question, best first, whether or not they answer it.
    async fn rank(&self, question: &Question) -> anyhow::Result<Vec<Arc<Chunk>>>;

    /// Whether a desk would be told that nothing answers.
    async fn declines(&self, question: &Question) -> anyhow::Result<bool>;
}

/// By words.
pub(super) struct Lexical(LexicalIndex);

impl Lexical {
    pub fn new(index: LexicalIndex) -> Self {
        Self(index)
    }

    fn places(&self, question: &Question) -> Vec<(usize, f64)> {
        self.0.ranked(&question.query, question.language(self.0.languages()))
    }

    fn chunks(&self, places: impl IntoIterator<Item = usize>) -> Vec<Arc<Chunk>> {
        places.into_iter().map(|place| self.0.chunks()[place].clone()).collect()
    }
}

#[async_trait]
impl Ranker for Lexical {
    fn name(&self) -> &'static str {
        "lexical"
    }

    async fn rank(&self, question: &Question) -> anyhow::Result<Vec<Arc<Chunk>>> {
        Ok(self.chunks(self.places(question).into_iter().map(|(place, _)| place)))
    }

    async fn declines(&self, question: &Question) -> anyhow::Result<bool> {
        Ok(self.0.answering(&question.query, question.language(self.0.languages())).is_empty())
    }
}

/// By meaning: exact cosine similarity over vectors in memory, which is what every index of vectors comes near to.
pub(super) struct Vector<'a> {
    lexical: &'a Lexical,
    embedder: &'a Embedder,
    config: &'a SearchConfig,
    /// In the order of the lexical index's chunks.
    vectors: Vec<Vec<f32>>,
    calibration: Option<Calibration>,
}

impl<'a> Vector<'a> {
    /// Embeds all chunks.
    pub async fn new(lexical: &'a Lexical, embedder: &'a Embedder, config: &'a SearchConfig) -> anyhow::Result<Self> {
        let chunks = lexical.0.chunks();
        let bar = progress_bar("Embedding");
        bar.set_length(chunks.len() as u64);
        let mut vectors = Vec::with_capacity(chunks.len());
        for batch in chunks.chunks(config.batch.max(1)) {
            let texts: Vec<String> = batch.iter().map(|chunk| chunk.embedded_text()).collect();
            vectors.extend(embedder.passages(&texts).await?);
            bar.inc(batch.len() as u64);
        }
        bar.finish_and_clear();
        let of_documents = chunks.iter().map(|chunk| chunk.path.as_str()).zip(&vectors);
        let calibration = Calibration::of_sample(&of_documents.collect::<Vec<_>>());
        Ok(Self { lexical, embedder, config, vectors, calibration })
    }

    async fn near(&self, question: &Question) -> anyhow::Result<Vec<Near>> {
        let asked = self.embedder.query(&question.query).await?;
        let near = |(chunk, vector): (usize, &Vec<f32>)| {
            #[expect(clippy::cast_possible_truncation, reason = "a cosine was a sum of f32")]
            let similarity = cosine(&asked, vector) as f32;
            Near { chunk, similarity, vector: vector.clone() }
        };
        let mut ranked: Vec<Near> = self.vectors.iter().enumerate().map(near).collect();
        ranked.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        Ok(ranked)
    }
}

#[async_trait]
impl Ranker for Vector<'_> {
    fn name(&self) -> &'static str {
        "vector"
    }

    async fn rank(&self, question: &Question) -> anyhow::Result<Vec<Arc<Chunk>>> {
        Ok(self.lexical.chunks(self.near(question).await?.into_iter().map(|near| near.chunk)))
    }

    async fn declines(&self, question: &Question) -> anyhow::Result<bool> {
        let proposed = self.calibration.as_ref().map(|calibration| calibration.threshold);
        let threshold = Threshold::of(self.config, self.embedder.model(), proposed);
        Ok(threshold.lacks(&self.near(question).await?[..FETCH.min(self.vectors.len())], PASSAGES))
    }
}

/// Both, as the server joins them, but for the cut after the first eight.
pub(super) struct Hybrid<'a>(pub &'a Vector<'a>);

#[async_trait]
impl Ranker for Hybrid<'_> {
    fn name(&self) -> &'static str {
        "hybrid"
    }

    async fn rank(&self, question: &Question) -> anyhow::Result<Vec<Arc<Chunk>>> {
        let Self(vector) = self;
        let mut words = vector.lexical.places(question);
        words.truncate(FETCH);
        let mut near = vector.near(question).await?;
        near.truncate(FETCH);
        let others: HashMap<usize, Vec<f32>> =
            words.iter().map(|(place, _)| (*place, vector.vectors[*place].clone())).collect();
        let unrelated = vector.calibration.as_ref().map_or(0.0, Calibration::unrelated);
        let lists = Lists { words: &words, near: &near, others: &others, unrelated };
        Ok(vector.lexical.chunks(hybrid::order(vector.lexical.0.chunks(), &lists)))
    }

    async fn declines(&self, question: &Question) -> anyhow::Result<bool> {
        let Self(vector) = self;
        Ok(vector.lexical.declines(question).await? && vector.declines(question).await?)
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
