//! Text as customers write it: cleaning, folding, words, and the pattern language of the rule files.
//!
//! - [`TokenStream`]: a text as a sequence of words
//! - [`Pattern`]: the pattern language, over a [`TokenStream`]
//! - [`Lexicon`]: the aliases and word classes of one rule file
//! - [`serial`]: serial numbers
//! - [`sentences`]: its sentences and lists
//! - [`examples`]: how much texts are like examples
//!
//! A separate crate, so that debug builds and tests can compile it with optimizations: `Cargo.toml` of frontdesk sets them.

use std::borrow::Cow;

use regex::Regex;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

pub mod examples;
mod lexicon;
mod pattern;
pub mod sentences;
pub mod serial;
#[cfg(test)]
mod tests;
mod token;

pub use lexicon::Lexicon;
pub use pattern::{InvalidPattern, Pattern, Window, any_match, match_mask};
pub use token::{Spelling, Token, TokenStream};

/// Compiles a regular expression that is written in the code.
#[expect(
    clippy::expect_used,
    reason = "only a mistake in the code can fail here, and a test of each pattern compiles it"
)]
pub fn constant_regex(pattern: &'static str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

/// Lower case, without diacritics, `đ` as `d` and `ł` as `l`: "Bảo hành Đúng" becomes "bao hanh dung".
///
/// Everything else (spaces, digits, punctuation, emoji) is unchanged. Composed and decomposed input give the same.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .map(|c| match c {
            'đ' => 'd',
            'ł' => 'l',
            c => c,
        })
        .collect()
}

/// The fewest letters of a word without its plural ending.
const SHORTEST_SINGULAR: usize = 3;

/// Removes the plural ending of an English word in lower case, -s or -es: "shoes" becomes "shoe", and "boxes" becomes "box".
/// English words are common in every language.
pub fn singular(word: &str) -> &str {
    let is_in_es = ["sses", "shes", "ches", "xes"].iter().any(|ending| word.ends_with(ending));
    if is_in_es && word.len() >= SHORTEST_SINGULAR + 2 {
        return &word[..word.len() - 2];
    }
    match word.strip_suffix('s') {
        Some(singular) if singular.len() >= SHORTEST_SINGULAR && !singular.ends_with('s') => singular,
        _ => word,
    }
}

/// Removes characters that carry no text but can mislead a reader or be refused by a database:
///
/// - control characters but line feed and tab: C0 with NUL and carriage return, DEL, C1
/// - marks, embeddings, overrides and isolates of bidirectional text: U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to
///   U+2069
/// - the byte order mark, U+FEFF
///
/// Joiners (U+200C, U+200D), which scripts and emoji need, and combining marks stay. Text from outside passes through here
/// before it is stored or shown: customers' and models' words, tool arguments, documents, prompts, lists and settings.
/// Cleaning pieces and joining them gives the same as cleaning the whole.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.contains(is_unwanted) { Cow::Owned(text.replace(is_unwanted, "")) } else { Cow::Borrowed(text) }
}

/// Cleans every text in a JSON value, names included.
pub fn clean_json(value: Value) -> Value {
    match value {
        Value::String(text) => clean(&text).into(),
        Value::Array(items) => items.into_iter().map(clean_json).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(name, value)| (clean(&name).into_owned(), clean_json(value))).collect()
        }
        other => other,
    }
}

fn is_unwanted(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => true,
        _ => c.is_control(),
    }
}

/// Whether a text shows nothing: it is empty, or only white space and characters that leave no trace.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_invisible(c))
}

/// Whether a character by itself leaves no trace on the page: soft hyphens, joiners, fillers, selectors and the like.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// The words of a text, folded: maximal runs of letters and digits.
pub fn words(text: &str) -> Vec<String> {
    fold(text).split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
