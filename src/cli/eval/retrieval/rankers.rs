//! The search methods that are compared.

use std::collections::HashMap;
use std::sync::Arc;

use super::questions::Question;
use crate::cli::index::progress_bar;
use crate::config::SearchConfig;
use crate::dialogue::retrieve::PASSAGES;
use crate::providers::embedding::Embedder;
use crate::providers::vector::cosine;
use crate::retrieval::calibration::Calibration;
use crate::retrieval::hybrid::{self, FETCH, Lists, Near, Threshold};
use crate::retrieval::{Chunk, LexicalIndex};

/// A search method.
#[derive(Clone, Copy)]
pub(super) enum Ranker<'a> {
    Lexical(&'a Lexical),
    Vector(&'a Vector<'a>),
    /// Both methods, joined as on the server but without its limit of eight passages.
    Hybrid(&'a Vector<'a>),
}

impl Ranker<'_> {
    /// Returns the name in the output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lexical(_) => "lexical",
            Self::Vector(_) => "vector",
            Self::Hybrid(_) => "hybrid",
        }
    }

    /// Ranks all chunks that match the question at all, best first.
    pub async fn rank(self, question: &Question) -> anyhow::Result<Vec<Arc<Chunk>>> {
        Ok(match self {
            Self::Lexical(lexical) => lexical.chunks(lexical.places(question).into_iter().map(|(place, _)| place)),
            Self::Vector(vector) => {
                vector.lexical.chunks(vector.near(question).await?.into_iter().map(|near| near.chunk))
            }
            Self::Hybrid(vector) => vector.lexical.chunks(vector.joined(question).await?),
        })
    }

    /// Returns whether the search finds no answer, so that a desk declines the question.
    pub async fn declines(self, question: &Question) -> anyhow::Result<bool> {
        Ok(match self {
            Self::Lexical(lexical) => lexical.declines(question),
            Self::Vector(vector) => vector.declines(question).await?,
            Self::Hybrid(vector) => vector.lexical.declines(question) && vector.declines(question).await?,
        })
    }
}

/// Search by words.
pub(super) struct Lexical(LexicalIndex);

impl Lexical {
    pub fn new(index: LexicalIndex) -> Self {
        Self(index)
    }

    fn places(&self, question: &Question) -> Vec<(usize, f64)> {
        self.0.ranked(&question.to_query(self.0.languages()))
    }

    fn chunks(&self, places: impl IntoIterator<Item = usize>) -> Vec<Arc<Chunk>> {
        places.into_iter().map(|place| self.0.chunks()[place].clone()).collect()
    }

    fn declines(&self, question: &Question) -> bool {
        self.0.answering_about(&question.to_query(self.0.languages()), None).is_empty()
    }
}

/// Search by meaning, with exact cosine similarity. Vector indexes approximate it.
pub(super) struct Vector<'a> {
    lexical: &'a Lexical,
    embedder: &'a Embedder,
    config: &'a SearchConfig,
    /// Vectors in the order of the lexical index's chunks.
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
            #[expect(clippy::cast_possible_truncation, reason = "a cosine of f32 vectors fits into f32")]
            let similarity = cosine(&asked, vector) as f32;
            Near { chunk, similarity, vector: vector.clone() }
        };
        let mut ranked: Vec<Near> = self.vectors.iter().enumerate().map(near).collect();
        ranked.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        Ok(ranked)
    }

    async fn declines(&self, question: &Question) -> anyhow::Result<bool> {
        let proposed = self.calibration.as_ref().map(|calibration| calibration.threshold);
        let threshold = Threshold::of(self.config, self.embedder.model(), proposed);
        Ok(threshold.lacks(&self.near(question).await?[..FETCH.min(self.vectors.len())], PASSAGES))
    }

    /// Ranks the chunks by words and meaning.
    async fn joined(&self, question: &Question) -> anyhow::Result<Vec<usize>> {
        let mut words = self.lexical.places(question);
        words.truncate(FETCH);
        let mut near = self.near(question).await?;
        near.truncate(FETCH);
        let others: HashMap<usize, Vec<f32>> =
            words.iter().map(|(place, _)| (*place, self.vectors[*place].clone())).collect();
        let unrelated = self.calibration.as_ref().map_or(0.0, Calibration::unrelated);
        let lists = Lists { words: &words, near: &near, others: &others, unrelated };
        Ok(hybrid::order(self.lexical.0.chunks(), &lists))
    }
}

/// Lists the documents of ranked chunks, each once, by file name without extension.
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

/// Returns the file name without extension: `b` for `a/b.md`.
pub(super) fn stem(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}
