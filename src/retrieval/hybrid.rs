//! Merges the results of the searches by words and by meaning. [`super::search`] and `frontdesk eval retrieval` provide
//! the lists.
//!
//! 1. Reciprocal rank fusion merges the first [`FETCH`] of both lists ([`super::fusion`]). The list by words gets more
//!    weight, the more of the question its best chunk covers ([`SURENESS`]).
//! 2. Maximal marginal relevance orders the result, so that passages do not repeat each other ([`super::mmr`]).
//! 3. Each section keeps only its best chunk. Each catalogue row is a separate section.
//! 4. The first eight are the answer, unless none is good enough ([`Threshold::lacks`]).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::chunk::Chunk;
use super::fusion::{RANK_CONSTANT, Ranking, reciprocal_rank};
use super::mmr::{self, Candidate};
use crate::config::SearchConfig;

/// The number of candidates from each list.
pub const FETCH: usize = 24;
/// The additional weight of the list by words if its best chunk covers the whole question. Otherwise it gets a
/// proportional share.
///
/// A matching word, such as a model number or a price, is a better sign than similarity; a missing word says nothing.
/// On the first half of `tests/data/retrieval.jsonl`, this was better than equal weights and as good as a fixed weight
/// of 2 or 3. It does not help with a message of a thousand letters: no chunk covers much of it, and its vector mixes
/// its topics.
pub const SURENESS: f64 = 2.0;
/// The weight λ of relevance against variety.
pub const LAMBDA: f64 = 0.7;
/// The minimum threshold. The shop's documents may raise it.
pub const THRESHOLD: f64 = 0.5;

/// A chunk with its similarity to the question.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// The index of the chunk.
    pub chunk: usize,
    /// The cosine, from −1 to 1.
    pub similarity: f32,
    pub vector: Vec<f32>,
}

/// The condition for chunks to be similar enough to answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    pub min_hits: usize,
    /// The minimum mean cosine of the nearest eight.
    pub similarity: f64,
}

impl Threshold {
    /// Returns the shop's threshold for this model, else the largest of [`THRESHOLD`] and the proposals of
    /// [`super::calibration`].
    pub fn of(config: &SearchConfig, model: &str, proposed: impl IntoIterator<Item = f64>) -> Self {
        let own = proposed.into_iter().fold(THRESHOLD, f64::max);
        let similarity = config.thresholds.get(model).copied().unwrap_or(own);
        Self { min_hits: config.min_hits, similarity }
    }

    /// Whether there are fewer than `min_hits` chunks, or their mean similarity is below the threshold.
    pub fn lacks(&self, near: &[Near], among: usize) -> bool {
        near.len() < self.min_hits || mean_similarity(near, among) < self.similarity
    }
}

/// Returns the mean cosine of the nearest `among` chunks, or 0 for none.
pub fn mean_similarity(near: &[Near], among: usize) -> f64 {
    let near = &near[..near.len().min(among)];
    let sum: f64 = near.iter().map(|near| f64::from(near.similarity)).sum();
    if near.is_empty() { 0.0 } else { sum / near.len() as f64 }
}

/// The results of the two searches.
#[derive(Clone, Copy, Debug)]
pub struct Lists<'a> {
    /// Chunks that share words with the question, best first, each with the share of the question that it covers.
    pub words: &'a [(usize, f64)],
    /// Nearest first.
    pub near: &'a [Near],
    /// The vectors of chunks that only the search by words found.
    pub others: &'a HashMap<usize, Vec<f32>>,
    /// The cosine of unrelated texts ([`super::calibration::Calibration::unrelated`]), or 0 if unknown.
    pub unrelated: f64,
}

/// Returns the indices of the best chunk of each section, best first.
pub fn order(chunks: &[Arc<Chunk>], lists: &Lists<'_>) -> Vec<usize> {
    let words: Vec<usize> = lists.words.iter().take(FETCH).map(|(chunk, _)| *chunk).collect();
    let near: Vec<usize> = lists.near.iter().take(FETCH).map(|near| near.chunk).collect();
    let share = lists.words.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    let rankings = [Ranking { items: &words, weight: 1.0 + SURENESS * share }, Ranking { items: &near, weight: 1.0 }];
    let fused = reciprocal_rank(&rankings, RANK_CONSTANT);
    let best = fused.first().map_or(1.0, |(_, score)| *score);
    let vectors: HashMap<usize, &[f32]> = lists.near.iter().map(|near| (near.chunk, near.vector.as_slice())).collect();
    let vector = |chunk: &usize| vectors.get(chunk).copied().or_else(|| lists.others.get(chunk).map(Vec::as_slice));
    let candidates: Vec<Candidate<'_>> =
        fused.iter().map(|(chunk, score)| Candidate { relevance: score / best, vector: vector(chunk) }).collect();
    let mut sections = HashSet::new();
    let order = mmr::diverse(&candidates, LAMBDA, lists.unrelated).into_iter().map(|at| fused[at].0);
    order.filter(|chunk| sections.insert(section_of(&chunks[*chunk]))).collect()
}

/// Returns the key of the chunk's section. Each catalogue row is a separate section.
fn section_of(chunk: &Chunk) -> (&str, &[String], Option<&str>) {
    (&chunk.path, &chunk.section_path, chunk.product.map(|_| chunk.title.as_str()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::config::EmbedConfig;

    fn near(chunk: usize, similarity: f32) -> Near {
        Near { chunk, similarity, vector: vec![similarity, (1.0 - similarity * similarity).sqrt()] }
    }

    /// Two chunks in each section.
    fn chunks() -> Vec<Arc<Chunk>> {
        let chunk =
            |n: usize| Chunk { path: "page.md".into(), section_path: vec![(n / 2).to_string()], ..Chunk::default() };
        (0..2 * FETCH).map(|n| Arc::new(chunk(n))).collect()
    }

    fn ordered(words: &[(usize, f64)], near: &[Near]) -> Vec<usize> {
        order(&chunks(), &Lists { words, near, others: &HashMap::new(), unrelated: 0.0 })
    }

    #[test]
    fn section_answers_once() {
        assert_eq!(ordered(&[(0, 0.1), (1, 0.1), (2, 0.1)], &[near(1, 0.9), near(4, 0.1)]), [1, 2, 4]);
        assert_eq!(ordered(&[(0, 0.9), (2, 0.8), (4, 0.7)], &[]), [0, 2, 4], "without vectors, words alone decide");
        assert_eq!(ordered(&[], &[near(4, 0.9), near(0, 0.2)]), [4, 0], "without words, meaning alone does");
    }

    #[test]
    fn words_win_if_they_cover_the_question() {
        let near = [near(2, 0.8), near(4, 0.1)];
        let first = |share: f64| ordered(&[0, 6, 8, 10, 2].map(|chunk| (chunk, share)), &near)[0];
        assert_eq!((first(1.0), first(0.1)), (0, 2));
    }

    #[test]
    fn catalogue_row_is_a_separate_section() {
        let row = |title: &str| Chunk {
            product: Some(crate::retrieval::chunk::Product { price: None, in_stock: true }),
            title: title.into(),
            ..Chunk::default()
        };
        let chunks = [row("A"), row("B"), row("B")].map(Arc::new);
        let words = [(0, 0.5), (1, 0.4), (2, 0.3)];
        let lists = Lists { words: &words, near: &[], others: &HashMap::new(), unrelated: 0.0 };
        assert_eq!(order(&chunks, &lists), [0, 1]);
    }

    #[test]
    fn only_the_first_of_each_list_count() {
        let words: Vec<(usize, f64)> = (0..2 * FETCH).step_by(2).map(|chunk| (chunk, 0.5)).collect();
        let ordered = ordered(&[words.as_slice(), &[(1, 0.1)]].concat(), &[]);
        assert_eq!(ordered.len(), FETCH);
    }

    #[test]
    fn threshold_comes_from_the_shop_or_its_documents() {
        let mut config = SearchConfig {
            min_hits: 3,
            thresholds: BTreeMap::from([("e5".to_owned(), 0.2)]),
            vector_timeout: EmbedConfig::default().query_timeout,
            batch: 16,
            memory_messages: 4,
            indexes_max: 0,
        };
        let threshold = |config: &SearchConfig, proposed: &[f64]| {
            Threshold::of(config, "e5", proposed.iter().copied()).similarity.to_string()
        };
        assert_eq!(threshold(&config, &[0.8]), "0.2");
        config.thresholds.clear();
        assert_eq!(threshold(&config, &[0.8, 0.85]), "0.85");
        assert_eq!(threshold(&config, &[0.3]), "0.5");
        assert_eq!(threshold(&config, &[]), "0.5");
    }

    #[test]
    fn too_few_or_dissimilar_chunks_are_no_context() {
        let threshold = Threshold { min_hits: 3, similarity: 0.5 };
        assert!(threshold.lacks(&[near(0, 0.9), near(1, 0.9)], 8));
        assert!(threshold.lacks(&[near(0, 0.9), near(1, 0.3), near(2, 0.2)], 8));
        assert!(!threshold.lacks(&[near(0, 0.9), near(1, 0.4), near(2, 0.3)], 8));
        assert!(!threshold.lacks(&[near(0, 0.5), near(1, 0.5), near(2, 0.5), near(3, 0.1)], 3));
    }
}
