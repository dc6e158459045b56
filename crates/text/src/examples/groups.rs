//! To which of many groups a text belongs.

use super::features::{Counts, Features, as_f64, shares, starts};

/// Tells to which group of examples a text belongs, by naive Bayes on the features of the texts. One pass over the examples trains it,
/// so there may be many groups.
#[derive(Debug, Default)]
pub struct Groups {
    features: Features,
    /// Where the groups of each feature begin in `weights`. The last one is the end.
    starts: Vec<usize>,
    /// The groups that have a feature, each with the logarithm of how much more than no group.
    weights: Vec<(usize, f64)>,
    /// The logarithm of each group's size.
    sizes: Vec<f64>,
}

/// What every group has of every feature: a word that a group lacks is unlikely there, and not impossible.
const EVERYWHERE: f64 = 0.05;

impl Groups {
    /// Returns the bytes of memory that they take.
    pub fn bytes(&self) -> usize {
        self.features.bytes() + size_of_val(&*self.starts) + size_of_val(&*self.weights)
    }

    /// Learns from examples with the position of their group. `count` is the number of groups.
    pub fn new(examples: &[(usize, &Counts)], count: usize) -> Self {
        let features = Features::of(examples.iter().map(|(_, example)| *example));
        let mut seen: Vec<(usize, usize, f64)> = Vec::new();
        let mut sizes = vec![EVERYWHERE * as_f64(features.len()); count];
        for (group, example) in examples {
            for (feature, value) in features.vector(example) {
                seen.push((feature, *group, value));
                sizes[*group] += value;
            }
        }
        seen.sort_by_key(|(feature, group, _)| (*feature, *group));
        let same = || seen.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
        let starts = starts(features.len(), same().map(|same| same[0].0));
        let weight = |value: f64| ((value + EVERYWHERE) / EVERYWHERE).ln();
        let weights = same().map(|same| (same[0].1, weight(same.iter().map(|(_, _, value)| value).sum()))).collect();
        Self { features, starts, weights, sizes: sizes.into_iter().map(f64::ln).collect() }
    }

    /// Returns how likely each group is, together 1.
    pub fn probabilities(&self, text: &Counts) -> Vec<f64> {
        let vector = self.features.vector(text);
        let length: f64 = vector.iter().map(|(_, value)| value).sum();
        let mut scores: Vec<f64> = self.sizes.iter().map(|size| -length * size).collect();
        for (feature, value) in vector {
            for (group, weight) in &self.weights[self.starts[feature]..self.starts[feature + 1]] {
                scores[*group] += value * weight;
            }
        }
        shares(&scores)
    }
}
