//! The sales journey: Narrow → Options → Item → Disambiguate → Draft → Offers → Method → ConfirmAmount → Paying → Done.
//!
//! [`Effect::Pay`] is made in one place, [`confirm`], by a clear yes to the amount that was just asked. A changed cart, price or stock
//! returns to the draft.

use super::advance::{Next, hand_over};
use super::effect::{Began, Effect, Heard, Line, OrderProblem, Reason};
use super::rules::Says;
use super::said::Said;
use super::state::{ConversationState, Search, Shown, Stage, Wanted};
use crate::domain::commerce::policy::{Journey, Routing, needs_link};
use crate::domain::commerce::sale::{CannotOrder, add};
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::commerce::{CatalogItem, Money, Sale};
use crate::domain::returns::Priority;
use crate::nlu::pick::Pick;

mod answer;

pub(super) use answer::answer;

/// Goods of a list.
pub(super) const LISTED: u8 = 5;

fn say(state: ConversationState, line: Line) -> Next {
    (state, vec![Effect::Say(line)])
}

/// Starts or continues with a message of sales that answers no question of the desk.
pub(super) fn start(mut state: ConversationState, heard: &Heard) -> Next {
    let said = &heard.said;
    if said.says(Says::Pay) && !said.describes_goods() {
        return to_payment(state, said.methods.first().copied());
    }
    if said.says(Says::ShowCart) && !said.describes_goods() {
        return show_cart(state);
    }
    let sees_all = said.says(Says::SeeAll);
    if !said.describes_goods() && !sees_all {
        if let Some(line) = state.item().cloned().filter(|_| said.utterance.has_question()) {
            return say(state, Line::Details(line));
        }
        if said.says(Says::HowMuch) && !state.options.is_empty() {
            let items = state.options.clone();
            state.stage = Stage::Options;
            return say(state, Line::SameOptions(items));
        }
        // "What do you sell?" is answered with goods.
        if said.utterance.has_question() {
            return search(state, Search { is_question: true, ..Search::default() });
        }
        state.stage = Stage::Narrow;
        return say(state, Line::AskNeed);
    }
    search(state, search_of(said, sees_all))
}

/// Returns the search for a message's words.
fn search_of(said: &Said, sees_all: bool) -> Search {
    let is_question = said.utterance.has_question();
    Search { words: said.words.clone(), least: said.least, most: said.most, sees_all, is_question }
}

fn search(mut state: ConversationState, search: Search) -> Next {
    state.search = Some(search.clone());
    state.journey = Journey::Sales;
    (state, vec![Effect::Search(search)])
}

/// Shows what a search found: one item, or a numbered list, with the link where that helps more.
pub(super) fn found(mut state: ConversationState, items: Vec<CatalogItem>, total: usize, confidence: f64) -> Next {
    let search = state.search.clone().unwrap_or_default();
    let is_vague = search.words.len() <= 1 && search.most.is_none() && search.least.is_none();
    if items.is_empty() {
        state.rejections = state.rejections.saturating_add(1);
        state.stage = Stage::Narrow;
        let with_link = needs_link(0, is_vague, 0.0, search.sees_all, state.rejections);
        return say(state, Line::NothingFound { words: search.words.join(" "), with_link });
    }
    let wants_link = needs_link(total, is_vague, confidence, search.sees_all, state.rejections);
    let link = wants_link.then(|| search.clone());
    if let [item] = items.as_slice()
        && !wants_link
    {
        state.options = vec![item.into()];
        return take_item(state, item.clone(), search.is_question);
    }
    state.options = items.iter().map(Shown::from).collect();
    state.stage = Stage::Options;
    let items = state.options.clone();
    say(state, Line::Options { items, total, link })
}

/// Continues with the item that the customer chose.
pub(super) fn got_item(mut state: ConversationState, item: Option<Box<CatalogItem>>) -> Next {
    match item {
        Some(item) => take_item(state, *item, false),
        None => {
            state.stage = Stage::Narrow;
            say(state, Line::NothingFound { words: String::new(), with_link: true })
        }
    }
}

fn take_item(mut state: ConversationState, item: CatalogItem, is_question: bool) -> Next {
    if item.stock == 0 {
        state.stage = if state.options.len() > 1 { Stage::Options } else { Stage::Narrow };
        return say(state, Line::SoldOut(item.name));
    }
    let mut line = Wanted::new(item.into());
    // The number of an option is no quantity.
    let mut details = state.details.clone();
    if details.numbers.len() == 1 && state.options.len() > 1 && matches!(state.stage, Stage::Options) {
        details.numbers.clear();
    }
    let strange = line.take(&details);
    state.rejections = 0;
    if is_question {
        state.stage = Stage::Item { line: line.clone() };
        return say(state, Line::Item(line));
    }
    complete(state, line, strange)
}

/// Asks for what is missing, or puts the item into the cart.
fn complete(mut state: ConversationState, line: Wanted, strange: Option<u64>) -> Next {
    if line.missing().next().is_none() {
        add(&mut state.cart, line.to_line());
        state.stage = Stage::Draft;
        return (state, vec![Effect::PlaceOrder]);
    }
    let line_to_say = match strange {
        Some(number) => Line::NoSuchChoice { item: line.item.clone(), number },
        None if matches!(&state.stage, Stage::Disambiguate { .. }) => Line::AskChoices(line.clone()),
        None => Line::Item(line.clone()),
    };
    state.stage = Stage::Disambiguate { line };
    say(state, line_to_say)
}

/// Shows the cart with its total, or why it cannot be ordered.
pub(super) fn ordered(mut state: ConversationState, ordered: Result<Box<Sale>, OrderProblem>) -> Next {
    match ordered {
        Ok(sale) => {
            let is_dearer = state.order.as_ref().is_some_and(|before| {
                before.cart() == sale.cart() && before.totals.total.minor != sale.totals.total.minor
            });
            state.cart = sale.cart();
            state.order = Some(*sale);
            state.stage = Stage::Draft;
            // The offers follow, and the cart with them.
            let mut effects = Vec::new();
            if is_dearer {
                effects.push(Effect::Say(Line::PriceChanged));
            }
            effects.push(Effect::ListOffers);
            (state, effects)
        }
        Err(OrderProblem::Settled) => {
            state.clear_sale();
            say(state, Line::Settled)
        }
        Err(OrderProblem::Refused(refused)) => refuse_cart(state, refused),
    }
}

/// Takes what cannot be ordered out of the cart, and says why.
fn refuse_cart(mut state: ConversationState, refused: CannotOrder) -> Next {
    let before = state.order.as_ref().map(Sale::cart).unwrap_or_default();
    state.stage = if before.is_empty() { Stage::Narrow } else { Stage::Draft };
    let line = match refused {
        CannotOrder::Stock { item, name, left } => {
            // The customer may take what is left.
            let wanted = state.cart.iter().position(|line| line.item == item);
            match wanted.filter(|_| left > 0) {
                Some(at) if state.cart.iter().filter(|line| line.item == item).count() == 1 => {
                    state.cart[at].quantity = left;
                    let mut effects = vec![Effect::Say(Line::Stock { name, left })];
                    effects.push(Effect::PlaceOrder);
                    return (state, effects);
                }
                _ => Line::Stock { name, left },
            }
        }
        CannotOrder::Quantity(_) | CannotOrder::TooManyLines => Line::TooMany,
        CannotOrder::Empty => Line::EmptyCart,
        CannotOrder::NoItem(_) | CannotOrder::Choice { .. } | CannotOrder::Amount(_) => {
            Line::NothingFound { words: String::new(), with_link: false }
        }
    };
    state.cart = before;
    say(state, line)
}

pub(super) fn show_cart(state: ConversationState) -> Next {
    if state.cart.is_empty() { say(state, Line::EmptyCart) } else { (state, vec![Effect::PlaceOrder]) }
}

/// Asks how to pay, if there is something to pay.
pub(super) fn to_payment(mut state: ConversationState, wanted: Option<PaymentMethod>) -> Next {
    if let Stage::Paying { .. } = state.stage {
        return say(state, Line::StillWaiting);
    }
    if state.order.is_none() {
        state.stage = Stage::Narrow;
        return say(state, Line::EmptyCart);
    }
    (state, vec![Effect::ListMethods(wanted)])
}

/// Lists the ways to pay, or continues with the named one, or with the only one.
pub(super) fn got_methods(
    mut state: ConversationState,
    methods: Vec<PaymentMethod>,
    wanted: Option<PaymentMethod>,
) -> Next {
    let Some(total) = state.order.as_ref().map(|sale| sale.totals.total) else {
        return say(state, Line::EmptyCart);
    };
    let chosen = wanted.filter(|wanted| methods.contains(wanted));
    match (methods.as_slice(), chosen) {
        ([], _) => {
            state.stage = Stage::Draft;
            let (state, mut effects) = hand_over(state, Reason::Payments, Priority::Medium);
            effects.insert(0, Effect::Say(Line::NoMethods));
            (state, effects)
        }
        (_, Some(method)) => choose_method(state, method),
        ([only], None) => choose_method(state, *only),
        _ => {
            state.stage = Stage::Method { methods: methods.clone() };
            say(state, Line::Methods { methods, total })
        }
    }
}

/// Asks for the number, if none is known, then for the yes to the amount.
fn choose_method(mut state: ConversationState, method: PaymentMethod) -> Next {
    let Some(sale) = state.order.clone() else { return say(state, Line::EmptyCart) };
    // The page for cards needs a number as well.
    if let Some(line) = ask_phone(method).filter(|_| state.phone.is_none()) {
        state.stage = Stage::Phone { method };
        return say(state, line);
    }
    state.stage = Stage::ConfirmAmount { method, amount: sale.totals.total };
    let phone = state.phone.clone();
    say(state, Line::Confirm { method, sale: Box::new(sale), phone })
}

/// Returns the question for the number that a way to pay needs.
fn ask_phone(method: PaymentMethod) -> Option<Line> {
    match method {
        PaymentMethod::MpesaStk => Some(Line::AskPhone),
        PaymentMethod::Pesapal => Some(Line::AskCardPhone),
        PaymentMethod::MpesaC2b => None,
    }
}

/// Pays by a clear yes to the amount that was just asked. Everything else is no yes.
fn confirm(state: &ConversationState, said: &Said) -> Option<Effect> {
    match &state.stage {
        Stage::ConfirmAmount { method, amount } if said.is_clear_yes_to(*amount) => {
            let phone = state.phone.clone().filter(|_| ask_phone(*method).is_some());
            Some(Effect::Pay { method: *method, amount: *amount, phone })
        }
        _ => None,
    }
}

/// Continues after the wish to pay was stored.
pub(super) fn began(mut state: ConversationState, began: Began) -> Next {
    let method = match state.stage {
        Stage::ConfirmAmount { method, .. } | Stage::Paying { method, .. } => method,
        _ => PaymentMethod::MpesaStk,
    };
    match began {
        Began::Asked { payment } => {
            state.stage = Stage::Paying { payment, method };
            say(state, Line::Asked { payment })
        }
        // The result follows as a separate message.
        Began::Refused { payment } => {
            state.stage = Stage::Paying { payment, method };
            (state, Vec::new())
        }
        // The prices are asked again, and the customer sees the cart before the next yes.
        Began::Changed => {
            state.stage = Stage::Draft;
            (state, vec![Effect::Say(Line::PriceChanged), Effect::PlaceOrder])
        }
        Began::Open => say(state, Line::PayOpen),
        Began::Paid => {
            state.clear_sale();
            say(state, Line::AlreadyPaid)
        }
    }
}

/// Repeats the question that waits for an answer.
pub(super) fn reminder(state: &ConversationState) -> Option<Line> {
    let order = || state.order.clone().map(Box::new);
    Some(match &state.stage {
        Stage::Idle | Stage::Narrow | Stage::Done | Stage::Offers => return None,
        Stage::Options => Line::SameOptions(state.options.clone()),
        Stage::Item { line } | Stage::Disambiguate { line } => Line::AskChoices(line.clone()),
        Stage::Draft => Line::NextStep,
        Stage::Method { methods } => {
            Line::Methods { methods: methods.clone(), total: state.order.as_ref()?.totals.total }
        }
        Stage::Phone { method } => ask_phone(*method)?,
        Stage::ConfirmAmount { method, .. } => {
            Line::Confirm { method: *method, sale: order()?, phone: state.phone.clone() }
        }
        Stage::Paying { .. } => Line::StillWaiting,
    })
}

/// Whether a message of this journey is surely one: "2" is, where a list waits for it.
fn is_sales(routing: Routing) -> bool {
    matches!(routing, Routing::Journey(Journey::Sales) | Routing::Unknown | Routing::Clarify)
}

/// The cheapest of the goods that were shown.
fn least_price(state: &ConversationState) -> Option<Money> {
    state.options.iter().map(|shown| shown.price).min_by_key(|price| price.minor)
}

/// Whether the message asks for something cheaper.
fn wants_cheaper(said: &Said) -> bool {
    matches!(said.pick, Some(Pick::Cheaper))
}

#[cfg(test)]
mod tests;
