//! What an event makes of the state; what the customer said is in `said`.

use super::route::{action_of, can_be_cancelled, review_of};
use super::rules::Utterance;
use super::scenario::Scenario;
use super::state::{
    ActionTicket, EmailStatus, Ending, Escalate, Intent, Question, SeenOrder, State, TicketStatus, Trouble,
};
use crate::domain::commerce::Money;
use crate::domain::commerce::OrderNumber;
use crate::domain::returns::{Action, Decision, RmaNumber, Why};

mod said;

pub use said::misses_mail;

/// What the customer said, or a step found.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Said(Utterance),
    Classified(Option<Intent>),
    SlotFilled(Option<OrderNumber>),
    /// The order, and the lines that the customer named, if any.
    OrderFound(SeenOrder, Option<Vec<u32>>),
    /// What came of the other one of two contacts that were given: it is the order's.
    Under(String, Box<Event>),
    OrderNotFound,
    OrderLocked,
    /// What opened another order does not open this one, if there is such an order: nothing was counted.
    OtherContact,
    StatusShown,
    /// The decision, and the lines that it is about: they stay the same from now on, whatever happens to the order.
    Decided(Decision, Vec<u32>),
    /// When it came to the ticket, the rules refused what they had allowed.
    Refused(Decision),
    /// The same was asked for before.
    AskedBefore(ActionTicket),
    ActionDecided,
    Ticketed(Ticketed),
    Mailed(EmailStatus),
    Escalated(String),
    Asked(Question),
    Finished(Ending),
    /// A step could not be taken, by the shop's own fault.
    Failed,
    /// Something was said on the way: the variant of each text.
    Spoke(Vec<(Scenario, usize)>, Box<Event>),
}

/// A ticket that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticketed {
    pub ticket: ActionTicket,
    /// `None`: the ticket calls an order off.
    pub rma: Option<RmaNumber>,
    pub refund: Option<Money>,
    /// The key under which it is made once.
    pub key: String,
}

/// The model's reading of a number is worth less than the rules'.
pub(super) const MODEL_CONFIDENCE: f64 = 0.6;

/// The next state. An event that does not fit changes nothing.
pub fn advance(mut state: State, event: Event) -> State {
    match event {
        Event::Said(utterance) => return said::said(state, &utterance),
        Event::Spoke(said, event) => {
            state.meta.said.extend(said);
            return advance(state, *event);
        }
        Event::Under(contact, event) => {
            state.meta.contact = Some(contact);
            return advance(state, *event);
        }
        Event::Classified(Some(intent)) => {
            state.intent = Some(intent);
            state.clarifies = 0;
        }
        Event::Classified(None) => state.is_unclear = true,
        Event::SlotFilled(number) => {
            state.may_name_order = false;
            state.order_match_confidence = number.as_ref().map(|_| MODEL_CONFIDENCE);
            state.order_number = number;
        }
        Event::OrderFound(order, lines) if state.order_number.as_ref() == Some(&order.number) => {
            state.lines = lines;
            state.order = Some(order);
            state.meta.contact_fits = state.meta.contact.is_some();
        }
        Event::OrderNotFound => {
            // The number may be the wrong one of the two: the contact is kept for the next number.
            state.meta.tried = state.order_number.take();
            state.forget_order();
            state.error = Some(Trouble::OrderNotFound);
        }
        Event::OrderLocked => {
            state.meta.tried = state.order_number.take();
            state.forget_order();
            state.error = Some(Trouble::OrderLocked);
        }
        Event::OtherContact => {
            state.meta.contact = None;
            state.meta.contact_fits = false;
        }
        Event::StatusShown => state.status_shown = true,
        Event::Decided(decision, lines) => {
            state.escalate = state.escalate.or(review_of(&decision)).or(damage_beside(&state, &decision));
            state.lines = Some(lines);
            if can_be_cancelled(&decision) && state.agreed_to_cancel {
                state.desired_action = Some(Action::Cancel);
            }
            state.eligibility = Some(decision);
        }
        Event::Refused(decision) => {
            state.escalate = state.escalate.or(review_of(&decision));
            state.desired_action = None;
            state.eligibility = Some(decision);
        }
        Event::AskedBefore(ticket) => {
            remember_return(&mut state, ticket.id.parse().ok());
            state.action_ticket = Some(ticket);
            hand_over_damage(&mut state);
        }
        Event::ActionDecided => state.desired_action = action_of(&state),
        Event::Ticketed(made) => {
            state.action_ticket = Some(made.ticket);
            state.refund = made.refund;
            state.meta.idempotency_key = Some(made.key);
            remember_return(&mut state, made.rma);
            hand_over_damage(&mut state);
        }
        Event::Mailed(status) if state.action_ticket.is_some() => state.email_status = Some(status),
        Event::Escalated(ticket) => {
            state.meta.last_ticket = Some(ticket.clone());
            state.meta.is_ticket_settled = false;
            state.escalation_ticket = Some(ticket);
        }
        Event::Asked(question) => {
            // The error has been told.
            state.error = None;
            state.clarifies += u32::from(question == Question::Matter);
            state.asked = Some(question);
        }
        Event::Finished(_) => state.conversation_complete = true,
        Event::Failed => state.error = Some(Trouble::Internal),
        Event::OrderFound(..) | Event::Mailed(_) => {}
    }
    state
}

/// The last return and its order, unless the ticket is for none.
fn remember_return(state: &mut State, rma: Option<RmaNumber>) {
    if rma.is_some() {
        state.meta.last_rma = rma;
        state.meta.last_returned = state.order_number.clone();
    }
}

/// Damage of goods that the rules do not take back: a person looks at it all the same.
fn damage_beside(state: &State, decision: &Decision) -> Option<Escalate> {
    let is_final = matches!(decision.why, Why::FinalSale | Why::NotReturnable | Why::WindowOver);
    (is_final && state.damage_told).then_some(Escalate::DamageTold)
}

/// Damage that was told while asking for what had been asked for before: the rules saw the goods as they were then.
fn hand_over_damage(state: &mut State) {
    let is_duplicate = state.action_ticket.as_ref().is_some_and(|ticket| {
        let rma = state.meta.last_rma.as_ref();
        ticket.status == TicketStatus::Duplicate && rma.is_some_and(|rma| ticket.id == rma.as_str())
    });
    if state.damage_told && is_duplicate {
        state.escalate = state.escalate.or(Some(Escalate::DamageLater));
    }
}

#[cfg(test)]
mod tests;
