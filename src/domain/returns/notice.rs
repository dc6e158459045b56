//! A person's decision, for the chat message to the customer.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::number::RmaNumber;
use crate::domain::commerce::money::Money;
use crate::domain::commerce::order_number::OrderNumber;

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
