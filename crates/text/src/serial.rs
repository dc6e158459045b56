//! Serial numbers: maximal runs of `[A-Za-z0-9-]`, 3 to 32 long, with at least one ASCII digit.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

mod candidate;
mod likeness;
pub use candidate::{Candidate, find_candidates};
pub use likeness::{KnownWord, Likeness, PossibleSerial, SerialWords, most_serial_like};

/// The serial number of a product: 3 to 32 of `A-Z`, `0-9` and `-`, a digit among them.
///
/// Kept in upper case, so that `abc123` and `ABC123` are one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Serial(String);

/// Why a text is not a serial number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSerial {
    #[error("it holds a character other than A-Z, a-z, 0-9 and '-'")]
    Character,
    #[error("it is not 3 to 32 characters long")]
    Length,
    #[error("it has no digit")]
    NoDigit,
}

impl Serial {
    pub const MIN_LENGTH: usize = 3;
    pub const MAX_LENGTH: usize = 32;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Serial {
    type Err = InvalidSerial;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if !text.bytes().all(is_serial_byte) {
            Err(InvalidSerial::Character)
        } else if !(Self::MIN_LENGTH..=Self::MAX_LENGTH).contains(&text.len()) {
            Err(InvalidSerial::Length)
        } else if !text.bytes().any(|b| b.is_ascii_digit()) {
            Err(InvalidSerial::NoDigit)
        } else {
            Ok(Self(text.to_ascii_uppercase()))
        }
    }
}

impl fmt::Display for Serial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns every run of the message that could be a serial number, in order.
pub fn find_serials(message: &str) -> Vec<&str> {
    message
        .split(|c: char| !u8::try_from(c).is_ok_and(is_serial_byte))
        .filter(|run| run.parse::<Serial>().is_ok())
        .collect()
}

fn is_serial_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serials_become_upper_case_or_explain_errors() {
        assert_eq!("abc-123".parse::<Serial>().map(|s| s.to_string()), Ok("ABC-123".to_owned()));
        for (text, wrong) in [
            ("", InvalidSerial::Length),
            ("A1", InvalidSerial::Length),
            ("ABC", InvalidSerial::NoDigit),
            ("---", InvalidSerial::NoDigit),
            ("ABC 123", InvalidSerial::Character),
            ("ABC\u{664}1", InvalidSerial::Character),
            ("Đ123", InvalidSerial::Character),
        ] {
            assert_eq!(text.parse::<Serial>(), Err(wrong), "{text:?}");
        }
        assert!("1".repeat(32).parse::<Serial>().is_ok());
        assert_eq!("1".repeat(33).parse::<Serial>(), Err(InvalidSerial::Length));
    }

    /// The table comes from `tests/data/make_serials.py`: Python's `re` with the pattern of serial numbers.
    #[test]
    fn serial_parser_agrees_with_the_reference_pattern() {
        let table = include_str!("../../../tests/data/serials.tsv");
        let mut rows = 0;
        for line in table.lines() {
            let (text, expected) = line.split_once('\t').expect("two columns");
            assert_eq!(find_serials(text).join("|"), expected, "{text:?}");
            rows += 1;
        }
        assert_eq!(rows, 10_000);
    }
}
