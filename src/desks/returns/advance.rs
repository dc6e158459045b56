//! The next state after an event, and its effects; [`message`] handles messages of the customer.

use super::record::{Decided, DecisionState};
use super::route::{Step, action_of, route};
use super::rules::Utterance;
use super::scenario::Scenario;
use super::state::{ActionTicket, EmailStatus, Ending, Intent, Mail, OrderSnapshot, Phase, Question, State, Trouble};
use super::texts::VariantPicker;
use crate::domain::commerce::{Money, OrderNumber};
use crate::domain::returns::{Action, Decision, RmaNumber, TicketNumber};

mod message;
mod results;

pub use message::misses_mail;
use results::{
    await_ticket, fail, take_amount, take_classified, take_decision, take_earlier_ticket, take_order, take_refusal,
    take_status, take_ticket,
};

/// What the desk does after an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Records what the customer decided with a message.
    Record(Decided),
    Step(Step),
}

/// Returns the next state after the result of a step, and its effects.
pub fn advance(state: State, event: Event) -> (State, Vec<Effect>) {
    let next = next_state(state, event);
    let effects = next_effect(&next).into_iter().collect();
    (next, effects)
}

/// Returns the effects of a message, given the states before and after it.
pub fn effects_of_message(before: &State, after: &State) -> Vec<Effect> {
    let decisions = DecisionState::of(before).decisions_until(after);
    decisions.into_iter().map(Effect::Record).chain(next_effect(after)).collect()
}

/// Returns the effect that follows from a state alone. `None` means that the desk waits for the customer.
pub fn next_effect(state: &State) -> Option<Effect> {
    Some(route(state)).filter(|step| *step != Step::Wait).map(Effect::Step)
}

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
    /// The question that came with the order was answered.
    InsteadOfStatus(Box<Event>),
    OrderNotFound,
    OrderLocked,
    /// The contact that opened another order does not open this one. No miss was counted.
    OtherContact,
    StatusShown,
    /// The decision, its lines, which stay the same from now on, and what the customer would get back for them.
    Decided(Decision, Vec<u32>, Money),
    /// The rules refused when the ticket was to be made, though they had agreed before.
    Refused(Decision),
    /// The amount is not the one to which the customer agreed: the price has changed since.
    OtherAmount(Money),
    /// The same request has a ticket already.
    AskedBefore(ActionTicket),
    ActionDecided,
    Ticketed(Ticketed),
    Mailed(EmailStatus),
    /// The mail went to the address that the customer names. It is not sent there again: the desk asks for another address.
    MailedBefore,
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
    pub action: Action,
    /// `None` if the ticket cancels an order.
    pub rma: Option<RmaNumber>,
    pub refund: Option<Money>,
    /// The idempotency key.
    pub key: String,
}

/// How sure an order number is that the model read.
pub(super) const MODEL_CONFIDENCE: f64 = 0.6;

/// Returns the next state. An event that does not fit changes nothing.
pub fn next_state(mut state: State, event: Event) -> State {
    match event {
        Event::Said(utterance) => return message::after_message(state, &utterance),
        Event::Spoke(said, event) => {
            state.meta.said.extend(said);
            return next_state(state, *event);
        }
        Event::WithContact(contact, event) => {
            state.meta.contact = Some(contact);
            return next_state(state, *event);
        }
        Event::InsteadOfStatus(event) => {
            let mut state = next_state(state, *event);
            if state.case.intent == Some(Intent::OrderStatus) {
                take_status(&mut state);
            }
            return state;
        }
        Event::Classified(intent) => take_classified(&mut state, intent),
        Event::SlotFilled(number) => {
            state.case.message.may_name_order = false;
            state.name_order(number, MODEL_CONFIDENCE);
        }
        Event::OrderFound(order, lines) => take_order(&mut state, order, lines),
        // The number may be wrong and the contact right: keep the contact for the next number.
        Event::OrderNotFound => fail(&mut state, Trouble::OrderNotFound),
        Event::OrderLocked => fail(&mut state, Trouble::OrderLocked),
        Event::OtherContact => {
            state.meta.contact = None;
            state.meta.contact_fits = false;
        }
        Event::StatusShown => take_status(&mut state),
        Event::Decided(decision, lines, refund) => take_decision(&mut state, decision, lines, refund),
        Event::Refused(decision) => take_refusal(&mut state, decision),
        Event::OtherAmount(amount) => take_amount(&mut state, amount),
        Event::AskedBefore(ticket) => take_earlier_ticket(&mut state, ticket),
        Event::ActionDecided => {
            let action = state.decision().and_then(|decision| action_of(&state.case, decision));
            if let Some(subject) = state.subject_mut() {
                subject.progress.choose(action);
            }
        }
        Event::Ticketed(made) => take_ticket(&mut state, made),
        Event::Mailed(status) => {
            if let Some(ticket) = state.ticket_mut() {
                ticket.mail = ticket.mail.with_status(status);
            }
        }
        Event::MailedBefore => {
            if let Some(ticket) = state.ticket_mut() {
                ticket.mail = Mail::Missing(EmailStatus::Sent);
            }
        }
        Event::Escalated(ticket) => {
            await_ticket(&mut state, Some(ticket.clone()));
            state.handoff.open(ticket);
        }
        Event::Asked(question) => {
            state.case.clarifies += u32::from(question == Question::Matter);
            state.case.repeats = state.case.repetitions(question);
            state.case.last_question = Some(question);
            state.phase = Phase::Asked(question);
        }
        Event::Finished(_) => match state.case.also {
            Some(also) => return message::continue_with(state, also),
            None => state.phase = Phase::Over,
        },
        Event::Failed => state.phase = Phase::Failed(Trouble::Internal),
    }
    state
}

/// Whether this is the number of a return or a ticket, which stands for its order.
pub(super) fn is_shop_number(number: &OrderNumber) -> bool {
    number.as_str().parse::<RmaNumber>().is_ok() || number.as_str().parse::<TicketNumber>().is_ok()
}

#[cfg(test)]
mod tests;
