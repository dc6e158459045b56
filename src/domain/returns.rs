//! The rules of the returns desk, as pure functions. They are described in `docs/desks/returns.md`.
//!
//! - [`policy`], [`damage`], [`eligibility`]: whether goods may come back
//! - [`refund`]: how much money goes back
//! - [`rma`]: the steps of a return
//! - [`ticket`]: requests to the shop, and a person's decisions; [`number`]: the numbers of tickets, RMAs, parcels and mails
//! - [`listing`], [`policy_list`]: orders and policies in a shop's own lists

pub mod damage;
pub mod eligibility;
pub mod listing;
pub mod number;
pub mod policy;
pub mod policy_list;
pub mod refund;
pub mod rma;
pub mod ticket;

pub use damage::DamageWords;
pub use eligibility::{Cause, Decision, Frequency, History, ReasonCode, Review, Rules, Terms, decide};
pub use listing::ListedOrder;
pub use number::{Carrier, MailNumber, RmaNumber, TicketNumber, TrackingNumber};
pub use policy::{Policies, Policy, Scope, Windows};
pub use rma::{Label, NoStep, Rma, RmaId, RmaLine, RmaStatus};
pub use ticket::{Action, Claim, Notice, Outcome, Priority, Resolution, Ticket, TicketKind};
