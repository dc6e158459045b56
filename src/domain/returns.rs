//! Orders, and what brings them back: the rules of the returns desk, pure.
//!
//! The rules come from seed 000 (a supervisor and its workers; windows of 30 and 14 days) and seed 001 (nine steps of
//! eligibility, the life of an RMA). Where the two differ, ARCHITECTURE.md ("Returns") says which one holds.
//!
//! - [`policy`], [`damage`], [`eligibility`]: whether goods may come back
//! - [`refund`]: how much money goes back
//! - [`notice`]: a person's decision, for the message to the customer
//! - [`ticket`]: what was asked of the shop, once; [`number`]: what tickets, RMAs, labels and mails are called
//! - [`listing`], [`policy_list`]: orders and policies as a shop's own lists name them

pub mod damage;
pub mod eligibility;
pub mod listing;
pub mod notice;
pub mod number;
pub mod policy;
pub mod policy_list;
pub mod refund;
pub mod rma;
pub mod ticket;

pub use damage::DamageWords;
pub use eligibility::{Decision, Frequency, History, ReasonCode, Review, Rules, Terms, Why, decide};
pub use listing::ListedOrder;
pub use notice::{Notice, Outcome};
pub use number::{Carrier, MailNumber, RmaNumber, TicketNumber, TrackingNumber};
pub use policy::{Policies, Policy, Scope, Windows};
pub use rma::{Hand, Label, NoStep, Rma, RmaId, RmaLine, RmaStatus};
pub use ticket::{Action, Claim, Priority, Resolution, Ticket, TicketKind};
