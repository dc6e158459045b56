//! Rewrites a customer's question in the documents' words.

use super::RetailRules;
use crate::domain::Vocabulary;
use crate::domain::text::fold;
use crate::domain::text::match_mask;

impl RetailRules {
    /// Returns the search text: abbreviations are expanded ("bn" is "bao nhiêu") and polite words removed. Words of the documents stay
    /// unchanged.
    pub fn search_text(&self, text: &str, vocabulary: &Vocabulary) -> String {
        let stream = self.lexicon.tokenize(text);
        let filler = match_mask(&self.filler, &stream, &[]);
        let mut query = String::with_capacity(text.len());
        let mut copied = 0;
        let mut words = stream.tokens().iter().zip(&filler).peekable();
        while let Some((token, filler)) = words.next() {
            let mut is_filler = *filler;
            // An abbreviation covers several words.
            while let Some((_, filler)) = words.next_if(|(next, _)| next.span == token.span) {
                is_filler &= *filler;
            }
            let typed = &text[token.span.clone()];
            if vocabulary.has(&fold(typed)) {
                continue;
            }
            let meant = match self.aliases.get(&typed.to_lowercase()) {
                _ if is_filler => "",
                Some(meant) => meant,
                None => continue,
            };
            query.push_str(&text[copied..token.span.start]);
            query.push_str(meant);
            copied = token.span.end;
        }
        query.push_str(&text[copied..]);
        // A message of polite words alone is searched unchanged.
        if query.chars().any(char::is_alphanumeric) { query } else { text.to_owned() }
    }
}
