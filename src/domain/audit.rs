//! Entries of the audit log: who changed what.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::domain::ConversationId;
use crate::domain::commerce::order_number::OrderNumber;
use crate::domain::returns::number::RmaNumber;
use crate::domain::string_enum::string_enum;

string_enum! {
    /// Who made a change.
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

/// The name of a person of the shop who gave none.
pub const OPERATOR: &str = "operator";

/// An entry of the audit log. It contains no message text.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    pub kind: AuditKind,
    /// `desk`, `job`, or the name of a person of the shop.
    pub who: String,
    /// What happened, such as `rma.created` or `order.status`.
    pub what: String,
    /// The value before the change, or `None` if there was none.
    pub before: Option<Value>,
    /// The value after the change.
    pub after: Option<Value>,
    pub conversation: Option<ConversationId>,
    pub order: Option<OrderNumber>,
    pub rma: Option<RmaNumber>,
    pub at: DateTime<Utc>,
}

impl AuditEntry {
    /// Returns an entry for a change by the server or a person of the shop, without further fields.
    pub fn system(who: &str, what: &str, at: DateTime<Utc>) -> Self {
        Self {
            kind: AuditKind::System,
            who: who.to_owned(),
            what: what.to_owned(),
            before: None,
            after: None,
            conversation: None,
            order: None,
            rma: None,
            at,
        }
    }
}
