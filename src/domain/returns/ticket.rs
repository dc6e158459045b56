//! Tickets: requests to the shop, each made once.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::number::RmaNumber;
use crate::domain::ConversationId;
use crate::domain::commerce::money::Money;
use crate::domain::commerce::order_number::OrderNumber;
use crate::domain::string_enum::string_enum;
use crate::domain::text::hex;

string_enum! {
    /// What a customer wants the shop to do with an order.
    pub enum Action {
        /// The goods come back.
        Return = "return",
        /// The goods come back, and the customer wants the money: possible for a shorter time than a return.
        Refund = "refund",
        /// Nothing has left the shop yet.
        Cancel = "cancel",
    }
}

string_enum! {
    /// What a ticket is about.
    pub enum TicketKind {
        Return = "return",
        Refund = "refund",
        Cancel = "cancel",
        /// A person of the shop looks at it.
        Escalation = "escalation",
    }
}

impl TicketKind {
    /// The tickets that a person decides. The others end with their RMA.
    pub const DECIDED: [Self; 2] = [Self::Escalation, Self::Cancel];
}

impl From<Action> for TicketKind {
    fn from(action: Action) -> Self {
        match action {
            Action::Return => Self::Return,
            Action::Refund => Self::Refund,
            Action::Cancel => Self::Cancel,
        }
    }
}

string_enum! {
    // A doc comment of a variant would change the schema that the model sees.
    /// How soon a person should look.
    #[derive(JsonSchema)]
    pub enum Priority {
        Low = "LOW",
        Medium = "MEDIUM",
        High = "HIGH",
        Urgent = "URGENT",
    }
}

string_enum! {
    /// A person's decision on an escalation.
    pub enum Resolution {
        /// Make what the customer asked for. A locked RMA continues.
        Approve = "approve",
        /// Refuse it. A locked RMA is rejected.
        Reject = "reject",
        /// Ask the customer. The ticket stays open and the RMA locked.
        MoreInfo = "more_info",
    }
}

/// A return without an RMA that a person decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// `Return` or `Refund`.
    pub action: Action,
    /// The lines of the order, sorted.
    pub lines: Vec<u32>,
    /// Why, in the customer's words.
    pub reason: String,
}

impl Claim {
    /// Joins both claims. The earlier action holds.
    #[must_use]
    pub fn joined_by(mut self, other: &Self) -> Self {
        self.lines.extend(&other.lines);
        self.lines.sort_unstable();
        self.lines.dedup();
        if !other.reason.is_empty() && !self.reason.contains(&other.reason) {
            self.reason = format!("{}\n{}", self.reason, other.reason).trim().to_owned();
        }
        self
    }
}

/// A ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The RMA's number, or a [`super::TicketNumber`] if the ticket has no RMA.
    pub id: String,
    pub kind: TicketKind,
    pub order: Option<OrderNumber>,
    pub rma: Option<RmaNumber>,
    pub conversation: Option<ConversationId>,
    /// Escalations alone have one.
    pub priority: Option<Priority>,
    pub reason: String,
    /// A summary for the person: the request, what was done, the next steps.
    pub summary: String,
    /// What an approval makes.
    pub claim: Option<Claim>,
    /// The person's question to the customer, until it is answered.
    pub question: Option<String>,
    pub created_at: DateTime<Utc>,
    pub resolved: Option<Resolved>,
}

/// The decision on an escalation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[schema(as = Decision)]
pub struct Resolved {
    pub decision: Resolution,
    pub by: String,
    pub why: String,
    #[serde(serialize_with = "crate::domain::calendar::time")]
    pub at: DateTime<Utc>,
}

/// A person's decision on a ticket. It is stored as a job, and holds no contact data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    pub ticket: String,
    pub order: Option<OrderNumber>,
    /// The person's name for customers, if the person has one.
    pub by: Option<String>,
    pub outcome: Outcome,
    pub at: DateTime<Utc>,
}

/// What the decision means for the ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A return was made, and a mail with its label is on its way.
    Returned {
        rma: RmaNumber,
        refund: Money,
        masked_email: String,
    },
    /// An earlier return continues.
    Continues {
        rma: RmaNumber,
    },
    Rejected,
    /// The shop has cancelled the order.
    OrderCancelled,
    /// The shop has not cancelled the order.
    OrderKept,
    /// The person asks this of the customer.
    MoreInfo {
        question: String,
    },
    /// The ticket was closed without an approval or a rejection.
    Closed,
}

/// Returns the idempotency key of an action: `sha256(order_id|action)`, in hexadecimal digits.
///
/// For a part of an order the key includes its sorted `lines`, so that two partial returns are two tickets. After a rejected
/// attempt the next one has the next `generation`, which the key includes from 1 on.
pub fn idempotency_key(order: &OrderNumber, action: Action, lines: Option<&[u32]>, generation: u32) -> String {
    let mut text = format!("{order}|{action}");
    if let Some(lines) = lines {
        let mut lines = lines.to_vec();
        lines.sort_unstable();
        lines.dedup();
        let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
        text.push_str(&format!("|items:{}", lines.join(",")));
    }
    if generation > 0 {
        text.push_str(&format!("|again:{generation}"));
    }
    hex(&Sha256::digest(text))
}

/// Returns the idempotency key of an escalation. A second complaint about the same subject joins the first one's ticket.
pub fn escalation_key(subject: &str, generation: u32) -> String {
    hex(&Sha256::digest(format!("{subject}|escalate|{generation}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(action: Action, lines: Option<&[u32]>, generation: u32) -> String {
        idempotency_key(&"77893".parse().unwrap(), action, lines, generation)
    }

    #[test]
    fn key_of_a_whole_order_is_its_hash() {
        // printf '77893|return' | sha256sum
        assert_eq!(key(Action::Return, None, 0), "18a93b41400808bad13cbb2085127d0ffad053a47228b3f57fe9e8a425318250");
    }

    #[test]
    fn parts_actions_and_generations_have_different_keys() {
        let keys = [
            key(Action::Return, None, 0),
            key(Action::Refund, None, 0),
            key(Action::Return, Some(&[1]), 0),
            key(Action::Return, Some(&[2]), 0),
            key(Action::Return, Some(&[1, 2]), 0),
            key(Action::Return, Some(&[12]), 0),
            key(Action::Return, None, 1),
            key(Action::Return, None, 2),
            key(Action::Return, Some(&[1]), 1),
        ];
        let distinct: std::collections::BTreeSet<&String> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
        assert_eq!(key(Action::Return, Some(&[2, 1, 2]), 0), key(Action::Return, Some(&[1, 2]), 0));
    }
}
