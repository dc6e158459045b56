//! Questions about the goods that are talked about: how they are, how many there are, which cost least, and how they differ.

use super::super::advance::Next;
use super::super::effect::{Effect, Incoming, Known, Line};
use super::super::rules::Says;
use super::super::said::Said;
use super::super::state::{AskedOfList, ConversationState, Search, Shown, Stage, Wanted};
use super::{is_sales, say, search, search_of};
use crate::domain::commerce::catalog::search::with_stems;
use crate::domain::commerce::{CatalogItem, Money};
use crate::domain::text::words;
use crate::nlu::pick::Pick;

impl CatalogItem {
    /// Returns how what is known of the item answers a question about it.
    pub(in crate::desks::commerce) fn answers(&self, said: &Said) -> Known {
        let own = self.words();
        let is_own = |word: &String| words(word).iter().all(|word| own.contains(word));
        let asks_if_so = said.says(Says::AsksIfSo) && !said.says(Says::AsksWhat);
        if asks_if_so && let Some((attribute, value)) = said.qualities.iter().next() {
            return match self.attributes.contains_key(attribute) {
                _ if own.contains(value) => Known::Yes,
                true => Known::No,
                false => Known::Unknown,
            };
        }
        let serves = !said.needs.is_empty() && said.needs.iter().all(is_own);
        match said.words.iter().all(is_own) {
            true if asks_if_so && !said.words.is_empty() => Known::Yes,
            true => Known::Plain,
            false if serves => Known::Plain,
            false => Known::Unknown,
        }
    }
}

/// Whether the message asks for other goods of the same kind.
pub(super) fn wants_similar(said: &Said) -> bool {
    said.says(Says::Similar) || said.pick == Some(Pick::Similar)
}

/// Looks for other goods of the category of an item.
pub(super) fn similar(state: ConversationState, incoming: &Incoming, to: &Wanted) -> Next {
    let similar_to = Some(to.item.id.clone());
    let mut details = incoming.said.details.clone();
    // The number of pieces is no size.
    let sizes = to.choices.values().filter_map(|choice| choice.parse::<u64>().ok());
    details.numbers = details.sizes().iter().filter_map(|size| size.parse().ok()).chain(sizes).collect();
    let category = Some(to.item.category.clone());
    search(state, Search { category, details, similar_to, is_question: true, ..Search::default() })
}

/// Answers a question about the item that was put into the cart last. The cart does not change.
pub(super) fn about_cart(state: &ConversationState, incoming: &Incoming) -> Option<Next> {
    let said = &incoming.said;
    let last = state.last.as_ref().filter(|_| said.utterance.has_question())?;
    let names = last.item.names();
    let names_other = incoming.goods.iter().any(|word| !names.contains(word));
    let points_at_it = said.says(Says::AsksIfSo) && !said.says(Says::Ones);
    if wants_similar(said) && !names_other {
        return Some(similar(state.clone(), incoming, last));
    }
    if said.says(Says::HowMany) && !said.says(Says::AsksChoices) && !said.says(Says::ShowCart) && !names_other {
        return Some(say(state.clone(), Line::Left(last.clone())));
    }
    let is_plain = said.details.are_none() && said.subjects.is_empty();
    if said.says(Says::AsksChoices) && is_plain && !names_other {
        return Some(say(state.clone(), Line::About(last.clone(), Known::Plain)));
    }
    let asks = said.says(Says::AsksIfSo) && !said.says(Says::HowMuch) && !said.words.is_empty();
    let is_about_it = !names_other || (points_at_it && !said.qualities.is_empty());
    if !(asks && is_plain && is_about_it) {
        return None;
    }
    let known = last.item.answers(said);
    Some(say(state.clone(), Line::About(last.clone(), known)))
}

/// Shows what is known of each of the goods that a message compares.
pub(super) fn compare(state: &ConversationState, incoming: &Incoming) -> Option<Next> {
    let said = &incoming.said;
    let is_open = !matches!(state.stage, Stage::ConfirmAmount { .. } | Stage::Phone { .. });
    if !said.says(Says::Compares) || incoming.later.is_empty() || !incoming.names_goods() || !is_open {
        return None;
    }
    let searches: Vec<Search> = std::iter::once(search_of(said, false)).chain(incoming.later.iter().cloned()).collect();
    let mut all: Vec<String> = searches.iter().flat_map(|search| search.words.clone()).collect();
    all.dedup();
    let mut state = state.clone();
    state.later.clear();
    state.search = Some(Search { words: all, is_question: true, ..Search::default() });
    Some((state, vec![Effect::FindEach(searches)]))
}

/// Looks for the cheapest or dearest goods: those that the message names, else those that were looked for last.
pub(super) fn rank(state: &ConversationState, incoming: &Incoming) -> Option<Next> {
    let said = &incoming.said;
    let order = said.order_of_prices()?;
    let is_open = !matches!(state.stage, Stage::ConfirmAmount { .. } | Stage::Phone { .. } | Stage::Paying);
    // "Something much cheaper", of the item that is talked about.
    let is_cheaper = said.says(Says::Cheaper) && said.words.is_empty() && state.item().is_some();
    if !is_open || is_cheaper || said.says(Says::Haggle) || said.says(Says::Pay) || said.says(Says::Remove) {
        return None;
    }
    let mut wanted = Search { order: Some(order), is_question: true, ..search_of(said, false) };
    if said.words.is_empty() || incoming.is_strange {
        let earlier = state.search.clone().map(|search| search.words).filter(|words| !words.is_empty());
        let kind = || state.kind().map(|kind| vec![kind]);
        let topic = Some(state.topic.clone()).filter(|topic| !topic.is_empty());
        wanted.words = earlier.or(topic).or_else(kind).unwrap_or_default();
    }
    let replaces = state.replaces && !state.seeks_other(incoming);
    Some(search(ConversationState { replaces, ..state.clone() }, wanted))
}

/// Looks for goods that cost less than this, and no more than the message allows, in the size that it names.
pub(super) fn cheaper(
    state: ConversationState,
    words: Vec<String>,
    category: Option<String>,
    (than, most): (Money, Option<i64>),
) -> Next {
    let below = than.whole() - 1;
    let (most, details) = (Some(most.map_or(below, |most| most.min(below))), state.details.clone());
    search(state, Search { words, category, most, details, is_question: true, ..Search::default() })
}

impl ConversationState {
    /// Whether a message asks about the goods of the list, and notes what it asks: "are they leather?", "which one comes in red?"
    pub(super) fn ask_of_list(&mut self, incoming: &Incoming) -> bool {
        let said = &incoming.said;
        let is_all = said.pick == Some(Pick::All);
        let is_one = matches!(said.pick, Some(Pick::Nth(_) | Pick::Last));
        let points_at_it = is_all || said.says(Says::AsksIfSo) || said.says(Says::AsksWhat);
        let wants = said.says(Says::Ones) || said.says(Says::Wants) || !is_sales(incoming.routing);
        let mut values: Vec<String> = said.qualities.values().chain(&said.details.choices).cloned().collect();
        values.extend(said.details.sizes());
        let is_listed = |word: &String| {
            let mut names = self.options.iter().map(|shown| with_stems(&shown.name));
            values.contains(word) || names.any(|name| name.contains(word))
        };
        let is_other = !incoming.goods.iter().all(is_listed);
        let asks = !values.is_empty() || !said.needs.is_empty() || (is_all && (!incoming.names_goods() || !is_other));
        values.extend(incoming.goods.iter().cloned());
        let hints = said.needs.iter().chain(&said.words).cloned().collect();
        self.asked_of_list = AskedOfList { values, hints };
        said.utterance.has_question() && points_at_it && !is_one && asks && !wants && !is_other
    }
}

impl AskedOfList {
    /// Returns those of the goods that the question is about, or none if none of them is as it asks.
    fn choose(&self, mut goods: Vec<Wanted>) -> Vec<Wanted> {
        let has = |wanted: &Wanted, word: &String| wanted.item.words().contains(word);
        let hints = |wanted: &Wanted| self.hints.iter().filter(|hint| has(wanted, hint)).count();
        goods.retain(|wanted| self.values.iter().all(|value| has(wanted, value)));
        let most = goods.iter().map(hints).max();
        goods.retain(|wanted| Some(hints(wanted)) == most);
        goods
    }
}

/// Shows what is known of several goods: of those that a question is about, else of all of them.
pub(in crate::desks::commerce) fn compared(mut state: ConversationState, items: Vec<CatalogItem>) -> Next {
    if items.is_empty() {
        return say(state, Line::NothingFound { words: String::new(), with_link: false });
    }
    state.stage = Stage::Options;
    state.options = items.iter().map(Shown::from).collect();
    let goods: Vec<Wanted> = items.into_iter().map(Wanted::new).collect();
    let chosen = std::mem::take(&mut state.asked_of_list).choose(goods.clone());
    match chosen.as_slice() {
        [] => say(state, Line::Compare(goods, Known::No)),
        [only] if only.item.stock > 0 => {
            let mut line = only.clone();
            line.take(&state.details);
            state.stage = Stage::Item { line: line.clone() };
            say(state, Line::Details(line, Known::Plain))
        }
        _ => {
            state.options.retain(|shown| chosen.iter().any(|wanted| wanted.item.id == shown.id));
            say(state, Line::Compare(chosen, Known::Plain))
        }
    }
}
