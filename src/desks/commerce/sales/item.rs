//! Answers to the question about one item, and questions about it.

use super::super::advance::Next;
use super::super::effect::{Effect, Incoming, Known, Line};
use super::super::rules::Says;
use super::super::said::Details;
use super::super::state::{ConversationState, Search, Stage, Wanted};
use super::ask::{similar, wants_similar};
use super::{cheaper, complete, is_sales, say, search, search_of, show, show_cart};
use crate::domain::commerce::sale::QUANTITY_MAX;
use crate::nlu::pick::Pick;

/// An answer to the question about one item.
pub(super) fn item(mut state: ConversationState, incoming: &Incoming, mut line: Wanted) -> Option<Next> {
    let said = &incoming.said;
    let own = line.item.names();
    // "Add it to my cart" wants the item.
    let wants_it = said.affirms() || [Says::Wants, Says::More].into_iter().any(|says| said.says(says));
    if said.says(Says::ShowCart) && !wants_it && !incoming.names_goods() && !state.cart.is_empty() {
        return Some(show_cart(state));
    }
    // "Does number 2 come in 43?", while the first one of the list is shown.
    if matches!(said.pick, Some(Pick::Nth(_)))
        && let Some(at) = said.option(state.options.len()).filter(|at| state.options[*at].id != line.item.id)
    {
        let id = state.options[at].id.clone();
        state.stage = Stage::Options;
        return Some((state, vec![Effect::GetItem(id)]));
    }
    let names_other = is_sales(incoming.routing) && incoming.goods.iter().any(|word| !own.contains(word));
    // "Are they leather?" asks about the item, and "the leather ones" are others.
    let points_at_it = (matches!(said.pick, Some(Pick::It)) || said.says(Says::AsksIfSo)) && !said.says(Says::Ones);
    // "Are the leather boots waterproof?", while others are shown.
    let names_whole = matches!(incoming.goods.as_slice(), [first, _, ..] if !own.contains(first));
    let points_at_it = points_at_it && !names_whole;
    let asks_about_it = said.utterance.has_question() && (!names_other || points_at_it);
    if said.wants_cheaper() && !names_other {
        // "Something in leather for less" may be of another kind.
        let words: Vec<String> = said.qualities.values().cloned().collect();
        let category = Some(line.item.category.clone()).filter(|_| words.is_empty());
        return Some(cheaper(state, words, category, (line.item.price, said.most)));
    }
    if wants_similar(said) {
        return Some(similar(state, incoming, &line));
    }
    if names_whole && names_other && said.utterance.has_question() && said.says(Says::AsksIfSo) {
        let words = incoming.goods.clone();
        return Some(search(state, Search { words, is_question: true, ..Search::default() }));
    }
    if names_other && !asks_about_it {
        return add_others(state, incoming, line);
    }
    if said.says(Says::HowMany) && !said.says(Says::AsksChoices) {
        line.take(&said.details);
        state.stage = Stage::Item { line: line.clone() };
        return Some(say(state, Line::Left(line)));
    }
    if said.says(Says::AsksChoices) && said.details.are_none() {
        return Some(say(state, Line::About(line, Known::Plain)));
    }
    // "What about anything under 500?"
    if said.most.or(said.least).is_some() && said.details.are_none() {
        return None;
    }
    let before = line.clone();
    let strange = line.take(&said.details);
    if said.says(Says::AllLeft) {
        line.quantity = Some(line.item.stock.min(QUANTITY_MAX));
    }
    let took = line != before;
    // "How much for two pairs?"
    if strange.is_none() && said.says(Says::HowMuch) && line.quantity.is_some_and(|pieces| pieces > 1) {
        state.stage = Stage::Item { line: line.clone() };
        return Some(say(state, Line::Sum(line)));
    }
    if said.refuses() && !took {
        state.stage = if state.options.len() > 1 { Stage::Options } else { Stage::Narrow };
        return Some(say(state, Line::AskDifferent { link: None }));
    }
    // Words that the item does not have may name other goods, or ask for what its row does not say.
    let known = line.item.words();
    let is_known = said.words.iter().all(|word| known.contains(word));
    if said.utterance.has_question() && !took && strange.is_none() && is_sales(incoming.routing) {
        let known = line.item.answers(said);
        return (is_known || asks_about_it).then(|| say(state, Line::Details(line, known)));
    }
    if said.says(Says::HowMuch) && !took && is_known {
        return Some(say(state, Line::Details(line, Known::Plain)));
    }
    if took && strange.is_none() && (state.only_asks || state.asks_details) {
        return Some(show(state, line));
    }
    let pays = said.says(Says::Pay) || said.method().is_some() || said.says(Says::NoCoupon);
    let asks_to_go_on = pays || (said.affirms() && matches!(state.stage, Stage::Disambiguate { .. }));
    if asks_to_go_on && !took && strange.is_none() && is_known && line.missing().next().is_some() {
        state.pays_next |= pays;
        state.method = said.method().or(state.method);
        state.stage = Stage::Disambiguate { line: line.clone() };
        return Some(say(state, Line::StillMissing(line)));
    }
    let wants_it = said.affirms() || (said.says(Says::Wants) && !said.utterance.has_question());
    if took || strange.is_some() || (wants_it && is_known) {
        state.method = said.method().filter(|_| !said.utterance.has_question()).or(state.method);
        return Some(complete(state, line, strange));
    }
    if pays && is_known {
        state.method = said.method().or(state.method);
        return Some(complete(state, line, None));
    }
    let has_list = state.options.len() > 1;
    if has_list && let Some(at) = said.option(state.options.len()).filter(|_| line.missing().next().is_none()) {
        let id = state.options[at].id.clone();
        return Some((state, vec![Effect::GetItem(id)]));
    }
    None
}

/// Keeps the item next to others that the message adds: "yes, and also a blue bag". Other goods without that are looked for instead.
fn add_others(mut state: ConversationState, incoming: &Incoming, line: Wanted) -> Option<Next> {
    let said = &incoming.said;
    let adds = said.says(Says::More) && !said.utterance.has_question() && !said.says(Says::Instead) && !said.refuses();
    let is_wanted = said.affirms() || matches!(state.stage, Stage::Disambiguate { .. });
    if !adds || !is_wanted || said.says(Says::SeeAll) {
        return None;
    }
    state.later.insert(0, search_of(said, false));
    state.details = Details::default();
    Some(complete(state, line, None))
}
