//! The products whose prices a message adds up.

use super::{Chosen, Shown};
use crate::nlu::pick::{PickRules, Sign};
use crate::retrieval::Query;
use crate::retrieval::rows::Row;
use crate::retrieval::search::Pages;

impl Shown {
    /// Returns the products whose prices a message adds up: `pieces` of one, or what the conversation came to in each category,
    /// with the product that the message names. `None` if the conversation came to fewer products than the message counts.
    pub fn to_sum(&self, pages: &Pages, rules: &PickRules, query: &Query, pieces: Option<u64>) -> Option<Chosen> {
        if self.is_other_kind(pages, query) {
            return None;
        }
        // The 2 of "I take 2" names no "Superlight 2".
        let may_name = pieces.is_none() || rules.pick(&query.text).is_some();
        let named = may_name.then(|| self.choose(pages, rules, query, true)).flatten();
        let named = named.filter(|chosen| chosen.passages.len() == 1);
        let shown = named.map_or_else(|| self.clone(), |named| named.shown);
        let current = shown.current.and_then(|n| shown.products.get(n)).cloned();
        let all = shown.clone().after(Some(self), pages, query.language).taken;
        let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let products = match (rules.things(&query.text).map(count), pieces) {
            // "How much are those two?"
            (Some(things), _) if things == shown.products.len() && current.is_none() => shown.products.clone(),
            (Some(things), None) if things > 1 => all.get(all.len().checked_sub(things)?..)?.to_vec(),
            (Some(things), Some(_)) if things > 1 && things <= all.len() => all[all.len() - things..].to_vec(),
            (_, Some(pieces)) if current.is_none() && count(pieces) == shown.products.len() => shown.products.clone(),
            (_, Some(_)) => current.into_iter().collect(),
            (_, None) => all,
        };
        // "Both together" are not one.
        if products.len() < 2 && pieces.is_none() && rules.says(Sign::Both, &query.text) {
            return None;
        }
        let rows: Vec<Row> = pages.rows(&products, query.language).into_iter().flatten().collect();
        (!rows.is_empty()).then(|| shown.about(rows))
    }
}
