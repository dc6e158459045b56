//! Finds goods: by the words of the message, else by those that the model has for them.

use super::Performed;
use crate::desks::commerce::effect::Event;
use crate::desks::commerce::sales::LISTED;
use crate::desks::commerce::state::{PriceOrder, Search};
use crate::desks::commerce::tools::ToolError;
use crate::desks::commerce::tools::catalog::CatalogSearch;
use crate::desks::commerce::{Commerce, Situation};
use crate::desks::{DeskError, Turn};
use crate::domain::commerce::CatalogItem;
use crate::domain::commerce::catalog::search::{CatalogFilters, CatalogMatches};
use crate::domain::commerce::policy::LOW_CONFIDENCE;
use crate::domain::text::{singular, words};

/// How many categories the model reads.
const CATEGORIES: u64 = 60;

impl Commerce {
    /// Searches the catalogue. Where the message's words find little, the model may name the goods in other words.
    pub(super) async fn search(&self, turn: &mut Turn, situation: &mut Situation, search: &Search) -> Performed {
        let event = |found: CatalogMatches, words| {
            let CatalogMatches { items, total_matches_estimate: total, confidence } = found;
            Ok(Some(Event::Found { items, total, confidence, words }))
        };
        if let Some(order) = search.order {
            let found = self.find_ranked(turn, situation, search, order).await?;
            return found.map_or(Ok(Some(Event::Failed)), |found| event(found, None));
        }
        if let Some(found) = self.find_kinds(turn, situation, search).await? {
            return event(found, None);
        }
        let Ok(found) = self.find_goods(turn, situation, search).await? else { return Ok(Some(Event::Failed)) };
        let is_poor = found.items.is_empty() || found.confidence < LOW_CONFIDENCE;
        if !is_poor || search.words.is_empty() || situation.model_failed || !self.services.llm.is_up() {
            return event(found, None);
        }
        let categories = self.door(turn).list_catalog_categories(Some(CATEGORIES)).await?;
        let Some(words) = self.ask_search_words(turn, situation, categories).await else { return event(found, None) };
        let asked = Search { words: words.clone(), ..search.clone() };
        match self.find_goods(turn, situation, &asked).await? {
            Ok(again) if again.confidence > found.confidence && !again.items.is_empty() => event(again, Some(words)),
            _ => event(found, None),
        }
    }

    /// Finds the goods with the lowest or the highest prices: the limit moves until few enough are left to sort all of them.
    async fn find_ranked(
        &self,
        turn: &mut Turn,
        situation: &Situation,
        search: &Search,
        order: PriceOrder,
    ) -> Result<Option<CatalogMatches>, DeskError> {
        const ROUNDS: usize = 8;
        let mut narrowed = search.clone();
        let mut round = 1;
        loop {
            let mut found = match self.find_kinds(turn, situation, &narrowed).await? {
                Some(found) => found,
                None => match self.find_goods(turn, situation, &narrowed).await? {
                    Ok(found) => found,
                    Err(_) => return Ok(None),
                },
            };
            found.items.sort_by_key(|item| match order {
                PriceOrder::Cheapest => item.price.minor,
                PriceOrder::Dearest => -item.price.minor,
            });
            let middle = found.items.get(found.items.len() / 2).map(|item| item.price.whole());
            let (Some(middle), true) = (middle, round < ROUNDS && found.total_matches_estimate > found.items.len())
            else {
                return Ok(Some(found));
            };
            match order {
                PriceOrder::Cheapest => narrowed.most = Some(middle),
                PriceOrder::Dearest => narrowed.least = Some(middle),
            }
            round += 1;
        }
    }

    /// Finds the best match of each search.
    pub(super) async fn find_each(&self, turn: &mut Turn, situation: &Situation, searches: &[Search]) -> Performed {
        let mut items: Vec<CatalogItem> = Vec::new();
        for search in searches {
            let Ok(found) = self.find_goods(turn, situation, search).await? else { return Ok(Some(Event::Failed)) };
            let is_new = |item: &CatalogItem| items.iter().all(|known| known.id != item.id);
            let first = found.items.into_iter().next().filter(is_new);
            items.extend(first);
        }
        Ok(Some(Event::Compared(items)))
    }

    /// Finds everything within the limits of a price that is of the kinds that a word such as "shoes" stands for. `None` if the search
    /// has no such word, or finds nothing of these kinds.
    async fn find_kinds(
        &self,
        turn: &mut Turn,
        situation: &Situation,
        search: &Search,
    ) -> Result<Option<CatalogMatches>, DeskError> {
        let has_limit = search.least.is_some() || search.most.is_some() || search.order.is_some();
        let kinds = search.words.iter().find_map(|word| self.rules.kinds_of(singular(word)));
        let Some(kinds) = kinds.filter(|_| has_limit && search.category.is_none()) else { return Ok(None) };
        let words_of_all = search.words.iter().chain(kinds).cloned().collect();
        let wider = Search { words: words_of_all, ..search.clone() };
        let Ok(mut found) = self.find_goods(turn, situation, &wider).await? else { return Ok(None) };
        // "Shoe polish" is no shoe.
        let is_of_kinds = |item: &CatalogItem| {
            let own = words(&item.name).pop().into_iter().chain(words(&item.category));
            own.into_iter().any(|word| kinds.iter().any(|kind| singular(kind) == singular(&word)))
        };
        let before = found.items.len();
        found.items.retain(is_of_kinds);
        found.total_matches_estimate -= before - found.items.len();
        found.confidence = 1.0;
        Ok((!found.items.is_empty()).then_some(found))
    }

    async fn find_goods(
        &self,
        turn: &mut Turn,
        situation: &Situation,
        search: &Search,
    ) -> Result<Result<CatalogMatches, ToolError>, DeskError> {
        let (category, min_price, max_price) = (search.category.clone(), search.least, search.most);
        // What is sold out is no cheaper choice.
        let in_stock = category.is_some() || search.order.is_some();
        // Without names, only what comes in the size. Named goods are found in any case: the reply says that the size is missing.
        let choices: Vec<String> = if search.words.is_empty() { search.details.sizes() } else { Vec::new() };
        let without = search.without.clone();
        let has_choices = !choices.is_empty() && category.is_none();
        let filters =
            CatalogFilters { category, min_price, max_price, in_stock, choices, without, ..CatalogFilters::default() };
        let mut tool = CatalogSearch { query: search.words.join(" "), filters, limit: LISTED };
        let found = self.call(turn, situation, &tool).await?;
        if !has_choices || found.as_ref().is_ok_and(|found| !found.items.is_empty()) {
            return Ok(found);
        }
        tool.filters.choices.clear();
        self.call(turn, situation, &tool).await
    }
}
