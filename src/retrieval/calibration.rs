//! Measures the similarity of unrelated texts with the embedding model in use.
//!
//! Cosines of different models are not comparable: those of unrelated Vietnamese sentences are about 0.4 with one model
//! and 0.82 with another. The threshold for "near" is therefore derived from the shop's documents.

use serde::Serialize;

use super::folder::Shelf;
use crate::providers::vector::{Collection, VectorError, VectorIndex, cosine};

/// The number of chunks to compare with each other. Twice as many take four times as long, with the same result.
const SAMPLE: usize = 200;
/// The minimum number of pairs for a result.
const PAIRS_MIN: usize = 20;
/// The reported percentiles.
pub const PERCENTILES: [u8; 5] = [10, 25, 50, 75, 90];
/// The percentile of the threshold: a question must be more similar to its answer than three in four pairs of chunks of
/// different documents are. Measured with multilingual-e5-small on the sample shop, this declines the right questions.
const THRESHOLD_PERCENTILE: u8 = 75;

/// The cosines between chunks of different documents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// The number of compared pairs.
    pub pairs: usize,
    /// In the order of [`PERCENTILES`].
    pub percentiles: [f64; PERCENTILES.len()],
    /// The proposed `NO_CONTEXT` threshold, a mean cosine.
    pub threshold: f64,
}

impl Calibration {
    /// Measures the vectors of a folder's chunks. Returns `None` if there are too few.
    pub async fn of(
        index: &dyn VectorIndex,
        collection: &Collection,
        shelf: &Shelf,
    ) -> Result<Option<Self>, VectorError> {
        let sample: Vec<(String, &str)> =
            sample(&shelf.chunks).map(|chunk| (chunk.id(), chunk.path.as_str())).collect();
        let ids: Vec<String> = sample.iter().map(|(id, _)| id.clone()).collect();
        let vectors = index.vectors(collection, &ids).await?;
        let vectors: Vec<(&str, &Vec<f32>)> =
            sample.into_iter().filter_map(|(id, path)| Some((path, vectors.get(&id)?))).collect();
        Ok(Self::from_vectors(&vectors))
    }

    /// Measures a sample of unit vectors, each with its document.
    pub fn of_sample(vectors: &[(&str, &Vec<f32>)]) -> Option<Self> {
        Self::from_vectors(&sample(vectors).copied().collect::<Vec<_>>())
    }

    /// Returns the cosine of unrelated texts: the median.
    pub fn unrelated(&self) -> f64 {
        self.percentiles[PERCENTILES.len() / 2]
    }

    fn from_vectors(vectors: &[(&str, &Vec<f32>)]) -> Option<Self> {
        let mut cosines: Vec<f64> = Vec::new();
        for (n, (document, vector)) in vectors.iter().enumerate() {
            let others = vectors[n + 1..].iter().filter(|(other, _)| other != document);
            cosines.extend(others.map(|(_, other)| cosine(vector, other)));
        }
        if cosines.len() < PAIRS_MIN {
            return None;
        }
        cosines.sort_by(f64::total_cmp);
        let at = |percent: u8| cosines[(cosines.len() - 1) * usize::from(percent) / 100];
        Some(Self { pairs: cosines.len(), percentiles: PERCENTILES.map(at), threshold: at(THRESHOLD_PERCENTILE) })
    }
}

/// Selects every n-th item, about [`SAMPLE`] in total.
fn sample<T>(all: &[T]) -> impl Iterator<Item = &T> {
    all.iter().step_by((all.len() / SAMPLE).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_chunks_of_different_documents_are_compared() {
        let vector = |degrees: u16| {
            let angle = f32::from(degrees).to_radians();
            vec![angle.cos(), angle.sin()]
        };
        // Chunks of one document are similar, and chunks of different documents are not.
        let mut vectors: Vec<(&str, Vec<f32>)> = (0..6).map(|_| ("a", vector(0))).collect();
        vectors.extend((0..6).map(|n| ("b", vector(60 + n))));
        let vectors: Vec<(&str, &Vec<f32>)> = vectors.iter().map(|(document, vector)| (*document, vector)).collect();
        let found = Calibration::of_sample(&vectors).unwrap();
        assert_eq!(found.pairs, 36);
        assert!(found.percentiles.iter().all(|cosine| (0.4..=0.51).contains(cosine)), "{found:?}");
        assert!((found.threshold - found.percentiles[3]).abs() < f64::EPSILON);
        assert_eq!(Calibration::of_sample(&vectors[..8]), None, "too few pairs tell nothing");
    }
}
