//! Understands a message by its likeness to example sentences.
//!
//! A shop adds an example where the patterns misunderstand. Texts are compared by their words, pairs of words and runs of two to
//! four letters, without diacritics, so that typing errors and inflections matter little. [`Classifier`] is a multinomial logistic
//! regression, [`Nearest`] finds the most similar examples.
//!
//! The crates for logistic regression need dense matrices or a C++ library; the sparse one below is thirty lines.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use crate::domain::text::fold;
use crate::persona::{PromptError, Prompts};

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

/// The features of the examples. Rare ones count more.
#[derive(Debug, Default)]
struct Features {
    /// The position and the inverse document frequency of each.
    known: HashMap<String, (usize, f64)>,
}

/// Labels messages as the examples are labelled. It is trained by [`Classifier::prepare`], or when a message needs it.
#[derive(Debug, Default)]
pub struct Classifier {
    examples: Vec<Example>,
    model: OnceLock<Model>,
}

impl Classifier {
    /// Reads `examples/NAME.LANG.tsv` for every language of the shop: a label, a tab and a message on each line. Lines that begin with
    /// `#` are comments. A missing file has no examples.
    pub fn read(prompts: &Prompts, name: &str) -> Result<Self, PromptError> {
        let mut examples = Vec::new();
        for language in prompts.languages()? {
            let file = format!("examples/{name}.{}.tsv", language.code);
            let Ok(content) = prompts.text(&file) else { continue };
            for (n, line) in content.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            {
                let Some((label, text)) = line.split_once('\t') else {
                    let hint = "the line has no tab: write a label, a tab and a message".to_owned();
                    return Err(prompts.error(&file, Some(n + 1), hint));
                };
                examples.push(Example { label: label.trim().to_owned(), text: text.trim().to_owned() });
            }
        }
        Ok(Self { examples, model: OnceLock::new() })
    }

    /// Trains the model, unless it is trained.
    pub fn prepare(&self) {
        self.trained();
    }

    /// Returns the most likely label, or `None` if the message shares nothing with the examples.
    pub fn classify(&self, text: &str) -> Option<Guess<'_>> {
        self.trained().classify(text)
    }

    fn trained(&self) -> &Model {
        self.model.get_or_init(|| Model::train(&self.examples))
    }

    /// Labels each part of the examples by a model that is trained on the others. Returns how many are right, and how many there
    /// are. `each` gets a message, its label and the guess.
    #[cfg(test)]
    pub fn cross_validate(&self, parts: usize, mut each: impl FnMut(&str, &str, &str)) -> (usize, usize) {
        let mut right = 0;
        for part in 0..parts {
            let is_held_out = |n: usize| n % parts == part;
            let (held_out, others): (Vec<_>, Vec<_>) =
                self.examples.iter().cloned().enumerate().partition(|(n, _)| is_held_out(*n));
            let model = Model::train(&others.into_iter().map(|(_, example)| example).collect::<Vec<_>>());
            for (_, Example { label, text }) in held_out {
                let guess = model.classify(&text).map_or("", |guess| guess.label);
                right += usize::from(guess == label);
                each(&text, &label, guess);
            }
        }
        (right, self.examples.len())
    }
}

/// The trained weights of a [`Classifier`].
#[derive(Debug)]
struct Model {
    labels: Vec<String>,
    features: Features,
    /// The weights of each feature, one for each label. The last row is the constant.
    weights: Vec<Vec<f64>>,
}

/// The features of a text with their counts: words with pairs of words, and runs of letters. The two have equal weight.
type Counts = [BTreeMap<String, f64>; 2];
/// The known features of a text, as position and value.
type Vector = Vec<(usize, f64)>;

/// Passes over the examples. Each takes smaller steps than the one before.
const PASSES: i32 = 20;
const FIRST_STEP: f64 = 4.0;
/// A smaller error changes no weight.
const NEGLIGIBLE: f64 = 0.001;
/// An example whose label misses certainty by less is visited in one pass of three.
const LEARNED: f64 = 0.05;
const RARELY: i32 = 3;
/// The value of the constant in every text.
const CONSTANT: f64 = 0.1;
/// Characters of a message that count. More would not change the label, only the time.
const MOST_CHARS: usize = 400;
/// Letters of the longest runs.
const LONGEST_RUN: usize = 4;

impl Model {
    /// Trains a model. The result depends only on the examples and their order.
    fn train(examples: &[Example]) -> Self {
        let mut labels: Vec<String> = examples.iter().map(|example| example.label.clone()).collect();
        labels.sort_unstable();
        labels.dedup();
        let counts: Vec<Counts> = examples.iter().map(|example| count(&example.text)).collect();
        let features = Features::of(&counts);
        let mut model = Self { weights: vec![vec![0.0; labels.len()]; features.known.len() + 1], labels, features };
        model.fit(examples, &counts);
        model
    }

    /// Returns the most likely label, or `None` if the text shares nothing with the examples.
    fn classify(&self, text: &str) -> Option<Guess<'_>> {
        let vector = self.features.vector(&count(text));
        if vector.is_empty() {
            return None;
        }
        let probabilities = self.probabilities(&vector).into_iter().zip(&self.labels);
        let (probability, label) = probabilities.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
        Some(Guess { label, probability, known: self.features.known_share(text) })
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
        }
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

impl Features {
    fn of(counts: &[Counts]) -> Self {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for name in counts.iter().flatten().flat_map(BTreeMap::keys) {
            *seen.entry(name).or_default() += 1;
        }
        let rarity = |count| (as_f64(counts.len() + 1) / as_f64(count + 1)).ln() + 1.0;
        let known = seen.into_iter().enumerate().map(|(n, (name, count))| (name.to_owned(), (n, rarity(count))));
        Self { known: known.collect() }
    }

    /// Returns the share of a text's words that the examples know.
    fn known_share(&self, text: &str) -> f64 {
        let folded = folded(text);
        let words = words_of(&folded).filter(|word| word.contains(char::is_alphabetic));
        let is_known = |word: &str| self.known.contains_key(&format!(" {word}")) || self.knows_most_runs(word);
        let (known, all) = words.fold((0, 0), |(known, all), word| (known + usize::from(is_known(word)), all + 1));
        if all == 0 { 1.0 } else { as_f64(known) / as_f64(all) }
    }

    fn knows_most_runs(&self, word: &str) -> bool {
        let letters: Vec<char> = format!("_{word}_").chars().collect();
        let runs: Vec<String> = letters.windows(LONGEST_RUN).map(|run| run.iter().collect()).collect();
        let known = runs.iter().filter(|run| self.known.contains_key(*run)).count();
        known * 2 > runs.len()
    }

    /// Returns the vector of a text. Its words and its runs of letters have the length 1 each.
    fn vector(&self, counts: &Counts) -> Vector {
        let mut vector = Vector::new();
        for counts in counts {
            let known = counts.iter().filter_map(|(name, count)| Some((self.known.get(name)?, count)));
            let known: Vector = known.map(|((n, rarity), count)| (*n, (1.0 + count.ln()) * rarity)).collect();
            let length = known.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
            vector.extend(known.into_iter().map(|(n, value)| (n, value / length)));
        }
        // In the order of the features, since the last digits of a sum depend on it.
        vector.sort_unstable_by_key(|(n, _)| *n);
        vector
    }
}

/// Finds the examples that are most similar to a text.
#[derive(Debug, Default)]
pub struct Nearest {
    features: Features,
    /// For each feature, the examples that have it, with its value there.
    examples: Vec<Vec<(usize, f64)>>,
    count: usize,
}

impl Nearest {
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let counts: Vec<Counts> = texts.into_iter().map(count).collect();
        let features = Features::of(&counts);
        let mut examples = vec![Vec::new(); features.known.len()];
        for (n, counts) in counts.iter().enumerate() {
            for (feature, value) in features.vector(counts) {
                examples[feature].push((n, value));
            }
        }
        Self { features, examples, count: counts.len() }
    }

    /// Returns the similarity of each example to a text, in their order: 0 for nothing in common, 1 for the same words. Words that no
    /// example contains make a text less similar to all.
    pub fn similarities(&self, text: &str) -> Vec<f64> {
        let counts = count(text);
        let mut similarities = vec![0.0; self.count];
        for (feature, value) in self.features.vector(&counts) {
            for (example, other) in &self.examples[feature] {
                similarities[*example] += value * other / 2.0;
            }
        }
        let [phrases, _] = &counts;
        let words: Vec<&String> = phrases.keys().filter(|phrase| phrase.starts_with(' ')).collect();
        let known = words.iter().filter(|word| self.features.known.contains_key(word.as_str())).count();
        let share = as_f64(known) / as_f64(words.len().max(1));
        similarities.iter().map(|similarity| similarity * share.sqrt()).collect()
    }
}

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
    /// Learns from examples with the position of their group. `count` is the number of groups.
    pub fn new(examples: &[(usize, &str)], count: usize) -> Self {
        let counts: Vec<Counts> = examples.iter().map(|(_, text)| self::count(text)).collect();
        let features = Features::of(&counts);
        let mut seen: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); features.known.len()];
        let mut sizes = vec![EVERYWHERE * as_f64(features.known.len()); count];
        for ((group, _), counts) in examples.iter().zip(&counts) {
            for (feature, value) in features.vector(counts) {
                *seen[feature].entry(*group).or_default() += value;
                sizes[*group] += value;
            }
        }
        let weight = |(group, value): (usize, f64)| (group, ((value + EVERYWHERE) / EVERYWHERE).ln());
        let weights = seen.into_iter().map(|groups| groups.into_iter().map(weight).collect()).collect();
        Self { features, weights, sizes: sizes.into_iter().map(f64::ln).collect() }
    }

    /// Returns how likely each group is, together 1.
    pub fn probabilities(&self, text: &str) -> Vec<f64> {
        let vector = self.features.vector(&count(text));
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

/// Returns the probabilities that belong to logarithms.
fn shares(scores: &[f64]) -> Vec<f64> {
    let highest = scores.iter().copied().fold(f64::MIN, f64::max);
    let powers: Vec<f64> = scores.iter().map(|score| (score - highest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

/// Every position once, with neighbours far apart: examples of one label stand together in a file.
fn mixed(length: usize) -> impl Iterator<Item = usize> {
    const PRIME: usize = 7919;
    let stride = if length.is_multiple_of(PRIME) { 1 } else { PRIME };
    (0..length).map(move |n| n * stride % length)
}

/// Returns the part of a text that counts, folded.
fn folded(text: &str) -> String {
    fold(&text.chars().take(MOST_CHARS).collect::<String>())
}

/// Returns the words of a folded text.
fn words_of(folded: &str) -> impl Iterator<Item = &str> {
    let words = folded.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty());
    words.map(without_digits)
}

fn count(text: &str) -> Counts {
    let folded = folded(text);
    let mut counts = Counts::default();
    let [phrases, runs] = &mut counts;
    let mut previous = "^";
    for word in words_of(&folded) {
        // A space tells a phrase from a run of the same letters.
        for phrase in [format!(" {word}"), format!("{previous} {word}")] {
            *phrases.entry(phrase).or_default() += 1.0;
        }
        let letters: Vec<char> = format!("_{word}_").chars().collect();
        for run in (2..=LONGEST_RUN).flat_map(|length| letters.windows(length)) {
            *runs.entry(run.iter().collect()).or_default() += 1.0;
        }
        previous = word;
    }
    counts
}

/// Numbers differ from text to text. Only whether one is long counts: it may be a serial or order number.
fn without_digits(word: &str) -> &str {
    match (word.contains(|c: char| c.is_ascii_digit()), word.len()) {
        (false, _) => word,
        (true, ..5) => "#",
        (true, _) => "##",
    }
}

/// Converts a count of examples, which is far below 2⁵².
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn as_f64(count: usize) -> f64 {
    count as f64
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
    fn same_words_are_nearest() {
        let nearest = Nearest::new(["giao hàng bao lâu", "phí giao hàng", "mở cửa mấy giờ"]);
        let similarities = nearest.similarities("phi giao hang?");
        assert!((similarities[1] - 1.0).abs() < 1e-9, "{similarities:?}");
        assert!(similarities[0] < 0.8 && similarities[2] < 0.2, "{similarities:?}");
        assert_eq!(nearest.similarities("…"), [0.0; 3]);
        assert_eq!(Nearest::default().similarities("phí"), Vec::<f64>::new());
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
