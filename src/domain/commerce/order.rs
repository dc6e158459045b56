//! Orders, their items and their customers.

use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::domain::TenantId;
use crate::domain::commerce::money::Money;
use crate::domain::commerce::order_number::OrderNumber;
use crate::domain::identity::contact::{Contact, Email, Phone};
use crate::domain::returns::number::RmaNumber;
use crate::domain::returns::rma::RmaStatus;
use crate::domain::status::Status;
use crate::domain::string_enum::string_enum;

string_enum! {
    /// The state of an order.
    pub enum OrderStatus {
        Pending = "Pending",
        Shipped = "Shipped",
        Delivered = "Delivered",
        /// At least one item was returned or is being returned; the others may still be returned.
        ReturnInitiated = "Return_Initiated",
        /// All items were returned and refunded.
        Returned = "Returned",
    }
}

impl Status for OrderStatus {
    const WHAT: &'static str = "an order";

    fn next(self) -> &'static [Self] {
        match self {
            Self::Pending => &[Self::Shipped],
            Self::Shipped => &[Self::Delivered],
            Self::Delivered => &[Self::ReturnInitiated],
            Self::ReturnInitiated => &[Self::Returned],
            Self::Returned => &[],
        }
    }
}

/// A customer, within one shop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CustomerId(pub Uuid);

impl CustomerId {
    /// Derives the id from the shop and the e-mail address, so that importing a list again finds the same customers.
    pub fn of(tenant: &TenantId, email: &Email) -> Self {
        let digest = Sha256::digest(format!("{tenant}|{}", email.as_str()));
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Customer {
    pub id: CustomerId,
    pub name: String,
    pub email: Email,
    pub phone: Option<Phone>,
    /// The customer's id in the shop's own system: the `user_id` of their conversations.
    pub user_id: Option<String>,
    pub is_vip: bool,
    /// The shop suspects fraud, so a person decides on every request.
    pub fraud_flag: bool,
}

/// An order with its customer and items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    pub number: OrderNumber,
    pub customer: Customer,
    /// The address on the order, or the customer's address if the order has none.
    pub email: Email,
    pub phone: Option<Phone>,
    pub status: OrderStatus,
    pub ordered_at: DateTime<Utc>,
    pub shipped_at: Option<DateTime<Utc>>,
    pub delivered_at: Option<DateTime<Utc>>,
    /// The tracking number of the parcel to the customer.
    pub tracking: Option<String>,
    /// The amount that the customer paid, after discounts.
    pub paid: Money,
    /// Sorted by line.
    pub items: Vec<OrderItem>,
}

/// One line of an order. A line is returned as a whole, never a part of its quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderItem {
    /// The position in the order, counted from 1. Tools call it `item_id`.
    pub line: u32,
    pub sku: Option<String>,
    pub name: String,
    pub category: Option<String>,
    pub quantity: u32,
    /// The price of one piece.
    pub unit_price: Money,
    pub is_returnable: bool,
    pub is_final_sale: bool,
    /// The latest RMA of this item.
    pub rma: Option<ItemReturn>,
}

/// An RMA as one of its items sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemReturn {
    pub number: RmaNumber,
    pub status: RmaStatus,
    /// The refund for the item.
    pub amount: Money,
}

impl OrderItem {
    /// Whether the item was returned or is being returned. An item whose return was rejected may be returned again.
    pub fn is_in_rma(&self) -> bool {
        self.rma.as_ref().is_some_and(|rma| !rma.status.is_rejected())
    }
}

impl Order {
    pub fn find_item(&self, line: u32) -> Option<&OrderItem> {
        self.items.iter().find(|item| item.line == line)
    }

    /// Returns the lines that are not in an RMA.
    pub fn open_lines(&self) -> Vec<u32> {
        self.items.iter().filter(|item| !item.is_in_rma()).map(|item| item.line).collect()
    }

    /// Whether `lines` contains every line of the order.
    pub fn is_whole(&self, lines: &[u32]) -> bool {
        self.items.iter().all(|item| lines.contains(&item.line))
    }

    /// Whether the order has this e-mail address or phone number. A client that knows it together with the order's
    /// number is trusted as the customer.
    pub fn has_contact(&self, contact: &Contact) -> bool {
        match contact {
            Contact::Email(email) => *email == self.email || *email == self.customer.email,
            Contact::Phone(phone) => self.phone.iter().chain(&self.customer.phone).any(|known| known.is_same(phone)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::status::StatusChange;

    #[test]
    fn order_status_only_moves_forward() {
        use OrderStatus as S;
        let path = [S::Pending, S::Shipped, S::Delivered, S::ReturnInitiated, S::Returned];
        for (at, from) in path.into_iter().enumerate() {
            for (to_at, to) in path.into_iter().enumerate() {
                assert_eq!(StatusChange::new(from, to).is_ok(), to_at == at + 1, "{from} {to}");
            }
        }
        let error = StatusChange::new(S::Pending, S::Returned).unwrap_err().to_string();
        assert_eq!(error, "an order cannot go from Pending to Returned; it may go to Shipped");
        let error = StatusChange::new(S::Returned, S::Pending).unwrap_err().to_string();
        assert_eq!(error, "an order cannot go from Returned to Pending; nothing comes after that");
    }

    #[test]
    fn customer_id_depends_on_shop_and_address() {
        let (a, b) = ("acme".parse().unwrap(), "bcme".parse().unwrap());
        let email: Email = "A@b.vn".parse().unwrap();
        assert_eq!(CustomerId::of(&a, &email), CustomerId::of(&a, &"a@B.vn".parse().unwrap()));
        assert_ne!(CustomerId::of(&a, &email), CustomerId::of(&b, &email));
    }
}
