//! Rewrites a customer's question in the documents' words.

use super::RetailRules;
use crate::domain::Vocabulary;
use crate::domain::text::{Pattern, any_match, fold, match_mask};

impl RetailRules {
    /// Returns a message without what the customer owns ("for my old laptop", "I already have a monitor"), or `None` if it names nothing
    /// of that kind. What follows in the same clause belongs to it.
    pub fn without_owned(&self, text: &str) -> Option<String> {
        let stream = self.lexicon.tokenize(text);
        let mut is_owned = match_mask(&self.owned, &stream, &[]);
        if !is_owned.contains(&true) {
            return None;
        }
        let ends = match_mask(&self.after_owned, &stream, &[]);
        let clause = |at: usize| stream.tokens()[at].clause;
        for at in 1..is_owned.len() {
            is_owned[at] |= is_owned[at - 1] && clause(at) == clause(at - 1) && !ends[at];
        }
        let rest = (0..is_owned.len()).filter(|at| !is_owned[*at]).map(|at| stream.source(at..at + 1));
        let mut words: Vec<&str> = rest.collect();
        // The words of an expanded alias have one spelling.
        words.dedup();
        Some(words.join(" "))
    }

    /// Returns whether a serial number lacks what the message names at its end, or else at its beginning. `None` if it says neither.
    pub fn lacks_at_end(&self, text: &str) -> Option<bool> {
        let stream = self.lexicon.tokenize(text);
        let has = |patterns: &[Pattern]| any_match(patterns, &stream, &[]);
        if has(&self.lacks_end) { Some(true) } else { has(&self.lacks_start).then_some(false) }
    }

    /// Returns whether a message names a character in place of another.
    pub fn replaces(&self, text: &str) -> bool {
        any_match(&self.replaces, &self.lexicon.tokenize(text), &[])
    }

    /// Returns the words of one letter, which belong to no serial number.
    pub fn single_letters(&self) -> &[String] {
        &self.single_letters
    }

    /// Returns whether a message asks for goods that most computer shops do not sell.
    pub fn asks_unsold(&self, text: &str) -> bool {
        any_match(&self.unsold, &self.lexicon.tokenize(text), &[])
    }

    /// Returns whether a message asks how to reach the shop.
    pub fn asks_contact(&self, text: &str) -> bool {
        match_mask(&self.contact, &self.lexicon.tokenize(text), &[]).contains(&true)
    }

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
