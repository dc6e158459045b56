//! Goods that a message named after the first ones: they are looked for when the first ones are in the cart.

use super::super::advance::Next;
use super::super::effect::{Effect, Known, Line};
use super::super::state::{ConversationState, Search, Wanted};
use super::{complete, search};

impl ConversationState {
    /// Takes the next goods that are waiting.
    fn next_search(&mut self) -> Option<Search> {
        let next = (!self.later.is_empty()).then(|| self.later.remove(0))?;
        (self.is_later, self.details) = (true, next.details.clone());
        Some(next)
    }
}

/// Continues with the next goods after a cart was stored.
pub(super) fn next_goods(mut state: ConversationState) -> Result<Next, Box<ConversationState>> {
    let Some(next) = state.next_search() else { return Err(Box::new(state)) };
    if !next.words.is_empty() {
        return Ok(search(state, next));
    }
    // Another choice of the same goods.
    let Some(last) = state.last.clone() else { return Err(Box::new(state)) };
    let mut wanted = Wanted { quantity: None, ..last };
    match wanted.take(&next.details) {
        Some(choice) => Ok(or_next(state, Line::NoSuchChoice { item: wanted.item, choice })),
        None if next.is_question => Ok(or_next(state, Line::Details(wanted, Known::Plain))),
        None => Ok(complete(state, wanted, None)),
    }
}

/// Says that goods cannot be had, and continues with the next ones.
pub(super) fn or_next(mut state: ConversationState, line: Line) -> Next {
    let mut effects = vec![Effect::Say(line)];
    state.replaces = false;
    while let Some(next) = state.next_search() {
        if !next.words.is_empty() {
            let (state, more) = search(state, next);
            effects.extend(more);
            return (state, effects);
        }
    }
    (state, effects)
}

/// Shows the cart before a question about goods that were named later, so that the first ones are not forgotten.
pub(in crate::desks::commerce) fn show_first(state: &mut ConversationState, effects: &mut Vec<Effect>) {
    let shows_cart = effects.iter().any(|effect| matches!(effect, Effect::Say(Line::Cart { .. })));
    let is_end = effects.iter().all(|effect| matches!(effect, Effect::Say(_)));
    if !shows_cart && !is_end {
        return;
    }
    let is_later = std::mem::take(&mut state.is_later);
    if let Some(sale) = state.order.clone().filter(|_| is_later && !shows_cart) {
        let cart = Line::Cart { sale: Box::new(sale), offers: Vec::new(), is_paid_next: true };
        effects.insert(0, Effect::Say(cart));
    }
}
