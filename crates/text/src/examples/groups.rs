//! To which of many groups a text belongs.

use std::collections::BTreeMap;

use super::features::{Counts, Features, as_f64, shares};

/// Tells to which group of examples a text belongs, by naive Bayes on the features of the texts. One pass over the examples trains it,
/// so there may be many groups.
#[derive(Debug, Default)]
pub struct Groups {
    features: Features,
    /// For each feature, the groups that have it, with the logarithm of how much more than no group.
    weights: Vec<Vec<(usize, f64)>>,
    /// The logarithm of each group's size.
    sizes: Vec<f64>,
}

/// What every group has of every feature: a word that a group lacks is unlikely there, and not impossible.
const EVERYWHERE: f64 = 0.05;

impl Groups {
    /// Returns the bytes of memory that they take.
    pub fn bytes(&self) -> usize {
        let having = |list: &Vec<(usize, f64)>| size_of_val(list) + size_of_val(&**list);
        self.features.bytes() + self.weights.iter().map(having).sum::<usize>()
    }

    /// Learns from examples with the position of their group. `count` is the number of groups.
    pub fn new(examples: &[(usize, &Counts)], count: usize) -> Self {
        let features = Features::of(examples.iter().map(|(_, example)| *example));
        let mut seen: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); features.len()];
        let mut sizes = vec![EVERYWHERE * as_f64(features.len()); count];
        for (group, example) in examples {
            for (feature, value) in features.vector(example) {
                *seen[feature].entry(*group).or_default() += value;
                sizes[*group] += value;
            }
        }
        let weight = |(group, value): (usize, f64)| (group, ((value + EVERYWHERE) / EVERYWHERE).ln());
        let weights = seen.into_iter().map(|groups| groups.into_iter().map(weight).collect()).collect();
        Self { features, weights, sizes: sizes.into_iter().map(f64::ln).collect() }
    }

    /// Returns how likely each group is, together 1.
    pub fn probabilities(&self, text: &Counts) -> Vec<f64> {
        let vector = self.features.vector(text);
        let length: f64 = vector.iter().map(|(_, value)| value).sum();
        let mut scores: Vec<f64> = self.sizes.iter().map(|size| -length * size).collect();
        for (feature, value) in vector {
            for (group, weight) in &self.weights[feature] {
                scores[*group] += value * weight;
            }
        }
        shares(&scores)
    }
}
