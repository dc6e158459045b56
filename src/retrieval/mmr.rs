//! Maximal marginal relevance: orders passages by relevance and variety.

use crate::providers::vector::cosine;

/// A passage to order.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// The relevance, from 0 to 1.
    pub relevance: f64,
    /// The unit vector. Without it, the passage resembles no other.
    pub vector: Option<&'a [f32]>,
}

/// Returns the candidates' indices in the order in which they are chosen. Each step chooses the one with the highest
/// `λ·relevance − (1 − λ)·(its similarity to the most similar chosen one)`, or the earlier one of a tie.
///
/// λ weighs relevance: with 1, only relevance counts.
///
/// The similarity is the cosine rescaled so that `unrelated`, the cosine of unrelated texts, becomes 0. With a model
/// whose cosines are all above 0.8, the plain cosine would reduce every candidate's value almost equally.
pub fn diverse(candidates: &[Candidate<'_>], lambda: f64, unrelated: f64) -> Vec<usize> {
    let mut left: Vec<usize> = (0..candidates.len()).collect();
    // The similarity of each candidate to the chosen ones.
    let mut likeness = vec![0.0_f64; candidates.len()];
    let mut chosen = Vec::with_capacity(candidates.len());
    while !left.is_empty() {
        let value = |n: usize| lambda * candidates[n].relevance - (1.0 - lambda) * likeness[n];
        let best = (1..left.len()).fold(0, |best, at| if value(left[at]) > value(left[best]) { at } else { best });
        let best = left.remove(best);
        chosen.push(best);
        for n in &left {
            likeness[*n] = likeness[*n].max(alike(candidates[*n].vector, candidates[best].vector, unrelated));
        }
    }
    chosen
}

fn alike(a: Option<&[f32]>, b: Option<&[f32]>, unrelated: f64) -> f64 {
    let above = |cosine: f64| if unrelated < 1.0 { (cosine - unrelated) / (1.0 - unrelated) } else { 0.0 };
    a.zip(b).map_or(0.0, |(a, b)| above(cosine(a, b)).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_choice_differs_from_the_first() {
        let (east, north) = ([1.0, 0.0], [0.0, 1.0]);
        let candidate = |relevance, vector| Candidate { relevance, vector: Some(vector) };
        let candidates = [candidate(0.9, &east[..]), candidate(0.85, &east[..]), candidate(0.6, &north[..])];
        assert_eq!(diverse(&candidates, 1.0, 0.0), [0, 1, 2], "by relevance alone");
        assert_eq!(diverse(&candidates, 0.7, 0.0), [0, 2, 1]);
        assert_eq!(diverse(&[], 0.7, 0.0), [0; 0]);
    }

    #[test]
    fn candidates_without_vectors_keep_their_order() {
        let candidates = vec![Candidate { relevance: 0.5, vector: None }; 4];
        assert_eq!(diverse(&candidates, 0.7, 0.0), [0, 1, 2, 3]);
    }

    #[test]
    fn similar_texts_are_detected_among_high_cosines() {
        // Cosines of 0.99 within a pair, 0.82 between the pairs.
        let vectors = [0.0_f32, 0.1415, 0.61, 0.7515].map(|angle| [angle.cos(), angle.sin()]);
        let relevance = [1.0, 0.95, 0.85, 0.8];
        let candidates: Vec<Candidate<'_>> = vectors
            .iter()
            .zip(relevance)
            .map(|(vector, relevance)| Candidate { relevance, vector: Some(vector) })
            .collect();
        assert_eq!(diverse(&candidates, 0.7, 0.0)[1], 1, "the plain cosine does not change the order");
        assert_eq!(diverse(&candidates, 0.7, 0.81)[1], 2);
        assert_eq!(diverse(&candidates, 0.7, 1.0), [0, 1, 2, 3]);
    }
}
