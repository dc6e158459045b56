//! Invoice numbers, such as `INV-20251001` or `FV/2025/10/17`.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::domain::string_enum::text_newtype;

/// The number of an invoice, in upper case: 3 to 64 letters, digits and `-`, `/`, `_`, `.`, with a digit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InvoiceNumber(String);

/// Why a text is not an invoice number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInvoiceNumber {
    #[error("it is not 3 to 64 characters long")]
    Length,
    #[error("it has a character other than A-Z, 0-9, '-', '/', '_' and '.'")]
    Character,
    #[error("it has no digit")]
    NoDigit,
}

impl InvoiceNumber {
    pub const MIN_LENGTH: usize = 3;
    pub const MAX_LENGTH: usize = 64;

    /// Whether a customer who writes `named` means this invoice. Only the punctuation and the letters before the first digit may
    /// differ: `20251001` and `inv20251001` mean `INV-20251001`, and `1001` does not.
    pub fn is_meant_by(&self, named: &Self) -> bool {
        let (own, named) = (self.letters_and_digits(), named.letters_and_digits());
        own == named || own.trim_start_matches(|c: char| c.is_ascii_alphabetic()) == named
    }

    fn letters_and_digits(&self) -> String {
        self.0.chars().filter(char::is_ascii_alphanumeric).collect()
    }
}

impl FromStr for InvoiceNumber {
    type Err = InvalidInvoiceNumber;

    /// Case does not count.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if !text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-/_.".contains(&b)) {
            Err(InvalidInvoiceNumber::Character)
        } else if !(Self::MIN_LENGTH..=Self::MAX_LENGTH).contains(&text.len()) {
            Err(InvalidInvoiceNumber::Length)
        } else if !text.bytes().any(|b| b.is_ascii_digit()) {
            Err(InvalidInvoiceNumber::NoDigit)
        } else {
            Ok(Self(text.to_ascii_uppercase()))
        }
    }
}

text_newtype!(InvoiceNumber, Display);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_leading_letters_may_be_missing() {
        for (own, named, expected) in [
            ("INV-20251001", "INV-20251001", true),
            ("INV-20251001", "inv20251001", true),
            ("INV-20251001", "20251001", true),
            ("FV/2025/10/17", "2025/10/17", true),
            ("INV-20251001", "1001", false),
            ("INV-20251001", "0251001", false),
            ("INV-20251001", "FV-20251001", false),
            ("INV-20251001", "INV-202510010", false),
            ("20251001", "INV-20251001", false),
        ] {
            let [own, named]: [InvoiceNumber; 2] = [own, named].map(|number| number.parse().unwrap());
            assert_eq!(own.is_meant_by(&named), expected, "{own} {named}");
        }
    }

    #[test]
    fn invoice_number_becomes_upper_case_or_explains() {
        for (text, expected) in [
            ("inv-20251001", Ok("INV-20251001")),
            (" FV/2025/10/17 ", Ok("FV/2025/10/17")),
            ("123", Ok("123")),
            ("12", Err(InvalidInvoiceNumber::Length)),
            ("INV", Err(InvalidInvoiceNumber::NoDigit)),
            ("INV 1", Err(InvalidInvoiceNumber::Character)),
            ("żółw-1", Err(InvalidInvoiceNumber::Character)),
        ] {
            assert_eq!(
                text.parse::<InvoiceNumber>().as_ref().map(InvoiceNumber::as_str),
                expected.as_deref(),
                "{text:?}"
            );
        }
        assert!("1".repeat(64).parse::<InvoiceNumber>().is_ok());
        assert_eq!("1".repeat(65).parse::<InvoiceNumber>(), Err(InvalidInvoiceNumber::Length));
    }
}
