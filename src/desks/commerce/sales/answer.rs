//! Messages that answer what the sale's stage asked.

use super::super::advance::Next;
use super::super::effect::{Effect, Incoming, Known, Line};
use super::super::rules::Says;
use super::super::said::{MOST_PIECES, Said};
use super::super::state::{ConversationState, Stage};
use super::super::texts::Text;
use super::ask::{about_cart, compare, rank};
use super::change::Change;
use super::item::item;
use super::remove::remove;
use super::{cheaper, choose_method, complete, confirm, is_sales, say, search, search_of, show_cart, to_payment};
use crate::domain::commerce::catalog::search::with_stems;
use crate::domain::commerce::policy::{Journey, Routing, needs_link};
use crate::domain::commerce::sale::add;
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::text::words;
use crate::nlu::pick::Pick;

/// Returns what follows from a message that answers the stage's question, or `None` if it does not.
pub(in crate::desks::commerce) fn answer(state: &ConversationState, incoming: &Incoming) -> Option<Next> {
    let said = &incoming.said;
    let mut next = state.clone();
    next.journey = Journey::Sales;
    if let Some(pay) = confirm(state, incoming) {
        return Some((next, vec![pay]));
    }
    let is_about_rules = match incoming.routing {
        Routing::Journey(Journey::Support | Journey::Prefs) => true,
        // "Any discount if I take three?"
        Routing::Journey(Journey::Offers) => {
            said.utterance.has_question() && !incoming.names_goods() && !said.wants_cheaper()
        }
        _ => false,
    };
    // "Forget everything" only resembles a wish about messages.
    let gives_up = said.utterance.cancels() && !said.utterance.has_question() && said.clear_intents().is_empty();
    // "Is it open on Sunday till 5?" chooses nothing.
    let only_asks = said.utterance.has_question() && !said.subjects.is_empty();
    let is_offer = incoming.routing == Routing::Journey(Journey::Offers);
    let chooses = !said.details.numbers.is_empty() && !only_asks && !is_offer;
    if is_about_rules && !gives_up && !chooses {
        return None;
    }
    // "I changed my mind, rather by card", or "rather the blue one", gives nothing up.
    let has_choice = !said.details.are_none();
    let changes = said.says(Says::Instead) && has_choice;
    let continues = said.method().is_some() || said.says(Says::Pay) || incoming.names_goods() || changes;
    let cancels = said.utterance.cancels() && !continues && !said.says(Says::Except);
    if cancels && !matches!(state.stage, Stage::Paying | Stage::Done | Stage::Review) {
        return cancel(next, said);
    }
    if said.says(Says::ChangeOrder) && state.order.is_none() {
        return None;
    }
    if let Some(next) = compare(state, incoming).or_else(|| rank(state, incoming)) {
        return Some(next);
    }
    // "Take out the socks", while an item is talked about.
    if said.says(Says::Remove) && state.item().is_some() && state.lines_named(incoming).is_some_and(|at| !at.is_empty())
    {
        return Some(remove(next, incoming));
    }
    let wants_to_pay = said.says(Says::Pay) && !said.describes_goods();
    match state.stage.clone() {
        Stage::Idle | Stage::Narrow | Stage::Offers => None,
        Stage::Done => wants_to_pay.then(|| say(next, Line::Plain(Text::AlreadyPaid))),
        Stage::Review => wants_to_pay.then(|| say(next, Line::Plain(Text::PayReview))),
        Stage::Options => options(next, incoming),
        Stage::Item { line } | Stage::Disambiguate { line } => item(next, incoming, line),
        Stage::Draft => draft(next, incoming),
        Stage::Method { methods } => match method_of(said, &methods) {
            Some(method) => Some(choose_method(next, method)),
            None if wants_to_pay => Some(to_payment(next, None)),
            None => draft(next, incoming),
        },
        Stage::Phone { method } => match said.phone {
            Some(_) => Some(choose_method(next, method)),
            None => draft(next, incoming),
        },
        Stage::ConfirmAmount { method, .. } => confirming(next, incoming, method),
        Stage::Paying => paying(next, incoming),
    }
}

/// Returns the way to pay that a message chooses from the list: by name, by number, or again the first one.
fn method_of(said: &Said, methods: &[PaymentMethod]) -> Option<PaymentMethod> {
    let chosen = said.methods.iter().copied().chain(said.method()).find(|method| methods.contains(method));
    let by_number = || said.option(methods.len()).and_then(|n| methods.get(n)).copied();
    let only_affirms = said.affirms() && said.utterance.only_answers();
    let retried = || (said.says(Says::Again) || only_affirms).then(|| methods.first().copied())?;
    chosen.or_else(by_number).or_else(retried)
}

/// Gives up the item, or the whole cart.
fn cancel(mut state: ConversationState, said: &Said) -> Option<Next> {
    match state.stage {
        Stage::ConfirmAmount { .. } | Stage::Method { .. } | Stage::Phone { .. } | Stage::Draft
            if state.order.is_some() =>
        {
            state.clear_cart();
            Some((state, vec![Effect::CancelOrder]))
        }
        Stage::Item { .. } | Stage::Disambiguate { .. } | Stage::Options => {
            (state.replaces, state.method) = (false, None);
            state.later.clear();
            state.stage = if state.order.is_some() { Stage::Draft } else { Stage::Narrow };
            Some(say(state, Line::Plain(Text::Dropped)))
        }
        // Nothing was ordered in this conversation. An order of an earlier one is for the orders journey.
        Stage::Narrow | Stage::Offers if state.order.is_none() && !said.says(Says::ChangeOrder) => {
            Some(say(state, Line::Plain(Text::Dropped)))
        }
        _ => None,
    }
}

/// An answer to a list.
fn options(mut state: ConversationState, incoming: &Incoming) -> Option<Next> {
    let said = &incoming.said;
    let pays = said.says(Says::Pay) && !said.describes_goods() && state.order.is_some();
    if pays {
        return Some(to_payment(state, said.method()));
    }
    if said.says(Says::ShowCart) && !incoming.names_goods() {
        return Some(show_cart(state));
    }
    if said.says(Says::Remove) && !state.cart.is_empty() {
        return Some(remove(state, incoming));
    }
    // "What is the difference?", "which sizes do they have?", "which one comes in red?"
    let asks_choices = said.says(Says::AsksChoices) && said.details.numbers.is_empty() && !incoming.names_goods();
    let asks_of_list = state.ask_of_list(incoming);
    if asks_choices || asks_of_list {
        let ids: Vec<_> = state.options.iter().map(|shown| shown.id.clone()).collect();
        if let [only] = ids.as_slice() {
            return Some((state, vec![Effect::GetItem(only.clone())]));
        }
        return Some((state, vec![Effect::Compare(ids)]));
    }
    let only_affirms = said.affirms() && said.utterance.only_answers();
    let only = || (state.options.len() == 1 && only_affirms).then_some(0);
    let numbered = || said.option(state.options.len());
    let by_name = priced(&state, said).or_else(|| named(&state, said));
    if let Some(at) = by_name.or_else(numbered).or_else(only) {
        let id = state.options[at].id.clone();
        // "2, size 40" is one pair of the second.
        let is_by_number = by_name.is_none() && !matches!(said.pick, Some(Pick::Nth(_) | Pick::Last));
        if is_by_number && state.details.numbers.len() > 1 {
            state.details.numbers.remove(0);
        }
        return Some((state, vec![Effect::GetItem(id)]));
    }
    if said.wants_cheaper()
        && (said.pick == Some(Pick::Cheaper) || !incoming.names_goods())
        && let Some(least) = state.options.iter().map(|shown| shown.price).min_by_key(|price| price.minor)
    {
        let words = state.search.clone().unwrap_or_default().words;
        return Some(cheaper(state, words, None, (least, said.most)));
    }
    if said.says(Says::Reject) || said.refuses() {
        if !said.words.is_empty() && (!said.refuses() || incoming.names_goods()) {
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
    // "Black ones", "size 42": narrows the list, if the whole is found.
    let narrows = said.describes_goods() || !said.details.numbers.is_empty();
    let narrows = narrows && is_sales(incoming.routing) && !said.says(Says::SeeAll) && is_refinement(said);
    let narrows = narrows && !names_other_kind(&state, incoming);
    let earlier = state.search.clone().filter(|_| narrows)?;
    let mut refined = search_of(said, false);
    let mut all = earlier.words.clone();
    all.extend(refined.words.into_iter().filter(|word| !earlier.words.contains(word)));
    refined.words = all;
    refined.least = refined.least.or(earlier.least);
    refined.most = refined.most.or(earlier.most);
    refined.details.numbers.extend(earlier.details.numbers);
    refined.is_question |= !said.unwanted.is_empty();
    // "Anything cheaper?", and then other goods: those in the cart stay.
    state.replaces &= !state.seeks_other(incoming);
    Some(search(state, refined))
}

/// Whether a message only adds to the last search: a limit, choices, or one word without a wish.
fn is_refinement(said: &Said) -> bool {
    let is_choice = |word: &String| said.details.choices.contains(word);
    said.words.iter().all(is_choice) || (said.words.len() == 1 && said.intents.is_empty())
}

/// Whether a message names a kind of goods that the list has none of: "show me shoes", after boots.
fn names_other_kind(state: &ConversationState, incoming: &Incoming) -> bool {
    let is_listed = |kind: &String| state.options.iter().any(|shown| with_stems(&shown.name).contains(kind));
    incoming.kind.as_ref().is_some_and(|kind| !is_listed(kind))
}

/// Returns the only option that has the price that the message names.
fn priced(state: &ConversationState, said: &Said) -> Option<usize> {
    let has_price = |price: i64| said.details.numbers.iter().any(|number| i64::try_from(*number) == Ok(price));
    only((0..state.options.len()).filter(|at| has_price(state.options[*at].price.whole())))
}

/// Returns the only option that has all words of the message that name goods.
fn named(state: &ConversationState, said: &Said) -> Option<usize> {
    let has = |name: &[String], word: &String| name.iter().any(|own| is_same(own, word));
    // "Which colours do the sandals have?" names the sandals, and not the Maasai sandals.
    let is_whole = |name: &str| {
        let name = words(name);
        said.words.iter().all(|word| has(&name, word)) && name.iter().all(|own| has(&said.words, own))
    };
    if said.words.is_empty() {
        return None;
    }
    if let Some(whole) = only((0..state.options.len()).filter(|at| is_whole(&state.options[*at].name))) {
        return Some(whole);
    }
    if said.utterance.has_question() {
        return None;
    }
    let has_all = |name: &str| {
        let name = words(name);
        said.words.iter().all(|word| has(&name, word))
    };
    only((0..state.options.len()).filter(|at| has_all(&state.options[*at].name)))
}

fn only<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    found.next().filter(|_| found.next().is_none())
}

pub(super) fn is_same(own: &str, word: &str) -> bool {
    own.trim_end_matches('s') == word.trim_end_matches('s')
}

/// A message about the cart that was shown.
fn draft(mut state: ConversationState, incoming: &Incoming) -> Option<Next> {
    let said = &incoming.said;
    let is_question = said.utterance.has_question();
    if said.says(Says::Remove) || (said.says(Says::Except) && said.utterance.cancels()) {
        return Some(remove(state, incoming));
    }
    if let Some(next) = about_cart(&state, incoming) {
        return Some(next);
    }
    // "That is expensive. Reduce them to three" wants fewer pieces.
    let counts = said.says(Says::Pieces) && said.details.numbers.iter().any(|number| *number <= MOST_PIECES);
    if said.wants_cheaper()
        && !counts
        && !incoming.names_goods()
        && !said.says(Says::Pay)
        && let Some(last) = state.last.clone()
    {
        state.replaces = true;
        let category = Some(last.item.category);
        return Some(cheaper(state, Vec::new(), category, (last.item.price, said.most)));
    }
    let is_yes = said.affirms() && said.utterance.only_answers() && said.details.numbers.is_empty();
    let pays = [Says::Pay, Says::Takes].into_iter().any(|says| said.says(says))
        || is_yes
        || said.says(Says::NoCoupon)
        || (said.method().is_some() && !is_question);
    let pays = pays && !incoming.describes_other_goods() && !said.says(Says::WentThrough);
    let asks_price = said.says(Says::HowMuch) && !said.describes_goods();
    match state.changes_line(incoming).filter(|_| !asks_price) {
        Some(Change::NoSuchChoice(item, choice)) => return Some(say(state, Line::NoSuchChoice { item, choice })),
        Some(Change::Asked(wanted)) => return Some(say(state, Line::About(wanted, Known::Plain))),
        Some(Change::Another(wanted)) => return Some(complete(state, wanted, None)),
        Some(Change::Part(at, part)) => {
            state.cart[at].quantity -= part.quantity;
            state.note_change(&part, 0);
            add(&mut state.cart, part);
            state.method = said.method().or(state.method);
            return Some((state, vec![Effect::PlaceOrder]));
        }
        Some(Change::Line(at, line)) if !pays || Some(&line) != state.cart.get(at) => {
            let before = state.cart.remove(at).quantity;
            state.note_change(&line, before);
            add(&mut state.cart, line);
            state.method = said.method().or(state.method);
            return Some((state, vec![Effect::PlaceOrder]));
        }
        _ => {}
    }
    if pays {
        return Some(to_payment(state, said.method()));
    }
    if said.says(Says::ShowCart) || asks_price {
        return Some(show_cart(state));
    }
    if said.says(Says::More) && !said.describes_goods() && said.details.numbers.is_empty() {
        state.stage = Stage::Narrow;
        return Some(say(state, Line::Plain(Text::AskNeed)));
    }
    if said.utterance.denies() && said.utterance.only_answers() {
        // "No" to "anything else?" may be the end of the shopping, or no wish to pay: the cart stays.
        state.stage = Stage::Draft;
        return Some(say(state, Line::Plain(Text::NotPaid)));
    }
    None
}

/// An answer to the question about the amount that is no clear yes.
fn confirming(mut state: ConversationState, incoming: &Incoming, method: PaymentMethod) -> Option<Next> {
    let said = &incoming.said;
    if let Some(other) = said.methods.iter().find(|named| **named != method) {
        return Some((state, vec![Effect::ListMethods(Some(*other))]));
    }
    let names_else = incoming.names_goods() || !said.details.numbers.is_empty() || said.phone.is_some();
    let denies = said.utterance.denies() && !names_else && !said.utterance.has_question() && !said.says(Says::HowMuch);
    if denies || (said.refuses() && said.utterance.only_answers()) {
        state.stage = Stage::Draft;
        return Some(say(state, Line::Plain(Text::NotPaid)));
    }
    let change = state.changes_line(incoming);
    if let Some(Change::Asked(wanted)) = change {
        return Some(say(state, Line::About(wanted, Known::Plain)));
    }
    let changes = said.says(Says::Remove) || change.is_some();
    let total = state.order.as_ref().map(|order| order.totals.total);
    if let Some(total) = total.filter(|total| said.is_yes_to_other_number(*total)) {
        return Some(say(state, Line::OtherNumber(total)));
    }
    // Half a yes ("yes but tomorrow", "yes?"), another number, or a question about the amount: asked again.
    let is_unclear = said.utterance.answer.is_some() || said.phone.is_some() || said.says(Says::NoCoupon);
    let is_unclear = is_unclear || said.says(Says::HowMuch) || said.says(Says::Pay);
    // "So tomorrow, right?" asks about the shop.
    let asks_shop = said.utterance.has_question() && !said.subjects.is_empty() && !said.says(Says::HowMuch);
    if is_unclear && asks_shop && !changes {
        return None;
    }
    if is_unclear && !changes && !incoming.describes_other_goods() && said.details.numbers.is_empty() {
        return Some(choose_method(state, method));
    }
    (state.stage, state.method) = (Stage::Draft, Some(method));
    draft(state, incoming)
}

/// A message while the customer pays.
fn paying(state: ConversationState, incoming: &Incoming) -> Option<Next> {
    let said = &incoming.said;
    // "Did it go through?" is answered with where the order stands.
    let asks_status = said.says(Says::WentThrough) && said.utterance.has_question();
    if incoming.describes_other_goods() || asks_status {
        return None;
    }
    if said.refuses() && !said.says(Says::WentThrough) {
        return Some(say(state, Line::Plain(Text::CancelOnPhone)));
    }
    // "It hasn't shown up on my phone."
    let is_unclear = incoming.routing == Routing::Clarify && !incoming.names_goods();
    let asks =
        is_unclear || said.says(Says::WentThrough) || said.says(Says::Pay) || said.says(Says::Again) || said.affirms();
    (asks || !said.methods.is_empty()).then(|| say(state, Line::Plain(Text::StillWaiting)))
}

impl Said {
    /// Whether the message asks for something cheaper.
    pub(in crate::desks::commerce) fn wants_cheaper(&self) -> bool {
        matches!(self.pick, Some(Pick::Cheaper)) || self.says(Says::Cheaper)
    }
}

impl Incoming {
    /// Whether the message names goods, apart from words around paying.
    fn describes_other_goods(&self) -> bool {
        let said = &self.said;
        if self.names_goods() {
            return true;
        }
        let is_sales = said.intents.iter().any(|(intent, _)| intent.journey() == Journey::Sales);
        let pays = said.says(Says::Pay) || said.says(Says::NoCoupon) || said.method().is_some();
        said.describes_goods() && !pays && (is_sales || said.most.is_some() || said.least.is_some())
    }
}
