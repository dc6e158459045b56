//! The words of a message that can name an item of an order, and how many pieces it names: "2 cái", "keep only one", "1 of the 3".

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use crate::domain::text::{InvalidPattern, Lexicon, Pattern, TokenStream, any_match, fold, match_mask};

/// The class of the number words, which `pieces` of the rule file refers to.
pub(super) const COUNT: &str = "count";

/// An item is named within this many words after its number.
const ITEM_WORDS: usize = 3;

/// The lists `not_items`, `not_goods` and `goods_names` of the rule file.
#[derive(Debug)]
pub(super) struct GoodsWords {
    /// Words that name no item, folded.
    not_items: Vec<String>,
    /// Phrases that have the name of goods and name none.
    not_goods: Vec<Pattern>,
    /// What customers call goods, with the words that they have in the names of items.
    names: Vec<(Vec<Pattern>, String)>,
}

impl GoodsWords {
    pub fn new(
        not_items: &[String],
        not_goods: Vec<Pattern>,
        names: &HashMap<String, String>,
        lexicon: &Lexicon,
    ) -> Result<Self, InvalidPattern> {
        let names = names.iter().map(|(said, name)| Ok((lexicon.patterns(std::slice::from_ref(said))?, name.clone())));
        Ok(Self {
            not_items: not_items.iter().map(|word| fold(word)).collect(),
            not_goods,
            names: names.collect::<Result<_, _>>()?,
        })
    }

    /// Returns the text without the words that name no item ("the", "one"), and with the words that its goods have in names of items:
    /// "áo mưa" with "rain jacket".
    pub fn of(&self, text: &str, lexicon: &Lexicon) -> String {
        let composed: String = text.nfc().collect();
        let stream = lexicon.tokenize(&composed);
        let hidden = match_mask(&self.not_goods, &stream, &[]);
        let mut visible = composed.clone();
        for (token, _) in stream.tokens().iter().zip(&hidden).filter(|(_, is_hidden)| **is_hidden) {
            visible.replace_range(token.span.clone(), &" ".repeat(token.span.len()));
        }
        let words = visible.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| !self.not_items.contains(&fold(word)));
        let said = self.names.iter().filter(|(patterns, _)| any_match(patterns, &stream, &hidden));
        words.chain(said.map(|(_, name)| name.as_str())).collect::<Vec<_>>().join(" ")
    }
}

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
