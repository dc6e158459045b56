//! What the desk knows of a conversation: seed 000's state, its single source of truth.
//!
//! A struct and no enum of stages, since the seed's routing table asks for these fields one by one, in an order of its own.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::scenario::Scenario;
use crate::domain::commerce::Money;
use crate::domain::commerce::OrderNumber;
use crate::domain::commerce::OrderStatus;
use crate::domain::returns::{Action, Decision, Priority, RmaNumber, Why};

/// What a flow is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    Return,
    Refund,
    OrderStatus,
    Other,
}

impl Intent {
    pub const ALL: [Self; 4] = [Self::Return, Self::Refund, Self::OrderStatus, Self::Other];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Return => "return",
            Self::Refund => "refund",
            Self::OrderStatus => "order_status",
            Self::Other => "other",
        }
    }

    /// Whether goods are to come back, or money.
    pub fn is_return(self) -> bool {
        matches!(self, Self::Return | Self::Refund)
    }
}

/// What stands open: the last thing that the customer was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// What is it about?
    Matter,
    OrderNumber,
    /// Another order's number, after a no.
    OtherOrder,
    Contact,
    /// There is no such order, or it is not theirs.
    NotFound,
    /// Too many were wrong.
    Locked,
    /// Is it this order?
    Confirm,
    /// A return or a refund?
    ChooseAction,
    OnlyReturn,
    OnlyRefund,
    OfferCancel,
    /// The mail failed: again, another address, or let it be?
    MailFailed,
    /// The mail went out and did not come: another address?
    MailMissing,
    /// Something went wrong on the shop's side.
    Trouble,
}

/// How a flow ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    StatusShown,
    Declined,
    /// Neither window is open, or the goods cannot come back.
    NotEligible,
    /// A person decides.
    Escalated,
    Done,
    /// The same was asked for before.
    Duplicate,
    MailLeft,
    Other,
}

/// What went wrong and is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Trouble {
    OrderNotFound,
    /// Five wrong guesses.
    OrderLocked,
    /// The shop's own fault.
    Internal,
}

/// The order, as far as the flow needs it. Its customer's address is masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenOrder {
    pub number: OrderNumber,
    pub status: OrderStatus,
    pub ordered_on: NaiveDate,
    pub items: Vec<SeenItem>,
    pub masked_email: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenItem {
    pub line: u32,
    pub name: String,
    pub quantity: u32,
}

/// `action_ticket`: created now, or there before.
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

/// How the mail about the ticket fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmailStatus {
    /// In the outbox, which sends it as soon as it can.
    Queued,
    Sent,
    Failed,
    /// There is none to send.
    None,
}

/// Why a person is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Escalate {
    /// The customer wants it.
    Person,
    /// The rules want it: damage, or a risk.
    Review,
    /// Damage that was spoken of after the return was made.
    DamageLater,
    /// Damage of goods that the rules do not take back: a person looks at it all the same.
    DamageTold,
    /// The language model hands over, in agent mode.
    Assistant,
    /// The language model did not come to an end.
    GaveUp,
}

/// What stays from flow to flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    /// `sha256(order_id|action)`, of the ticket.
    pub idempotency_key: Option<String>,
    /// Counts the flows of the conversation.
    pub flow: u32,
    /// How the customer showed whose order it is: an address or a phone number.
    pub contact: Option<String>,
    /// The contact belongs to an order that was found, which may be another one than that of this flow.
    pub contact_fits: bool,
    /// The number that was looked up in vain.
    pub tried: Option<OrderNumber>,
    /// Orders that were named beside the one that the flow is about.
    pub waiting: Vec<OrderNumber>,
    /// The last return that was made in this conversation.
    pub last_rma: Option<RmaNumber>,
    /// The order that it is of.
    pub last_returned: Option<OrderNumber>,
    /// The last ticket of a person who looks. Another conversation may have opened it.
    pub last_ticket: Option<String>,
    /// Its decision is known.
    pub is_ticket_settled: bool,
    /// The orders that were found for this customer, the newest last: what tools may be used on.
    pub opened: Vec<OrderNumber>,
    /// Which variant of each text was said last.
    pub said: BTreeMap<Scenario, usize>,
}

/// The state. Its first eleven fields are the seed's, which a new flow sets back; the rest of the flow goes with them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub intent: Option<Intent>,
    pub order_number: Option<OrderNumber>,
    /// 0 to 1: how sure the number was read; 1 for the rules, less for the model.
    pub order_match_confidence: Option<f64>,
    pub order: Option<SeenOrder>,
    pub user_confirmed_order: Option<bool>,
    pub eligibility: Option<Decision>,
    pub desired_action: Option<Action>,
    pub action_ticket: Option<ActionTicket>,
    pub email_status: Option<EmailStatus>,
    pub error: Option<Trouble>,
    pub conversation_complete: bool,

    /// What the customer was asked, while the answer is awaited.
    pub asked: Option<Question>,
    /// Whether the customer said both "return" and "refund".
    pub wants_both: bool,
    /// The order was to be called off.
    pub wants_cancel: bool,
    /// The order is to be called off, said once more to the question whether it is this one.
    pub agreed_to_cancel: bool,
    /// The intent was looked for in this message and not found.
    pub is_unclear: bool,
    /// How often in a row the customer was asked what it is about.
    pub clarifies: u32,
    /// The message says goodbye: nothing more is asked.
    pub is_goodbye: bool,
    /// The message says no, or to wait, and wants nothing back: a language model makes no return on it.
    pub is_held_back: bool,
    /// The message may name an order in a way that the rules do not read.
    pub may_name_order: bool,
    /// Whose order it is has to be shown before it is looked up.
    pub needs_contact: bool,
    /// A contact was given for this order, and not only for one before it.
    pub contact_given: bool,
    /// A second address or number that was given with it.
    pub other_contact: Option<String>,
    /// How often "is it this order?" was answered with no.
    pub declines: u32,
    /// The customer wants the label of a return again.
    pub wants_label: bool,
    /// The order's status stands in the chat.
    pub status_shown: bool,
    /// The customer's words in this flow: why it comes back.
    pub reason: String,
    /// Damage was told of in this flow.
    pub damage_told: bool,
    /// The lines that are to come back; `None`: whatever can.
    pub lines: Option<Vec<u32>>,
    pub escalate: Option<Escalate>,
    /// How soon a person should look, as the language model has it.
    pub urgency: Option<Priority>,
    /// The ticket of a person who looks.
    pub escalation_ticket: Option<String>,
    /// What is paid back under the ticket.
    pub refund: Option<Money>,
    /// Where the mail shall go instead.
    pub mail_to: Option<String>,
    /// The customer says that the mail did not come.
    pub mail_missing: bool,
    /// The mail failed, and the customer lets it be.
    pub leaves_mail: bool,

    pub meta: Meta,
}

impl State {
    /// A new flow: everything of the old one is forgotten, what stays is in [`Meta`] (and the history, which is the
    /// conversation's). The contact that was shown holds for the conversation.
    #[must_use]
    pub fn next_flow(self) -> Self {
        let meta = Meta { idempotency_key: None, flow: self.meta.flow + 1, ..self.meta };
        Self { needs_contact: self.needs_contact, meta, ..Self::default() }
    }

    /// How soon a person should look. Seed 001: damage is HIGH; whoever calls may make it more, and less only where the
    /// rules have said nothing.
    pub fn priority(&self, why: Escalate) -> Priority {
        let is_damage =
            self.damage_told || self.eligibility.as_ref().is_some_and(|decision| decision.why == Why::Damaged);
        let least = match why {
            Escalate::DamageLater | Escalate::DamageTold => Priority::High,
            Escalate::Review | Escalate::Assistant if is_damage => Priority::High,
            Escalate::Assistant if self.urgency.is_some() => Priority::Low,
            Escalate::Review | Escalate::Person | Escalate::Assistant | Escalate::GaveUp => Priority::Medium,
        };
        least.max(self.urgency.unwrap_or(Priority::Low))
    }

    /// Forgets the order, so that another one can be named.
    pub fn forget_order(&mut self) {
        self.order_number = None;
        self.order_match_confidence = None;
        self.contact_given = false;
        self.other_contact = None;
        self.order = None;
        self.user_confirmed_order = None;
        self.eligibility = None;
        self.desired_action = None;
        self.agreed_to_cancel = false;
        self.lines = None;
    }

    /// The orders that it speaks of, whether or not they were found.
    pub fn order_numbers(&self) -> impl Iterator<Item = &OrderNumber> {
        let seen = self.order.as_ref().map(|order| &order.number);
        self.order_number.iter().chain(seen).chain(&self.meta.tried).chain(&self.meta.opened)
    }

    /// Whether the flow ended with goods that do not come back.
    pub fn was_refused(&self) -> bool {
        let is_refused = |decision: &Decision| !decision.is_return_eligible && !decision.is_refund_eligible;
        self.conversation_complete
            && self.action_ticket.is_none()
            && self.escalate.is_none()
            && self.eligibility.as_ref().is_some_and(is_refused)
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.intent.is_none() || self.conversation_complete
    }
}
