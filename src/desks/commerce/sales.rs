//! The sales journey: Narrow → Options → Item → Disambiguate → Draft → Offers → Method → ConfirmAmount → Paying → Done.
//!
//! A changed cart, price or stock returns to the draft.

use super::advance::Next;
use super::effect::{Effect, Incoming, Known, Line, OnOffer};
use super::rules::Says;
use super::said::Said;
use super::state::{ConversationState, Search, Shown, Stage, Wanted};
use super::texts::Text;
use crate::domain::commerce::policy::{Journey, Routing, needs_link};
use crate::domain::commerce::sale::{CannotOrder, add};
use crate::domain::commerce::{CatalogItem, Sale};
use crate::store::sales::Placing;

mod answer;
mod ask;
mod change;
mod item;
mod later;
mod pay;
mod remove;

pub(super) use answer::answer;
use ask::cheaper;
pub(super) use ask::compared;
pub(super) use later::show_first;
use later::{next_goods, or_next};
use pay::{ask_phone, choose_method, confirm};
pub(super) use pay::{began, got_methods, to_payment};

/// Goods of a list.
pub(super) const LISTED: u8 = 5;

fn say(state: ConversationState, line: Line) -> Next {
    (state, vec![Effect::Say(line)])
}

/// Starts or continues with a message of sales that answers no question of the desk.
pub(super) fn start(mut state: ConversationState, incoming: &Incoming) -> Next {
    let said = &incoming.said;
    if said.says(Says::Pay) && !said.describes_goods() {
        return to_payment(state, said.method());
    }
    if said.says(Says::ShowCart) && !said.describes_goods() {
        return show_cart(state);
    }
    let sees_all = said.says(Says::SeeAll);
    // "She hates high heels": everything else, or what was looked for before.
    if !said.unwanted.is_empty() && !incoming.names_goods() {
        let earlier = state.search.clone().unwrap_or_default();
        let is_wanted = |word: &String| !said.unwanted.contains(word);
        let words = earlier.words.into_iter().filter(is_wanted).chain(said.sought.iter().cloned()).collect();
        let mut details = said.details.clone();
        details.numbers.extend(earlier.details.numbers);
        return search(state, Search { words, details, is_question: true, ..search_of(said, false) });
    }
    // "It's a gift. Can she exchange it?" names no other goods: the question is answered.
    if incoming.is_strange && state.question.is_some() && (state.is_selling() || !incoming.seeks_goods()) {
        return (state, Vec::new());
    }
    if let Some(search_for) = state.other_words(incoming) {
        return search(state, search_for);
    }
    if let Some(line) = state.last.clone().filter(|_| incoming.is_strange && incoming.asks_of_cart(&state)) {
        let known = line.item.answers(said);
        return say(state, Line::About(line, known));
    }
    // "My name is Peter, and I live in Thika": a search would look for the words of no goods.
    if incoming.is_strange && !incoming.seeks_goods() {
        return super::support::start(state, incoming);
    }
    if !said.describes_goods() && !sees_all {
        if let Some(line) = state.item().cloned().filter(|_| said.utterance.has_question()) {
            let known = line.item.answers(said);
            return say(state, Line::Details(line, known));
        }
        if let Some(line) = state.last.clone().filter(|_| said.utterance.has_question() && !state.cart.is_empty()) {
            let known = line.item.answers(said);
            return say(state, Line::About(line, known));
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
        return say(state, Line::Plain(Text::AskNeed));
    }
    let is_other = said.says(Says::Instead) || (said.refuses() && incoming.names_goods());
    state.replaces = is_other && !said.says(Says::More) && !state.cart.is_empty();
    let mut wanted = search_of(said, sees_all);
    // "The leather ones", after boots: leather boots.
    if said.says(Says::Ones)
        && let Some(kind) = state.kind().filter(|kind| !wanted.words.contains(kind))
    {
        wanted.words.push(kind);
    }
    search(state, wanted)
}

impl ConversationState {
    /// Returns what to look for instead of words that no goods have: what serves the need that the message names, or what was talked
    /// about before, within its sizes and prices.
    fn other_words(&self, incoming: &Incoming) -> Option<Search> {
        let said = &incoming.said;
        let is_question = said.utterance.has_question();
        let seeks = self.item().is_none() || is_question || said.says(Says::Wants);
        // "A gift for my sister, what do you recommend?"
        let names_none = incoming.is_strange || (said.words.is_empty() && is_question && !self.is_selling());
        if names_none && seeks && !said.needs.is_empty() && !incoming.asks_of_cart(self) {
            return Some(Search { words: said.needs.clone(), is_question: true, ..search_of(said, false) });
        }
        let is_limited = said.most.is_some() || said.least.is_some() || !said.details.sizes().is_empty();
        let is_choice = |word: &String| said.details.choices.contains(word);
        let has_choices = !said.words.is_empty() && said.words.iter().all(is_choice);
        // Strange words next to a limit are looked for first: the model may know them.
        let asks_choices = said.says(Says::AsksChoices) && incoming.is_strange;
        let is_plain = said.words.iter().all(is_choice) && (said.says(Says::AsksChoices) || is_limited || has_choices);
        if self.topic.is_empty() || incoming.names_goods() || !(asks_choices || is_plain) {
            return None;
        }
        Some(Search { words: self.topic.clone(), is_question, ..search_of(said, false) })
    }
}

/// Returns the search for a message's words.
pub(super) fn search_of(said: &Said, sees_all: bool) -> Search {
    Search {
        words: said.sought.clone(),
        category: None,
        least: said.least,
        most: said.most,
        sees_all,
        is_question: said.utterance.has_question(),
        with_offers: false,
        order: None,
        similar_to: None,
        without: said.unwanted.clone(),
        details: said.details.clone(),
    }
}

fn search(mut state: ConversationState, search: Search) -> Next {
    state.search = Some(search.clone());
    state.journey = Journey::Sales;
    (state, vec![Effect::Search(search)])
}

/// Looks for goods, to calculate their price with each offer.
pub(super) fn search_with_offers(state: ConversationState, said: &Said) -> Next {
    search(state, Search { with_offers: true, ..search_of(said, false) })
}

/// Shows the price of an item with each offer.
pub(super) fn checked_offers(mut state: ConversationState, item: CatalogItem, offers: Vec<OnOffer>) -> Next {
    let line = Wanted::new(item);
    state.stage = Stage::Item { line: line.clone() };
    say(state, if offers.is_empty() { Line::Item(line) } else { Line::OffersOn(line, offers) })
}

/// Shows what a search found: one item, or a numbered list, with the link where that helps more.
pub(super) fn found(
    mut state: ConversationState,
    mut items: Vec<CatalogItem>,
    mut total: usize,
    confidence: f64,
) -> Next {
    let asked = state.search.clone().unwrap_or_default();
    if let Some(item) = items.first().filter(|_| asked.with_offers) {
        return (state, vec![Effect::CheckOffers(Box::new(item.clone()))]);
    }
    items.retain(|item| asked.similar_to.as_ref() != Some(&item.id));
    let is_vague = asked.words.len() <= 1 && asked.most.is_none() && asked.least.is_none();
    if items.is_empty() && asked.category.is_some() {
        return search(state, Search { category: None, words: Vec::new(), ..asked });
    }
    // Of words that name nothing, the limits are left: for what was talked about before, else for everything.
    let is_limited = asked.most.is_some() || asked.least.is_some() || !asked.details.sizes().is_empty();
    if items.is_empty() && is_limited && !asked.words.is_empty() {
        let words = if asked.words == state.topic { Vec::new() } else { state.topic.clone() };
        return search(state, Search { words, ..asked });
    }
    if items.is_empty() {
        state.rejections = state.rejections.saturating_add(1);
        state.stage = if state.cart.is_empty() { Stage::Narrow } else { Stage::Draft };
        let with_link = needs_link(0, is_vague, 0.0, asked.sees_all, state.rejections);
        return or_next(state, Line::NothingFound { words: asked.words.join(" "), with_link });
    }
    // A size or a price that the message names leaves out what does not have it.
    if items.iter().any(|item| asked.details.fits(item)) {
        let before = items.len();
        items.retain(|item| asked.details.fits(item));
        total = if items.len() < before { items.len() } else { total };
    }
    let wants_link = needs_link(total, is_vague, confidence, asked.sees_all, state.rejections);
    let link = wants_link.then(|| asked.clone());
    if let [item] = items.as_slice()
        && !wants_link
    {
        state.options = vec![item.into()];
        return take_item(state, item.clone(), asked.is_question);
    }
    state.options = items.iter().map(Shown::from).collect();
    state.stage = Stage::Options;
    // One item of which the search is not sure is talked about from now on.
    if let [item] = items.as_slice()
        && item.stock > 0
    {
        let mut line = Wanted::new(item.clone());
        if line.take(&asked.details).is_none() {
            state.stage = Stage::Item { line };
        }
    }
    let items = state.options.clone();
    match asked.order {
        Some(order) => say(state, Line::Ranked(items, order)),
        None => say(state, Line::Options { items, total, link }),
    }
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
        state.was_sold_out = true;
        state.stage = if state.options.len() > 1 { Stage::Options } else { Stage::Narrow };
        return or_next(state, Line::SoldOut(item.name));
    }
    let mut line = Wanted::new(item);
    // The number of an option is no quantity.
    let mut details = state.details.clone();
    if let [number] = details.numbers[..]
        && state.options.len() > 1
        && number <= state.options.len() as u64
        && matches!(state.stage, Stage::Options)
    {
        details.numbers.clear();
    }
    let earlier = state.search.as_ref().and_then(|search| line.take(&search.details));
    let strange = line.take(&details).or(earlier);
    state.rejections = 0;
    if strange.is_none() && (is_question || state.asks_details || state.only_asks || state.asks_sum) {
        return show(state, line);
    }
    complete(state, line, strange)
}

/// Shows an item that the customer only asks about.
fn show(mut state: ConversationState, line: Wanted) -> Next {
    state.stage = Stage::Item { line: line.clone() };
    let names_choice = !state.details.numbers.is_empty() || !state.details.choices.is_empty();
    let answer = match () {
        () if state.asks_left => Line::Left(line),
        () if state.asks_sum && line.quantity.is_some_and(|pieces| pieces > 1) => Line::Sum(line),
        () if state.only_asks && names_choice && !line.choices.is_empty() => Line::Available(line),
        () if state.asks_details => Line::About(line, Known::Plain),
        () => Line::Item(line),
    };
    say(state, answer)
}

/// Asks for what is missing, or puts the item into the cart. `strange`: what the message names and the item does not have.
fn complete(mut state: ConversationState, line: Wanted, strange: Option<String>) -> Next {
    let is_complete = line.missing().next().is_none();
    let Some(choice) = strange else {
        if is_complete {
            if std::mem::take(&mut state.replaces) {
                state.cart.pop();
            }
            add(&mut state.cart, line.to_line());
            state.earlier.extend(state.last.replace(line));
            state.stage = Stage::Draft;
            return (state, vec![Effect::PlaceOrder]);
        }
        let is_again = matches!(&state.stage, Stage::Disambiguate { .. });
        let question = if is_again { Line::AskChoices(line.clone()) } else { Line::Item(line.clone()) };
        state.stage = Stage::Disambiguate { line };
        return say(state, question);
    };
    let refused = Line::NoSuchChoice { item: line.item.clone(), choice };
    if is_complete {
        state.stage = Stage::Item { line: line.clone() };
        return (state, vec![Effect::Say(refused), Effect::Say(Line::AskChoices(line))]);
    }
    state.stage = Stage::Disambiguate { line };
    say(state, refused)
}

/// Shows the cart with its total, or why it cannot be ordered.
pub(super) fn ordered(mut state: ConversationState, placed: Placing) -> Next {
    match placed {
        Placing::Done(sale) => {
            let is_repriced = |of: &Sale| of.cart() == sale.cart() && of.totals.subtotal != sale.totals.subtotal;
            let has_changed = state.order.as_ref().is_some_and(is_repriced);
            state.cart = sale.cart();
            state.order = Some(*sale);
            (state.stage, state.journey) = (Stage::Draft, Journey::Sales);
            let state = match next_goods(state) {
                Ok(next) => return next,
                Err(state) => *state,
            };
            let mut effects = Vec::from_iter(has_changed.then_some(Effect::Say(Line::Plain(Text::PriceChanged))));
            // The cart follows, with the offers or with the coupon.
            effects.push(match state.coupon.clone().filter(|_| state.wants_coupon) {
                Some(code) => Effect::ApplyCoupon(code),
                None => Effect::ListOffers,
            });
            (state, effects)
        }
        Placing::Settled => {
            state.clear_sale();
            say(state, Line::Plain(Text::Settled))
        }
        Placing::Refused(refused) => refuse_cart(state, refused),
    }
}

/// Takes what cannot be ordered out of the cart, and says why. The rest is ordered.
fn refuse_cart(mut state: ConversationState, refused: CannotOrder) -> Next {
    let before = state.order.as_ref().map(Sale::cart).unwrap_or_default();
    let (item, left, line) = match refused {
        CannotOrder::Stock { item, name, left } => (item, left, Line::Stock { name, left }),
        CannotOrder::NoItem(item) | CannotOrder::Choice { item, .. } => {
            let name = state.order.iter().flat_map(|sale| &sale.lines).find(|line| line.line.item == item);
            let line = name.map(|line| Line::SoldOut(line.name.clone()));
            let line = line.unwrap_or(Line::NothingFound { words: String::new(), with_link: false });
            (item, 0, line)
        }
        CannotOrder::Quantity(_) | CannotOrder::TooManyLines | CannotOrder::Amount(_) | CannotOrder::Empty => {
            let text = if refused == CannotOrder::Empty { Text::EmptyCart } else { Text::TooMany };
            state.stage = if before.is_empty() { Stage::Narrow } else { Stage::Draft };
            state.cart = before;
            return say(state, Line::Plain(text));
        }
    };
    // The customer may take what is left.
    let mut rest = left;
    for line in state.cart.iter_mut().filter(|line| line.item == item) {
        line.quantity = line.quantity.min(rest);
        rest -= line.quantity;
    }
    state.cart.retain(|line| line.quantity > 0);
    if state.cart.is_empty() {
        // An earlier order without these goods stays.
        if before.is_empty() || before.iter().any(|line| line.item == item) {
            state.clear_sale();
            state.stage = Stage::Narrow;
        } else {
            (state.cart, state.stage) = (before, Stage::Draft);
        }
        return say(state, line);
    }
    state.stage = Stage::Draft;
    (state, vec![Effect::Say(line), Effect::PlaceOrder])
}

pub(super) fn show_cart(state: ConversationState) -> Next {
    if state.cart.is_empty() { say(state, Line::Plain(Text::EmptyCart)) } else { (state, vec![Effect::PlaceOrder]) }
}

/// Repeats the question that waits for an answer.
pub(super) fn reminder(state: &ConversationState) -> Option<Line> {
    let order = || state.order.clone().map(Box::new);
    Some(match &state.stage {
        Stage::Idle | Stage::Narrow | Stage::Done | Stage::Review | Stage::Offers => return None,
        Stage::Options => Line::SameOptions(state.options.clone()),
        Stage::Item { line } | Stage::Disambiguate { line } => Line::AskChoices(line.clone()),
        Stage::Draft => Line::Plain(Text::NextStep),
        Stage::Method { methods } => {
            Line::Methods { methods: methods.clone(), total: state.order.as_ref()?.totals.total }
        }
        Stage::Phone { method } => ask_phone(*method)?,
        Stage::ConfirmAmount { method, .. } => {
            Line::Confirm { method: *method, sale: order()?, phone: state.phone.clone() }
        }
        Stage::Paying => Line::Plain(Text::StillWaiting),
    })
}

/// Whether a message of this journey is surely one: "2" is, where a list waits for it.
fn is_sales(routing: Routing) -> bool {
    matches!(routing, Routing::Journey(Journey::Sales) | Routing::Unknown | Routing::Clarify)
}

#[cfg(test)]
mod tests;
