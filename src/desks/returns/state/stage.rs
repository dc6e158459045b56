//! Where a flow is, its handoff to a person, and its ticket.

use serde::{Deserialize, Serialize};

use super::{Question, Trouble, stored};
use crate::domain::commerce::Money;

/// Whether the flow created its ticket, or found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TicketStatus {
    Created,
    Duplicate,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionTicket {
    pub id: String,
    pub status: TicketStatus,
}

/// How the first attempt to send the mail about a ticket ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmailStatus {
    /// In the outbox, which sends it as soon as it can.
    Queued,
    Sent,
    Failed,
    /// The ticket has no mail.
    None,
}

/// Where a flow is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "stored::Stage", into = "stored::Stage")]
pub enum Stage {
    /// The routing table names the next step.
    #[default]
    Working,
    /// The customer was asked and has not answered.
    Asked(Question),
    /// Something failed, and the customer does not know yet.
    Failed(Trouble),
    /// The flow is over. The next message begins another one.
    Over,
}

/// Whether a person takes over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "stored::Handoff", into = "stored::Handoff")]
pub enum Handoff {
    #[default]
    None,
    /// A ticket is to be opened for a person.
    Due(HandoffReason),
    /// This ticket was opened.
    Opened(HandoffReason, String),
}

impl Handoff {
    pub fn reason(&self) -> Option<HandoffReason> {
        match self {
            Self::None => None,
            Self::Due(reason) | Self::Opened(reason, _) => Some(*reason),
        }
    }

    pub fn ticket(&self) -> Option<&String> {
        match self {
            Self::Opened(_, ticket) => Some(ticket),
            Self::None | Self::Due(_) => None,
        }
    }

    pub fn is_due(&self) -> bool {
        matches!(self, Self::Due(_))
    }

    /// Calls for a person for this reason, unless one is called for already. Returns the reason that holds.
    pub fn request(&mut self, reason: HandoffReason) -> HandoffReason {
        if *self == Self::None {
            *self = Self::Due(reason);
        }
        self.reason().unwrap_or(reason)
    }

    /// Calls for a person for this reason, whatever the reason was before.
    pub fn replace_reason(&mut self, reason: HandoffReason) {
        *self = match std::mem::take(self) {
            Self::Opened(_, ticket) => Self::Opened(reason, ticket),
            Self::None | Self::Due(_) => Self::Due(reason),
        };
    }

    pub fn open(&mut self, ticket: String) {
        *self = Self::Opened(self.reason().unwrap_or(HandoffReason::Person), ticket);
    }
}

/// Why a person takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandoffReason {
    /// The customer wants a person.
    Person,
    /// The rules require it: damage, or a risk.
    Review,
    /// Damage was reported after the return was made.
    DamageLater,
    /// The goods are damaged, and the rules do not take them back.
    DamageTold,
    /// The language model hands over, in agent mode.
    Assistant,
    /// The language model did not finish.
    GaveUp,
}

/// The ticket of a flow, with the mail about it.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowTicket {
    pub ticket: ActionTicket,
    /// What is refunded under the ticket.
    pub refund: Option<Money>,
    pub mail: Mail,
    /// The address that the customer named for the mail, if not the one on the order.
    pub mail_to: Option<String>,
}

impl FlowTicket {
    /// A ticket whose mail is due.
    pub fn new(ticket: ActionTicket) -> Self {
        Self { ticket, refund: None, mail: Mail::Due, mail_to: None }
    }

    /// Returns how the mail's first attempt ended, once it was made.
    pub fn email_status(&self) -> Option<EmailStatus> {
        match self.mail {
            Mail::Due => None,
            Mail::Settled(status) | Mail::Missing(status) | Mail::Left(status) => Some(status),
        }
    }
}

/// The mail about a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mail {
    /// Is to be sent.
    Due,
    /// The first attempt was made.
    Settled(EmailStatus),
    /// The customer says that it did not arrive.
    Missing(EmailStatus),
    /// It failed or did not arrive, and the customer does not want another one.
    Left(EmailStatus),
}

impl Mail {
    #[must_use]
    pub fn with_status(self, status: EmailStatus) -> Self {
        match self {
            Self::Due | Self::Settled(_) => Self::Settled(status),
            Self::Missing(_) => Self::Missing(status),
            Self::Left(_) => Self::Left(status),
        }
    }
}
