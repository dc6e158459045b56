//! The products that a message wishes for.

use super::{Finder, Goods, clauses, wish};
use crate::dialogue::shown::{Shown, sorted};
use crate::nlu::pick::{Pick, Sign};
use crate::retrieval::mention::Near;
use crate::retrieval::rows::Row;
use crate::retrieval::{Passage, Query};

/// The words of a wish that a product must have without a budget: its category and another one.
const WISHED: usize = 2;
/// The score from which a page gives advice on a wish.
const ADVISES: f64 = 0.6;
/// Products of each kind, where a message wishes for several kinds.
const OF_EACH: usize = 2;

impl Finder<'_> {
    /// Returns the products that the message wishes for, if it is a wish.
    pub(super) fn wish(&self) -> Option<Goods> {
        if self.asked.is_product { Goods::wished(self.wished()) } else { None }
    }

    /// Returns the products that the message describes. One that is neither sure nor asks for an offer needs a budget, or a word
    /// besides the kind of goods.
    fn wished(&self) -> Vec<Passage> {
        let of_each = self.wished_of_each();
        if !of_each.is_empty() {
            return of_each;
        }
        let is_sure = self.asked.is_sure;
        let mut rows = self.pages.rows_wished(&self.query, is_sure.then_some(WISHED));
        // "Do you have a mouse for the office?": any of the category. "A power supply for my graphics card": the same, unless a page
        // gives advice.
        if rows.is_empty() && (self.asked.is_offer || is_sure && !self.has_advice()) {
            rows = self.pages.rows_wished(&self.query, Some(1));
        }
        // "An SSD for my old laptop": what fits depends on what the customer owns.
        let told = self.pages.rows_told(&rows, self.asked.text, self.query.language);
        let rows = self.for_owned(if told.is_empty() { rows } else { told });
        // "The lightest laptop you have": one.
        let (rows, most) = match &self.pick {
            Some(Pick::Least(attribute)) => (sorted(rows, attribute, 1.0), 1),
            Some(Pick::Most(attribute)) => (sorted(rows, attribute, -1.0), 1),
            _ => (rows, self.query.limit),
        };
        rows.into_iter().take(most).map(|row| row.passage).collect()
    }

    /// Returns the rows without those that do not fit what the customer has: "I have an i5-12400F and want a board".
    fn for_owned(&self, mut rows: Vec<Row>) -> Vec<Row> {
        if self.asked.wish != self.asked.text {
            let owned = self.pages.mentions(self.asked.text, Near::default(), self.query.language);
            let owned: Vec<Row> = owned.into_iter().flat_map(|of| of.rows).collect();
            rows.retain(|row| owned.iter().all(|other| self.fit(row, other).is_none_or(|(fits, ..)| fits)));
        }
        rows
    }

    /// Returns the product of the kind that the message names which has the least or the most of something: "the cheapest B650 board". It
    /// fits the products of the conversation.
    pub(super) fn best_of_kind(&self) -> Option<Goods> {
        let (pages, language) = (&self.pages, self.query.language);
        let (picks, wish) = (&self.desk.picks, self.asked.wish);
        if self.asked.is_shop || self.asked.mentions.len() > 1 || picks.says(Sign::Among, wish) {
            return None;
        }
        let best = |text: &str| match picks.pick(text)?.0 {
            Pick::Least(attribute) => Some((attribute, 1.0)),
            Pick::Most(attribute) => Some((attribute, -1.0)),
            _ => None,
        };
        let (clause, (attribute, sign)) = clauses(wish).find_map(|clause| Some((clause, best(clause)?)))?;
        let kinds = |text: &str| pages.categories(text, language).into_iter().next();
        let (kind, asked) = kinds(clause).map(|kind| (kind, clause)).or_else(|| Some((kinds(wish)?, wish)))?;
        let rows = pages.rows_of_category(&kind, wish, language);
        let told = Some(pages.rows_told(&rows, asked, language)).filter(|rows| !rows.is_empty());
        let rows = self.fitting_rows(told.unwrap_or(rows));
        let row = sorted(rows, &attribute, sign).into_iter().next()?;
        let shown = Shown { asked: wish.to_owned(), ..self.shown.cloned().unwrap_or_default() };
        Some(Goods::chosen(shown.instead(vec![row])))
    }

    /// Returns those of some rows that fit the products of the conversation, or all if none does.
    fn fitting_rows(&self, rows: Vec<Row>) -> Vec<Row> {
        let Some(shown) = self.shown else { return rows };
        let others = shown.all(&self.pages, self.query.language);
        let fits = |row: &&Row| others.iter().all(|other| self.fit(row, other).is_none_or(|(fits, ..)| fits));
        let fitting: Vec<Row> = rows.iter().filter(fits).cloned().collect();
        if fitting.is_empty() { rows } else { fitting }
    }

    /// Whether a page is about what the message says.
    pub(super) fn has_advice(&self) -> bool {
        let query = Query { pages_only: true, ..self.query.clone() };
        let found = self.pages.find_by_words(&query).passages;
        let is_about = |best: &Passage| self.pages.has_most_of(&query.text, best, self.query.language);
        found.first().is_some_and(|best| best.score >= ADVISES && is_about(best))
    }

    /// Returns some products of each kind, where a message wishes for several: "a cheap headset plus a basic mouse".
    fn wished_of_each(&self) -> Vec<Passage> {
        let (pages, language) = (&self.pages, self.query.language);
        let mut kinds: Vec<(String, Vec<Row>)> = Vec::new();
        let first = self.asked.wish.split(['?', '.', '!', '\n']).next().unwrap_or_default();
        for part in self.desk.picks.wishes_of(first) {
            let Some(kind) = pages.categories(&part, language).into_iter().next() else { continue };
            // "A laptop with 16 GB of RAM and an SSD" wishes for one.
            let is_part = kinds.first().is_some_and(|(_, rows)| !pages.rows_with(rows, &part, language).is_empty());
            if is_part || kinds.iter().any(|(known, _)| *known == kind) {
                continue;
            }
            let rows = pages.rows_wished_of(&wish(self.turn, &part), &kind, Some(1));
            kinds.push((kind, rows));
        }
        kinds.retain(|(_, rows)| !rows.is_empty());
        if kinds.len() < 2 {
            return Vec::new();
        }
        kinds.into_iter().flat_map(|(_, rows)| rows.into_iter().take(OF_EACH)).map(|row| row.passage).collect()
    }
}
