//! To which of many groups a text belongs.

use super::features::{Counts, Features, Lists, as_f64, shares};

/// Tells to which group of examples a text belongs, by naive Bayes on the features of the texts. One pass over the examples trains it,
/// so there may be many groups.
#[derive(Debug, Default)]
pub struct Groups {
    features: Features,
    /// For each feature, the groups that have it, with the logarithm of how much more than no group.
    weights: Lists<(usize, f64)>,
    /// The logarithm of each group's size.
    sizes: Vec<f64>,
}

/// What every group has of every feature: a word that a group lacks is unlikely there, and not impossible.
const EVERYWHERE: f64 = 0.05;

impl Groups {
    /// Returns the bytes of memory that they take.
    pub fn bytes(&self) -> usize {
        self.features.bytes() + self.weights.bytes()
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
        let weight = |value: f64| ((value + EVERYWHERE) / EVERYWHERE).ln();
        let weights = seen.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).map(|same| {
            let (feature, group, _) = same[0];
            (feature, (group, weight(same.iter().map(|(_, _, value)| value).sum())))
        });
        let weights = Lists::of(features.len(), weights.collect());
        Self { features, weights, sizes: sizes.into_iter().map(f64::ln).collect() }
    }

    /// Returns how likely each group is, together 1.
    pub fn probabilities(&self, text: &Counts) -> Vec<f64> {
        let vector = self.features.vector(text);
        let length: f64 = vector.iter().map(|(_, value)| value).sum();
        let mut scores: Vec<f64> = self.sizes.iter().map(|size| -length * size).collect();
        for (feature, value) in vector {
            for (group, weight) in self.weights.get(feature) {
                scores[*group] += value * weight;
            }
        }
        shares(&scores)
    }
}
