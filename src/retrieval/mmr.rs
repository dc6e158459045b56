//! Maximal marginal relevance: passages that answer, and do not all say the same.

use crate::providers::vector::cosine;

/// A passage that may be chosen.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// How well it answers, 0 to 1.
    pub relevance: f64,
    /// Its unit vector; `None`: it resembles nothing.
    pub vector: Option<&'a [f32]>,
}

/// The candidates' indices in the order in which they are chosen: each time the one for which
/// `λ·relevance − (1 − λ)·(its likeness to the nearest one chosen before)` is highest, the earlier one of equals.
///
/// λ weighs relevance: 1 is by relevance alone. (Seed 003 says it both ways; its own formula is this one.)
///
/// Likeness is the cosine above `unrelated`, that of texts that have nothing to do with each other: 0 there, 1 for the same
/// text. With a model whose cosines all lie above 0.8, the plain cosine would take nearly the same from every candidate.
pub fn diverse(candidates: &[Candidate<'_>], lambda: f64, unrelated: f64) -> Vec<usize> {
    let mut left: Vec<usize> = (0..candidates.len()).collect();
    // The likeness of each candidate to what has been chosen.
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
    fn the_second_choice_is_not_the_same_again() {
        let (east, north) = ([1.0, 0.0], [0.0, 1.0]);
        let candidate = |relevance, vector| Candidate { relevance, vector: Some(vector) };
        let candidates = [candidate(0.9, &east[..]), candidate(0.85, &east[..]), candidate(0.6, &north[..])];
        assert_eq!(diverse(&candidates, 1.0, 0.0), [0, 1, 2], "by relevance alone");
        assert_eq!(diverse(&candidates, 0.7, 0.0), [0, 2, 1]);
        assert_eq!(diverse(&[], 0.7, 0.0), [0; 0]);
    }

    #[test]
    fn what_has_no_vector_resembles_nothing_and_equals_keep_their_order() {
        let candidates = vec![Candidate { relevance: 0.5, vector: None }; 4];
        assert_eq!(diverse(&candidates, 0.7, 0.0), [0, 1, 2, 3]);
    }

    #[test]
    fn texts_that_are_alike_are_told_from_others_though_all_cosines_are_high() {
        // Cosines of 0.99 within a pair, 0.82 between the pairs.
        let vectors = [0.0_f32, 0.1415, 0.61, 0.7515].map(|angle| [angle.cos(), angle.sin()]);
        let relevance = [1.0, 0.95, 0.85, 0.8];
        let candidates: Vec<Candidate<'_>> = vectors
            .iter()
            .zip(relevance)
            .map(|(vector, relevance)| Candidate { relevance, vector: Some(vector) })
            .collect();
        assert_eq!(diverse(&candidates, 0.7, 0.0)[1], 1, "the plain cosine leaves the order as it is");
        assert_eq!(diverse(&candidates, 0.7, 0.81)[1], 2);
        assert_eq!(diverse(&candidates, 0.7, 1.0), [0, 1, 2, 3]);
    }
}
