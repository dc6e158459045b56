//! The flow that begins with a message behind the end of another one.

use crate::desks::returns::rules::{Topic, Utterance};
use crate::desks::returns::state::{Escalate, Intent, State};
use crate::dialogue::Answer;
use crate::domain::commerce::OrderNumber;

/// The flow after one that is over. What names no order of its own may be about the one that was just talked of.
pub(super) fn next_flow(state: State, utterance: &Utterance) -> State {
    let (was_refused, status_shown) = (state.was_refused(), state.status_shown);
    let (order, intent, lines) = (state.order.clone(), state.intent, state.lines.clone());
    let waiting = state.meta.waiting.clone();
    let mut next = state.next_flow();
    if let Some(number) = waiting_order(&waiting, utterance) {
        next.meta.waiting.retain(|other| *other != number);
        next.intent = utterance.intent.or(intent);
        next.order_match_confidence = Some(1.0);
        next.order_number = Some(number);
        return next;
    }
    next.meta.waiting.clear();
    let names_nothing = utterance.order().is_none() && utterance.contact().is_none();
    if names_nothing && matches!(utterance.answer, Some(Answer::No | Answer::Cancel)) && utterance.intent.is_none() {
        next.intent = Some(Intent::Other);
        return next;
    }
    // A return of that order that was made here is where its damage belongs.
    let has_return = order.as_ref().is_some_and(|order| next.meta.last_returned.as_ref() == Some(&order.number));
    let stays = match utterance.intent {
        _ if utterance.reports(Topic::Damage) => (was_refused || status_shown) && !has_return,
        // The desk asks whether it is this order.
        Some(Intent::Return | Intent::Refund) => status_shown,
        Some(Intent::OrderStatus) => order.is_some() && utterance.points_back(),
        _ => was_refused && (utterance.asks(Topic::Exception) || utterance.wants_person()),
    };
    if !stays || !names_nothing {
        return next;
    }
    next.order_number = order.as_ref().map(|order| order.number.clone());
    next.order_match_confidence = Some(1.0);
    next.order = order;
    if was_refused {
        next.intent = intent;
        next.lines = lines;
        next.escalate = Some(if utterance.reports(Topic::Damage) { Escalate::DamageTold } else { Escalate::Person });
    }
    next
}

/// The order that was named before this one, where it is gone on with.
fn waiting_order(waiting: &[OrderNumber], utterance: &Utterance) -> Option<OrderNumber> {
    match utterance.order() {
        Some(found) => waiting.iter().find(|number| **number == found.number).cloned(),
        None if utterance.answer == Some(Answer::Yes) && utterance.intent.is_none() => waiting.first().cloned(),
        None => None,
    }
}
