//! Accounts of a telecom operator: plans, invoices and refund cases. The rules are described in `docs/desks/telecom.md`.
//!
//! - [`account`]: plans, subscriptions and invoices
//! - [`invoice_number`]: the numbers of invoices
//! - [`refund`]: what a customer may claim back
//! - [`refund_case`]: a claim that the shop works on

pub mod account;
pub mod invoice_number;
pub mod refund;
pub mod refund_case;

pub use account::{Account, Invoice, Plan, Subscription, SubscriptionStatus};
pub use invoice_number::InvoiceNumber;
pub use refund::{InvalidClaim, RefundClaim, RefundReason};
pub use refund_case::{CaseId, CaseNotice, CaseStatus, Decided, RefundCase, Verdict};
