//! Languages: the code of one, and what the shop knows about it.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::str::FromStr;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::commerce::Currency;
use crate::domain::string_enum::text_conversions;

/// The code of a language, such as `vi` or `en`: that of ISO 639-1 if it has one, else a name such as `sheng`.
///
/// Any two to eight lower-case letters are a language here; which ones a conversation can use is its persona's matter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Language([u8; MAX_LETTERS]);

/// The most letters of a code. Shorter ones end with zeros.
const MAX_LETTERS: usize = 8;

impl Language {
    /// For tests.
    pub const VI: Self = Self(*b"vi\0\0\0\0\0\0");
    pub const EN: Self = Self(*b"en\0\0\0\0\0\0");

    pub fn code(&self) -> &str {
        let letters = self.0.iter().position(|byte| *byte == 0).unwrap_or(MAX_LETTERS);
        // ASCII letters by construction, so this cannot fail.
        std::str::from_utf8(&self.0[..letters]).unwrap_or_default()
    }
}

impl Default for Language {
    /// English, where neither a conversation nor a persona names a language.
    fn default() -> Self {
        Self::EN
    }
}

/// How a language writes dates, in the notation of `strftime`: `%-d/%-m/%Y` is 5/1/2025.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String")]
pub struct DateFormat(String);

impl DateFormat {
    pub fn format(&self, day: NaiveDate) -> String {
        day.format(&self.0).to_string()
    }
}

/// Why a text is not a date format.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is not a date format: use %Y, %m, %d and the like, such as \"%Y-%m-%d\"")]
pub struct InvalidDateFormat(String);

impl TryFrom<String> for DateFormat {
    type Error = InvalidDateFormat;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_valid = write!(String::new(), "{}", NaiveDate::MIN.format(&text)).is_ok();
        if is_valid { Ok(Self(text)) } else { Err(InvalidDateFormat(text)) }
    }
}

/// How a language writes numbers and amounts of money.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberFormat {
    /// Between groups of three digits, such as a comma.
    pub thousands: String,
    /// Before the decimals, such as a point.
    pub decimals: String,
    /// Whether the sign of a currency follows the number. That of the đồng and a currency's code always do.
    #[serde(default)]
    pub symbol_after: bool,
    /// The signs of currencies in the spelling of this language, by code.
    #[serde(default)]
    pub symbols: BTreeMap<Currency, String>,
}

/// One language of the shop, an entry of `prompts/rules/languages.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageProfile {
    pub code: Language,
    /// The code by which the library `whatlang` knows the language, if it does.
    pub whatlang: Option<String>,
    /// The language whose texts are said where this one has none.
    pub fallback: Option<Language>,
    /// Whether customers mix its words into all other languages.
    #[serde(default)]
    pub mixed_in: bool,
    /// How customers call the language.
    pub names: Vec<String>,
    /// Letters that no other language of the shop's customers has.
    pub letters: String,
    /// Letters that other languages have as well.
    pub shared_letters: String,
    /// A regular expression for its words without diacritics, where they differ in form from those of other languages.
    pub syllable: Option<String>,
    /// The stemmer that removes the endings of its words in the search.
    pub stemmer: Option<snowstem::Algorithm>,
    /// The most letters of a word that the search compares after that, for a language whose stems change with the ending.
    pub stem_letters: Option<usize>,
}

/// Returns the language and those that it falls back to, nearest first.
pub fn with_fallbacks(language: Language, profiles: &[LanguageProfile]) -> Vec<Language> {
    let mut chain = vec![language];
    let profile = |code: &Language| profiles.iter().find(|profile| profile.code == *code);
    while let Some(next) = chain.last().and_then(profile).and_then(|profile| profile.fallback) {
        if chain.contains(&next) {
            break;
        }
        chain.push(next);
    }
    chain
}

/// Why a text is not a language code.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a language is a code of two to eight lower-case letters, such as en or sheng")]
pub struct InvalidLanguage;

impl FromStr for Language {
    type Err = InvalidLanguage;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if !(2..=MAX_LETTERS).contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return Err(InvalidLanguage);
        }
        let mut code = [0; MAX_LETTERS];
        code[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Self(code))
    }
}

text_conversions!(Language);

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_format_is_checked_when_read() {
        let day = NaiveDate::from_ymd_opt(2025, 1, 5).expect("a day");
        let format = |text: &str| DateFormat::try_from(text.to_owned()).map(|format| format.format(day));
        assert_eq!(format("%-d/%-m/%Y").as_deref(), Ok("5/1/2025"));
        assert_eq!(format("%b %-d, %Y").as_deref(), Ok("Jan 5, 2025"));
        for bad in ["%Q", "%H:%M", "%"] {
            assert_eq!(format(bad), Err(InvalidDateFormat(bad.to_owned())));
        }
    }

    #[test]
    fn language_code_has_two_to_eight_letters() {
        for bad in ["", "v", "VI", "v1", "đi", "en-gb", "vi\0", "languages"] {
            assert_eq!(bad.parse::<Language>(), Err(InvalidLanguage), "{bad:?}");
        }
        for good in ["en", "vi", "gsw", "sheng", "language"] {
            assert_eq!(good.parse::<Language>().map(|language| language.to_string()).as_deref(), Ok(good));
        }
        assert_eq!("vi".parse(), Ok(Language::VI));
    }

    #[test]
    fn languages_sort_like_their_codes() {
        let mut languages = ["sw", "sheng", "sa", "en"].map(|code| code.parse::<Language>().expect("a code"));
        languages.sort();
        assert_eq!(languages.map(String::from), ["en", "sa", "sheng", "sw"]);
    }

    #[test]
    fn fallbacks_follow_one_another_and_end() {
        let [en, sw, sheng] = ["en", "sw", "sheng"].map(|code| code.parse::<Language>().expect("a code"));
        let profile = |code, fallback| LanguageProfile { code, fallback, ..LanguageProfile::default() };
        let profiles = [profile(sheng, Some(sw)), profile(en, None), profile(sw, Some(en))];
        assert_eq!(with_fallbacks(sheng, &profiles), [sheng, sw, en]);
        assert_eq!(with_fallbacks(en, &profiles), [en]);
        assert_eq!(with_fallbacks(Language::VI, &profiles), [Language::VI]);
        let circle = [profile(sw, Some(en)), profile(en, Some(sw))];
        assert_eq!(with_fallbacks(sw, &circle), [sw, en]);
    }
}
