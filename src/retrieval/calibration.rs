//! How alike texts are that have nothing to do with each other, by the model that embeds them.
//!
//! Cosines of different models cannot be compared: unrelated Vietnamese sentences have about 0.4 with one model and 0.82 with
//! another. So the documents themselves say where "near" begins.

use serde::Serialize;

use super::folder::Shelf;
use crate::providers::vector::{Collection, VectorError, VectorIndex, cosine};

/// Chunks that are compared with each other; twice as many take four times as long and tell the same.
const SAMPLE: usize = 200;
/// Fewer pairs tell nothing.
const PAIRS_MIN: usize = 20;
/// The percentiles of seed 003's `stats.json`.
pub const PERCENTILES: [u8; 5] = [10, 25, 50, 75, 90];
/// The percentile of the threshold: a question must be nearer to what answers it than three in four pairs of chunks of
/// different documents are to each other. Where it was measured (multilingual-e5-small, the sample shop), it declined what should be.
const THRESHOLD_PERCENTILE: u8 = 75;

/// The cosines between chunks of different documents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// How many pairs were compared.
    pub pairs: usize,
    /// In the order of [`PERCENTILES`].
    pub percentiles: [f64; PERCENTILES.len()],
    /// The proposed NO_CONTEXT threshold: a mean cosine.
    pub threshold: f64,
}

impl Calibration {
    /// From the vectors of a folder's chunks. `None`: there are too few.
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

    /// From the unit vectors of all chunks, each with the document that it is of: the same sample of them.
    pub fn of_sample(vectors: &[(&str, &Vec<f32>)]) -> Option<Self> {
        Self::from_vectors(&sample(vectors).copied().collect::<Vec<_>>())
    }

    /// The cosine of texts that have nothing to do with each other: the median.
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

/// Every n-th, so that about [`SAMPLE`] are left.
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
        // Within a document everything is alike, and between the two nothing is.
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
