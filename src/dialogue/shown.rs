//! The products that a conversation last showed, and messages about them: "the second one", "anything cheaper?", "is it heavy?".

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::domain::text::words;
use crate::nlu::pick::{Pick, PickRules};
use crate::retrieval::rows::Row;
use crate::retrieval::search::Knowledge;
use crate::retrieval::{Passage, Query};

/// The products that were shown last, in the desk's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The question that they answered. Its budget holds for what follows.
    pub asked: String,
    /// Ids of catalogue rows.
    pub ids: Vec<String>,
    /// The position of the product that the last message was about.
    pub current: Option<usize>,
}

/// The products that a message is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    pub passages: Vec<Passage>,
    pub shown: Shown,
}

impl Shown {
    /// Remembers the catalogue rows among the passages. Without any, there is nothing to remember.
    pub fn of(knowledge: &Knowledge, folders: &[String], asked: &str, passages: &[Passage]) -> Option<Self> {
        let ids = knowledge.ids_of_rows(folders, passages);
        let current = (ids.len() == 1).then_some(0);
        (!ids.is_empty()).then(|| Self { asked: asked.to_owned(), ids, current })
    }

    /// Returns the products that a message is about, or `None` if it is about something else.
    pub fn choose(
        &self,
        knowledge: &Knowledge,
        folders: &[String],
        rules: &PickRules,
        query: &Query,
    ) -> Option<Chosen> {
        let rows = knowledge.rows(folders, &self.ids, query.language);
        let category = rows.first()?.passage.section.clone();
        if knowledge.names_other_category(folders, &query.text, &category, query.language) {
            return None;
        }
        let of_kind = || knowledge.rows_of_category(folders, &category, &self.asked, query.language);
        let (pick, rest) = rules.pick(&query.text)?;
        let named = named(of_kind(), &query.text);
        if !named.is_empty() {
            return Some(self.list(named));
        }
        match pick {
            Pick::Nth(n) => self.only(&rows, n),
            Pick::Last => self.only(&rows, rows.len() - 1),
            Pick::All => Some(self.with(rows)),
            Pick::It => {
                let meant = match self.current {
                    Some(n) => vec![rows.get(n)?.clone()],
                    None => rows,
                };
                let text: Vec<&str> = meant.iter().map(|row| row.passage.text.as_str()).collect();
                let is_known = knowledge.is_covered_by(folders, &rest, &text.join("\n"), query.language);
                is_known.then(|| self.about(meant))
            }
            Pick::Cheaper => {
                let least = rows.iter().filter_map(|row| row.price).min()?;
                let mut cheaper = of_kind();
                cheaper.retain(|row| row.in_stock && row.price.is_some_and(|price| price < least));
                cheaper.sort_by_key(|row| std::cmp::Reverse(row.price));
                cheaper.truncate(query.limit);
                (!cheaper.is_empty()).then(|| self.list(cheaper))
            }
            Pick::Least(attribute) => Some(self.find(sorted(of_kind(), &attribute, 1.0).first()?)),
            Pick::Most(attribute) => Some(self.find(sorted(of_kind(), &attribute, -1.0).first()?)),
        }
    }

    fn only(&self, rows: &[Row], n: usize) -> Option<Chosen> {
        let row = rows.get(n)?;
        Some(Chosen { passages: vec![row.passage.clone()], shown: Self { current: Some(n), ..self.clone() } })
    }

    /// The rows that stay the shown ones.
    fn about(&self, rows: Vec<Row>) -> Chosen {
        Chosen { passages: rows.into_iter().map(|row| row.passage).collect(), shown: self.clone() }
    }

    fn with(&self, rows: Vec<Row>) -> Chosen {
        Self { current: None, ..self.clone() }.about(rows)
    }

    /// The row is the current one of the shown ones from now on.
    fn find(&self, row: &Row) -> Chosen {
        let mut shown = self.clone();
        let at = shown.ids.iter().position(|id| *id == row.id).unwrap_or(shown.ids.len());
        if at == shown.ids.len() {
            shown.ids.push(row.id.clone());
        }
        Chosen { passages: vec![row.passage.clone()], shown: Self { current: Some(at), ..shown } }
    }

    /// The rows are the shown ones from now on.
    fn list(&self, rows: Vec<Row>) -> Chosen {
        let ids = rows.iter().map(|row| row.id.clone()).collect();
        let current = (rows.len() == 1).then_some(0);
        Self { asked: self.asked.clone(), ids, current }.about(rows)
    }
}

/// Returns the rows, at most three, that a message names by a word of their title that few others have.
fn named(rows: Vec<Row>, text: &str) -> Vec<Row> {
    const MOST: usize = 3;
    let said: HashSet<String> = words(text).into_iter().collect();
    let titles: Vec<Vec<String>> = rows.iter().map(|row| words(&row.passage.title)).collect();
    let is_rare = |word: &String| titles.iter().filter(|title| title.contains(word)).count() <= MOST;
    let names = |title: &Vec<String>| title.iter().any(|word| word.len() > 2 && said.contains(word) && is_rare(word));
    let named: Vec<Row> = rows.into_iter().zip(&titles).filter(|(_, title)| names(title)).map(|(row, _)| row).collect();
    if named.len() > MOST { Vec::new() } else { named }
}

/// Sorts rows in stock by an attribute. Rows without it are left out.
fn sorted(rows: Vec<Row>, attribute: &str, sign: f64) -> Vec<Row> {
    #[expect(clippy::cast_precision_loss, reason = "prices are far below 2⁵²")]
    let price = |row: &Row| row.price.map(|price| price as f64);
    let value = |row: &Row| if attribute == "price" { price(row) } else { row.amount(attribute) };
    let mut rows: Vec<(f64, Row)> =
        rows.into_iter().filter(|row| row.in_stock).filter_map(|row| Some((value(&row)? * sign, row))).collect();
    rows.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    rows.into_iter().map(|(_, row)| row).collect()
}
