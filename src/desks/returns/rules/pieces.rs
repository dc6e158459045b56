//! How many pieces of goods a message names: "2 cái", "keep only one", "1 of the 3".

use std::collections::HashMap;

use crate::domain::text::{Pattern, TokenStream, fold, match_mask};

/// The class of the number words, which `pieces` of the rule file refers to.
pub(super) const COUNT: &str = "count";

/// An item is named within this many words after its number.
const ITEM_WORDS: usize = 3;

/// The words of `piece_counts` and the patterns of `pieces` and `no_pieces` in the rule file.
#[derive(Debug)]
pub(super) struct PieceRules {
    counts: HashMap<String, u32>,
    named: Vec<Pattern>,
    not_named: Vec<Pattern>,
}

impl PieceRules {
    pub fn new(counts: &HashMap<String, u32>, named: Vec<Pattern>, not_named: Vec<Pattern>) -> Self {
        Self { counts: counts.iter().map(|(word, count)| (fold(word), *count)).collect(), named, not_named }
    }

    /// Returns the numbers of pieces in the message, in its order.
    pub fn find(&self, stream: &TokenStream<'_>) -> Vec<u32> {
        let hidden = match_mask(&self.not_named, stream, &[]);
        let named = match_mask(&self.named, stream, &hidden);
        let words = stream.tokens().iter().zip(named).filter(|(_, is_named)| *is_named);
        words.filter_map(|(word, _)| self.counts.get(word.folded()).copied()).collect()
    }

    /// Returns the numbers before words that name an item: "one headlamp", "2 cái áo mưa".
    pub fn find_before(&self, stream: &TokenStream<'_>, names_item: impl Fn(&str) -> bool) -> Vec<u32> {
        let hidden = match_mask(&self.not_named, stream, &[]);
        let counted = |(at, is_hidden): (usize, &bool)| {
            let count = self.counts.get(stream.tokens()[at].folded()).filter(|_| !is_hidden)?;
            let rest = at + 1..stream.clause(at).end.min(at + 1 + ITEM_WORDS);
            (!rest.is_empty() && names_item(stream.source(rest))).then_some(*count)
        };
        hidden.iter().enumerate().filter_map(counted).collect()
    }
}
