//! How a customer is reached: an e-mail address or a phone number. Both also show whose order it is.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::domain::string_enum::text_newtype;

/// An e-mail address, in lower case.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Email(String);

/// Why a text is not an e-mail address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no e-mail address; write one such as name@example.com")]
pub struct InvalidEmail;

/// The longest address that mail servers take (RFC 5321, 4.5.3.1).
const MAX_EMAIL: usize = 254;
const MAX_LOCAL: usize = 64;

/// The domain of addresses that replace erased ones. RFC 2606 reserves `.invalid`: no mail is ever delivered there.
pub const ERASED_DOMAIN: &str = "erased.invalid";

impl Email {
    /// Whether this is the placeholder of an erased address.
    pub fn is_erased(&self) -> bool {
        self.0.split_once('@').is_some_and(|(_, domain)| domain == ERASED_DOMAIN)
    }

    /// The address as others may see it: `j***@example.com`. It does not reveal the length of the name.
    pub fn masked(&self) -> String {
        let (local, domain) = self.0.split_once('@').unwrap_or(("", &self.0));
        let mut letters = local.chars();
        // A name of one letter would be there in full.
        let first = letters.next().filter(|_| letters.next().is_some());
        format!("{}***@{domain}", first.map(String::from).unwrap_or_default())
    }
}

impl FromStr for Email {
    type Err = InvalidEmail;

    /// Takes what mail servers take from people: one `@`, a domain with a point, nothing that needs quoting.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let (local, domain) = text.split_once('@').ok_or(InvalidEmail)?;
        let label = |label: &str| {
            !label.is_empty()
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.chars().all(|c| c.is_alphanumeric() || c == '-')
        };
        let local_fits = !local.is_empty()
            && local.len() <= MAX_LOCAL
            && local.split('.').all(|part| !part.is_empty())
            && local.chars().all(|c| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c));
        let domain_fits = domain.contains('.') && domain.split('.').all(label);
        if local_fits && domain_fits && text.len() <= MAX_EMAIL {
            Ok(Self(text.to_lowercase()))
        } else {
            Err(InvalidEmail)
        }
    }
}

text_newtype!(Email);

impl fmt::Debug for Email {
    /// Masked: what is printed for a debugger ends in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked())
    }
}

/// A phone number: its digits, as they were written.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Phone(String);

/// Why a text is not a phone number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no phone number; write 8 to 15 digits, such as 0912 345 678 or +84 912 345 678")]
pub struct InvalidPhone;

impl Phone {
    /// How many last digits must be equal. Country codes and leading zeros are optional.
    const TELLING: usize = 8;

    /// The number as others may see it: its last two digits.
    pub fn masked(&self) -> String {
        format!("***{}", self.0.get(self.0.len().saturating_sub(2)..).unwrap_or_default())
    }

    /// Whether both are the same line: `+84 912 345 678` is `0912345678`.
    pub fn is_same(&self, other: &Self) -> bool {
        let (a, b) = (self.national(), other.national());
        let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
        short.len() >= Self::TELLING && long.ends_with(short)
    }

    /// Without the zeros and plus that stand before it.
    fn national(&self) -> &str {
        self.0.trim_start_matches(['+', '0'])
    }
}

impl FromStr for Phone {
    type Err = InvalidPhone;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let plus = if text.starts_with('+') { "+" } else { "" };
        let mut digits = String::from(plus);
        for c in text[plus.len()..].chars() {
            match c {
                '0'..='9' => digits.push(c),
                ' ' | '.' | '-' | '(' | ')' | '/' | '\u{a0}' => {}
                _ => return Err(InvalidPhone),
            }
        }
        let phone = Self(digits);
        let count = phone.0.len() - plus.len();
        if (8..=15).contains(&count) && phone.national().len() >= Self::TELLING { Ok(phone) } else { Err(InvalidPhone) }
    }
}

text_newtype!(Phone);

impl fmt::Debug for Phone {
    /// Masked: what is printed for a debugger ends in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked())
    }
}

/// One way to reach a customer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contact {
    Email(Email),
    Phone(Phone),
}

impl Contact {
    /// Returns the contact as text that parses back.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Email(email) => email.as_str(),
            Self::Phone(phone) => phone.as_str(),
        }
    }
}

impl FromStr for Contact {
    type Err = InvalidPhone;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self::Email).or_else(|InvalidEmail| text.parse().map(Self::Phone))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn email_is_lower_case_and_shown_masked() {
        for (text, masked) in [
            ("John.Doe@Example.com", "j***@example.com"),
            (" buyer-77894@example.com ", "b***@example.com"),
            ("a@shop.vn", "***@shop.vn"),
            ("ế@ví-dụ.vn", "***@ví-dụ.vn"),
        ] {
            let email: Email = text.parse().unwrap();
            assert_eq!((email.masked().as_str(), email.as_str()), (masked, text.trim().to_lowercase().as_str()));
            assert_eq!(format!("{email:?}"), masked);
        }
        for bad in [
            "",
            "a",
            "a@b",
            "@b.c",
            "a@",
            "a@@b.c",
            "a b@c.d",
            "a@b..c",
            ".a@b.c",
            "a@b.c\r\nBcc: x@y.z",
            "<a@b.c>",
            "a,b@c.d",
            "a@-b.c",
        ] {
            assert_eq!(bad.parse::<Email>(), Err(InvalidEmail), "{bad:?}");
        }
        assert_eq!(format!("{}@b.vn", "a".repeat(65)).parse::<Email>(), Err(InvalidEmail));
    }

    #[test]
    fn phone_equals_itself_with_country_code() {
        let phone = |text: &str| text.parse::<Phone>().unwrap();
        for same in ["+84 912 345 678", "0912.345.678", "(091) 234-5678", "84912345678", "0084912345678"] {
            assert!(phone("0912345678").is_same(&phone(same)), "{same}");
        }
        assert!(!phone("0912345678").is_same(&phone("0912345679")));
        // Seven digits are too few to compare, so such a number would never be the same as another.
        for bad in ["", "1234567", "01234567", "+0 1234567", "0912 345 678 901 2345", "0912a45678", "+", "00000000"] {
            assert_eq!(bad.parse::<Phone>(), Err(InvalidPhone), "{bad:?}");
        }
        assert_eq!(format!("{:?}", phone("0912345678")), "***78");
    }
}
