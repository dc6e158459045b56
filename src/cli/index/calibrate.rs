//! How similar chunks are to each other, and from where on a similarity says something: seed 003's `stats.json`.
//!
//! Models differ in scale: to one, unrelated texts have a similarity of 0.3, to another, of 0.8. So two distributions are measured on
//! a sample of the chunks: each one's similarity to its **neighbour**, the chunk that is nearest to it, and to some **others**,
//! taken at random. A question that the documents answer is about as near to its answer as a chunk is to its neighbour; one that they
//! do not answer, as near as a chunk is to any other one. The proposal is the middle between the upper end of the others (p90)
//! and the median of the neighbours (p50), which few of the ones and most of the others pass.

use std::io::{self, Write};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde::Serialize;

use crate::providers::embedding::{Embedder, EmbeddingError};
use crate::retrieval::{Chunk, Library};

/// Chunks that are compared with each other, spread evenly over the documents.
const SAMPLE: usize = 400;
/// Others that each chunk is compared with.
const OTHERS: usize = 8;
/// Chunks that are embedded at a time.
const BATCH: usize = 64;
/// So that two runs over the same documents propose the same.
const SEED: u64 = 3;

/// The two distributions, and what follows from them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// Chunks that were compared.
    pub sample: usize,
    pub neighbours: Percentiles,
    pub others: Percentiles,
    /// Below this mean similarity, the documents do not answer.
    pub threshold: f64,
}

/// Cosine similarities, −1 to 1, that so many in a hundred are at or below.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Percentiles {
    pub p10: f64,
    pub p25: f64,
    pub p50: f64,
    pub p75: f64,
    pub p90: f64,
}

/// Embeds a sample of the chunks and compares them; `None` if there are fewer than three.
pub(super) async fn calibrate(embedder: &Embedder, library: &Library) -> Result<Option<Calibration>, EmbeddingError> {
    let chunks: Vec<&Chunk> =
        library.shelves.values().flat_map(|shelf| &shelf.chunks).map(std::convert::AsRef::as_ref).collect();
    let step = chunks.len().div_ceil(SAMPLE).max(1);
    let texts: Vec<String> = chunks.iter().step_by(step).map(|chunk| chunk.embedded_text()).collect();
    let mut vectors = Vec::with_capacity(texts.len());
    for batch in texts.chunks(BATCH) {
        vectors.extend(embedder.passages(batch).await?);
    }
    Ok(of(&vectors, &mut StdRng::seed_from_u64(SEED)))
}

fn of(vectors: &[Vec<f32>], random: &mut StdRng) -> Option<Calibration> {
    if vectors.len() < 3 {
        return None;
    }
    let (mut neighbours, mut others) = (Vec::new(), Vec::new());
    for (n, vector) in vectors.iter().enumerate() {
        let rest = || vectors.iter().enumerate().filter(move |(m, _)| *m != n).map(|(_, other)| cosine(vector, other));
        neighbours.push(rest().fold(-1.0, f64::max));
        for _ in 0..OTHERS {
            let m = random.random_range(0..vectors.len() - 1);
            others.extend(vectors.get(m + usize::from(m >= n)).map(|other| cosine(vector, other)));
        }
    }
    let (neighbours, others) = (Percentiles::of(neighbours), Percentiles::of(others));
    let threshold = f64::midpoint(others.p90, neighbours.p50);
    Some(Calibration { sample: vectors.len(), neighbours, others, threshold: round(threshold) })
}

/// Of vectors of unit length.
pub(in crate::cli) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    f64::from(a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>())
}

impl Percentiles {
    /// By the nearest rank; the list is not empty.
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |percent: usize| {
            let rank = (values.len() * percent).div_ceil(100).max(1);
            round(values.get(rank - 1).copied().unwrap_or_default())
        };
        Self { p10: at(10), p25: at(25), p50: at(50), p75: at(75), p90: at(90) }
    }
}

fn round(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}

impl Calibration {
    pub(super) fn write_text(&self, model: &str, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "similarity of {} chunks      p10    p25    p50    p75    p90", self.sample)?;
        for (name, Percentiles { p10, p25, p50, p75, p90 }) in
            [("to the nearest other", self.neighbours), ("to others at random", self.others)]
        {
            writeln!(out, "  {name:<24} {p10:>6.3} {p25:>6.3} {p50:>6.3} {p75:>6.3} {p90:>6.3}")?;
        }
        writeln!(out, "proposed for {model}: no answer below a mean similarity of {:.3}", self.threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_lies_between_others_and_neighbours() {
        // Pairs of the same direction, at right angles to all others.
        let vectors: Vec<Vec<f32>> =
            (0..20).map(|n| (0..10).map(|m| if m == n / 2 { 1.0 } else { 0.0 }).collect()).collect();
        let found = of(&vectors, &mut StdRng::seed_from_u64(SEED)).unwrap();
        assert_eq!((found.neighbours.p10, found.neighbours.p90), (1.0, 1.0));
        assert_eq!((found.others.p50, found.others.p90), (0.0, 0.0));
        assert!((found.threshold - 0.5).abs() < 1e-9);
        assert_eq!(of(&vectors[..2], &mut StdRng::seed_from_u64(SEED)), None);
    }

    #[test]
    fn percentiles_are_values_of_the_list() {
        let found = Percentiles::of((1..=100).map(f64::from).collect());
        assert_eq!(found, Percentiles { p10: 10.0, p25: 25.0, p50: 50.0, p75: 75.0, p90: 90.0 });
        assert_eq!(Percentiles::of(vec![0.5]).p10, 0.5);
    }
}
