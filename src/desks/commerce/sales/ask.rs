//! Questions about the goods that are talked about: how they are, how many there are, which cost least, and how they differ.

use super::super::advance::Next;
use super::super::effect::{Effect, Incoming, Known, Line};
use super::super::rules::Says;
use super::super::said::Said;
use super::super::state::{ConversationState, Search, Shown, Stage, StoredItem, Wanted};
use super::{say, search, search_of};
use crate::domain::commerce::{CatalogItem, Money};
use crate::domain::text::words;
use crate::nlu::pick::Pick;

impl StoredItem {
    /// Returns how what is known of the item answers a question about it.
    pub fn answers(&self, said: &Said) -> Known {
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
    let is_plain = said.details.numbers.is_empty() && said.details.choices.is_empty() && said.subjects.is_empty();
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
    if !is_open || said.says(Says::Haggle) || said.says(Says::Pay) || said.says(Says::Remove) {
        return None;
    }
    let mut wanted = Search { order: Some(order), is_question: true, ..search_of(said, false) };
    if said.words.is_empty() || incoming.is_strange {
        let earlier = state.search.clone().map(|search| search.words).filter(|words| !words.is_empty());
        let kind = || state.kind().map(|kind| vec![kind]);
        let topic = Some(state.topic.clone()).filter(|topic| !topic.is_empty());
        wanted.words = earlier.or(topic).or_else(kind).unwrap_or_default();
    }
    Some(search(state.clone(), wanted))
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

/// Shows what is known of several goods.
pub(in crate::desks::commerce) fn compared(mut state: ConversationState, items: Vec<CatalogItem>) -> Next {
    if items.is_empty() {
        return say(state, Line::NothingFound { words: String::new(), with_link: false });
    }
    state.stage = Stage::Options;
    state.options = items.iter().map(Shown::from).collect();
    say(state, Line::Compare(items.into_iter().map(|item| Wanted::new(item.into())).collect()))
}
