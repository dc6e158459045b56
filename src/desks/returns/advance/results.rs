//! The next state after the result of a step.

use super::super::route::review_of;
use super::super::say::CLARIFIES;
use super::super::state::{
    ActionTicket, HandoffReason, Intent, OrderSnapshot, Phase, Stage, State, Subject, TicketStatus, Trouble,
};
use super::{Ticketed, is_shop_number};
use crate::domain::commerce::Money;
use crate::domain::returns::{Action, Cause, Decision, RmaNumber, TicketNumber};

/// Takes the intent that the model found, if any.
pub(super) fn take_classified(state: &mut State, intent: Option<Intent>) {
    match intent {
        Some(intent) => {
            state.case.intent = Some(intent);
            state.case.clarifies = 0;
        }
        None if state.case.clarifies > CLARIFIES => {
            state.handoff.request(HandoffReason::GaveUp);
        }
        None => state.case.message.is_unclear = true,
    }
}

/// Takes the order that was looked up, if it is still the one that the flow is about.
pub(super) fn take_order(state: &mut State, order: OrderSnapshot, lines: Option<Vec<u32>>) {
    let Stage::Named { number, confidence } = &state.stage else { return };
    if *number != order.number && !is_shop_number(number) {
        return;
    }
    state.meta.remember_order(&order.number);
    state.case.ticket_asked = number.as_str().parse().ok().map(|ticket: TicketNumber| ticket.as_str().to_owned());
    state.case.rma_asked = number.as_str().parse().ok();
    state.stage = Stage::Found(Box::new(Subject { lines, ..Subject::new(order, *confidence) }));
    state.meta.contact_fits = state.meta.contact.is_some();
    state.meta.tried = None;
    state.case.question = None;
}

/// Notes that the order's status was shown. The ticket that the customer asked about may hold a question, which the next message
/// answers.
pub(super) fn take_status(state: &mut State) {
    if let Some(subject) = state.subject_mut() {
        subject.status_shown = true;
    }
    if let Some(ticket) = state.case.ticket_asked.take() {
        await_ticket(state, Some(ticket));
    }
}

/// Takes the rules' decision about these lines.
pub(super) fn take_decision(state: &mut State, decision: Decision, lines: Vec<u32>, refund: Money) {
    if let Some(reason) = review_of(&decision).or(damage_despite_refusal(state, &decision)) {
        state.handoff.request(reason);
    }
    if let Some(subject) = state.subject_mut() {
        subject.lines = Some(lines);
        subject.refund = Some(refund);
        subject.progress.decide(decision);
    }
    state.case.forget_question();
}

/// Takes a refusal of what the rules had allowed before.
pub(super) fn take_refusal(state: &mut State, decision: Decision) {
    if let Some(reason) = review_of(&decision) {
        state.handoff.request(reason);
    }
    if let Some(subject) = state.subject_mut() {
        subject.progress.decide(decision);
    }
}

/// Takes another amount than the one to which the customer agreed. The desk asks again.
pub(super) fn take_amount(state: &mut State, amount: Money) {
    if let Some(subject) = state.subject_mut() {
        subject.refund = Some(amount);
        subject.progress.take_back();
    }
    state.case.forget_question();
}

/// Takes the ticket of an earlier request for the same.
pub(super) fn take_earlier_ticket(state: &mut State, ticket: ActionTicket) {
    remember_return(state, ticket.id.parse().ok());
    if let Some(subject) = state.subject_mut() {
        subject.progress.set_ticket(ticket, None);
    }
    hand_over_damage(state);
}

/// Takes the ticket that was made.
pub(super) fn take_ticket(state: &mut State, made: Ticketed) {
    if let Some(subject) = state.subject_mut() {
        subject.refund = made.refund.or(subject.refund);
        subject.progress.set_ticket(made.ticket, Some(made.action));
    }
    if made.action == Action::Cancel {
        // A person decides it, as an escalation.
        let ticket = state.action_ticket().map(|ticket| ticket.id.clone());
        await_ticket(state, ticket);
    }
    state.meta.idempotency_key = Some(made.key);
    remember_return(state, made.rma);
    hand_over_damage(state);
}

/// Keeps the ticket as the conversation's last one, which a person decides.
pub(super) fn await_ticket(state: &mut State, ticket: Option<String>) {
    state.meta.last_ticket = ticket;
    state.meta.is_ticket_settled = false;
}

/// Forgets an order that was not found.
pub(super) fn fail(state: &mut State, trouble: Trouble) {
    state.meta.tried = state.order_number().cloned();
    state.forget_order();
    state.phase = Phase::Failed(trouble);
}

/// Keeps the return as the conversation's last one.
fn remember_return(state: &mut State, rma: Option<RmaNumber>) {
    if rma.is_some() {
        state.meta.last_rma = rma;
        state.meta.last_returned = state.order_number().cloned();
        state.meta.last_returned_lines = state.lines().cloned().unwrap_or_default();
    }
}

/// A person looks at damaged goods even if the rules do not take them back.
fn damage_despite_refusal(state: &State, decision: &Decision) -> Option<HandoffReason> {
    let is_final = matches!(decision.cause, Cause::FinalSale | Cause::NotReturnable | Cause::WindowOver);
    (is_final && state.case.damage_reported).then_some(HandoffReason::DamagedButRefused)
}

/// Hands damage over that the customer reports when asking for the same return again: the rules decided without it.
fn hand_over_damage(state: &mut State) {
    let is_duplicate = state.action_ticket().is_some_and(|ticket| {
        let rma = state.meta.last_rma.as_ref();
        ticket.status == TicketStatus::Duplicate && rma.is_some_and(|rma| ticket.id == rma.as_str())
    });
    if state.case.damage_reported && is_duplicate {
        state.handoff.request(HandoffReason::DamageLater);
    }
}
