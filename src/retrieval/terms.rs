//! Text as the words that a search compares.

use std::sync::LazyLock;

use regex::Regex;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::domain::text::fold;

/// A word in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// As it was typed.
    pub exact: String,
    /// Without diacritics; an English word without its ending too ("delivered" is `deliv`).
    pub root: String,
    /// Whether it was typed with diacritics.
    pub marked: bool,
}

impl Token {
    fn new(exact: &str) -> Self {
        let exact = old_style(exact);
        let folded = fold(&exact);
        let marked = exact != folded;
        let english = !marked && folded.bytes().all(|b| b.is_ascii_lowercase()) && !SYLLABLE.is_match(&folded);
        let root = if english { ENGLISH.stem(&folded).into_owned() } else { folded };
        Self { exact, root, marked }
    }

    /// Whether this word, as somebody typed it, can mean `word`: diacritics count only if they were typed.
    pub fn may_be(&self, word: &Self) -> bool {
        if self.marked { self.exact == word.exact } else { self.root == word.root }
    }

    /// Whether it can be a syllable of Vietnamese, which says little without its neighbours.
    pub fn is_syllable(&self) -> bool {
        self.marked || SYLLABLE.is_match(&self.root)
    }
}

static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// First consonants, vowels and last consonants of Vietnamese, without diacritics.
static SYLLABLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(b|c|ch|d|g|gh|gi|h|k|kh|l|m|n|ng|ngh|nh|p|ph|qu|r|s|t|th|tr|v|x)?(a|e|i|o|u|y|ai|ao|au|ay|eo|eu|ia|ie|ieu|iu|oa|oai|oao|oay|oe|oeo|oi|oo|ua|uay|ue|ui|uo|uoi|uou|uu|uy|uya|uye|uyu|ye|yeu)(c|ch|m|n|ng|nh|p|t)?$",
    )
});

/// Numbers with their separators (`1.890.000`, `15.6`, `2,5`) before words.
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d+(?:[.,]\d+)+|[\p{L}\p{M}\p{N}]+"));
static THOUSANDS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\d{1,3}([.,]\d{3})+$"));
/// `rtx4060`, `ddr4`, `gtx1650ti`; and `16gb`, `2x8gb`.
static NAME_NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^([a-z]{2,8})(\d{3,5})([a-z]{0,6})$"));
static NUMBER_UNIT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+(?:\.\d+)?)(\p{L}+)$"));

#[expect(clippy::expect_used, reason = "the patterns are constants, and every one is compiled by the tests")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

/// The words of a text in order, normalised so that ways to write one thing agree.
///
/// `1.890.000` is `1890000`, `2,5` is `2.5`; a number and a following unit are one word (`1 TB` is `1tb`); a name and a number
/// are two (`RTX4060` is `rtx 4060`); `hoà` is `hòa`.
pub fn tokens(text: &str, units: &[String]) -> Vec<Token> {
    let text: String = text.nfc().flat_map(char::to_lowercase).collect();
    let mut words: Vec<Token> = Vec::new();
    for found in WORD.find_iter(&text) {
        let word: String = found.as_str().chars().filter(|c| !is_combining_mark(*c)).collect();
        if word.starts_with(|c: char| c.is_ascii_digit()) && word.contains(['.', ',']) {
            words.push(Token::new(&plain_number(&word)));
            continue;
        }
        if units.contains(&word)
            && let Some(last) = words.last_mut().filter(|last| is_plain_number(&last.exact))
        {
            *last = Token::new(&format!("{}{word}", last.exact));
            continue;
        }
        let name_number =
            word.ends_with(|c: char| c.is_ascii_alphanumeric()).then(|| NAME_NUMBER.captures(&word)).flatten();
        match name_number {
            Some(parts) => {
                words.push(Token::new(&parts[1]));
                words.push(Token::new(&format!("{}{}", &parts[2], &parts[3])));
            }
            None if !word.is_empty() => words.push(Token::new(&word)),
            None => {}
        }
    }
    words
}

/// The number that a word with a unit begins with (`16` of `16gb`), if the unit is known.
pub fn bare_number<'a>(word: &'a str, units: &[String]) -> Option<&'a str> {
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let parts = NUMBER_UNIT.captures(word)?;
    let unit = parts.get(2)?.as_str();
    units.iter().any(|known| known == unit).then(|| parts.get(1).map(|number| number.as_str()))?
}

fn plain_number(word: &str) -> String {
    if THOUSANDS.is_match(word) { word.replace(['.', ','], "") } else { word.replace(',', ".") }
}

pub fn is_plain_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// Two spellings of one tone: `hoà`, `hoè`, `thuý` become `hòa`, `hòe`, `thúy`.
fn old_style(word: &str) -> String {
    const PAIRS: [(&str, &str); 15] = [
        ("oà", "òa"),
        ("oá", "óa"),
        ("oả", "ỏa"),
        ("oã", "õa"),
        ("oạ", "ọa"),
        ("oè", "òe"),
        ("oé", "óe"),
        ("oẻ", "ỏe"),
        ("oẽ", "õe"),
        ("oẹ", "ọe"),
        ("uỳ", "ùy"),
        ("uý", "úy"),
        ("uỷ", "ủy"),
        ("uỹ", "ũy"),
        ("uỵ", "ụy"),
    ];
    for (new, old) in PAIRS {
        if let Some(start) = word.strip_suffix(new).filter(|start| !start.ends_with('q')) {
            return format!("{start}{old}");
        }
    }
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units() -> Vec<String> {
        ["tb", "gb", "inch"].map(str::to_owned).to_vec()
    }

    fn exact(text: &str) -> Vec<String> {
        tokens(text, &units()).into_iter().map(|token| token.exact).collect()
    }

    #[test]
    fn ways_to_write_one_thing_agree() {
        for (a, b) in [
            ("1 TB", "1tb"),
            ("SSD 1TB", "ssd 1 tb"),
            ("RTX4060", "rtx 4060"),
            ("15,6 inch", "15.6inch"),
            ("1.890.000", "1,890,000"),
            ("thuý hoà", "thúy hòa"),
            ("e\u{302}\u{301}", "ế"),
        ] {
            assert_eq!(exact(a), exact(b), "{a} and {b}");
        }
        assert_eq!(exact("Ổ cứng (2x16 GB), DDR4/M331: 2.5."), ["ổ", "cứng", "2x16", "gb", "ddr4", "m331", "2.5"]);
        assert_eq!(exact("quý"), ["quý"]);
    }

    #[test]
    fn a_number_with_a_known_unit_has_a_bare_number() {
        assert_eq!(bare_number("16gb", &units()), Some("16"));
        assert_eq!(bare_number("15.6inch", &units()), Some("15.6"));
        assert_eq!(bare_number("13400f", &units()), None);
    }

    #[test]
    fn vietnamese_syllables_are_told_from_other_words() {
        let syllable = |word: &str| Token::new(word).is_syllable();
        assert!(["hàng", "giao", "nghieng", "chuot", "man", "hinh", "quyen"].map(syllable).iter().all(|yes| *yes));
        assert!(["ship", "ssd", "laptop", "mouse", "1tb", "gaming"].map(syllable).iter().all(|yes| !*yes));
    }
}
