//! Phone numbers in international form.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::domain::string_enum::text_newtype;

/// A phone number in the form of E.164, such as `+254712345678`: a plus, the country's code, and 8 to 15 digits in all.
///
/// Unlike [`Phone`](super::contact::Phone), which is what people write, each line has one spelling, so that it can be a key.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct E164(String);

/// Why a text is not a number in international form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write the phone number in international form, such as +254712345678")]
pub struct InvalidE164;

impl FromStr for E164 {
    type Err = InvalidE164;

    /// Accepts spaces, hyphens and parentheses between the digits.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let written = text.trim().strip_prefix('+').ok_or(InvalidE164)?;
        let digits: String = written.chars().filter(|c| !matches!(c, ' ' | '-' | '(' | ')')).collect();
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
        if is_number && (8..=15).contains(&digits.len()) { Ok(Self(format!("+{digits}"))) } else { Err(InvalidE164) }
    }
}

text_newtype!(E164);

impl fmt::Debug for E164 {
    /// Shows the last two digits only: debug output ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+***{}", &self.0[self.0.len() - 2..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_has_one_spelling() {
        for text in ["+254712345678", " +254 712 345-678 ", "+(254)712345678"] {
            assert_eq!(text.parse().map(String::from as fn(E164) -> String).as_deref(), Ok("+254712345678"), "{text}");
        }
        for bad in ["", "+", "0712345678", "254712345678", "+0712345678", "+2547", "+2547123456781234", "+25471234567a"]
        {
            assert_eq!(bad.parse::<E164>(), Err(InvalidE164), "{bad:?}");
        }
    }

    #[test]
    fn debug_output_hides_the_number() {
        let number: E164 = "+254712345678".parse().expect("a number");
        assert_eq!(format!("{number:?}"), "+***78");
    }
}
