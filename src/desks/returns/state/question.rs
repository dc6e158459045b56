//! What the desk asks, and how a flow ends or fails.

use serde::{Deserialize, Serialize};

/// A question to the customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// What is your message about?
    Matter,
    OrderNumber,
    /// Which other order, after a no?
    OtherOrder,
    Contact,
    /// The order does not exist, or is not theirs: another number or contact?
    NotFound,
    /// Look-ups are locked after too many wrong numbers or contacts.
    Locked,
    /// Shall the desk do what the question names? Earlier versions asked: is it this order?
    Confirm,
    /// A return or a refund?
    ChooseAction,
    OnlyReturn,
    OnlyRefund,
    OfferCancel,
    /// The mail failed: retry, use another address, or leave it?
    MailFailed,
    /// The mail was sent and did not arrive: use another address?
    MailMissing,
    /// Something went wrong on the shop's side.
    Trouble,
}

impl Question {
    /// Whether it asks for the order, or whose it is.
    pub fn is_for_slot(self) -> bool {
        matches!(self, Self::OrderNumber | Self::OtherOrder | Self::NotFound | Self::Contact)
    }

    /// Whether a yes makes the desk act.
    pub fn is_for_yes(self) -> bool {
        matches!(self, Self::Confirm | Self::ChooseAction | Self::OnlyReturn | Self::OnlyRefund | Self::OfferCancel)
    }

    /// Whether both ask for the same.
    pub fn is_like(self, other: Self) -> bool {
        let asks_for_order = |question| matches!(question, Self::OrderNumber | Self::OtherOrder | Self::NotFound);
        self == other || (asks_for_order(self) && asks_for_order(other))
    }
}

/// What a customer wants to know about a detail that the desk asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Help {
    /// What to do without it.
    Missing,
    /// What it is for.
    Purpose,
}

/// How a flow ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    StatusShown,
    Declined,
    /// Neither window is open, or the goods cannot come back.
    NotEligible,
    /// A person takes over.
    Escalated,
    Done,
    /// The ticket existed before.
    Duplicate,
    MailLeft,
    Other,
}

/// A failure that the customer learns about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Trouble {
    OrderNotFound,
    /// Too many wrong guesses.
    OrderLocked,
    /// The shop's system failed.
    Internal,
}
