//! Orders of the commerce desk: a cart with held prices that becomes an order by its payment.

use std::collections::BTreeMap;
use std::str::FromStr;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::catalog::CATALOG_CURRENCY;
use super::money::MoneyError;
use super::{CatalogItem, ItemId, Money};
use crate::domain::ConversationId;
use crate::domain::string_enum::{string_enum, text_newtype};

pub mod list;

/// How long the prices of a draft hold and its goods are reserved.
pub const PRICE_HOLD: TimeDelta = TimeDelta::minutes(30);
/// The most pieces of one item in an order.
pub const QUANTITY_MAX: u32 = 99;
/// The most lines of an order.
pub const LINES_MAX: usize = 20;

/// The number of an order: a letter and five digits, such as `K48213`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SaleId(String);

/// Why a text is not a [`SaleId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a letter and five digits, such as K48213")]
pub struct InvalidSaleId;

/// The letters of order numbers. I and O look like digits.
const LETTERS: &[u8; 24] = b"ABCDEFGHJKLMNPQRSTUVWXYZ";
const DIGITS: usize = 5;

impl SaleId {
    /// Makes a number of random bits.
    pub fn new(bits: u64) -> Self {
        let letter = char::from(LETTERS[usize::try_from(bits % 24).unwrap_or_default()]);
        Self(format!("{letter}{:05}", bits / 24 % 100_000))
    }
}

impl FromStr for SaleId {
    type Err = InvalidSaleId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let id = text.trim().trim_start_matches('#').to_ascii_uppercase();
        let is_id = id.len() == DIGITS + 1
            && LETTERS.contains(&id.as_bytes()[0])
            && id.bytes().skip(1).all(|byte| byte.is_ascii_digit());
        if is_id { Ok(Self(id)) } else { Err(InvalidSaleId) }
    }
}

text_newtype!(SaleId, Display);

/// What the customer chooses of each variant, such as `size` = `40`.
pub type Choices = BTreeMap<String, String>;

/// What a customer wants of one item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CartLine {
    pub item: ItemId,
    /// 1 to [`QUANTITY_MAX`].
    pub quantity: u32,
    pub choices: Choices,
}

string_enum! {
    /// The state of an order.
    pub enum SaleStatus {
        /// The customer has not paid yet.
        Draft = "draft",
        Paid = "paid",
        /// Replaced by a later draft, or given up.
        Cancelled = "cancelled",
    }
}

/// A line of an order, with the price that holds for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaleLine {
    #[serde(flatten)]
    pub line: CartLine,
    pub name: String,
    /// Of one piece.
    pub price: Money,
}

/// What an order costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    pub subtotal: Money,
    pub discount: Money,
    pub total: Money,
}

/// An order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sale {
    pub id: SaleId,
    pub status: SaleStatus,
    pub lines: Vec<SaleLine>,
    pub totals: Totals,
    pub coupon: Option<String>,
    /// Until when the prices hold and the goods are reserved.
    pub held_until: DateTime<Utc>,
    pub conversation: Option<ConversationId>,
    pub updated_at: DateTime<Utc>,
}

impl Sale {
    /// Whether the prices of an unpaid order still hold.
    pub fn is_held(&self, now: DateTime<Utc>) -> bool {
        self.status == SaleStatus::Draft && now < self.held_until
    }

    pub fn cart(&self) -> Vec<CartLine> {
        self.lines.iter().map(|line| line.line.clone()).collect()
    }
}

/// Why a cart cannot be ordered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotOrder {
    #[error("the cart is empty")]
    Empty,
    #[error("an order has at most {LINES_MAX} lines")]
    TooManyLines,
    #[error("the quantity of {0} must be from 1 to {QUANTITY_MAX}")]
    Quantity(ItemId),
    #[error("the shop has no item {0}")]
    NoItem(ItemId),
    #[error("{item} needs a choice of its {variant}")]
    Choice { item: ItemId, variant: String },
    #[error("only {left} pieces of {item} are left")]
    Stock { item: ItemId, name: String, left: u32 },
    #[error(transparent)]
    Amount(#[from] MoneyError),
}

/// Prices a cart. `available` returns an item and how many pieces of it are not reserved.
///
/// # Errors
/// The first line that cannot be ordered. Lines of one item count together.
pub fn price<'a>(
    cart: &[CartLine],
    available: impl Fn(&ItemId) -> Option<(&'a CatalogItem, u32)>,
) -> Result<(Vec<SaleLine>, Money), CannotOrder> {
    match cart.len() {
        0 => return Err(CannotOrder::Empty),
        lines if lines > LINES_MAX => return Err(CannotOrder::TooManyLines),
        _ => {}
    }
    let (mut lines, mut subtotal) = (Vec::new(), Money::zero(CATALOG_CURRENCY));
    let mut wanted: BTreeMap<&ItemId, u32> = BTreeMap::new();
    for line in cart {
        let (item, left) = available(&line.item).ok_or_else(|| CannotOrder::NoItem(line.item.clone()))?;
        if !(1..=QUANTITY_MAX).contains(&line.quantity) {
            return Err(CannotOrder::Quantity(line.item.clone()));
        }
        for (variant, choices) in &item.variants {
            if !line.choices.get(variant).is_some_and(|choice| choices.contains(choice)) {
                return Err(CannotOrder::Choice { item: item.id.clone(), variant: variant.clone() });
            }
        }
        let all = wanted.entry(&line.item).or_default();
        *all += line.quantity;
        if *all > left {
            return Err(CannotOrder::Stock { item: item.id.clone(), name: item.name.clone(), left });
        }
        subtotal = subtotal.plus(item.price.times(line.quantity)?)?;
        lines.push(SaleLine { line: line.clone(), name: item.name.clone(), price: item.price });
    }
    Ok((lines, subtotal))
}

/// Adds a line to a cart. The same choice of the same item is one line.
pub fn add(cart: &mut Vec<CartLine>, line: CartLine) {
    match cart.iter_mut().find(|known| known.item == line.item && known.choices == line.choices) {
        Some(known) => known.quantity = (known.quantity + line.quantity).min(QUANTITY_MAX),
        None => cart.push(line),
    }
}

/// An offer of a shop: a discount for who names its code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// In upper case.
    pub code: String,
    /// In the shop's words.
    pub terms: String,
    pub discount: Discount,
    /// The least that the goods must cost.
    pub min_total: Option<Money>,
    /// The categories of the goods; empty = all.
    #[serde(default)]
    pub categories: Vec<String>,
    pub ends_at: DateTime<Utc>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Discount {
    /// 1 to 100, of the goods that it is for.
    Percent(u8),
    Amount(Money),
}

/// Why a coupon does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum CouponRefused {
    #[error("the shop has no such coupon")]
    Unknown,
    #[error("the offer has ended")]
    Ended,
    #[error("the order must cost at least {0}")]
    BelowMinimum(Money),
    #[error("the coupon is for other goods")]
    OtherGoods,
}

impl Offer {
    /// Returns the discount on these goods, in whole shillings, rounded down. `goods` has the category and the price of each line.
    pub fn discount_on(&self, goods: &[(&str, Money)], now: DateTime<Utc>) -> Result<Money, CouponRefused> {
        if now >= self.ends_at {
            return Err(CouponRefused::Ended);
        }
        let sum = |goods: &mut dyn Iterator<Item = i64>| goods.sum::<i64>();
        let all = sum(&mut goods.iter().map(|(_, price)| price.minor));
        if let Some(least) = self.min_total.filter(|least| all < least.minor) {
            return Err(CouponRefused::BelowMinimum(least));
        }
        let is_for = |category: &str| {
            self.categories.is_empty() || self.categories.iter().any(|known| known.eq_ignore_ascii_case(category))
        };
        let of = sum(&mut goods.iter().filter(|(category, _)| is_for(category)).map(|(_, price)| price.minor));
        if of == 0 {
            return Err(CouponRefused::OtherGoods);
        }
        let minor = match self.discount {
            Discount::Percent(percent) => of / 100 * i64::from(percent.min(100)),
            Discount::Amount(amount) => amount.minor.min(of),
        };
        Ok(Money::new(minor / 100 * 100, CATALOG_CURRENCY))
    }
}

impl Totals {
    pub fn new(subtotal: Money, discount: Money) -> Result<Self, MoneyError> {
        let discount = discount.at_most(subtotal)?;
        Ok(Self { subtotal, discount, total: subtotal.minus(discount)? })
    }
}

#[cfg(test)]
mod tests;
