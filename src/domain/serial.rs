//! Serial numbers, by the rule of seed 004:
//! `(?<![A-Za-z0-9-])(?=[A-Za-z0-9-]*\d[A-Za-z0-9-]*)([A-Za-z0-9-]{3,32})(?![A-Za-z0-9-])`.
//!
//! `regex` has no look-around, and none is needed: the pattern means *a maximal run of `[A-Za-z0-9-]`, 3 to 32 long,
//! with an ASCII digit in it*.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// The serial number of a product: 3 to 32 of `A-Z`, `0-9` and `-`, a digit among them.
///
/// Kept in upper case, so that `abc123` and `ABC123` are one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Serial(String);

/// Why a text is no serial number.
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

/// Every run of the message that could be a serial number, as it was written, in order.
pub fn find_serials(message: &str) -> Vec<&str> {
    message
        .split(|c: char| !u8::try_from(c).is_ok_and(is_serial_byte))
        .filter(|run| run.parse::<Serial>().is_ok())
        .collect()
}

fn is_serial_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'-'
}
