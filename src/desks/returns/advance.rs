//! The next state after an event, and its effects; [`message`] handles messages of the customer.

use super::record::{Decided, SoFar};
use super::route::{Step, action_of, review_of, route};
use super::rules::Utterance;
use super::say::CLARIFIES;
use super::scenario::Scenario;
use super::state::{
    ActionTicket, EmailStatus, Ending, HandoffReason, Intent, OrderSnapshot, Phase, Question, Stage, State, Subject,
    TicketStatus, Trouble,
};
use super::texts::VariantPicker;
use crate::domain::commerce::{Money, OrderNumber};
use crate::domain::returns::{Action, Cause, Decision, RmaNumber, TicketNumber};

mod message;

pub use message::misses_mail;

/// What the desk does after an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Records what the customer decided with a message.
    Record(Decided),
    Step(Step),
}

/// Returns the next state and its effects.
pub fn advance(state: State, event: Event) -> (State, Vec<Effect>) {
    let before = matches!(event, Event::Said(_)).then(|| SoFar::of(&state));
    let next = next_state(state, event);
    let decisions = before.map(|before| before.until(&next)).unwrap_or_default();
    let effects = decisions.into_iter().map(Effect::Record).chain(next_effect(&next)).collect();
    (next, effects)
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
    OrderNotFound,
    OrderLocked,
    /// The contact that opened another order does not open this one. No miss was counted.
    OtherContact,
    StatusShown,
    /// The decision, its lines, which stay the same from now on, and what the customer would get back for them.
    Decided(Decision, Vec<u32>, Money),
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
        Event::Classified(Some(intent)) => {
            state.case.intent = Some(intent);
            state.case.clarifies = 0;
        }
        Event::Classified(None) if state.case.clarifies > CLARIFIES => {
            state.handoff.request(HandoffReason::GaveUp);
        }
        Event::Classified(None) => state.case.is_unclear = true,
        Event::SlotFilled(number) => {
            state.case.may_name_order = false;
            state.name_order(number, MODEL_CONFIDENCE);
        }
        Event::OrderFound(order, lines) => match state.stage {
            Stage::Named { ref number, confidence } if *number == order.number || is_shop_number(number) => {
                state.case.ticket_asked =
                    number.as_str().parse().ok().map(|ticket: TicketNumber| ticket.as_str().to_owned());
                state.stage = Stage::Found(Box::new(Subject { lines, ..Subject::new(order, confidence) }));
                state.meta.contact_fits = state.meta.contact.is_some();
                state.meta.tried = None;
            }
            _ => {}
        },
        // The number may be wrong and the contact right: keep the contact for the next number.
        Event::OrderNotFound => fail(&mut state, Trouble::OrderNotFound),
        Event::OrderLocked => fail(&mut state, Trouble::OrderLocked),
        Event::OtherContact => {
            state.meta.contact = None;
            state.meta.contact_fits = false;
        }
        Event::StatusShown => {
            if let Some(subject) = state.subject_mut() {
                subject.status_shown = true;
            }
            // The ticket may hold a question, which the next message answers.
            if let Some(ticket) = state.case.ticket_asked.take() {
                state.meta.last_ticket = Some(ticket);
                state.meta.is_ticket_settled = false;
            }
        }
        Event::Decided(decision, lines, refund) => {
            if let Some(reason) = review_of(&decision).or(damage_besides_refusal(&state, &decision)) {
                state.handoff.request(reason);
            }
            if let Some(subject) = state.subject_mut() {
                subject.lines = Some(lines);
                subject.refund = Some(refund);
                subject.progress.decide(decision);
            }
            // What the desk asks now has not been asked before.
            state.case.last_question = None;
        }
        Event::Refused(decision) => {
            if let Some(reason) = review_of(&decision) {
                state.handoff.request(reason);
            }
            if let Some(subject) = state.subject_mut() {
                subject.progress.decide(decision);
            }
        }
        Event::AskedBefore(ticket) => {
            remember_return(&mut state, ticket.id.parse().ok());
            if let Some(subject) = state.subject_mut() {
                subject.progress.set_ticket(ticket, None);
            }
            hand_over_damage(&mut state);
        }
        Event::ActionDecided => {
            let action = state.decision().and_then(|decision| action_of(&state.case, decision));
            if let Some(subject) = state.subject_mut() {
                subject.progress.choose(action);
            }
        }
        Event::Ticketed(made) => {
            if let Some(subject) = state.subject_mut() {
                subject.refund = made.refund.or(subject.refund);
                subject.progress.set_ticket(made.ticket, Some(made.action));
            }
            if made.action == Action::Cancel {
                // A person decides it, as an escalation.
                state.meta.last_ticket = state.action_ticket().map(|ticket| ticket.id.clone());
                state.meta.is_ticket_settled = false;
            }
            state.meta.idempotency_key = Some(made.key);
            remember_return(&mut state, made.rma);
            hand_over_damage(&mut state);
        }
        Event::Mailed(status) => {
            if let Some(ticket) = state.ticket_mut() {
                ticket.mail = ticket.mail.with_status(status);
            }
        }
        Event::Escalated(ticket) => {
            state.meta.last_ticket = Some(ticket.clone());
            state.meta.is_ticket_settled = false;
            state.handoff.open(ticket);
        }
        Event::Asked(question) => {
            state.case.clarifies += u32::from(question == Question::Matter);
            let is_repeated = state.case.last_question.is_some_and(|last| last.is_like(question));
            state.case.repeats = if is_repeated { state.case.repeats + 1 } else { 0 };
            state.case.last_question = Some(question);
            state.phase = Phase::Asked(question);
        }
        Event::Finished(_) => state.phase = Phase::Over,
        Event::Failed => state.phase = Phase::Failed(Trouble::Internal),
    }
    state
}

/// Whether this is the number of a return or a ticket, which stands for its order.
pub(super) fn is_shop_number(number: &OrderNumber) -> bool {
    number.as_str().parse::<RmaNumber>().is_ok() || number.as_str().parse::<TicketNumber>().is_ok()
}

/// Forgets an order that was not found.
fn fail(state: &mut State, trouble: Trouble) {
    state.meta.tried = state.order_number().cloned();
    state.forget_order();
    state.phase = Phase::Failed(trouble);
}

/// Keeps the return as the conversation's last one.
fn remember_return(state: &mut State, rma: Option<RmaNumber>) {
    if rma.is_some() {
        state.meta.last_rma = rma;
        state.meta.last_returned = state.order_number().cloned();
    }
}

/// A person looks at damaged goods even if the rules do not take them back.
fn damage_besides_refusal(state: &State, decision: &Decision) -> Option<HandoffReason> {
    let is_final = matches!(decision.cause, Cause::FinalSale | Cause::NotReturnable | Cause::WindowOver);
    (is_final && state.case.damage_told).then_some(HandoffReason::DamageTold)
}

/// Hands damage over that the customer reports when asking for the same return again: the rules decided without it.
fn hand_over_damage(state: &mut State) {
    let is_duplicate = state.action_ticket().is_some_and(|ticket| {
        let rma = state.meta.last_rma.as_ref();
        ticket.status == TicketStatus::Duplicate && rma.is_some_and(|rma| ticket.id == rma.as_str())
    });
    if state.case.damage_told && is_duplicate {
        state.handoff.request(HandoffReason::DamageLater);
    }
}

#[cfg(test)]
mod tests;
