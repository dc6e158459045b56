//! The record of who changed what (seed 001: "All state changes are logged ... for audit compliance").

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::domain::ConversationId;
use crate::domain::commerce::order_number::OrderNumber;
use crate::domain::returns::number::RmaNumber;
use crate::domain::step::named;

named! {
    /// Who speaks in a row: seed 001's message types.
    pub enum AuditKind {
        /// The customer.
        User = "user",
        /// The desk.
        Assistant = "assistant",
        /// A tool that was called.
        Tool = "tool",
        /// The server, or a person of the shop.
        System = "system",
    }
}

/// A person of the shop who gave no name.
pub const OPERATOR: &str = "operator";

/// One row. It holds no text of messages: those have a table of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    pub kind: AuditKind,
    /// `desk`, `job`, or the name of a person of the shop.
    pub who: String,
    /// What happened, such as `rma.created` or `order.status`.
    pub what: String,
    /// What was there; `None`: nothing.
    pub before: Option<Value>,
    /// What is there now.
    pub after: Option<Value>,
    pub conversation: Option<ConversationId>,
    pub order: Option<OrderNumber>,
    pub rma: Option<RmaNumber>,
    pub at: DateTime<Utc>,
}
