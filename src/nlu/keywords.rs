//! The words that show what a message wants: some are clear by themselves, others need more to be sure.

use serde::Deserialize;

use crate::domain::text::{InvalidPattern, Lexicon, Pattern, TokenStream, any_match};

/// How clearly the words of a message show something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    #[default]
    None,
    Weak,
    Clear,
}

/// The patterns for one thing that a message may want.
#[derive(Debug)]
pub struct Keywords {
    clear: Vec<Pattern>,
    weak: Vec<Pattern>,
}

/// [`Keywords`] as a rule file has them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeywordFile {
    clear: Vec<String>,
    weak: Vec<String>,
}

impl Keywords {
    /// # Errors
    /// A pattern is malformed.
    pub fn new(file: &KeywordFile, lexicon: &Lexicon) -> Result<Self, InvalidPattern> {
        Ok(Self { clear: lexicon.patterns(&file.clear)?, weak: lexicon.patterns(&file.weak)? })
    }

    /// Returns how clearly a message has the words. Those whose `hidden` flag is set do not count.
    pub fn strength(&self, stream: &TokenStream<'_>, hidden: &[bool]) -> Strength {
        let has = |patterns: &[Pattern]| any_match(patterns, stream, hidden);
        match () {
            () if has(&self.clear) => Strength::Clear,
            () if has(&self.weak) => Strength::Weak,
            () => Strength::None,
        }
    }
}
