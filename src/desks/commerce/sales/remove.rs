//! Takes goods out of the cart.

use std::collections::BTreeSet;

use super::super::advance::Next;
use super::super::effect::{Effect, Incoming, Line};
use super::super::rules::Says;
use super::super::said::{LARGEST_SIZE, MOST_PIECES, Said};
use super::super::state::{ConversationState, Wanted};
use super::super::texts::Text;
use super::answer::is_same;
use super::{next_goods, show_cart};
use crate::domain::commerce::CartLine;
use crate::domain::commerce::catalog::search::with_stems;
use crate::domain::text::words;
use crate::nlu::pick::Pick;

/// Takes goods out of the cart: those that are named, else the last ones. Named goods that the cart does not have are reported.
pub(super) fn remove(mut state: ConversationState, incoming: &Incoming) -> Next {
    let said = &incoming.said;
    if said.says(Says::Except) && !said.unwanted.is_empty() {
        return keep_only(state, said);
    }
    let named = match state.lines_named(incoming) {
        Some(named) => named,
        None => {
            let (state, mut effects) = show_cart(state);
            effects.insert(0, Effect::Say(Line::Plain(Text::NotInCart)));
            return (state, effects);
        }
    };
    // "Remove one" of several lines takes one piece off the last.
    let is_one = said.details.numbers == [1] && said.pick.is_none();
    let at = match (named.as_slice(), said.option(state.cart.len())) {
        ([], Some(at)) if !is_one => Some(at),
        // "Let me ask her first. Remove it for now."
        ([], _) => state.cart.len().checked_sub(1).filter(|_| said.words.is_empty() || said.pick == Some(Pick::It)),
        ([at, ..], _) => Some(*at),
    };
    let Some(at) = at else { return show_cart(state) };
    let mut gone = state.cart[at].clone();
    // "Remove one"; and "the last one" is what was added last, which may be one piece more.
    let last = state.last.as_ref().filter(|last| last.item.id == gone.item);
    let added = last.filter(|_| said.pick == Some(Pick::Last)).map(|last| last.quantity.unwrap_or(1));
    let is_sure = !named.is_empty() || state.cart.len() == 1 || is_one || said.says(Says::Pieces);
    // "The pink one" counts nothing.
    let numbers = said.details.numbers.first().filter(|number| !(said.says(Says::Ones) && **number == 1));
    let named = numbers.and_then(|number| u32::try_from(*number).ok());
    let pieces = added.or(named.filter(|_| is_sure));
    match pieces.and_then(|pieces| gone.quantity.checked_sub(pieces)) {
        Some(left @ 1..) => {
            state.cart[at].quantity = left;
            gone.quantity -= left;
        }
        _ => drop(state.cart.remove(at)),
    }
    if !incoming.later.is_empty() {
        // Goods that an earlier message named come after those of this one.
        let earlier = state.later.len().saturating_sub(incoming.later.len());
        state.later.rotate_left(earlier);
        return exchange(state, gone, said.says(Says::Same));
    }
    if state.cart.is_empty() {
        state.clear_cart();
        return (state, vec![Effect::CancelOrder]);
    }
    (state, vec![Effect::PlaceOrder])
}

/// Takes everything out of the cart but what the message excepts. If the cart has nothing of that, it stays.
fn keep_only(mut state: ConversationState, said: &Said) -> Next {
    let is_kept = |at: usize| {
        let (names, choices) = (state.line_names(at), &state.cart[at].choices);
        let has = |word: &String| choices.values().any(|own| words(own).contains(word));
        // "Everything except the boots, socks": the words after the comma are kept as well.
        let mut kept = said.unwanted.iter().chain(&said.words);
        kept.any(|word| has(word) || names.iter().any(|own| is_same(own, word)))
    };
    let kept: Vec<CartLine> =
        (0..state.cart.len()).filter(|at| is_kept(*at)).map(|at| state.cart[at].clone()).collect();
    if kept.is_empty() || kept.len() == state.cart.len() {
        return show_cart(state);
    }
    state.cart = kept;
    (state, vec![Effect::PlaceOrder])
}

/// Continues with what is wanted instead of a line that left the cart. The last line stays until the other goods are complete.
fn exchange(mut state: ConversationState, gone: CartLine, is_same: bool) -> Next {
    let next = &mut state.later[0];
    if is_same {
        next.details.words.extend(gone.choices.values().cloned());
        next.details.numbers.extend(gone.choices.values().filter_map(|choice| choice.parse::<u64>().ok()));
    }
    // "Drop the 38 and take a 40" means as many of the same goods.
    if next.words.is_empty() {
        if next.details.numbers.iter().all(|number| *number > MOST_PIECES) {
            next.details.numbers.push(u64::from(gone.quantity));
        }
        let same = state.known(&gone).map(|known| Wanted { choices: gone.choices.clone(), ..known.clone() });
        state.last = same.or(state.last);
    }
    if !state.cart.is_empty() {
        return (state, vec![Effect::PlaceOrder]);
    }
    state.cart.push(gone);
    state.replaces = true;
    next_goods(state).unwrap_or_else(|state| show_cart(*state))
}

impl ConversationState {
    /// Returns the words in the name of a line of the cart.
    fn line_names(&self, at: usize) -> BTreeSet<String> {
        let name = self.order.as_ref().and_then(|sale| sale.lines.get(at)).map(|line| with_stems(&line.name));
        let known = self.known(&self.cart[at]);
        name.into_iter().flatten().chain(known.into_iter().flat_map(|wanted| wanted.item.names())).collect()
    }

    /// Returns the lines of the cart that a message names, by their goods and their choices: "the green ones", "the size 42".
    /// `None` if it names goods or choices that no line has; empty if it names none.
    pub(super) fn lines_named(&self, incoming: &Incoming) -> Option<Vec<usize>> {
        let said = &incoming.said;
        let names = |at: usize| self.line_names(at);
        let count = |at: usize| said.words.iter().filter(|word| names(at).iter().any(|own| is_same(own, word))).count();
        let all = || 0..self.cart.len();
        let most = all().map(count).max().unwrap_or(0);
        let named: Vec<usize> = all().filter(|at| most > 0 && count(*at) == most).collect();
        let is_size = |number: &&u64| (MOST_PIECES + 1..LARGEST_SIZE).contains(*number);
        let sizes = said.details.numbers.iter().filter(is_size).map(u64::to_string);
        let choices: Vec<String> = said.details.choices.iter().cloned().chain(sizes).collect();
        let has = |at: usize, choice: &String| {
            self.cart[at].choices.values().any(|own| own == choice || words(own).contains(choice))
                || names(at).contains(choice)
        };
        let has_all = |at: &usize| choices.iter().all(|choice| has(*at, choice));
        let of = if named.is_empty() { all().collect() } else { named.clone() };
        let found: Vec<usize> = if choices.is_empty() { named } else { of.into_iter().filter(has_all).collect() };
        let has_goods = |at: &usize| {
            let own = names(*at);
            incoming.goods.iter().all(|word| own.contains(word) || choices.contains(word))
        };
        let is_missing = found.is_empty() && !choices.is_empty();
        let is_other = incoming.names_goods() && !all().any(|at| has_goods(&at));
        (!is_missing && !is_other).then_some(found)
    }
}
