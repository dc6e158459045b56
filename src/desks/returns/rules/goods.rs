//! The words of a message that can name an item of an order.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use crate::domain::text::{InvalidPattern, Lexicon, Pattern, any_match, fold, match_mask};

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
