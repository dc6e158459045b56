//! Requests that a person settles: an exchange, a wrong or missing item, a double charge, an address, an invoice.

use super::super::super::rules::{Topic, Utterance};
use super::super::super::state::{Case, Intent, Stage, State, Subject};
use super::{cancels, changes_intent};
use crate::domain::commerce::OrderStatus;
use crate::nlu::entities::{Confidence, Found};

/// Whether the message adds to a request for a person: it does not answer, and asks for nothing else.
pub(super) fn adds_detail(case: &Case, utterance: &Utterance) -> bool {
    let Some(request) = case.intent.filter(|intent| intent.is_request()) else { return false };
    utterance.answer_to_ticket.is_none()
        // A question with "rather" or "but" is for the person as well.
        && (utterance.has_question() || !utterance.hesitates())
        && !utterance.explanation.is_empty()
        && utterance.intent.is_none_or(|intent| intent == request || covers(request, intent))
}

/// Whether a number in the message belongs to the request that the desk asks about, and names no other order: "VAT number IT01234567890".
pub(super) fn is_number_of_request(state: &State, utterance: &Utterance, found: &Found) -> bool {
    let now = state.case.intent.filter(|intent| intent.is_request());
    now.is_some_and(|now| utterance.intent.is_none_or(|intent| intent == now))
        && found.confidence == Confidence::Bare
        && utterance.answer_to_ticket.is_none()
        && !utterance.only_answers()
        && !utterance.has_question()
}

/// Reads "but nothing came" after the status of a delivered order as a report of missing goods.
pub(super) fn in_context(state: &State, utterance: &Utterance) -> Option<Utterance> {
    let counts_as_delivered = state.order()?.status == OrderStatus::Delivered;
    let asks_status = matches!(utterance.intent, None | Some(Intent::OrderStatus));
    let is_missing = counts_as_delivered && asks_status && utterance.reports(Topic::NothingCame);
    let was_shown = state.subject().is_some_and(|subject| subject.status_shown);
    (is_missing && was_shown && utterance.order().is_none())
        .then(|| Utterance { intent: Some(Intent::MissingItem), ..utterance.clone() })
}

/// Whether a message with this intent stays with the request: money for a mistake of the shop is for the person to decide.
pub(super) fn covers(request: Intent, intent: Intent) -> bool {
    request.is_mistake() && intent.is_return()
}

/// Returns what the message wants in addition to what the desk asks about: "yes, and I need an invoice".
pub(super) fn further_wish(state: &State, utterance: &Utterance) -> Option<Intent> {
    let (now, intent) = (state.case.intent?, utterance.intent?);
    let is_additional = now.is_paperwork() || intent.is_paperwork();
    (changes_intent(state, utterance) && is_additional && intent != Intent::OrderStatus).then_some(intent)
}

/// Begins a flow about the same order for what the customer wanted as well.
pub fn continue_with(state: State, intent: Intent) -> State {
    let subject = state.subject().map(|subject| Subject::new(subject.order.clone(), subject.confidence));
    let mut next = state.next_flow();
    next.case.intent = Some(intent);
    next.stage = subject.map_or(Stage::NoOrder, |subject| Stage::Found(Box::new(subject)));
    next
}

/// Whether "cancel it", instead of a yes to a ticket, means the order: it is still in the shop. The desk asks before it cancels.
pub(super) fn cancels_instead(state: &State, utterance: &Utterance) -> bool {
    let is_in_shop = state.order().is_some_and(|order| order.status == OrderStatus::Pending);
    is_in_shop && state.case.intent.is_some_and(Intent::is_request) && cancels(utterance)
}

/// Takes the wish to cancel the order instead of the request.
pub(super) fn cancel_order(mut state: State) -> State {
    state.case.intent = Some(Intent::Return);
    state.case.wants_cancel = true;
    state.case.forget_question();
    state
}
