//! Orders and whose they are.

use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::domain::TenantId;
use crate::domain::commerce::money::Money;
use crate::domain::commerce::order_number::OrderNumber;
use crate::domain::identity::contact::{Contact, Email, Phone};
use crate::domain::returns::number::RmaNumber;
use crate::domain::returns::rma::RmaStatus;
use crate::domain::step::{Status, named};

named! {
    /// Where an order is (seed 001, "Order Lifecycle").
    pub enum OrderStatus {
        Pending = "Pending",
        Shipped = "Shipped",
        Delivered = "Delivered",
        /// Something of it is on its way back, or was; its other items stay open.
        ReturnInitiated = "Return_Initiated",
        /// All of it has come back and is paid back.
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
    /// A customer is told apart by the address, so that a list that is imported again meets the same customers.
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
    /// What the shop's own system calls them: the `user_id` of their conversations.
    pub user_id: Option<String>,
    pub is_vip: bool,
    /// The shop suspects fraud: whatever they ask for, a person decides.
    pub fraud_flag: bool,
}

/// An order with all that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    pub number: OrderNumber,
    pub customer: Customer,
    /// The address on the order; the customer's own where none was given.
    pub email: Email,
    pub phone: Option<Phone>,
    pub status: OrderStatus,
    pub ordered_at: DateTime<Utc>,
    pub shipped_at: Option<DateTime<Utc>>,
    pub delivered_at: Option<DateTime<Utc>>,
    /// The number of the parcel to the customer, as the carrier writes it.
    pub tracking: Option<String>,
    /// What the customer has paid, after discounts.
    pub paid: Money,
    /// In the order of their lines.
    pub items: Vec<OrderItem>,
}

/// One line of an order. It comes back as a whole: a part of its quantity cannot be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderItem {
    /// Counted from 1 within the order: the `item_id` of the seed's tools.
    pub line: u32,
    pub sku: Option<String>,
    pub name: String,
    pub category: Option<String>,
    pub quantity: u32,
    /// For one piece.
    pub unit_price: Money,
    pub is_returnable: bool,
    pub is_final_sale: bool,
    /// The latest RMA that this item stands in.
    pub rma: Option<ItemReturn>,
}

/// An item's place in an RMA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemReturn {
    pub number: RmaNumber,
    pub status: RmaStatus,
    /// What is paid back for the item.
    pub amount: Money,
}

impl OrderItem {
    /// Whether the item is on its way back or has come back. One whose return was rejected may be asked for again.
    pub fn is_in_rma(&self) -> bool {
        self.rma.as_ref().is_some_and(|rma| !rma.status.is_rejected())
    }
}

impl Order {
    pub fn find_item(&self, line: u32) -> Option<&OrderItem> {
        self.items.iter().find(|item| item.line == line)
    }

    /// The lines that are in no RMA.
    pub fn open_lines(&self) -> Vec<u32> {
        self.items.iter().filter(|item| !item.is_in_rma()).map(|item| item.line).collect()
    }

    /// Whether those are all the lines of the order.
    pub fn is_whole(&self, lines: &[u32]) -> bool {
        self.items.iter().all(|item| lines.contains(&item.line))
    }

    /// Whether the address or number stands on the order: who knows it, and the order's number, is taken for its customer.
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
    use crate::domain::step::Step;

    #[test]
    fn an_order_goes_one_way_and_an_illegal_step_names_both_states() {
        use OrderStatus as S;
        let path = [S::Pending, S::Shipped, S::Delivered, S::ReturnInitiated, S::Returned];
        for (at, from) in path.into_iter().enumerate() {
            for (to_at, to) in path.into_iter().enumerate() {
                assert_eq!(Step::new(from, to).is_ok(), to_at == at + 1, "{from} {to}");
            }
        }
        let error = Step::new(S::Pending, S::Returned).unwrap_err().to_string();
        assert_eq!(error, "an order cannot go from Pending to Returned; it may go to Shipped");
        let error = Step::new(S::Returned, S::Pending).unwrap_err().to_string();
        assert_eq!(error, "an order cannot go from Returned to Pending; nothing comes after that");
    }

    #[test]
    fn a_customer_is_the_same_one_for_the_same_address_of_the_same_shop() {
        let (a, b) = ("acme".parse().unwrap(), "bcme".parse().unwrap());
        let email: Email = "A@b.vn".parse().unwrap();
        assert_eq!(CustomerId::of(&a, &email), CustomerId::of(&a, &"a@B.vn".parse().unwrap()));
        assert_ne!(CustomerId::of(&a, &email), CustomerId::of(&b, &email));
    }
}
