//! The next state after an event; [`message`] handles messages of the customer.

use super::route::{action_of, can_be_cancelled, review_of};
use super::rules::Utterance;
use super::scenario::Scenario;
use super::state::{
    ActionTicket, EmailStatus, Ending, FlowTicket, HandoffReason, Intent, OrderSnapshot, Question, Stage, State,
    TicketStatus, Trouble,
};
use super::texts::VariantPicker;
use crate::domain::commerce::Money;
use crate::domain::commerce::OrderNumber;
use crate::domain::returns::{Action, Cause, Decision, RmaNumber};

mod message;

pub use message::misses_mail;

/// A message of the customer, or the result of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Said(Utterance),
    Classified(Option<Intent>),
    SlotFilled(Option<OrderNumber>),
    /// The order, and the lines that the customer named, if any.
    OrderFound(OrderSnapshot, Option<Vec<u32>>),
    /// The customer gave two contacts, and the second one is the order's.
    WithContact(String, Box<Event>),
    OrderNotFound,
    OrderLocked,
    /// The contact that opened another order does not open this one. No miss was counted.
    OtherContact,
    StatusShown,
    /// The decision and its lines, which stay the same from now on.
    Decided(Decision, Vec<u32>),
    /// The rules refused when the ticket was to be made, though they had agreed before.
    Refused(Decision),
    /// The same request has a ticket already.
    AskedBefore(ActionTicket),
    ActionDecided,
    Ticketed(Ticketed),
    Mailed(EmailStatus),
    Escalated(String),
    Asked(Question),
    Finished(Ending),
    /// The shop's system failed.
    Failed,
    /// The step sent texts; these are their variants.
    Spoke(Vec<(Scenario, usize)>, Box<Event>),
}

impl Event {
    /// Returns the event of a step that sent texts with these variants.
    pub fn after_texts(variants: VariantPicker<'_>, event: Self) -> Self {
        Self::Spoke(variants.used(), Box::new(event))
    }
}

/// A ticket that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticketed {
    pub ticket: ActionTicket,
    /// `None` if the ticket cancels an order.
    pub rma: Option<RmaNumber>,
    pub refund: Option<Money>,
    /// The idempotency key.
    pub key: String,
}

/// How sure an order number is that the model read.
pub(super) const MODEL_CONFIDENCE: f64 = 0.6;

/// Returns the next state. An event that does not fit changes nothing.
pub fn advance(mut state: State, event: Event) -> State {
    match event {
        Event::Said(utterance) => return message::after_message(state, &utterance),
        Event::Spoke(said, event) => {
            state.meta.said.extend(said);
            return advance(state, *event);
        }
        Event::WithContact(contact, event) => {
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
            // The number may be wrong and the contact right: keep the contact for the next number.
            state.meta.tried = state.order_number.take();
            state.forget_order();
            state.stage = Stage::Failed(Trouble::OrderNotFound);
        }
        Event::OrderLocked => {
            state.meta.tried = state.order_number.take();
            state.forget_order();
            state.stage = Stage::Failed(Trouble::OrderLocked);
        }
        Event::OtherContact => {
            state.meta.contact = None;
            state.meta.contact_fits = false;
        }
        Event::StatusShown => state.status_shown = true,
        Event::Decided(decision, lines) => {
            if let Some(reason) = review_of(&decision).or(damage_besides_refusal(&state, &decision)) {
                state.handoff.request(reason);
            }
            state.lines = Some(lines);
            if can_be_cancelled(&decision) && state.agreed_to_cancel {
                state.desired_action = Some(Action::Cancel);
            }
            state.eligibility = Some(decision);
        }
        Event::Refused(decision) => {
            if let Some(reason) = review_of(&decision) {
                state.handoff.request(reason);
            }
            state.desired_action = None;
            state.eligibility = Some(decision);
        }
        Event::AskedBefore(ticket) => {
            remember_return(&mut state, ticket.id.parse().ok());
            set_ticket(&mut state, ticket);
            hand_over_damage(&mut state);
        }
        Event::ActionDecided => state.desired_action = action_of(&state),
        Event::Ticketed(made) => {
            set_ticket(&mut state, made.ticket).refund = made.refund;
            state.meta.idempotency_key = Some(made.key);
            remember_return(&mut state, made.rma);
            hand_over_damage(&mut state);
        }
        Event::Mailed(status) => {
            if let Some(FlowTicket { mail, .. }) = &mut state.ticket {
                *mail = mail.with_status(status);
            }
        }
        Event::Escalated(ticket) => {
            state.meta.last_ticket = Some(ticket.clone());
            state.meta.is_ticket_settled = false;
            state.handoff.open(ticket);
        }
        Event::Asked(question) => {
            state.clarifies += u32::from(question == Question::Matter);
            state.stage = Stage::Asked(question);
        }
        Event::Finished(_) => state.stage = Stage::Over,
        Event::Failed => state.stage = Stage::Failed(Trouble::Internal),
        Event::OrderFound(..) => {}
    }
    state
}

/// Stores the flow's ticket, and keeps the mail status of an earlier one.
fn set_ticket(state: &mut State, ticket: ActionTicket) -> &mut FlowTicket {
    let of_flow = state.ticket.get_or_insert_with(|| FlowTicket::new(ticket.clone()));
    of_flow.ticket = ticket;
    of_flow
}

/// Keeps the return as the conversation's last one.
fn remember_return(state: &mut State, rma: Option<RmaNumber>) {
    if rma.is_some() {
        state.meta.last_rma = rma;
        state.meta.last_returned = state.order_number.clone();
    }
}

/// A person looks at damaged goods even if the rules do not take them back.
fn damage_besides_refusal(state: &State, decision: &Decision) -> Option<HandoffReason> {
    let is_final = matches!(decision.cause, Cause::FinalSale | Cause::NotReturnable | Cause::WindowOver);
    (is_final && state.damage_told).then_some(HandoffReason::DamageTold)
}

/// Hands damage over that the customer reports when asking for the same return again: the rules decided without it.
fn hand_over_damage(state: &mut State) {
    let is_duplicate = state.action_ticket().is_some_and(|ticket| {
        let rma = state.meta.last_rma.as_ref();
        ticket.status == TicketStatus::Duplicate && rma.is_some_and(|rma| ticket.id == rma.as_str())
    });
    if state.damage_told && is_duplicate {
        state.handoff.request(HandoffReason::DamageLater);
    }
}

#[cfg(test)]
mod tests;
