//! Splits documents and questions into the words that the search compares.
//!
//! Based on the spellings of [`crate::domain::text`]. Numbers and units need more: `1 TB` and `1tb` are one word, `RTX4060` is two.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use snowstem::Stemmer;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::domain::language::LanguageProfile;
use crate::domain::text::{Spelling, constant_regex};

/// A word in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// With the diacritics that were typed.
    pub exact: String,
    /// Without diacritics; without its ending if it is a word of a language that has a stemmer ("delivered" is `deliv`).
    pub root: String,
    /// Whether it was typed with diacritics that tell words apart.
    pub marked: bool,
    /// Whether it can be a syllable, which means little without its neighbors.
    pub syllable: bool,
}

impl Token {
    /// Whether this word, as somebody typed it, can mean `word`: diacritics count only if they were typed.
    pub fn may_be(&self, word: &Self) -> bool {
        if self.marked { self.exact == word.exact } else { self.root == word.root }
    }
}

/// How texts of some languages are split into words: the shop's units, and what the languages look like.
#[derive(Clone, Debug, Default)]
pub struct Analyzer {
    units: Vec<String>,
    /// Other spellings of a unit, which count directly after a number only: "24in".
    unit_spellings: BTreeMap<String, String>,
    syllables: Vec<Regex>,
    stemming: Option<Stemming>,
}

/// How the endings of words are removed.
#[derive(Clone, Debug)]
struct Stemming {
    stemmer: Stemmer,
    /// The letters with diacritics of the stemmer's language. Its endings change them, so they do not tell words apart.
    letters: String,
    /// The most letters of a root.
    longest: usize,
}

impl Stemming {
    fn of(language: &LanguageProfile) -> Option<Self> {
        Some(Self {
            stemmer: Stemmer::create(language.stemmer?),
            letters: language.letters.chars().chain(language.shared_letters.chars()).nfc().collect(),
            longest: language.stem_letters.unwrap_or(usize::MAX),
        })
    }

    fn has_marks_of(&self, word: &str) -> bool {
        word.chars().all(|c| c.is_ascii() || self.letters.contains(c))
    }

    fn root(&self, folded: &str) -> String {
        self.stemmer.stem(folded).chars().take(self.longest).collect()
    }
}

/// Numbers with their separators (`1.890.000`, `15.6`, `2,5`) before words.
static WORD: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"\d+(?:[.,]\d+)+|[\p{L}\p{M}\p{N}]+"));
static THOUSANDS: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"^\d{1,3}([.,]\d{3})+$"));
/// `rtx4060`, `ddr4`, `rtx5070ti`, `5070ti`; and `16gb`, `2x8gb`.
static NAME_NUMBER: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"^([a-z]{2,8})?(\d{3,5})([a-z]{0,6})$"));
/// Numbers of generations: "Cloud III" is "Cloud 3".
const ROMAN: [(&str, &str); 3] = [("ii", "2"), ("iii", "3"), ("iv", "4")];
static NUMBER_UNIT: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"^(\d+(?:\.\d+)?)(\p{L}+)$"));

impl Analyzer {
    /// # Errors
    /// `syllable` of a language is not a regular expression.
    pub fn new(units: &[String], languages: &[LanguageProfile]) -> Result<Self, regex::Error> {
        let syllables = languages.iter().filter_map(|language| language.syllable.as_deref()).map(Regex::new);
        Ok(Self {
            units: units.iter().map(|unit| unit.to_lowercase()).collect(),
            syllables: syllables.collect::<Result<_, _>>()?,
            stemming: languages.iter().find_map(Stemming::of),
            ..Self::default()
        })
    }

    /// Adds spellings of units.
    #[must_use]
    pub fn with_unit_spellings(self, unit_spellings: BTreeMap<String, String>) -> Self {
        Self { unit_spellings, ..self }
    }

    /// The words of a text in order, normalized so that two ways to write one thing are equal.
    ///
    /// `1.890.000` is `1890000`, `2,5` is `2.5`; a number and its unit are one word (`1 TB` is `1tb`); a name and its number are two
    /// (`RTX4060` is `rtx 4060`), and so are a number and its ending (`5070Ti` is `5070 ti`).
    pub fn tokens(&self, text: &str) -> Vec<Token> {
        let text: String = match text.is_ascii() {
            true => text.to_ascii_lowercase(),
            false => text.nfc().flat_map(char::to_lowercase).collect(),
        };
        let mut words: Vec<Token> = Vec::new();
        for found in WORD.find_iter(&text) {
            let word: String = match found.as_str() {
                word if word.is_ascii() => word.to_owned(),
                word => word.chars().filter(|c| !is_combining_mark(*c)).collect(),
            };
            let word = ROMAN.iter().find(|(roman, _)| *roman == word).map_or(word, |(_, digit)| (*digit).to_owned());
            if word.starts_with(|c: char| c.is_ascii_digit()) && word.contains(['.', ',']) {
                words.push(self.token(&plain_number(&word)));
                continue;
            }
            if self.units.contains(&word)
                && let Some(last) = words.last_mut().filter(|last| is_plain_number(&last.exact))
            {
                *last = self.token(&format!("{}{word}", last.exact));
                continue;
            }
            let name_number = word.contains(char::is_numeric).then(|| NAME_NUMBER.captures(&word)).flatten();
            match name_number {
                Some(parts) => {
                    let (number, ending) = (&parts[2], &parts[3]);
                    words.extend(parts.get(1).map(|name| self.token(name.as_str())));
                    if ending.len() > 1 && !self.is_unit(ending) {
                        words.extend([number, ending].map(|word| self.token(word)));
                    } else {
                        words.push(self.token(&self.with_unit(format!("{number}{ending}"))));
                    }
                }
                None if !word.is_empty() => words.push(self.token(&self.with_unit(word))),
                None => {}
            }
        }
        words
    }

    fn is_unit(&self, word: &str) -> bool {
        self.unit_spellings.contains_key(word) || self.units.iter().any(|unit| unit == word)
    }

    /// Returns a number with its unit as the shop spells it: `24inch` for `24in`.
    fn with_unit(&self, word: String) -> String {
        if !word.starts_with(char::is_numeric) {
            return word;
        }
        let parts = NUMBER_UNIT.captures(&word);
        let spelled = parts.and_then(|parts| Some(format!("{}{}", &parts[1], self.unit_spellings.get(&parts[2])?)));
        spelled.unwrap_or(word)
    }

    fn token(&self, word: &str) -> Token {
        let Spelling { exact, folded } = Spelling::of(word);
        let stemming = self.stemming.as_ref();
        let marked = exact != folded && !stemming.is_some_and(|stemming| stemming.has_marks_of(word));
        let has_form = self.syllables.iter().any(|syllable| syllable.is_match(&folded));
        let stemming =
            stemming.filter(|_| !marked && !has_form && folded.bytes().all(|byte| byte.is_ascii_lowercase()));
        let root = stemming.map_or_else(|| folded.clone(), |stemming| stemming.root(&folded));
        Token { exact, root, marked, syllable: marked || has_form }
    }

    /// The number that a word with a known unit begins with: `16` of `16gb`.
    pub fn bare_number<'a>(&self, word: &'a str) -> Option<&'a str> {
        if !word.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let parts = NUMBER_UNIT.captures(word)?;
        let unit = parts.get(2)?.as_str();
        self.units.iter().any(|known| known == unit).then(|| parts.get(1).map(|number| number.as_str()))?
    }
}

fn plain_number(word: &str) -> String {
    if THOUSANDS.is_match(word) { word.replace(['.', ','], "") } else { word.replace(',', ".") }
}

pub fn is_plain_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn analyzer() -> Analyzer {
        let languages = crate::persona::Prompts::shipped().languages().expect("the languages");
        Analyzer::new(&["tb", "gb", "inch"].map(str::to_owned), &languages).expect("the analyzer")
    }

    fn exact(text: &str) -> Vec<String> {
        analyzer().tokens(text).into_iter().map(|token| token.exact).collect()
    }

    #[test]
    fn spellings_of_one_thing_are_equal() {
        for (a, b) in [
            ("1 TB", "1tb"),
            ("SSD 1TB", "ssd 1 tb"),
            ("RTX4060", "rtx 4060"),
            ("rtx5070ti 500gb", "RTX 5070 Ti 500 GB"),
            ("5070ti", "5070 ti"),
            ("Cloud III", "cloud 3"),
            ("15,6 inch", "15.6inch"),
            ("1.890.000", "1,890,000"),
            ("thuý hoà", "thúy hòa"),
            ("e\u{302}\u{301}", "ế"),
        ] {
            assert_eq!(exact(a), exact(b), "{a} and {b}");
        }
        let words = ["ổ", "cứng", "2x16", "gb", "ddr4", "m331", "2.5"].map(|word| Spelling::of(word).exact);
        assert_eq!(exact("Ổ cứng (2x16 GB), DDR4/M331: 2.5."), words);
    }

    #[test]
    fn unit_has_several_spellings() {
        let analyzer = analyzer().with_unit_spellings([("in".to_owned(), "inch".to_owned())].into());
        let exact = |text: &str| -> Vec<_> { analyzer.tokens(text).into_iter().map(|token| token.exact).collect() };
        assert_eq!(exact("24in"), exact("24 inch"));
        assert_eq!(exact("24 in stock"), ["24", "in", "stock"]);
    }

    #[test]
    fn number_with_unit_also_matches_bare() {
        assert_eq!(analyzer().bare_number("16gb"), Some("16"));
        assert_eq!(analyzer().bare_number("15.6inch"), Some("15.6"));
        assert_eq!(analyzer().bare_number("13400f"), None);
    }

    #[test]
    fn polish_words_match_in_all_their_forms() {
        let languages = crate::persona::Prompts::shipped().languages().expect("the languages");
        let polish: Vec<_> = languages.into_iter().filter(|language| language.code.code() == "pl").collect();
        let analyzer = Analyzer::new(&[], &polish).expect("the analyzer");
        for forms in
            ["faktura fakturę fakture faktur fakturą", "zwrot zwrotu zwroty zwrotem", "prędkość prędkości predkosc"]
        {
            let mut roots: Vec<_> =
                analyzer.tokens(forms).into_iter().map(|token| (token.root, token.marked)).collect();
            roots.dedup();
            assert_eq!(roots.len(), 1, "{forms}: {roots:?}");
        }
        assert!(analyzer.tokens("hàng")[0].marked, "diacritics of another language tell words apart");
    }

    #[test]
    fn vietnamese_syllables_are_told_from_other_words() {
        let analyzer = analyzer();
        let syllable = |word: &str| analyzer.token(word).syllable;
        assert!(["hàng", "giao", "nghieng", "chuot", "man", "hinh", "quyen"].map(syllable).iter().all(|yes| *yes));
        assert!(["ship", "ssd", "laptop", "mouse", "1tb", "gaming"].map(syllable).iter().all(|yes| !*yes));
    }
}
