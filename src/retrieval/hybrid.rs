//! Words and meaning together: which chunks a question gets when both lists of it are there. Pure; [`super::search`]
//! brings the lists.
//!
//! 1. Both lists are joined by reciprocal rank ([`super::fusion`]; this project's `simple_rerank`).
//! 2. Maximal marginal relevance orders them, so that eight passages do not say one thing eight times ([`super::mmr`]).
//! 3. Of each section of a document, the best chunk stays; a catalogue's rows are a section each.
//! 4. The first eight are the answer, unless nothing answers ([`Threshold::lacks`]).

use std::collections::{HashMap, HashSet};

use super::fusion::{RANK_CONSTANT, reciprocal_rank};
use super::mmr::{self, Candidate};

/// Candidates of each list, as seed 003 has it.
pub const FETCH: usize = 24;
/// λ of the order: so much weighs relevance, the rest variety.
pub const LAMBDA: f64 = 0.7;
/// Fewer near chunks than these are no context, as seed 003 has it.
pub const MIN_HITS: usize = 3;
/// Below it the chunks are no context, as seed 003 has it, where the shop's documents do not ask for more.
pub const THRESHOLD: f64 = 0.5;

/// A chunk that is near in meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// Which chunk.
    pub chunk: usize,
    /// Cosine, −1 to 1.
    pub similarity: f32,
    pub vector: Vec<f32>,
}

/// When chunks that are near are near enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    pub min_hits: usize,
    /// Mean cosine of the nearest eight.
    pub similarity: f64,
}

impl Threshold {
    /// Seed 003's NO_CONTEXT: fewer than `min_hits`, or a mean similarity below the threshold.
    pub fn lacks(&self, near: &[Near], among: usize) -> bool {
        near.len() < self.min_hits || mean_similarity(near, among) < self.similarity
    }
}

/// The mean cosine of the nearest `among`; 0 for none.
pub fn mean_similarity(near: &[Near], among: usize) -> f64 {
    let near = &near[..near.len().min(among)];
    let sum: f64 = near.iter().map(|near| f64::from(near.similarity)).sum();
    if near.is_empty() { 0.0 } else { sum / near.len() as f64 }
}

/// The answer's chunks, best first: at most `limit`, of each section (as `section_of` tells) the best one.
pub fn choose<S: Eq + std::hash::Hash>(
    words: &[usize],
    near: &[Near],
    section_of: impl Fn(usize) -> S,
    limit: usize,
) -> Vec<usize> {
    let near_chunks: Vec<usize> = near.iter().map(|near| near.chunk).collect();
    let fused = reciprocal_rank(&[words.to_vec(), near_chunks], RANK_CONSTANT);
    let best = fused.first().map_or(1.0, |(_, score)| *score);
    let vectors: HashMap<usize, &[f32]> = near.iter().map(|near| (near.chunk, near.vector.as_slice())).collect();
    let candidates: Vec<Candidate<'_>> = fused
        .iter()
        .map(|(chunk, score)| Candidate { relevance: score / best, vector: vectors.get(chunk).copied() })
        .collect();
    let mut sections = HashSet::new();
    let order = mmr::diverse(&candidates, LAMBDA).into_iter().map(|at| fused[at].0);
    order.filter(|chunk| sections.insert(section_of(*chunk))).take(limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(chunk: usize, similarity: f32) -> Near {
        Near { chunk, similarity, vector: vec![similarity, (1.0 - similarity * similarity).sqrt()] }
    }

    #[test]
    fn a_section_answers_once() {
        let chosen = choose(&[0, 1, 2], &[near(1, 0.9), near(3, 0.8)], |chunk| chunk / 2, 8);
        assert_eq!(chosen, [1, 2]);
        assert_eq!(choose(&[0, 2, 4], &[], |chunk| chunk, 2), [0, 2], "without vectors, words alone decide");
    }

    #[test]
    fn too_few_or_too_far_is_no_context() {
        let threshold = Threshold { min_hits: 3, similarity: 0.5 };
        assert!(threshold.lacks(&[near(0, 0.9), near(1, 0.9)], 8));
        assert!(threshold.lacks(&[near(0, 0.9), near(1, 0.3), near(2, 0.2)], 8));
        assert!(!threshold.lacks(&[near(0, 0.9), near(1, 0.4), near(2, 0.3)], 8));
        assert!(!threshold.lacks(&[near(0, 0.5), near(1, 0.5), near(2, 0.5), near(3, 0.1)], 3));
    }
}
