//! The goods of a shop.
//!
//! - [`list`]: the list from which a shop imports them
//! - [`search`]: finds those that a customer's words mean

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Currency, Money};
use crate::domain::string_enum::text_newtype;

pub mod list;
pub mod search;

/// The currency of every catalogue. Prices are whole shillings, since M-PESA takes no cents.
pub const CATALOG_CURRENCY: Currency = Currency::Kes;

/// An item that a shop sells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogItem {
    pub id: ItemId,
    pub name: String,
    pub category: String,
    pub description: String,
    pub price: Money,
    /// How many pieces can be sold.
    pub stock: u32,
    /// What is true of every piece, such as `brand` = `Bata`.
    pub attributes: BTreeMap<String, String>,
    /// What the customer chooses, such as `size` = `40`, `41`.
    pub variants: BTreeMap<String, Vec<String>>,
    /// The item's page.
    pub url: Option<String>,
}

/// The shop's own number of an item: 1 to 40 of `A-Z`, `0-9`, `-`, `_` and `.`. Case does not count.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ItemId(String);

/// Why a text is not an [`ItemId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write 1 to 40 letters and digits without diacritics, -, _ or a point")]
pub struct InvalidItemId;

impl FromStr for ItemId {
    type Err = InvalidItemId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let is_id = (1..=40).contains(&text.len()) && text.bytes().all(allowed);
        if is_id { Ok(Self(text.to_ascii_uppercase())) } else { Err(InvalidItemId) }
    }
}

text_newtype!(ItemId, Display);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_id_ignores_case() {
        assert_eq!(" sh-01.a ".parse::<ItemId>().map(String::from).as_deref(), Ok("SH-01.A"));
        for bad in ["", "a b", "é", "a/b", &"a".repeat(41)] {
            assert_eq!(bad.parse::<ItemId>(), Err(InvalidItemId), "{bad:?}");
        }
    }
}
