//! The examples that are most similar to a text.

use super::features::{Counts, Features};

/// Finds the examples that are most similar to a text.
#[derive(Debug, Default)]
pub struct Nearest {
    features: Features,
    /// For each feature, the examples that have it, with its value there.
    examples: Vec<Vec<(usize, f64)>>,
    count: usize,
}

impl Nearest {
    /// Returns the bytes of memory that they take.
    pub fn bytes(&self) -> usize {
        let having = |list: &Vec<(usize, f64)>| size_of_val(list) + size_of_val(&**list);
        self.features.bytes() + self.examples.iter().map(having).sum::<usize>()
    }

    pub fn new(examples: &[&Counts]) -> Self {
        let features = Features::of(examples.iter().copied());
        let mut having = vec![Vec::new(); features.len()];
        for (n, example) in examples.iter().enumerate() {
            for (feature, value) in features.vector(example) {
                having[feature].push((n, value));
            }
        }
        having.iter_mut().for_each(Vec::shrink_to_fit);
        Self { features, examples: having, count: examples.len() }
    }

    /// Returns the similarity of each example to a text, in their order: 0 for nothing in common, 1 for the same words. Words that no
    /// example contains make a text less similar to all.
    pub fn similarities(&self, text: &Counts) -> Vec<f64> {
        let mut similarities = vec![0.0; self.count];
        for (feature, value) in self.features.vector(text) {
            for (example, other) in &self.examples[feature] {
                similarities[*example] += value * other / 2.0;
            }
        }
        let share = self.features.known_words(text).sqrt();
        similarities.iter_mut().for_each(|similarity| *similarity *= share);
        similarities
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
