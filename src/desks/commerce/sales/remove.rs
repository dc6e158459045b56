//! Takes goods out of the cart.

use super::super::advance::Next;
use super::super::effect::Effect;
use super::super::said::{MOST_PIECES, Said};
use super::super::state::ConversationState;
use super::answer::is_same;
use super::show_cart;
use crate::domain::text::words;
use crate::nlu::pick::Pick;

/// Takes goods out of the cart: those that are named, else the last ones.
pub(super) fn remove(mut state: ConversationState, said: &Said) -> Next {
    let sale = state.order.as_ref();
    let names = |at: usize| {
        let name = sale.and_then(|sale| sale.lines.get(at)).map(|line| words(&line.name)).unwrap_or_default();
        said.words.iter().any(|word| name.iter().any(|own| is_same(own, word)))
    };
    // "The green ones", "the size 42".
    let has_choice = |at: usize| {
        let is_choice = |choice: &String| choice.parse::<u64>().ok().is_none_or(|number| number > MOST_PIECES);
        state.cart[at].choices.values().any(|choice| is_choice(choice) && said.details.has(choice))
    };
    let mut named: Vec<usize> = (0..state.cart.len()).filter(|at| names(*at)).collect();
    if named.len() != 1 {
        let chosen: Vec<usize> = (0..state.cart.len()).filter(|at| has_choice(*at)).collect();
        let both: Vec<usize> = chosen.iter().copied().filter(|at| named.is_empty() || named.contains(at)).collect();
        named = if both.is_empty() { named } else { both };
    }
    let at = match (named.as_slice(), said.option(state.cart.len())) {
        ([], Some(at)) => Some(at),
        // "Let me ask her first. Remove it for now."
        ([], None) => state.cart.len().checked_sub(1).filter(|_| said.words.is_empty() || said.pick == Some(Pick::It)),
        ([at, ..], _) => Some(*at),
    };
    match at {
        Some(at) => {
            // "Remove one"; and "the last one" is what was added last, which may be one piece more.
            let last = state.last.as_ref().filter(|last| last.item.id == state.cart[at].item);
            let added = last.filter(|_| said.pick == Some(Pick::Last)).map(|last| last.quantity.unwrap_or(1));
            let is_sure = !named.is_empty() || state.cart.len() == 1;
            let named = said.details.numbers.first().and_then(|number| u32::try_from(*number).ok());
            let pieces = added.or(named.filter(|_| is_sure));
            match pieces.and_then(|pieces| state.cart[at].quantity.checked_sub(pieces)) {
                Some(left @ 1..) => state.cart[at].quantity = left,
                _ => drop(state.cart.remove(at)),
            }
        }
        None => return show_cart(state),
    }
    if state.cart.is_empty() {
        state.clear_cart();
        return (state, vec![Effect::CancelOrder]);
    }
    (state, vec![Effect::PlaceOrder])
}
