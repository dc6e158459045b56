//! The words that show what a message wants: some are clear by themselves, others need more to be sure. And how a desk lists its words.

use crate::domain::text::{Pattern, TokenStream, any_match};

/// Declares lists of patterns by their keys: as they are written in a rule file, with its other fields, and as they are parsed.
macro_rules! pattern_lists {
    ($(#[$doc:meta])* $vis:vis $file:ident => $lists:ident {
        $($name:ident $(as $key:literal)?),* $(,)?
    } $(with { $($other:ident: $kind:ty),* $(,)? })?) => {
        $(#[$doc])*
        #[derive(Default, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        $vis struct $file {
            $($(#[serde(rename = $key)])? pub $name: Vec<String>,)*
            $($(pub $other: $kind,)*)?
        }

        /// The same lists, parsed.
        #[derive(Debug)]
        $vis struct $lists {
            $(pub $name: Vec<$crate::domain::text::Pattern>,)*
        }

        impl $file {
            $vis fn parse(
                &self,
                lexicon: &$crate::domain::text::Lexicon,
            ) -> Result<$lists, $crate::domain::text::InvalidPattern> {
                Ok($lists { $($name: lexicon.patterns(&self.$name)?,)* })
            }
        }
    };
}
pub(crate) use pattern_lists;

/// How clearly the words of a message show something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    #[default]
    None,
    Weak,
    Clear,
}

pattern_lists! {
    /// The patterns for one thing that a message may want.
    pub KeywordFile => Keywords { clear, weak }
}

impl Keywords {
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
