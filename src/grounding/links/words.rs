//! The words around addresses: `prompts/rules/links.toml` and `prompts/rules/links.LANG.toml`, which describe each list.

use serde::Deserialize;

use crate::persona::{PromptError, Prompts};

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in super::super) struct LinkWords {
    dots: Vec<String>,
    ats: Vec<String>,
    spoken_dots: Vec<String>,
    spoken_slashes: Vec<String>,
    spoken_suffixes: Vec<String>,
    word_suffixes: Vec<String>,
    no_names: Vec<String>,
    plain_suffixes: Vec<String>,
    file_suffixes: Vec<String>,
}

impl LinkWords {
    pub fn read(prompts: &Prompts) -> Result<Self, PromptError> {
        prompts.rules(&["links"], Ok::<Self, std::convert::Infallible>)
    }

    /// Returns the disguised sign that a text begins with: its length in bytes, and what it stands for.
    pub fn disguise(&self, text: &str) -> Option<(usize, char)> {
        if !text.starts_with(['[', '(', '{']) {
            return None;
        }
        let is_written = |sign: &str| text.get(..sign.len()).is_some_and(|begin| begin.to_lowercase() == sign);
        self.disguises().find(|(sign, _)| is_written(sign)).map(|(sign, meant)| (sign.len(), meant))
    }

    /// Whether a disguised sign begins the text, or might once more of the text is there.
    pub fn may_be_disguise(&self, text: &str, is_whole: bool) -> bool {
        let may_become = |sign: &str| {
            let begun = text.chars().take(sign.chars().count()).flat_map(char::to_lowercase).collect::<String>();
            sign.starts_with(&begun)
        };
        self.disguise(text).is_some() || (!is_whole && self.disguises().any(|(sign, _)| may_become(sign)))
    }

    fn disguises(&self) -> impl Iterator<Item = (&str, char)> {
        let dots = self.dots.iter().map(|sign| (sign.as_str(), '.'));
        dots.chain(self.ats.iter().map(|sign| (sign.as_str(), '@')))
    }

    pub fn is_dot(&self, word: &str) -> bool {
        has(&self.spoken_dots, word)
    }

    pub fn is_slash(&self, word: &str) -> bool {
        has(&self.spoken_slashes, word)
    }

    /// Whether the beginning of a word may become a spoken dot or slash.
    pub fn may_be_sign(&self, begun: &str) -> bool {
        self.spoken_dots.iter().chain(&self.spoken_slashes).any(|word| word.starts_with(begun))
    }

    /// Whether "`name` dot `suffix`" is a host without further signs of one.
    pub fn names_host(&self, name: &str, suffix: &str) -> bool {
        has(&self.spoken_suffixes, suffix) && !has(&self.no_names, name)
    }

    pub fn is_word_suffix(&self, suffix: &str) -> bool {
        has(&self.word_suffixes, suffix)
    }

    pub fn is_plain_suffix(&self, suffix: &str) -> bool {
        has(&self.plain_suffixes, suffix)
    }

    pub fn is_file_suffix(&self, suffix: &str) -> bool {
        has(&self.file_suffixes, suffix)
    }
}

fn has(words: &[String], word: &str) -> bool {
    words.iter().any(|known| known == word)
}
