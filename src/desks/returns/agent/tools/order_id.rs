//! An order number as models send it.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use crate::domain::commerce::OrderNumber;

/// A text, or a number from models that take 77893 for a quantity. It may not be a valid order number.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
pub(in crate::desks::returns::agent) struct OrderId(String);

impl OrderId {
    /// Returns the order number, if it is valid.
    pub fn number(&self) -> Option<OrderNumber> {
        self.0.trim().trim_start_matches('#').parse().ok()
    }

    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }
}

impl<'de> Deserialize<'de> for OrderId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "order_id must be a text")]
        enum Sent {
            Text(String),
            Number(u64),
        }
        Ok(Self(match Sent::deserialize(deserializer)? {
            Sent::Text(text) => text,
            Sent::Number(number) => number.to_string(),
        }))
    }
}
