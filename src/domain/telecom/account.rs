//! What a customer has: a plan, and invoices for it.

use chrono::NaiveDate;
use serde::Serialize;
use utoipa::ToSchema;

use super::invoice_number::InvoiceNumber;
use super::refund_case::{RefundCase, left_of};
use crate::domain::commerce::money::Money;
use crate::domain::string_enum::string_enum;

/// A plan that the shop sells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// A short name such as `M`, unique in the shop.
    pub code: String,
    /// The name for customers.
    pub name: String,
    pub price_monthly: Money,
}

string_enum! {
    /// Whether a customer can use the plan.
    pub enum SubscriptionStatus {
        Active = "active",
        /// Blocked, for example because an invoice is overdue.
        Suspended = "suspended",
        Cancelled = "cancelled",
    }
}

/// A customer's plan. A customer has at most one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The customer's id in the shop's own system: the `user_id` of conversations.
    pub user_id: String,
    pub plan: Plan,
    pub status: SubscriptionStatus,
    /// The first day of the contract.
    pub start_date: NaiveDate,
}

/// An invoice to a customer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Invoice {
    #[schema(value_type = String)]
    pub number: InvoiceNumber,
    /// Whose invoice it is; empty after an erasure.
    #[serde(skip)]
    pub user_id: String,
    /// The total.
    pub amount: Money,
    pub issued_on: NaiveDate,
}

/// A customer's subscription with what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub subscription: Subscription,
    /// The last three invoices, newest first.
    pub invoices: Vec<Invoice>,
    /// All refund cases, newest first.
    pub cases: Vec<RefundCase>,
}

impl Account {
    /// Returns what may still be claimed of one of its invoices. It can be zero.
    pub fn left_of(&self, invoice: &Invoice) -> Money {
        left_of(invoice, self.cases.iter().filter(|case| case.invoice == invoice.number))
    }
}
