//! The examples that are most similar to a text.

use super::features::{Counts, Features, Lists, PARTS, weight};

/// Finds the examples that are most similar to a text.
#[derive(Debug, Default)]
pub struct Nearest {
    features: Features,
    /// For each feature, the examples that have it.
    having: Lists<Having>,
    /// The lengths of the parts of each example.
    lengths: Vec<[f64; PARTS]>,
    /// The weight of each count.
    weights: Vec<f64>,
}

/// An example that has a feature, and how often.
#[derive(Clone, Copy, Debug)]
struct Having {
    example: u32,
    count: u32,
}

impl Nearest {
    /// Returns the bytes of memory that they take.
    pub fn bytes(&self) -> usize {
        self.features.bytes() + self.having.bytes() + size_of_val(&*self.lengths)
    }

    pub fn new(examples: &[&Counts]) -> Self {
        let features = Features::of(examples.iter().copied());
        let (mut having, mut lengths) = (Vec::new(), Vec::with_capacity(examples.len()));
        for (n, example) in (0..).zip(examples) {
            let parts = features.parts(example);
            lengths.push(parts.each_ref().map(|part| part.length));
            let known = parts.into_iter().flat_map(|part| part.known);
            having.extend(known.map(|known| (known.place, Having { example: n, count: known.count })));
        }
        let having = Lists::of(features.len(), having);
        let most = having.all().iter().map(|having| having.count).max().unwrap_or_default();
        let weights = (0..=most).map(weight).collect();
        Self { features, having, lengths, weights }
    }

    /// Returns the similarity of each example to a text, in their order: 0 for nothing in common, 1 for the same words. Words that no
    /// example contains make a text less similar to all.
    pub fn similarities(&self, text: &Counts) -> Vec<f64> {
        let mut sums = vec![[0.0; PARTS]; self.lengths.len()];
        for (n, part) in self.features.parts(text).into_iter().enumerate() {
            for known in part.known {
                let value = known.value * known.rarity / part.length;
                for having in self.having.get(known.place) {
                    sums[having.example as usize][n] += value * self.weights[having.count as usize];
                }
            }
        }
        let share = self.features.known_words(text).sqrt();
        let similarity = |(sums, lengths): (&[f64; PARTS], &[f64; PARTS])| {
            let parts = sums.iter().zip(lengths).filter(|(_, length)| **length > 0.0);
            parts.map(|(sum, length)| sum / length / 2.0).sum::<f64>() * share
        };
        sums.iter().zip(&self.lengths).map(similarity).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_words_are_nearest() {
        let examples = ["giao hàng bao lâu", "phí giao hàng", "mở cửa mấy giờ"].map(Counts::of);
        let nearest = Nearest::new(&examples.each_ref());
        let similarities = nearest.similarities(&Counts::of("phi giao hang?"));
        assert!((similarities[1] - 1.0).abs() < 1e-9, "{similarities:?}");
        assert!(similarities[0] < 0.8 && similarities[2] < 0.2, "{similarities:?}");
        assert_eq!(nearest.similarities(&Counts::of("…")), [0.0; 3]);
        assert_eq!(Nearest::default().similarities(&Counts::of("phí")), Vec::<f64>::new());
    }
}
