//! What texts are compared by: their words, their pairs of words, and their runs of two to four letters, all without diacritics.

use hashbrown::HashMap;

use crate::fold;

/// The hash of a word, a pair of words, or a run of letters. Among 100,000 of them, two are equal by chance once in a billion times.
type Feature = u64;

/// The known features of a text, as position and value, in the order of the positions.
pub(super) type Vector = Vec<(usize, f64)>;

/// Characters of a text that count. More would not change the result, only the time.
const MOST_CHARS: usize = 400;
/// Letters of the longest runs.
const LONGEST_RUN: usize = 4;

/// The features of a text, each with the number of times that it occurs.
#[derive(Debug, Default)]
pub struct Counts {
    words: Vec<(Feature, u32)>,
    pairs: Vec<(Feature, u32)>,
    runs: Vec<(Feature, u32)>,
}

impl Counts {
    pub fn of(text: &str) -> Self {
        let folded = folded(text);
        let (mut words, mut pairs, mut runs) = (Vec::new(), Vec::new(), Vec::new());
        let mut previous = "^";
        for word in words_of(&folded) {
            words.push(word_feature(word));
            pairs.push(previous.chars().chain([' ']).chain(word.chars()).fold(PAIR, extended));
            let letters = letters_of(word);
            for start in 0..letters.len() {
                let mut run = RUN;
                for (length, letter) in letters[start..].iter().take(LONGEST_RUN).enumerate() {
                    run = extended(run, *letter);
                    if length > 0 {
                        runs.push(run);
                    }
                }
            }
            previous = word;
        }
        Self { words: counted(words), pairs: counted(pairs), runs: counted(runs) }
    }
}

/// Returns each feature once, with the number of times that it occurs.
fn counted(mut features: Vec<Feature>) -> Vec<(Feature, u32)> {
    features.sort_unstable();
    let equal = features.chunk_by(|a, b| a == b);
    equal.map(|equal| (equal[0], u32::try_from(equal.len()).unwrap_or(u32::MAX))).collect()
}

/// The features of many texts. Rare ones count more.
#[derive(Debug, Default)]
pub(super) struct Features {
    /// The position and the inverse document frequency of each.
    known: HashMap<Feature, (usize, f64)>,
}

impl Features {
    pub fn of<'a>(texts: impl ExactSizeIterator<Item = &'a Counts>) -> Self {
        let all = as_f64(texts.len() + 1);
        let mut seen: HashMap<Feature, usize> = HashMap::new();
        for (name, _) in texts.flat_map(|text| text.words.iter().chain(&text.pairs).chain(&text.runs)) {
            *seen.entry(*name).or_default() += 1;
        }
        let mut seen: Vec<(Feature, usize)> = seen.into_iter().collect();
        seen.sort_unstable();
        let rarity = |count| (all / as_f64(count + 1)).ln() + 1.0;
        Self { known: seen.into_iter().enumerate().map(|(n, (name, count))| (name, (n, rarity(count)))).collect() }
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Returns the bytes of memory that the features take.
    pub fn bytes(&self) -> usize {
        self.known.allocation_size()
    }

    /// Returns the share of a text's words that the examples know: with the same letters, or with most of their runs of four.
    /// Numbers do not count.
    pub fn known_share(&self, text: &str) -> f64 {
        let folded = folded(text);
        let words = words_of(&folded).filter(|word| word.contains(char::is_alphabetic));
        let is_known = |word: &str| self.known.contains_key(&word_feature(word)) || self.knows_most_runs(word);
        let (known, all) = words.fold((0, 0), |(known, all), word| (known + usize::from(is_known(word)), all + 1));
        if all == 0 { 1.0 } else { as_f64(known) / as_f64(all) }
    }

    /// Returns the share of a text's different words that the examples have with the same letters.
    pub fn known_words(&self, text: &Counts) -> f64 {
        let known = text.words.iter().filter(|(word, _)| self.known.contains_key(word)).count();
        as_f64(known) / as_f64(text.words.len().max(1))
    }

    fn knows_most_runs(&self, word: &str) -> bool {
        let letters = letters_of(word);
        let runs = letters.windows(LONGEST_RUN).map(|run| run.iter().copied().fold(RUN, extended));
        let known = runs.filter(|run| self.known.contains_key(run)).count();
        known * 2 > (letters.len() + 1).saturating_sub(LONGEST_RUN)
    }

    /// Returns the vector of a text. Its words and its runs of letters have the length 1 each.
    pub fn vector(&self, text: &Counts) -> Vector {
        let parts = self.parts(text).into_iter();
        let unit =
            parts.flat_map(|part| part.known.into_iter().map(move |known| (known.place, known.value / part.length)));
        let mut vector: Vector = unit.collect();
        // In the order of the features, since the last digits of a sum depend on it.
        vector.sort_unstable_by_key(|(n, _)| *n);
        vector
    }

    /// Returns the known features of a text: its words with their pairs, and its runs of letters.
    pub fn parts(&self, text: &Counts) -> [Part; PARTS] {
        [[&text.words[..], &text.pairs], [&text.runs, &[]]].map(|counts| {
            let counts = counts.into_iter().flatten();
            let known = counts.filter_map(|(name, count)| {
                let (place, rarity) = *self.known.get(name)?;
                Some(Known { place, rarity, count: *count, value: weight(*count) * rarity })
            });
            let known: Vec<Known> = known.collect();
            let length = known.iter().map(|known| known.value * known.value).sum::<f64>().sqrt();
            Part { known, length }
        })
    }
}

/// The parts of a text: its words with their pairs, and its runs of letters.
pub(super) const PARTS: usize = 2;

/// A part of a text.
pub(super) struct Part {
    pub known: Vec<Known>,
    /// The length of the vector of its values.
    pub length: f64,
}

/// A known feature of a text.
pub(super) struct Known {
    pub place: usize,
    pub rarity: f64,
    /// How often the text has it.
    pub count: u32,
    pub value: f64,
}

/// Returns how much a feature counts that a text has so often.
pub(super) fn weight(count: u32) -> f64 {
    1.0 + f64::from(count).ln()
}

/// Where the hashes of words, pairs and runs begin, so that a run differs from a word of the same letters.
const WORD: Feature = 0xcbf2_9ce4_8422_2325;
const PAIR: Feature = extended(WORD, '1');
const RUN: Feature = extended(WORD, '2');

/// FNV-1a by characters: quick for short texts, and equal in every process, as weights and orders have to be.
const fn extended(hash: Feature, next: char) -> Feature {
    (hash ^ next as u64).wrapping_mul(0x0100_0000_01b3)
}

fn word_feature(word: &str) -> Feature {
    word.chars().fold(WORD, extended)
}

/// Returns the letters of a word with a mark before and after them.
fn letters_of(word: &str) -> Vec<char> {
    std::iter::once('_').chain(word.chars()).chain(['_']).collect()
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

/// Numbers differ from text to text. Only whether one is long counts: it may be a serial or order number.
fn without_digits(word: &str) -> &str {
    match (word.contains(|c: char| c.is_ascii_digit()), word.len()) {
        (false, _) => word,
        (true, ..5) => "#",
        (true, _) => "##",
    }
}

/// A list for each feature, stored as one. A million small lists would take more memory.
#[derive(Debug)]
pub(super) struct Lists<T> {
    /// Where the list of each feature begins in `all`. The last one is the end.
    starts: Vec<usize>,
    all: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { starts: vec![0], all: Vec::new() }
    }
}

impl<T> Lists<T> {
    /// Makes the lists of `count` features from what each has. Each list keeps its order.
    pub fn of(count: usize, mut having: Vec<(usize, T)>) -> Self {
        having.sort_by_key(|(feature, _)| *feature);
        let mut starts = vec![0; count + 1];
        having.iter().for_each(|(feature, _)| starts[feature + 1] += 1);
        (0..count).for_each(|feature| starts[feature + 1] += starts[feature]);
        Self { starts, all: having.into_iter().map(|(_, item)| item).collect() }
    }

    pub fn get(&self, feature: usize) -> &[T] {
        &self.all[self.starts[feature]..self.starts[feature + 1]]
    }

    pub fn all(&self) -> &[T] {
        &self.all
    }

    /// Returns the bytes of memory that they take.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.starts) + size_of_val(&*self.all)
    }
}

/// Returns the probabilities that belong to logarithms.
pub(super) fn shares(scores: &[f64]) -> Vec<f64> {
    let highest = scores.iter().copied().fold(f64::MIN, f64::max);
    let powers: Vec<f64> = scores.iter().map(|score| (score - highest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

/// Converts a count of examples, which is far below 2⁵².
#[expect(clippy::cast_precision_loss, reason = "see above")]
pub(super) fn as_f64(count: usize) -> f64 {
    count as f64
}
