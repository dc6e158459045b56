//! The flow that begins with a message behind the end of another one.

use crate::desks::returns::rules::{Answer, Heard};
use crate::desks::returns::state::{Escalate, Intent, State};
use crate::domain::commerce::OrderNumber;

/// The flow after one that is over. What names no order of its own may be about the one that was just talked of.
pub(super) fn next_flow(state: State, heard: &Heard) -> State {
    let (was_refused, status_shown) = (state.was_refused(), state.status_shown);
    let (order, intent, lines) = (state.order.clone(), state.intent, state.lines.clone());
    let waiting = state.meta.waiting.clone();
    let mut next = state.next_flow();
    if let Some(number) = waiting_order(&waiting, heard) {
        next.meta.waiting.retain(|other| *other != number);
        next.intent = heard.intent.or(intent);
        next.order_match_confidence = Some(1.0);
        next.order_number = Some(number);
        return next;
    }
    next.meta.waiting.clear();
    let names_nothing = heard.number.is_none() && heard.contact.is_none();
    if names_nothing && matches!(heard.answer, Some(Answer::No | Answer::Cancel)) && heard.intent.is_none() {
        next.intent = Some(Intent::Other);
        return next;
    }
    // A return of that order that was made here is where its damage belongs.
    let has_return = order.as_ref().is_some_and(|order| next.meta.last_returned.as_ref() == Some(&order.number));
    let stays = match heard.intent {
        _ if heard.damage => (was_refused || status_shown) && !has_return,
        // The desk asks whether it is this order.
        Some(Intent::Return | Intent::Refund) => status_shown,
        Some(Intent::OrderStatus) => order.is_some() && heard.points_back,
        _ => was_refused && (heard.asks_exception || heard.wants_person),
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
        next.escalate = Some(if heard.damage { Escalate::DamageTold } else { Escalate::Person });
    }
    next
}

/// The order that was named before this one, where it is gone on with.
fn waiting_order(waiting: &[OrderNumber], heard: &Heard) -> Option<OrderNumber> {
    match &heard.number {
        Some(found) => waiting.iter().find(|number| **number == found.number).cloned(),
        None if heard.answer == Some(Answer::Yes) && heard.intent.is_none() => waiting.first().cloned(),
        None => None,
    }
}
