//! The language a customer is answered in.

use std::fmt;
use std::str::FromStr;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::warranty::format_date;

/// An ISO 639-1 code, such as `vi` or `en`.
///
/// Any two lower-case letters are a language here; which ones a conversation can use is its persona's matter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Language([u8; 2]);

impl Language {
    pub const VI: Self = Self(*b"vi");
    pub const EN: Self = Self(*b"en");

    pub fn code(&self) -> &str {
        // Two ASCII letters by construction, so this cannot fail.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// A day in the one format that customers of this language read, such as `5/1/2025` or `Jan 5, 2025`.
    pub fn date(self, day: NaiveDate) -> String {
        if self == Self::VI { format_date(day) } else { day.format("%b %-d, %Y").to_string() }
    }
}

/// Why a text is no language.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a language is a code of two lower-case letters, such as vi or en")]
pub struct InvalidLanguage;

impl FromStr for Language {
    type Err = InvalidLanguage;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.as_bytes() {
            [a @ b'a'..=b'z', b @ b'a'..=b'z'] => Ok(Self([*a, *b])),
            _ => Err(InvalidLanguage),
        }
    }
}

impl TryFrom<String> for Language {
    type Error = InvalidLanguage;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Language> for String {
    fn from(language: Language) -> Self {
        language.code().to_owned()
    }
}

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
    fn only_two_lower_case_letters_are_a_language() {
        for bad in ["", "v", "VI", "vie", "v1", "đi"] {
            assert_eq!(bad.parse::<Language>(), Err(InvalidLanguage), "{bad:?}");
        }
        assert_eq!("vi".parse(), Ok(Language::VI));
        assert_eq!(Language::EN.to_string(), "en");
    }
}
