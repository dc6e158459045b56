//! A set of many words in little memory.

use std::collections::BTreeSet;

/// Words, sorted by their bytes. One text holds them all: a string for each would take several times the memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordSet {
    /// The words, each on a line.
    text: Box<str>,
    /// Where each line starts.
    starts: Box<[u32]>,
}

impl WordSet {
    pub fn contains(&self, word: &str) -> bool {
        self.starting_at(word).next() == Some(word)
    }

    /// Iterates over the words from this one on, or from the next one if the set lacks it.
    pub fn starting_at(&self, word: &str) -> impl Iterator<Item = &str> {
        let lines = |start: &u32| self.text.get(*start as usize..).unwrap_or_default().lines();
        let at = self.starts.partition_point(|start| lines(start).next().is_some_and(|other| other < word));
        self.starts.get(at).into_iter().flat_map(lines)
    }

    /// Whether a word of the set begins with this text.
    pub fn has_prefix(&self, text: &str) -> bool {
        self.starting_at(text).next().is_some_and(|next| next.starts_with(text))
    }

    /// Returns the bytes of memory that the words take.
    pub fn bytes(&self) -> usize {
        self.text.len() + size_of_val(&*self.starts)
    }
}

/// Takes words without line breaks, up to 4 GiB.
impl<S: AsRef<str> + Ord> FromIterator<S> for WordSet {
    fn from_iter<I: IntoIterator<Item = S>>(words: I) -> Self {
        let (mut text, mut starts) = (String::new(), Vec::new());
        for word in words.into_iter().collect::<BTreeSet<S>>() {
            let Ok(start) = u32::try_from(text.len()) else { break };
            starts.push(start);
            text.push_str(word.as_ref());
            text.push('\n');
        }
        Self { text: text.into(), starts: starts.into() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn set_has_the_words_of_a_tree(words: BTreeSet<String>, other in "\\PC{0,3}") {
            let words: BTreeSet<String> = words.into_iter().map(|word| word.replace(['\n', '\r'], "")).collect();
            let set: WordSet = words.iter().collect();
            for word in words.iter().chain([&other]) {
                prop_assert_eq!(set.contains(word), words.contains(word));
                prop_assert!(set.starting_at(word).eq(words.range(word.clone()..)));
                prop_assert_eq!(set.has_prefix(word), words.range(word.clone()..).any(|next| next.starts_with(word)));
            }
        }
    }

    #[test]
    fn word_takes_five_bytes_more_than_letters() {
        let set: WordSet = (1_000..2_000).map(|number| number.to_string()).collect();
        assert_eq!(set.bytes(), 1_000 * (4 + 5));
    }
}
