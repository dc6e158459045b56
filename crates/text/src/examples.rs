//! How much texts are like examples.
//!
//! Texts are compared by their [`features`], so that typing errors and inflections matter little. [`Model`] is a multinomial logistic
//! regression, [`Nearest`] finds the most similar examples, and [`Groups`] tells to which of many groups a text belongs.
//!
//! The crates for logistic regression need dense matrices or a C++ library; the sparse one below is thirty lines.

mod features;
mod groups;
mod nearest;

pub use features::Counts;
use features::{Features, Vector, as_f64, shares};
pub use groups::Groups;
pub use nearest::Nearest;

/// An example sentence with its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub label: String,
    pub text: String,
}

/// The label of the nearest class, and how likely it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess<'a> {
    pub label: &'a str,
    /// 0 to 1. All labels together have 1.
    pub probability: f64,
    /// The share of the message's words that the examples know: with the same letters, or with most of their runs of four letters.
    /// Numbers do not count. It is low for gibberish, which has a likely label too.
    pub known: f64,
}

/// Labels texts as examples are labelled.
#[derive(Debug)]
pub struct Model {
    labels: Vec<String>,
    features: Features,
    /// The weights of each feature, one for each label. The last row is the constant.
    weights: Vec<Vec<f64>>,
}

/// Passes over the examples. Each takes smaller steps than the one before.
const PASSES: i32 = 20;
const FIRST_STEP: f64 = 4.0;
/// The result is the average of the weights after each pass from this one on: those of one pass depend on the order of the examples.
const AVERAGED_FROM: i32 = 8;
/// A smaller error changes no weight.
const NEGLIGIBLE: f64 = 0.001;
/// An example whose label misses certainty by less is visited in one pass of three.
const LEARNED: f64 = 0.05;
const RARELY: i32 = 3;
/// The value of the constant in every text.
const CONSTANT: f64 = 0.1;

impl Model {
    /// Trains a model. The result depends only on the examples and their order.
    pub fn train(examples: &[Example]) -> Self {
        let mut labels: Vec<String> = examples.iter().map(|example| example.label.clone()).collect();
        labels.sort_unstable();
        labels.dedup();
        let counts: Vec<Counts> = examples.iter().map(|example| Counts::of(&example.text)).collect();
        let features = Features::of(counts.iter());
        let mut model = Self { weights: vec![vec![0.0; labels.len()]; features.len() + 1], labels, features };
        model.fit(examples, &counts);
        model
    }

    /// Returns the most likely label, or `None` if the text shares nothing with the examples.
    pub fn classify(&self, text: &str) -> Option<Guess<'_>> {
        self.classify_where(text, |_| 1.0)
    }

    /// Returns the most likely label where some are likelier than among the examples: `times` returns by how much, 0 for an impossible one.
    pub fn classify_where(&self, text: &str, times: impl Fn(&str) -> f64) -> Option<Guess<'_>> {
        let vector = self.features.vector(&Counts::of(text));
        if vector.is_empty() {
            return None;
        }
        let probabilities = self.probabilities(&vector).into_iter().zip(&self.labels);
        let likely: Vec<(f64, &String)> = probabilities.map(|(share, label)| (share * times(label), label)).collect();
        let all: f64 = likely.iter().map(|(share, _)| share).sum();
        let (share, label) = likely.into_iter().max_by(|(a, _), (b, _)| a.total_cmp(b)).filter(|_| all > 0.0)?;
        Some(Guess { label, probability: share / all, known: self.features.known_share(text) })
    }

    /// Descends the gradient of the log loss, one example at a time. Examples of a rare label take longer steps.
    fn fit(&mut self, examples: &[Example], counts: &[Counts]) {
        let vectors: Vec<Vector> = counts.iter().map(|counts| self.features.vector(counts)).collect();
        let position = |label| self.labels.binary_search(label).unwrap_or_default();
        let wanted: Vec<usize> = examples.iter().map(|example| position(&example.label)).collect();
        let mut sizes = vec![0; self.labels.len()];
        for label in &wanted {
            sizes[*label] += 1;
        }
        let average = as_f64(examples.len()) / as_f64(self.labels.len().max(1));
        let constant = (self.weights.len() - 1, CONSTANT);
        let mut is_learned = vec![false; examples.len()];
        let mut sums = vec![vec![0.0; self.labels.len()]; self.weights.len()];
        for pass in 0..PASSES {
            let step = FIRST_STEP / (1.0 + f64::from(pass) / 2.0);
            for at in mixed(examples.len()) {
                if is_learned[at] && pass % RARELY != 0 {
                    continue;
                }
                let (vector, wanted) = (&vectors[at], wanted[at]);
                let step = step * (average / as_f64(sizes[wanted])).sqrt();
                let mut errors = self.probabilities(vector);
                errors[wanted] -= 1.0;
                is_learned[at] = errors[wanted] > -LEARNED;
                // After a few passes, most labels are out of the question.
                let errors: Vec<(usize, f64)> =
                    errors.into_iter().enumerate().filter(|(_, error)| error.abs() > NEGLIGIBLE).collect();
                for (feature, value) in vector.iter().chain([&constant]) {
                    let weights = &mut self.weights[*feature];
                    for (label, error) in &errors {
                        weights[*label] -= step * value * error;
                    }
                }
            }
            if pass >= AVERAGED_FROM {
                for (sum, weight) in sums.iter_mut().flatten().zip(self.weights.iter().flatten()) {
                    *sum += weight / f64::from(PASSES - AVERAGED_FROM);
                }
            }
        }
        self.weights = sums;
    }

    fn probabilities(&self, vector: &Vector) -> Vec<f64> {
        let mut scores = vec![0.0; self.labels.len()];
        for (feature, value) in vector.iter().chain([&(self.weights.len() - 1, CONSTANT)]) {
            for (score, weight) in scores.iter_mut().zip(&self.weights[*feature]) {
                *score += value * weight;
            }
        }
        shares(&scores)
    }
}

/// Every position once, with neighbours far apart: examples of one label stand together in a file.
fn mixed(length: usize) -> impl Iterator<Item = usize> {
    const PRIME: usize = 7919;
    let stride = if length.is_multiple_of(PRIME) { 1 } else { PRIME };
    (0..length).map(move |n| n * stride % length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> Vec<Example> {
        let written = [
            ("where", "where is my parcel"),
            ("where", "when will my order arrive"),
            ("where", "has order 77893 been shipped"),
            ("return", "I want to send the boots back"),
            ("return", "how do I return this"),
            ("return", "please take it back"),
        ];
        written.map(|(label, text)| Example { label: label.into(), text: text.into() }).into()
    }

    #[test]
    fn unseen_message_gets_nearest_label() {
        let model = Model::train(&examples());
        for (text, label) in [("when does the parcel arrive??", "where"), ("can i send them BACK", "return")] {
            let guess = model.classify(text).expect("shares words");
            assert_eq!(guess.label, label, "{text}: {guess:?}");
            assert!(guess.probability > 0.6, "{text}: {guess:?}");
        }
        for (text, known) in [("where is my boot", 1.0), ("where is qxzv 77893", 2.0 / 3.0), ("qxzv wwrt", 0.0)] {
            let guess = model.classify(text).map_or(0.0, |guess| guess.known);
            assert!((guess - known).abs() < 1e-9, "{text}: {guess}");
        }
        assert_eq!(model.classify("…"), None);
        assert_eq!(Model::train(&[]).classify("hello"), None);
    }

    #[test]
    fn likelier_label_wins_where_both_fit() {
        let model = Model::train(&examples());
        let guess = |times: f64| model.classify_where("the boots", |label| if label == "return" { times } else { 1.0 });
        let (usual, never) = (guess(1.0).expect("shares words"), guess(0.0).expect("shares words"));
        assert_eq!((usual.label, never.label), ("return", "where"));
        assert!(
            (never.probability - 1.0).abs() < 1e-9 && guess(2.0).expect("shares words").probability > usual.probability
        );
    }

    #[test]
    fn training_twice_gives_equal_weights() {
        let (one, other) = (Model::train(&examples()), Model::train(&examples()));
        assert_eq!(one.weights, other.weights);
    }

    #[test]
    fn every_position_is_visited_once() {
        for length in [0, 1, 2, 10, 7919, 8000] {
            let mut visited: Vec<usize> = mixed(length).collect();
            visited.sort_unstable();
            assert_eq!(visited, (0..length).collect::<Vec<_>>());
        }
    }
}
