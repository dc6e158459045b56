//! Tickets: what was asked of the shop, each of it once.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::ConversationId;
use crate::domain::commerce::order_number::OrderNumber;
use crate::domain::string_enum::string_enum;

string_enum! {
    /// What a customer wants done with an order (seed 000).
    pub enum Action {
        /// The goods come back.
        Return = "return",
        /// The goods come back, and the money is what the customer is after: open for a shorter time than a return.
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
        /// A person of the shop is to look.
        Escalation = "escalation",
    }
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
    /// How soon a person should look (seed 001).
    pub enum Priority {
        Low = "LOW",
        Medium = "MEDIUM",
        High = "HIGH",
        Urgent = "URGENT",
    }
}

string_enum! {
    /// What a person decided on an escalation (seed 001: "approve exception, request more info, reject").
    pub enum Resolution {
        /// Make what was asked for; a locked RMA continues.
        Approve = "approve",
        /// Keep it refused; a locked RMA is rejected.
        Reject = "reject",
        /// More is asked of the customer; the ticket stays open and the RMA locked.
        MoreInfo = "more_info",
    }
}

/// What a customer asked for that a person is to decide: a return that has no RMA yet.
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
    /// Both claims as one. The earlier action holds.
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
    /// The RMA's number, or, where there is no RMA, a [`super::TicketNumber`].
    pub id: String,
    pub kind: TicketKind,
    pub order: Option<OrderNumber>,
    pub rma: Option<super::RmaNumber>,
    pub conversation: Option<ConversationId>,
    /// Of an escalation.
    pub priority: Option<Priority>,
    pub reason: String,
    /// What a person should know: the request, what was done, what comes next.
    pub summary: String,
    /// What an approval makes.
    pub claim: Option<Claim>,
    /// What a person asked of the customer, while no answer has come.
    pub question: Option<String>,
    pub created_at: DateTime<Utc>,
    pub resolved: Option<Resolved>,
}

/// How a ticket ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    pub decision: Resolution,
    pub by: String,
    pub why: String,
    pub at: DateTime<Utc>,
}

/// Under which an action is done once: `sha256(order_id|action)` (seed 000), in hexadecimal digits.
///
/// For a part of an order, `lines` joins in, sorted, so that two partial returns are two tickets and the same one twice is
/// one. After a rejected RMA the next attempt has the next `generation`; the first one's key is the seed's to the letter.
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
    hex_of(&text)
}

/// Under which an escalation is open once: a second complaint about the same thing joins the first one's ticket.
pub fn escalation_key(subject: &str, generation: u32) -> String {
    hex_of(&format!("{subject}|escalate|{generation}"))
}

fn hex_of(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(action: Action, lines: Option<&[u32]>, generation: u32) -> String {
        idempotency_key(&"77893".parse().unwrap(), action, lines, generation)
    }

    #[test]
    fn a_whole_order_has_the_seeds_key() {
        // printf '77893|return' | sha256sum
        assert_eq!(key(Action::Return, None, 0), "18a93b41400808bad13cbb2085127d0ffad053a47228b3f57fe9e8a425318250");
    }

    #[test]
    fn parts_actions_and_generations_have_keys_of_their_own_and_order_does_not_count() {
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
