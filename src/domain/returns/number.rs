//! The numbers of RMAs, tickets, mails and parcels. Time and randomness are arguments.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::string_enum::{string_enum, text_conversions, text_newtype};

macro_rules! number {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $shape:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The beginning of such a number.
            pub const PREFIX: &'static str = $prefix;

            /// The second in which it was made, counted from 1970.
            pub fn made_at(&self) -> i64 {
                let seconds = self.0.strip_prefix(Self::PREFIX).and_then(|rest| rest.split_once('-'));
                seconds.and_then(|(seconds, _)| seconds.parse().ok()).unwrap_or_default()
            }
        }

        impl FromStr for $name {
            type Err = InvalidNumber;

            /// Case does not count.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let text = text.trim().to_ascii_uppercase();
                let rest = text.strip_prefix(Self::PREFIX).and_then(|rest| rest.split_once('-'));
                let fits = rest.is_some_and(|(seconds, end)| {
                    (1..=12).contains(&seconds.len())
                        && seconds.bytes().all(|b| b.is_ascii_digit())
                        && (4..=8).contains(&end.len())
                        && end.bytes().all(|b| b.is_ascii_alphanumeric())
                });
                if fits { Ok(Self(text)) } else { Err(InvalidNumber { shape: $shape }) }
            }
        }

        text_newtype!($name, Display);
    };
}

/// The text is not a number of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("such a number is written {shape}")]
pub struct InvalidNumber {
    shape: &'static str,
}

number!(
    /// The number of a return merchandise authorization: `RMA-{unix}-{4 letters or digits}`.
    RmaNumber, "RMA-", "RMA-1701234567-ABCD"
);
number!(
    /// The number of a ticket that people of the shop work on: `TICKET-{unix}-{hash}`.
    TicketNumber, "TICKET-", "TICKET-1701234567-1A2B3C4D"
);
number!(
    /// The number of a mail, and its Message-ID: `MSG-{unix}-{hash}`.
    MailNumber, "MSG-", "MSG-1701234567-1A2B3C4D"
);

/// Crockford's base 32: no letter sounds like a digit, and a byte picks each equally often.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

impl RmaNumber {
    /// `random` distinguishes RMAs of the same second.
    pub fn new(now: DateTime<Utc>, random: [u8; 4]) -> Self {
        let end: String = random.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect();
        Self(format!("{}{}-{end}", Self::PREFIX, seconds(now)))
    }
}

impl TicketNumber {
    /// The same `about` in the same second gives the same number.
    pub fn new(now: DateTime<Utc>, about: &[&str]) -> Self {
        Self(format!("{}{}-{}", Self::PREFIX, seconds(now), hash(about)))
    }
}

impl MailNumber {
    /// The same `about` in the same second gives the same number.
    pub fn new(now: DateTime<Utc>, about: &[&str]) -> Self {
        Self(format!("{}{}-{}", Self::PREFIX, seconds(now), hash(about)))
    }
}

fn seconds(now: DateTime<Utc>) -> i64 {
    now.timestamp().max(0)
}

fn hash(about: &[&str]) -> String {
    let digest = Sha256::digest(about.join("|"));
    digest.iter().take(4).map(|byte| format!("{byte:02X}")).collect()
}

string_enum! {
    /// The carrier of the parcel.
    pub enum Carrier {
        Usps = "USPS",
        Ups = "UPS",
        Fedex = "FEDEX",
    }
}

/// The number of a parcel: `{USPS|UPS|FEDEX}-{12 digits}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TrackingNumber {
    carrier: Carrier,
    digits: String,
}

impl TrackingNumber {
    /// A carrier and twelve digits, both from `random`.
    pub fn new(random: u64) -> Self {
        let carriers = Carrier::ALL;
        let count = carriers.len() as u64;
        let carrier = carriers[usize::try_from(random % count).unwrap_or_default()];
        Self { carrier, digits: format!("{:012}", random / count % 1_000_000_000_000) }
    }

    pub fn carrier(&self) -> Carrier {
        self.carrier
    }
}

impl FromStr for TrackingNumber {
    type Err = InvalidNumber;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (carrier, digits) = text.split_once('-').unwrap_or_default();
        match Carrier::parse(carrier) {
            Some(carrier) if digits.len() == 12 && digits.bytes().all(|b| b.is_ascii_digit()) => {
                Ok(Self { carrier, digits: digits.to_owned() })
            }
            _ => Err(InvalidNumber { shape: "FEDEX-123456789012" }),
        }
    }
}

text_conversions!(TrackingNumber);

impl fmt::Display for TrackingNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.carrier, self.digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at() -> DateTime<Utc> {
        DateTime::from_timestamp(1_701_234_567, 0).unwrap()
    }

    #[test]
    fn numbers_depend_on_their_arguments_alone() {
        assert_eq!(RmaNumber::new(at(), [10, 11, 12, 13]).as_str(), "RMA-1701234567-ABCD");
        assert_eq!(RmaNumber::new(at(), [255, 32, 0, 31]).as_str(), "RMA-1701234567-Z00Z");
        assert_eq!(RmaNumber::new(at(), [10, 11, 12, 13]).made_at(), at().timestamp());
        let ticket = TicketNumber::new(at(), &["c-1", "damage"]);
        assert_eq!(ticket, TicketNumber::new(at(), &["c-1", "damage"]));
        assert_ne!(ticket, TicketNumber::new(at(), &["c-2", "damage"]));
        assert_eq!(ticket.as_str().parse(), Ok(ticket));
        assert!(MailNumber::new(at(), &["x"]).as_str().starts_with("MSG-1701234567-"));
    }

    #[test]
    fn numbers_parse_in_either_case_only() {
        assert_eq!("rma-1701234567-abcd".parse::<RmaNumber>().unwrap().as_str(), "RMA-1701234567-ABCD");
        for bad in ["", "RMA-", "RMA-1701234567", "RMA-17x-ABCD", "RMA-1701234567-ABC", "RMA-1701234567-AB D", "77893"]
        {
            let error = bad.parse::<RmaNumber>().unwrap_err();
            assert!(error.to_string().contains("RMA-1701234567-ABCD"), "{bad:?}");
        }
        assert!("TICKET-1701234567-5432".parse::<TicketNumber>().is_ok(), "four digits at the end");
    }

    #[test]
    fn a_parcel_has_a_carrier_and_twelve_digits() {
        for random in [0, 1, 2, 7, u64::MAX, 3_000_000_000_001] {
            let number = TrackingNumber::new(random);
            assert_eq!(number.to_string().parse(), Ok(number.clone()), "{random}");
        }
        assert_eq!(TrackingNumber::new(2).to_string(), "FEDEX-000000000000");
        for bad in ["FEDEX-1234", "DHL-123456789012", "FEDEX123456789012", "FEDEX-12345678901x"] {
            assert!(bad.parse::<TrackingNumber>().is_err(), "{bad:?}");
        }
    }
}
