//! Order numbers: `[A-Z0-9-]{5,}` with a digit.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::domain::string_enum::text_newtype;

/// The number of an order, in upper case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OrderNumber(String);

/// Why a text is not an order number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidOrderNumber {
    #[error("it holds a character other than A-Z, 0-9 and '-'")]
    Character,
    #[error("it is not 5 to 40 characters long")]
    Length,
    #[error("it has no digit")]
    NoDigit,
}

impl OrderNumber {
    pub const MIN_LENGTH: usize = 5;
    pub const MAX_LENGTH: usize = 40;

    /// Whether order numbers may contain this byte.
    pub fn is_byte(b: u8) -> bool {
        b.is_ascii_alphanumeric() || b == b'-'
    }
}

impl FromStr for OrderNumber {
    type Err = InvalidOrderNumber;

    /// Lower case is taken for upper case.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if !text.bytes().all(Self::is_byte) {
            Err(InvalidOrderNumber::Character)
        } else if !(Self::MIN_LENGTH..=Self::MAX_LENGTH).contains(&text.len()) {
            Err(InvalidOrderNumber::Length)
        } else if !text.bytes().any(|b| b.is_ascii_digit()) {
            Err(InvalidOrderNumber::NoDigit)
        } else {
            Ok(Self(text.to_ascii_uppercase()))
        }
    }
}

text_newtype!(OrderNumber, Display);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_numbers_become_upper_case_or_explain_errors() {
        assert_eq!("abc-123456".parse::<OrderNumber>().unwrap().as_str(), "ABC-123456");
        assert_eq!("77893".parse::<OrderNumber>().unwrap().as_str(), "77893");
        for (text, wrong) in [
            ("", InvalidOrderNumber::Length),
            ("7789", InvalidOrderNumber::Length),
            ("ABCDE", InvalidOrderNumber::NoDigit),
            ("-----", InvalidOrderNumber::NoDigit),
            ("ABC 123", InvalidOrderNumber::Character),
            ("Đ77893", InvalidOrderNumber::Character),
            ("77893#", InvalidOrderNumber::Character),
        ] {
            assert_eq!(text.parse::<OrderNumber>(), Err(wrong), "{text:?}");
        }
        assert!("1".repeat(40).parse::<OrderNumber>().is_ok());
        assert_eq!("1".repeat(41).parse::<OrderNumber>(), Err(InvalidOrderNumber::Length));
    }
}
