//! What a document is about, by seed 003's rule: the words of its summary and of its headings.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

/// At most so many for a document.
const KEYWORDS: usize = 12;
/// A keyword has more letters than the first and fewer than the second.
const LETTERS: (usize, usize) = (2, 24);

/// The keywords of a document whose summary, title and headings are given: in lower case, without the punctuation around them, each
/// once, the most frequent first and, of those, the one that comes first.
///
/// The seed says "top 12" and not by what; words between spaces, since it strips punctuation and does not split at it.
pub fn keywords<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut found: HashMap<String, (usize, usize)> = HashMap::new();
    for (n, word) in texts.into_iter().flat_map(words).enumerate() {
        let letters = word.chars().count();
        if LETTERS.0 < letters && letters < LETTERS.1 {
            found.entry(word).or_insert((0, n)).0 += 1;
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, (count, first))| (usize::MAX - count, *first));
    found.into_iter().take(KEYWORDS).map(|(word, _)| word).collect()
}

/// Whether one of the keywords is a word of the text.
pub fn has_any(text: &str, keywords: &[String]) -> bool {
    words(text).any(|word| keywords.contains(&word))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| !word.is_empty()).map(|word| word.nfc().flat_map(char::to_lowercase).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_the_frequent_words_of_summary_and_headings() {
        let found =
            keywords(["Giao hàng, giao hàng hỏa tốc!", "Phí (giao) HÀNG đi", "Wi-Fi 5GHz aaaaaaaaaaaaaaaaaaaaaaaa"]);
        assert_eq!(found, ["giao", "hàng", "hỏa", "tốc", "phí", "wi-fi", "5ghz"]);
        assert_eq!(keywords([]), [""; 0]);
        let many: String = (100..120).map(|n| format!("w{n} ")).collect();
        assert_eq!(keywords([many.as_str()]).len(), 12);
    }

    #[test]
    fn a_keyword_is_found_as_a_word_however_it_is_written() {
        let keywords = ["hàng".to_owned()];
        assert!(has_any("Trả HÀNG.", &keywords) && has_any("ha\u{300}ng", &keywords));
        assert!(!has_any("hàngg hang", &keywords));
    }
}
