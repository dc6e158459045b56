//! Messages that answer what the sale's stage asked.

use super::super::advance::Next;
use super::super::effect::{Effect, Heard, Line};
use super::super::rules::Says;
use super::super::said::Said;
use super::super::state::{ConversationState, Search, Stage, Wanted};
use super::{
    choose_method, complete, confirm, is_sales, least_price, say, search, search_of, show_cart, to_payment,
    wants_cheaper,
};
use crate::dialogue::Answer;
use crate::domain::commerce::policy::{Journey, Routing, needs_link};
use crate::domain::commerce::sale::QUANTITY_MAX;
use crate::domain::text::words;
use crate::nlu::pick::Pick;

/// Returns what follows from a message that answers the stage's question, or `None` if it does not.
pub(in crate::desks::commerce) fn answer(state: &ConversationState, heard: &Heard) -> Option<Next> {
    let said = &heard.said;
    if let Some(pay) = confirm(state, said) {
        return Some((state.clone(), vec![pay]));
    }
    let mut next = state.clone();
    next.journey = Journey::Sales;
    let is_about_rules = matches!(heard.routing, Routing::Journey(Journey::Support | Journey::Prefs));
    if is_about_rules && said.details.numbers.is_empty() {
        return None;
    }
    if said.says(Says::ChangeOrder) && state.order.is_none() {
        return None;
    }
    if said.utterance.answer == Some(Answer::Cancel) && !matches!(state.stage, Stage::Paying { .. } | Stage::Done) {
        return cancel(next);
    }
    match state.stage.clone() {
        Stage::Idle | Stage::Narrow | Stage::Offers => None,
        Stage::Done => (said.says(Says::Pay) && !said.describes_goods()).then(|| say(next, Line::AlreadyPaid)),
        Stage::Options => options(next, heard),
        Stage::Item { line } | Stage::Disambiguate { line } => item(next, heard, line),
        Stage::Draft => draft(next, heard),
        Stage::Method { methods } => {
            let chosen = said.methods.iter().find(|method| methods.contains(method)).copied();
            let by_number = || said.option(methods.len()).and_then(|n| methods.get(n)).copied();
            let retried = || (said.says(Says::Again) || said.affirms()).then(|| methods.first().copied())?;
            match chosen.or_else(by_number).or_else(retried) {
                Some(method) => Some(choose_method(next, method)),
                None if said.says(Says::Pay) && !said.describes_goods() => Some(to_payment(next, None)),
                None => draft(next, heard),
            }
        }
        Stage::Phone { method } => match said.phone() {
            Some(phone) => {
                next.phone = Some(phone);
                Some(choose_method(next, method))
            }
            None => draft(next, heard),
        },
        Stage::ConfirmAmount { method, .. } => confirming(next, heard, method),
        Stage::Paying { .. } => paying(next, heard),
    }
}

/// Gives up the item, or the whole cart.
fn cancel(mut state: ConversationState) -> Option<Next> {
    match state.stage {
        Stage::ConfirmAmount { .. } | Stage::Method { .. } | Stage::Phone { .. } | Stage::Draft
            if state.order.is_some() =>
        {
            state.clear_cart();
            Some((state, vec![Effect::CancelOrder]))
        }
        Stage::Item { .. } | Stage::Disambiguate { .. } | Stage::Options => {
            state.stage = if state.order.is_some() { Stage::Draft } else { Stage::Narrow };
            Some(say(state, Line::Dropped))
        }
        _ => None,
    }
}

/// An answer to a list.
fn options(mut state: ConversationState, heard: &Heard) -> Option<Next> {
    let said = &heard.said;
    let pays = said.says(Says::Pay) && !said.describes_goods() && state.order.is_some();
    if pays {
        return Some(to_payment(state, said.methods.first().copied()));
    }
    if let Some(at) = named(&state, said).or_else(|| said.option(state.options.len())) {
        let id = state.options[at].id.clone();
        return Some((state, vec![Effect::GetItem(id)]));
    }
    if state.options.len() == 1 && said.affirms() && said.utterance.only_answers() {
        let id = state.options[0].id.clone();
        return Some((state, vec![Effect::GetItem(id)]));
    }
    if wants_cheaper(said)
        && let Some(least) = least_price(&state)
    {
        let words = state.search.clone().unwrap_or_default().words;
        return Some(search(state, Search { words, most: Some(least.minor / 100 - 1), ..Search::default() }));
    }
    if said.says(Says::Reject) || said.refuses() {
        if !said.words.is_empty() && !said.refuses() {
            return None;
        }
        state.rejections = state.rejections.saturating_add(1);
        state.stage = Stage::Narrow;
        let link = needs_link(state.options.len(), false, 1.0, false, state.rejections);
        let link = link.then(|| state.search.clone().unwrap_or_default());
        return Some(say(state, Line::AskDifferent { link }));
    }
    if said.says(Says::HowMuch) && !said.describes_goods() {
        let items = state.options.clone();
        return Some(say(state, Line::SameOptions(items)));
    }
    // "Black ones": narrows the list, if the whole is found.
    let narrows = said.describes_goods() && is_sales(heard.routing) && !said.says(Says::SeeAll);
    let earlier = state.search.clone().filter(|_| narrows && is_refinement(said))?;
    let mut refined = search_of(said, false);
    let mut all = earlier.words.clone();
    all.extend(refined.words.into_iter().filter(|word| !earlier.words.contains(word)));
    refined.words = all;
    refined.least = refined.least.or(earlier.least);
    refined.most = refined.most.or(earlier.most);
    Some(search(state, refined))
}

/// Whether a message only adds to the last search: a limit, or one word without a wish.
fn is_refinement(said: &Said) -> bool {
    said.words.is_empty() || (said.words.len() == 1 && said.intents.is_empty())
}

/// Returns the only option that has all words of the message that name goods.
fn named(state: &ConversationState, said: &Said) -> Option<usize> {
    if said.words.is_empty() || said.utterance.has_question() {
        return None;
    }
    let has_all = |name: &str| {
        let name = words(name);
        said.words
            .iter()
            .all(|word| name.iter().any(|own| own == word || own.trim_end_matches('s') == word.trim_end_matches('s')))
    };
    let mut named = (0..state.options.len()).filter(|at| has_all(&state.options[*at].name));
    named.next().filter(|_| named.next().is_none())
}

/// An answer to the question about one item.
fn item(mut state: ConversationState, heard: &Heard, mut line: Wanted) -> Option<Next> {
    let said = &heard.said;
    let before = line.clone();
    let strange = line.take(&said.details);
    let took = line != before;
    // Words that are a choice of the item name no other goods.
    let chosen = |word: &String| {
        line.item.variants.iter().any(|(variant, choices)| {
            words(variant).contains(word) || choices.iter().any(|choice| words(choice).contains(word))
        }) || words(&line.item.name).contains(word)
    };
    let names_other = said.words.iter().any(|word| !chosen(word)) && is_sales(heard.routing);
    if said.refuses() && !took {
        state.stage = if state.options.len() > 1 { Stage::Options } else { Stage::Narrow };
        let link = None;
        return Some(say(state, Line::AskDifferent { link }));
    }
    // "Is it leather?"
    let is_about_it = !names_other || matches!(said.pick, Some(Pick::It));
    if said.utterance.has_question() && !took && is_about_it && is_sales(heard.routing) {
        return Some(say(state, Line::Details(line)));
    }
    if said.says(Says::HowMuch) && !took && !names_other {
        return Some(say(state, Line::Details(line)));
    }
    if took || strange.is_some() || (said.affirms() && !names_other) {
        // "Any": the choice is the customer's.
        return Some(complete(state, line, strange));
    }
    if (said.says(Says::Pay) || !said.methods.is_empty()) && !names_other {
        return Some(match state.order {
            Some(_) if line.missing().next().is_some() => say(state, Line::AskChoices(line)),
            _ => complete(state, line, None),
        });
    }
    let has_list = state.options.len() > 1;
    if has_list && let Some(at) = said.option(state.options.len()).filter(|_| line.missing().next().is_none()) {
        let id = state.options[at].id.clone();
        return Some((state, vec![Effect::GetItem(id)]));
    }
    None
}

/// A message about the cart that was shown.
fn draft(mut state: ConversationState, heard: &Heard) -> Option<Next> {
    let said = &heard.said;
    let is_yes = said.affirms() && said.utterance.only_answers() && said.details.numbers.is_empty();
    if (said.says(Says::Pay) || is_yes || (!said.methods.is_empty() && !said.utterance.has_question()))
        && !said.describes_other_goods()
        && !said.says(Says::WentThrough)
    {
        return Some(to_payment(state, said.methods.first().copied()));
    }
    if said.says(Says::Remove) {
        return Some(remove(state, said));
    }
    if said.says(Says::ShowCart) || (said.says(Says::HowMuch) && !said.describes_goods()) {
        return Some(show_cart(state));
    }
    if said.says(Says::More) && !said.describes_goods() && said.details.numbers.is_empty() {
        state.stage = Stage::Narrow;
        return Some(say(state, Line::AskNeed));
    }
    // "Make it three": of what was added last.
    if let [quantity] = said.details.numbers.as_slice()
        && !said.describes_goods()
        && let (Ok(quantity), Some(line)) = (u32::try_from(*quantity), state.cart.last_mut())
        && (1..=QUANTITY_MAX).contains(&quantity)
    {
        line.quantity = if said.says(Says::More) { (line.quantity + quantity).min(QUANTITY_MAX) } else { quantity };
        return Some((state, vec![Effect::PlaceOrder]));
    }
    if said.utterance.denies() && said.utterance.only_answers() {
        // "No" to "anything else?" may be the end of the shopping, or no wish to pay: the cart stays.
        state.stage = Stage::Draft;
        return Some(say(state, Line::NotPaid));
    }
    None
}

/// Takes goods out of the cart: those that are named, else the last ones.
fn remove(mut state: ConversationState, said: &Said) -> Next {
    let sale = state.order.as_ref();
    let names = |at: usize| {
        let name = sale.and_then(|sale| sale.lines.get(at)).map(|line| words(&line.name)).unwrap_or_default();
        said.words.iter().any(|word| name.iter().any(|own| own.trim_end_matches('s') == word.trim_end_matches('s')))
    };
    let named: Vec<usize> = (0..state.cart.len()).filter(|at| names(*at)).collect();
    let at = match (named.as_slice(), said.option(state.cart.len())) {
        ([], Some(at)) => Some(at),
        ([], None) => state.cart.len().checked_sub(1).filter(|_| said.words.is_empty()),
        ([at, ..], _) => Some(*at),
    };
    match at {
        Some(at) => {
            state.cart.remove(at);
        }
        None => return show_cart(state),
    }
    if state.cart.is_empty() {
        state.clear_cart();
        return (state, vec![Effect::CancelOrder]);
    }
    (state, vec![Effect::PlaceOrder])
}

/// An answer to the question about the amount that is no clear yes.
fn confirming(
    mut state: ConversationState,
    heard: &Heard,
    method: crate::domain::commerce::tenant::PaymentMethod,
) -> Option<Next> {
    let said = &heard.said;
    if let Some(other) = said.methods.iter().find(|named| **named != method) {
        return Some((state, vec![Effect::ListMethods(Some(*other))]));
    }
    if said.refuses() && said.utterance.only_answers() {
        state.stage = Stage::Draft;
        return Some(say(state, Line::NotPaid));
    }
    // Half a yes ("yes but tomorrow", "yes?"), or a question about the amount: asked again.
    let is_unclear = said.utterance.answer.is_some() || said.says(Says::HowMuch) || said.says(Says::Pay);
    if is_unclear && !said.describes_other_goods() && !said.says(Says::Remove) && said.details.numbers.is_empty() {
        return Some(choose_method(state, method));
    }
    state.stage = Stage::Draft;
    draft(state.clone(), heard)
}

/// A message while the customer pays.
fn paying(state: ConversationState, heard: &Heard) -> Option<Next> {
    let said = &heard.said;
    if said.describes_other_goods() {
        return None;
    }
    if said.utterance.answer == Some(Answer::Cancel) || said.utterance.denies() {
        return Some(say(state, Line::CancelOnPhone));
    }
    let asks = said.says(Says::WentThrough) || said.says(Says::Pay) || said.says(Says::Again) || said.affirms();
    (asks || !said.methods.is_empty()).then(|| say(state, Line::StillWaiting))
}

impl Said {
    /// Whether the message names goods, apart from words around paying.
    fn describes_other_goods(&self) -> bool {
        let is_sales = self.intents.iter().any(|(intent, _)| intent.journey() == Journey::Sales);
        self.describes_goods()
            && (is_sales || !self.says(Says::Pay))
            && !self.methods.iter().any(|_| self.words.len() <= 2)
    }
}
