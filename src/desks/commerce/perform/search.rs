//! Finds goods: by the words of the message, else by those that the model has for them.

use super::Performed;
use crate::desks::commerce::effect::Event;
use crate::desks::commerce::sales::LISTED;
use crate::desks::commerce::state::Search;
use crate::desks::commerce::tools::ToolError;
use crate::desks::commerce::tools::catalog::{CatalogSearch, Filters};
use crate::desks::commerce::{Commerce, Situation};
use crate::desks::{DeskError, Turn};
use crate::domain::commerce::catalog::search::CatalogMatches;
use crate::domain::commerce::policy::LOW_CONFIDENCE;

impl Commerce {
    /// Searches the catalogue. Where the message's words find little, the model may name the goods in other words.
    pub(super) async fn search(&self, turn: &mut Turn, situation: &mut Situation, search: &Search) -> Performed {
        let Ok(found) = self.find_goods(turn, situation, search).await? else { return Ok(Some(Event::Failed)) };
        let event = |found: CatalogMatches, words| {
            let CatalogMatches { items, total_matches_estimate: total, confidence } = found;
            Ok(Some(Event::Found { items, total, confidence, words }))
        };
        let is_poor = found.items.is_empty() || found.confidence < LOW_CONFIDENCE;
        if !is_poor || search.words.is_empty() || situation.model_failed || !self.services.llm.is_up() {
            return event(found, None);
        }
        let categories = self.door(turn).list_catalog_categories().await?;
        let Some(words) = self.ask_search_words(turn, situation, categories).await else { return event(found, None) };
        let asked = Search { words: words.clone(), ..search.clone() };
        match self.find_goods(turn, situation, &asked).await? {
            Ok(again) if again.confidence > found.confidence && !again.items.is_empty() => event(again, Some(words)),
            _ => event(found, None),
        }
    }

    async fn find_goods(
        &self,
        turn: &mut Turn,
        situation: &Situation,
        search: &Search,
    ) -> Result<Result<CatalogMatches, ToolError>, DeskError> {
        let (category, min_price, max_price) = (search.category.clone(), search.least, search.most);
        // What is sold out is no cheaper choice.
        let in_stock = category.is_some();
        let filters = Filters { category, min_price, max_price, in_stock, ..Filters::default() };
        let tool = CatalogSearch { query: search.words.join(" "), filters, limit: LISTED };
        self.call(turn, situation, &tool).await
    }
}
