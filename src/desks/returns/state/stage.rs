//! How far a flow is with its order, who acts next, and its handoff to a person.

use serde::{Deserialize, Serialize};

use super::{OrderSnapshot, Question, Trouble};
use crate::domain::commerce::{Money, OrderNumber};
use crate::domain::returns::{Action, Decision};

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

/// Who acts next in a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// The desk: the routing table names the next step.
    #[default]
    Working,
    /// The customer, who was asked and has not answered.
    Asked(Question),
    /// The desk: something failed, and the customer does not know yet.
    Failed(Trouble),
    /// Nobody. The next message begins another flow.
    Over,
}

/// How far a flow is with its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Stage {
    #[default]
    NoOrder,
    /// The customer stopped without an order.
    Declined,
    /// The order is not looked up yet. `confidence` is that of the number, 0 to 1: 1 for the rules, less for the model.
    Named {
        number: OrderNumber,
        confidence: f64,
    },
    Found(Box<Subject>),
}

/// The order that a flow is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    pub order: OrderSnapshot,
    /// How sure its number is.
    pub confidence: f64,
    /// The lines that come back. `None` means every line that can.
    pub lines: Option<Vec<u32>>,
    /// What the customer gets back for them, known from the decision on.
    pub refund: Option<Money>,
    pub status_shown: bool,
    pub progress: Progress,
}

impl Subject {
    pub fn new(order: OrderSnapshot, confidence: f64) -> Self {
        Self { order, confidence, lines: None, refund: None, status_shown: false, progress: Progress::Undecided }
    }

    /// Whether one of the items that come back has more pieces than this.
    pub fn has_more_pieces_than(&self, pieces: u32) -> bool {
        let comes_back = |line: &u32| self.lines.as_ref().is_none_or(|lines| lines.contains(line));
        self.order.items.iter().any(|item| item.quantity > pieces && comes_back(&item.line))
    }
}

/// What was decided about an order.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// The rules have not decided.
    Undecided,
    /// The rules decided. The customer wants this action, and has not said yes to it.
    Decided { decision: Decision, action: Option<Action> },
    /// The customer said yes to the question that named the action, the items and the money.
    Agreed { decision: Decision, action: Action },
    /// The ticket exists. A ticket of an earlier request has neither decision nor action.
    Ticketed { decision: Option<Decision>, action: Option<Action>, ticket: FlowTicket },
    /// The customer stopped.
    Declined(Option<Decision>),
}

impl Progress {
    pub fn decision(&self) -> Option<&Decision> {
        match self {
            Self::Undecided => None,
            Self::Decided { decision, .. } | Self::Agreed { decision, .. } => Some(decision),
            Self::Ticketed { decision, .. } | Self::Declined(decision) => decision.as_ref(),
        }
    }

    pub fn action(&self) -> Option<Action> {
        match self {
            Self::Decided { action, .. } | Self::Ticketed { action, .. } => *action,
            Self::Agreed { action, .. } => Some(*action),
            Self::Undecided | Self::Declined(_) => None,
        }
    }

    pub fn is_agreed(&self) -> bool {
        matches!(self, Self::Agreed { .. } | Self::Ticketed { .. })
    }

    /// Takes the action that the customer wants.
    pub fn choose(&mut self, chosen: Option<Action>) {
        if let Self::Decided { action, .. } = self {
            *action = chosen;
        }
    }

    /// Takes the customer's yes to an action that the rules have decided about.
    pub fn agree(&mut self, action: Action) {
        if let Self::Decided { decision, .. } = self {
            *self = Self::Agreed { decision: decision.clone(), action };
        }
    }

    /// Takes the customer's yes back.
    pub fn take_back(&mut self) {
        if let Self::Agreed { decision, action } = self {
            *self = Self::Decided { decision: decision.clone(), action: Some(*action) };
        }
    }

    /// Takes the customer's no.
    pub fn decline(&mut self) {
        *self = Self::Declined(self.decision().cloned());
    }

    /// Takes the rules' decision. Whatever the customer chose or agreed to before was about another one.
    pub fn decide(&mut self, new: Decision) {
        match self {
            Self::Declined(decision) | Self::Ticketed { decision, .. } => *decision = Some(new),
            Self::Undecided | Self::Decided { .. } | Self::Agreed { .. } => {
                *self = Self::Decided { decision: new, action: None };
            }
        }
    }

    /// Forgets the decision. Without a ticket, the rules decide again.
    pub fn undecide(&mut self) {
        match self {
            Self::Declined(decision) | Self::Ticketed { decision, .. } => *decision = None,
            Self::Undecided | Self::Decided { .. } | Self::Agreed { .. } => *self = Self::Undecided,
        }
    }

    /// Takes the flow's ticket, and keeps the mail of an earlier one. The action is the ticket's or the one agreed to before.
    pub fn set_ticket(&mut self, made: ActionTicket, action: Option<Action>) {
        let (decision, action) = (self.decision().cloned(), action.or(self.action()));
        let earlier = if let Self::Ticketed { ticket, .. } = self { Some(ticket.clone()) } else { None };
        let ticket = match earlier {
            Some(earlier) => FlowTicket { ticket: made, ..earlier },
            None => FlowTicket::new(made),
        };
        *self = Self::Ticketed { decision, action, ticket };
    }
}

/// Whether a person takes over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HandoffStatus {
    #[default]
    None,
    /// A ticket is to be opened for a person.
    Due(HandoffReason),
    /// This ticket was opened.
    Opened(HandoffReason, String),
}

impl HandoffStatus {
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
    #[serde(rename = "damage_told")]
    DamagedButRefused,
    /// The customer wants what only a person can do: see [`Intent::is_request`](super::Intent::is_request).
    Request,
    /// The language model hands over, in agent mode.
    Assistant,
    /// The language model did not finish.
    GaveUp,
}

/// The ticket of a flow, with the mail about it.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowTicket {
    pub ticket: ActionTicket,
    pub mail: Mail,
    /// The address that the customer named for the mail, if not the one on the order.
    pub mail_to: Option<String>,
}

impl FlowTicket {
    /// A ticket whose mail is due.
    pub fn new(ticket: ActionTicket) -> Self {
        Self { ticket, mail: Mail::Due, mail_to: None }
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
