//! Ids of tenants, conversations, messages and events.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::domain::string_enum::text_newtype;

/// A shop. Every row in the store belongs to exactly one.
///
/// 1 to 64 characters of `a-z`, `0-9`, `-` and `_`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct TenantId(String);

/// The error for a text that is not a tenant name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a tenant is named by 1 to 64 characters of a-z, 0-9, '-' and '_'")]
pub struct InvalidTenantId;

impl TenantId {
    /// The name of the shop that keys without a prefix belong to.
    pub const DEFAULT: &'static str = "default";
}

impl Default for TenantId {
    fn default() -> Self {
        Self(Self::DEFAULT.to_owned())
    }
}

impl FromStr for TenantId {
    type Err = InvalidTenantId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_');
        if (1..=64).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidTenantId)
        }
    }
}

text_newtype!(TenantId, Display);

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A fresh UUIDv7: ids made later sort later.
            pub fn now() -> Self {
                Self(Uuid::now_v7())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }
    };
}

uuid_id!(
    /// A conversation between one customer and one persona.
    ConversationId
);
uuid_id!(
    /// A customer of a shop that sells over WhatsApp.
    ShopperId
);
uuid_id!(
    /// A request to pay an order.
    PaymentId
);
uuid_id!(
    /// A message of a conversation.
    MessageId
);

/// The position of an event in its conversation: the turn, then the position in the turn, both counted from 1.
///
/// Written `TURN.N`. `0.0` comes before every event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId {
    pub turn: u32,
    pub n: u32,
}

impl EventId {
    pub const ZERO: Self = Self { turn: 0, n: 0 };
    /// A position after every event of a turn.
    pub const AFTER_ALL: u32 = i32::MAX.unsigned_abs();

    pub const fn new(turn: u32, n: u32) -> Self {
        Self { turn, n }
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.turn, self.n)
    }
}

/// The error for a text that is not an event id.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("an event id is written TURN.N, two whole numbers")]
pub struct InvalidEventId;

impl FromStr for EventId {
    type Err = InvalidEventId;

    /// Accepts `3.17` and refuses `+3.17`, `03.17` and `3.17 `, so that every id has one spelling.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (turn, n) = text.split_once('.').ok_or(InvalidEventId)?;
        let id = Self { turn: turn.parse().map_err(|_| InvalidEventId)?, n: n.parse().map_err(|_| InvalidEventId)? };
        if id.to_string() == text { Ok(id) } else { Err(InvalidEventId) }
    }
}

impl Serialize for EventId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_id_has_one_spelling() {
        assert!(EventId::new(2, 10) > EventId::new(2, 9));
        assert!(EventId::new(10, 1) > EventId::new(9, 99));
        for bad in ["", "1", "1.", ".1", "+1.1", "01.1", "1.1 ", "1.1.1", "-1.0", "99999999999.1"] {
            assert_eq!(bad.parse::<EventId>(), Err(InvalidEventId), "{bad:?}");
        }
        assert_eq!("3.17".parse(), Ok(EventId::new(3, 17)));
    }

    #[test]
    fn tenant_name_with_special_characters_is_refused() {
        for bad in ["", "Acme", "a b", "a:b", "tiệm", &"a".repeat(65)] {
            assert!(bad.parse::<TenantId>().is_err(), "{bad:?}");
        }
        assert_eq!("acme-2".parse::<TenantId>().unwrap().as_str(), "acme-2");
    }
}
