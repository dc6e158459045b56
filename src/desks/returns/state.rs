//! What the desk knows of a conversation.
//!
//! - [`Case`]: what every stage needs; [`Meta`]: what stays from flow to flow
//! - `intent` and `question`: what the customer wants, and what the desk asks
//! - `stage`: how far a flow is with its order, who acts next, and its handoff to a person
//! - `stored`: the flat JSON form, which every version of the desk has written

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::{Deserialize, Deserializer, Serialize};

use super::scenario::Scenario;
use crate::domain::commerce::{OrderNumber, OrderStatus};
use crate::domain::returns::{Action, Cause, Decision, Priority, RmaNumber};
use crate::replies::ReplyKey;
use crate::retrieval::Subject as Topic;

mod intent;
mod question;
mod stage;
mod stored;
#[cfg(test)]
mod tests;

pub use intent::Intent;
pub use question::{Ending, Help, Question, Trouble};
pub use stage::{
    ActionTicket, EmailStatus, FlowTicket, HandoffReason, HandoffStatus, Mail, Phase, Progress, Stage, Subject,
    TicketStatus,
};
use stored::Stored;

/// The parts of an order that the flow needs. The customer's address is masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderSnapshot {
    pub number: OrderNumber,
    pub status: OrderStatus,
    pub ordered_on: NaiveDate,
    pub items: Vec<ItemSnapshot>,
    pub masked_email: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemSnapshot {
    pub line: u32,
    pub name: String,
    pub quantity: u32,
    /// Final sale, or not returnable for another reason.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stays_sold: bool,
}

/// What a new flow keeps of the one before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    /// `sha256(order_id|action)`, of the ticket.
    pub idempotency_key: Option<String>,
    /// Counts the flows of the conversation.
    pub flow: u32,
    /// The e-mail address or phone number that the customer gave for an order.
    pub contact: Option<String>,
    /// The contact opened an order, though perhaps not this flow's.
    pub contact_fits: bool,
    /// The last number that was looked up and not found.
    pub tried: Option<OrderNumber>,
    /// Further orders that the customer named together with this flow's.
    pub waiting: Vec<OrderNumber>,
    /// The last return that was made in this conversation.
    pub last_rma: Option<RmaNumber>,
    /// The order of that return.
    pub last_returned: Option<OrderNumber>,
    /// The lines of that return. Empty if they are not known.
    pub last_returned_lines: Vec<u32>,
    /// The last handoff ticket. Another conversation may have opened it.
    pub last_ticket: Option<String>,
    /// What the customer declined last, and may want after all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declined: Option<Intent>,
    /// The desk knows that ticket's decision.
    pub is_ticket_settled: bool,
    /// What the last answer from the documents was about. The next step of a flow clears it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<Topic>,
    /// The orders that were found for this customer, the newest last. Tools may work on these.
    pub opened: Vec<OrderNumber>,
    /// The variant of each text that was sent last. Texts of earlier versions are left out.
    #[serde(deserialize_with = "known_scenarios")]
    pub said: BTreeMap<Scenario, usize>,
}

/// Orders of a conversation that are remembered as found.
const OPENED: usize = 20;

impl Meta {
    /// Whether the last return contains one of these lines of its order, or may contain it.
    pub fn is_last_returned(&self, lines: &[u32]) -> bool {
        let known = &self.last_returned_lines;
        known.is_empty() || lines.is_empty() || lines.iter().any(|line| known.contains(line))
    }

    /// Remembers an order that was found for this customer.
    pub fn remember_order(&mut self, number: &OrderNumber) {
        self.opened.retain(|known| known != number);
        self.opened.push(number.clone());
        let too_many = self.opened.len().saturating_sub(OPENED);
        self.opened.drain(..too_many);
    }
}

fn known_scenarios<'de, D: Deserializer<'de>>(stored: D) -> Result<BTreeMap<Scenario, usize>, D::Error> {
    let said = BTreeMap::<String, usize>::deserialize(stored)?;
    let known = |key: &str| Scenario::ALL.iter().find(|scenario| scenario.as_str() == key).copied();
    Ok(said.into_iter().filter_map(|(key, variant)| Some((known(&key)?, variant))).collect())
}

/// What every stage of a flow needs, apart from the order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Case {
    pub intent: Option<Intent>,
    /// The customer said both "return" and "refund".
    pub wants_both: bool,
    /// The customer asked to cancel the order.
    pub wants_cancel: bool,
    /// What the customer wants as well, once this flow is over: "yes, and I need an invoice".
    pub also: Option<Intent>,
    #[serde(flatten)]
    pub message: LastMessage,
    /// How often in a row the customer was asked what the message is about.
    pub clarifies: u32,
    /// The question that was asked last.
    pub last_question: Option<Question>,
    /// How often in a row it was asked before. Repetitions after an aside do not count.
    pub repeats: u32,
    #[serde(flatten)]
    pub contact: OrderContact,
    /// How often the customer said that it is another order.
    pub declines: u32,
    /// The customer wants the label of a return again.
    pub wants_label: bool,
    /// The address that the customer named for that label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_to: Option<String>,
    /// Why the goods come back, in the customer's words.
    pub reason: String,
    /// The customer reported damage in this flow.
    #[serde(rename = "damage_told")]
    pub damage_reported: bool,
    /// The customer wants to return only some pieces of an item. The shop books all of them.
    pub some_pieces: bool,
    /// How many pieces the customer named last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pieces: Option<u32>,
    /// The ticket of another conversation whose status the customer wants. Set once the contact of its order was verified.
    pub ticket_asked: Option<String>,
    /// The return whose number the customer named instead of its order's.
    pub rma_asked: Option<RmaNumber>,
    /// A question that the customer asked before the order was found. It is answered then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// How soon a person should look, according to the language model.
    pub urgency: Option<Priority>,
}

/// What the desk noticed about the customer's last message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastMessage {
    pub is_greeting: bool,
    /// An "ok" when nothing is open.
    pub is_acknowledged: bool,
    /// The desk asks nothing more after a goodbye.
    pub is_goodbye: bool,
    pub asks: bool,
    /// Neither the rules nor the model know what it is about.
    pub is_unclear: bool,
    /// What it wants to know about the detail that the desk asked for.
    pub help: Option<Help>,
    /// It was only an aside, which was answered.
    pub is_aside: bool,
    /// It adds something to the request that the desk asks about, such as the new address.
    pub adds_detail: bool,
    /// It contains a no or a "wait" and does not ask for a return, so a language model makes none on it.
    pub is_held_back: bool,
    /// It may name an order in a way that the rules cannot read.
    pub may_name_order: bool,
    /// It calls off a request that has its ticket.
    pub called_off: bool,
}

/// How the customer shows that the order is theirs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OrderContact {
    /// The desk asks for a contact of the order before it looks the order up.
    #[serde(rename = "needs_contact")]
    pub is_needed: bool,
    /// The customer gave the contact for this order, not only for an earlier one.
    #[serde(rename = "contact_given")]
    pub is_given: bool,
    /// A second contact that was given together with the first.
    #[serde(rename = "other_contact")]
    pub other: Option<String>,
}

impl Case {
    /// Returns how often in a row the question has been repeated once it is asked now.
    pub fn repetitions(&self, question: Question) -> u32 {
        match self.last_question {
            Some(last) if last.is_like(question) => {
                self.repeats + u32::from(!self.message.is_aside && !self.message.adds_detail)
            }
            _ => 0,
        }
    }

    /// Forgets which question was asked last: what the desk asks next has not been asked before.
    pub fn forget_question(&mut self) {
        self.last_question = None;
        self.repeats = 0;
    }
}

/// The state of one flow, and what is kept from flow to flow in `meta`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct State {
    pub case: Case,
    pub stage: Stage,
    pub phase: Phase,
    pub handoff: HandoffStatus,
    pub meta: Meta,
}

impl State {
    /// Begins a new flow, which keeps [`Meta`] alone.
    #[must_use]
    pub fn next_flow(self) -> Self {
        let meta = Meta { idempotency_key: None, flow: self.meta.flow + 1, ..self.meta };
        let contact = OrderContact { is_needed: self.case.contact.is_needed, ..OrderContact::default() };
        let case = Case { contact, ..Case::default() };
        Self { case, meta, ..Self::default() }
    }

    /// Returns how soon a person should look: `HIGH` for damage. The language model may raise it, and may lower it where the
    /// rules do not decide.
    pub fn priority(&self, reason: HandoffReason) -> Priority {
        let is_damage =
            self.case.damage_reported || self.decision().is_some_and(|decision| decision.cause == Cause::Damaged);
        let urgency = self.case.urgency;
        let least = match reason {
            HandoffReason::DamageLater | HandoffReason::DamagedButRefused => Priority::High,
            HandoffReason::Review | HandoffReason::Assistant if is_damage => Priority::High,
            HandoffReason::Assistant if urgency.is_some() => Priority::Low,
            HandoffReason::Review
            | HandoffReason::Person
            | HandoffReason::Assistant
            | HandoffReason::GaveUp
            | HandoffReason::Request => Priority::Medium,
        };
        least.max(urgency.unwrap_or(Priority::Low))
    }

    /// Forgets the order, so that another one can be named.
    pub fn forget_order(&mut self) {
        self.stage = Stage::NoOrder;
        self.case.contact.is_given = false;
        self.case.contact.other = None;
    }

    /// Takes this number as the flow's order.
    pub fn name_order(&mut self, number: Option<OrderNumber>, confidence: f64) {
        self.stage = number.map_or(Stage::NoOrder, |number| Stage::Named { number, confidence });
    }

    /// Returns the number of the flow's order, found or not.
    pub fn order_number(&self) -> Option<&OrderNumber> {
        match &self.stage {
            Stage::NoOrder | Stage::Declined => None,
            Stage::Named { number, .. } => Some(number),
            Stage::Found(subject) => Some(&subject.order.number),
        }
    }

    /// Returns the order that was found, with what was decided about it.
    pub fn subject(&self) -> Option<&Subject> {
        if let Stage::Found(subject) = &self.stage { Some(subject) } else { None }
    }

    pub fn subject_mut(&mut self) -> Option<&mut Subject> {
        if let Stage::Found(subject) = &mut self.stage { Some(subject) } else { None }
    }

    pub fn order(&self) -> Option<&OrderSnapshot> {
        self.subject().map(|subject| &subject.order)
    }

    /// Returns the lines that come back. `None` means every line that can.
    pub fn lines(&self) -> Option<&Vec<u32>> {
        self.subject()?.lines.as_ref()
    }

    pub fn decision(&self) -> Option<&Decision> {
        self.subject()?.progress.decision()
    }

    /// Returns the action that the customer wants.
    pub fn action(&self) -> Option<Action> {
        self.subject()?.progress.action()
    }

    /// Whether the customer said yes to the action.
    pub fn is_agreed(&self) -> bool {
        self.subject().is_some_and(|subject| subject.progress.is_agreed())
    }

    /// Whether the customer does not want to continue.
    pub fn is_declined(&self) -> bool {
        let is_declined = |subject: &Subject| matches!(subject.progress, Progress::Declined(_));
        self.stage == Stage::Declined || self.subject().is_some_and(is_declined)
    }

    /// Whether the flow ended with a refusal, about which the customer may still argue.
    pub fn was_refused(&self) -> bool {
        matches!(self.phase, Phase::Over | Phase::Asked(Question::Matter)) && self.is_refused()
    }

    /// Whether the flow ended with a refusal that only a person may change. An order that is on its way has to be waited for.
    pub fn may_argue(&self) -> bool {
        let is_final =
            |cause| matches!(cause, Cause::WindowOver | Cause::FinalSale | Cause::NotReturnable | Cause::Rejected);
        self.was_refused() && self.decision().is_some_and(|decision| is_final(decision.cause))
    }

    /// Whether the rules refused, and no person looks at it.
    pub fn is_refused(&self) -> bool {
        let Some(Progress::Decided { decision, .. }) = self.subject().map(|subject| &subject.progress) else {
            return false;
        };
        !decision.eligible && self.handoff == HandoffStatus::None
    }

    /// Whether the customer wants some pieces of an item back that the shop only books as a whole.
    pub fn wants_some_pieces(&self) -> bool {
        let is_request = self.case.intent.is_some_and(Intent::is_request);
        let names_fewer = |subject: &Subject| {
            self.case.some_pieces || self.case.pieces.is_some_and(|named| subject.has_more_pieces_than(named))
        };
        !is_request && self.subject().is_some_and(|subject| subject.has_more_pieces_than(1) && names_fewer(subject))
    }

    /// Whether no flow is going on.
    pub fn is_idle(&self) -> bool {
        self.case.intent.is_none() || self.phase == Phase::Over
    }

    /// Returns the question that the customer has not answered yet.
    pub fn open_question(&self) -> Option<Question> {
        match self.phase {
            Phase::Asked(question) => Some(question),
            Phase::Working | Phase::Failed(_) | Phase::Over => None,
        }
    }

    /// Returns the ticket that the flow made or found, with its mail.
    pub fn ticket(&self) -> Option<&FlowTicket> {
        if let Progress::Ticketed { ticket, .. } = &self.subject()?.progress { Some(ticket) } else { None }
    }

    pub fn ticket_mut(&mut self) -> Option<&mut FlowTicket> {
        if let Progress::Ticketed { ticket, .. } = &mut self.subject_mut()?.progress { Some(ticket) } else { None }
    }

    pub fn action_ticket(&self) -> Option<&ActionTicket> {
        self.ticket().map(|of_flow| &of_flow.ticket)
    }

    pub fn email_status(&self) -> Option<EmailStatus> {
        self.ticket().and_then(FlowTicket::email_status)
    }
}
