//! Catalogue rows that were shown, and the others of their kind.

use std::collections::HashSet;
use std::sync::Arc;

use super::budget::{Budget, Order};
use super::chunk::Chunk;
use super::search::{Knowledge, View};
use super::{Passage, Query};
use crate::domain::Language;
use crate::domain::text::words;

/// A row of a catalogue. The title of its passage names it, also after its price or stock has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub price: Option<u64>,
    pub in_stock: bool,
    pub passage: Passage,
}

impl Row {
    fn of(chunk: &Chunk, language: Language) -> Option<Self> {
        let product = chunk.product?;
        let passage = chunk.passage(language, 1.0);
        Some(Self { price: product.price, in_stock: product.in_stock, passage })
    }

    /// Returns the first number before a unit in the row's text: 1.4 for `kg` in "nặng 1.4 kg", 180 for `Hz` in "180Hz".
    pub fn amount(&self, unit: &str) -> Option<f64> {
        let number = |text: &str| text.replace(',', ".").parse::<f64>().ok();
        let words: Vec<&str> = self.passage.text.split_whitespace().collect();
        let trimmed = |word: &'_ str| word.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let unit = unit.to_lowercase();
        words.iter().enumerate().find_map(|(at, word)| {
            let word = trimmed(word);
            let before = at.checked_sub(1).map(|before| words[before]);
            if word == unit { number(before?) } else { number(word.strip_suffix(unit.as_str())?) }
        })
    }
}

impl Knowledge {
    /// Returns the row of each of these products, or `None` if the catalogue has it no longer.
    pub fn rows(&self, folders: &[String], products: &[String], language: Language) -> Vec<Option<Row>> {
        let rows = self.with_view(folders, |view| {
            let row = |name: &String| {
                let is_its = |chunk: &&Arc<Chunk>| chunk.product.is_some() && chunk.title == *name;
                Row::of(view.index.chunks().iter().find(is_its)?, language)
            };
            products.iter().map(row).collect()
        });
        rows.unwrap_or_default()
    }

    /// Returns the rows of a category within the budget that a question names.
    pub fn rows_of_category(&self, folders: &[String], category: &str, asked: &str, language: Language) -> Vec<Row> {
        let rows = self.with_view(folders, |view| {
            let budget = view.index.budget(asked);
            let rows = view.index.chunks().iter().filter_map(|chunk| Row::of(chunk, language));
            rows.filter(|row| row.passage.section == category && budget.allows(row.price)).collect()
        });
        rows.unwrap_or_default()
    }

    /// Returns the rows among the passages, with their scores.
    pub fn rows_of(&self, folders: &[String], passages: &[Passage], language: Language) -> Vec<Row> {
        let rows = self.with_view(folders, |view| {
            let row = |passage: &Passage| {
                let is_its = |chunk: &&Arc<Chunk>| chunk.title == passage.title && chunk.path == passage.file;
                let mut chunks = view.index.chunks().iter().filter(|chunk| chunk.product.is_some());
                let row = Row::of(chunks.find(is_its)?, language)?;
                Some(Row { passage: passage.clone(), ..row })
            };
            passages.iter().filter_map(row).collect()
        });
        rows.unwrap_or_default()
    }

    /// Returns the rows that a message names by words that only titles of products have ("870 EVO"): of the category that it names
    /// first, if it names one.
    pub fn rows_named(&self, folders: &[String], query: &Query) -> Vec<Row> {
        let rows = self.with_view(folders, |view| {
            let (index, language) = (&view.index, query.language);
            let mut rows: Vec<Row> = index.chunks().iter().filter_map(|chunk| Row::of(chunk, language)).collect();
            let category: Vec<String> = index
                .first_category(&query.text, language)
                .iter()
                .map(|piece| index.chunks()[*piece].section())
                .collect();
            rows.retain(|row| category.is_empty() || category.contains(&row.passage.section));
            // "Max" is also a limit, and "pro" is in many names. A model's number is telling even where a page mentions it.
            let has_digit = |word: &str| word.contains(|c: char| c.is_ascii_digit());
            let is_long = |word: &str| word.len() >= LONG || has_digit(word);
            let is_model = |word: &str| word.len() >= MODEL && has_digit(word);
            let is_telling = |word: &str| is_model(word) || (is_long(word) && index.is_of_products(word, language));
            rows_by_title(rows, &query.text, is_telling)
        });
        rows.unwrap_or_default()
    }

    /// Returns the rows that a wish describes, best first: those of the category that it names first, within its budget, which have the
    /// most of its words. Without a budget they need at least so many of its words, of which the category is one.
    pub fn rows_wished(&self, folders: &[String], query: &Query, least: Option<usize>) -> Vec<Row> {
        let rows = self.with_view(folders, |view| {
            let (index, language) = (&view.index, query.language);
            let budget = index.budget(&query.text);
            let is_limited = budget.most.is_some() || budget.least.is_some();
            let category = index.first_category(&query.text, language).into_iter();
            let mut rows: Vec<(usize, Row)> = category
                .filter_map(|piece| Row::of(&index.chunks()[piece], language))
                .filter(|row| budget.allows(row.price))
                .map(|row| {
                    let text = format!("{}\n{}\n{}", row.passage.title, row.passage.section, row.passage.text);
                    (index.met_of(&query.text, &text, language).0, row)
                })
                .collect();
            let price = |row: &Row| match budget.order {
                Order::Any => 0,
                Order::Cheapest => row.price.unwrap_or(u64::MAX),
                Order::Dearest => u64::MAX - row.price.unwrap_or_default(),
            };
            rows.sort_by_key(|(met, row)| (std::cmp::Reverse(*met), !row.in_stock, price(row)));
            let most = rows.first().map_or(0, |(met, _)| *met);
            rows.retain(|(met, _)| *met == most && (is_limited || least.is_some_and(|least| *met >= least)));
            rows.into_iter().map(|(_, row)| row).collect()
        });
        rows.unwrap_or_default()
    }

    /// Returns the products that a message compares, one for each of its sides. Those after the first are of its category.
    pub fn rows_compared(&self, folders: &[String], sides: &[Query]) -> Vec<Row> {
        let mut found: Vec<Row> = Vec::new();
        for side in sides {
            let of_kind = found
                .first()
                .map(|first: &Row| self.rows_of_category(folders, &first.passage.section, "", side.language));
            let rows = match of_kind {
                Some(rows) => rows,
                None => {
                    let named = self.rows_named(folders, side);
                    if named.is_empty() { self.rows_wished(folders, side, Some(2)) } else { named }
                }
            };
            let met = |row: &Row| {
                self.words_met(
                    folders,
                    &side.text,
                    &format!("{}\n{}", row.passage.title, row.passage.text),
                    side.language,
                )
            };
            let best = rows.iter().map(met).max().filter(|best| *best > 0);
            let fits =
                |row: &&Row| Some(met(row)) == best && !found.iter().any(|old| old.passage.title == row.passage.title);
            found.extend(rows.iter().find(fits).cloned());
        }
        if found.len() > 1 { found } else { Vec::new() }
    }

    /// Returns a question without the words that only products have, to search pages: "ship a LG 27GS75Q to Hue".
    pub fn without_products(&self, folders: &[String], question: &str, language: Language) -> String {
        let rest = self.with_view(folders, |view| {
            let words = question.split_whitespace().filter(|word| !view.index.is_of_products(word, language));
            words.collect::<Vec<_>>().join(" ")
        });
        rest.filter(|rest| !rest.is_empty()).unwrap_or_else(|| question.to_owned())
    }

    /// Returns the names of the products in a passage of a document that names several of one category, in their order.
    pub fn products_named(&self, folders: &[String], passage: &Passage) -> Vec<String> {
        let named = self.with_view(folders, |view| {
            let is_named = |chunk: &&Arc<Chunk>| chunk.product.is_some() && !chunk.title.trim().is_empty();
            let rows = view.index.chunks().iter().filter(is_named);
            let mut named: Vec<(usize, &Arc<Chunk>)> =
                rows.filter_map(|row| Some((passage.text.find(&row.title)?, row))).collect();
            named.sort_by_key(|(at, _)| *at);
            let is_one_category = named.windows(2).all(|pair| pair[0].1.section_path == pair[1].1.section_path);
            let names: Vec<String> = named.iter().map(|(_, row)| row.title.clone()).collect();
            if is_one_category && names.len() > 1 { names } else { Vec::new() }
        });
        named.unwrap_or_default()
    }

    /// Returns the price that a question wants.
    pub fn budget(&self, folders: &[String], question: &str) -> Budget {
        self.with_view(folders, |view| view.index.budget(question)).unwrap_or_default()
    }

    /// Splits a message into its questions and these into clauses, if it has several clauses with a meaningful word.
    pub fn clauses(&self, folders: &[String], query: &Query) -> Vec<Vec<String>> {
        self.with_view(folders, |view| view.index.clauses(&query.text, query.language)).unwrap_or_default()
    }

    /// Returns the part of a passage that answers a question: of a table, the rows that it names.
    pub fn excerpt(&self, folders: &[String], question: &str, passage: &Passage, language: Language) -> String {
        let excerpt = |view: &View| view.index.excerpt(question, &passage.text, language);
        self.with_view(folders, excerpt).unwrap_or_else(|| passage.text.clone())
    }

    /// Returns whether a passage has at least two thirds of a question's meaningful words.
    pub fn has_most_of(&self, folders: &[String], question: &str, passage: &Passage, language: Language) -> bool {
        let text = format!("{}\n{}\n{}", passage.title, passage.section, passage.text);
        let (met, all) =
            self.with_view(folders, |view| view.index.met_of(question, &text, language)).unwrap_or_default();
        3 * met >= 2 * all
    }

    /// Returns the rows among these that have all meaningful words of a question. A question without such words has none.
    pub fn rows_with(&self, folders: &[String], rows: &[Row], question: &str, language: Language) -> Vec<Row> {
        let rows = self.with_view(folders, |view| {
            let has = |row: &&Row| {
                let text = format!("{}\n{}", row.passage.title, row.passage.text);
                let (met, all) = view.index.met_of(question, &text, language);
                all > 0 && met == all
            };
            rows.iter().filter(has).cloned().collect()
        });
        rows.unwrap_or_default()
    }

    /// Returns whether a text contains most of a question's meaningful words.
    pub fn is_covered_by(&self, folders: &[String], question: &str, text: &str, language: Language) -> bool {
        self.with_view(folders, |view| view.index.is_covered_by(question, text, language)).unwrap_or_default()
    }

    /// Returns whether a question has meaningful words that a text does not have.
    pub fn names_more_than(&self, folders: &[String], question: &str, text: &str, language: Language) -> bool {
        let (met, all) =
            self.with_view(folders, |view| view.index.met_of(question, text, language)).unwrap_or_default();
        met < all
    }

    /// Returns whether a question names a category of the catalogue other than this one.
    pub fn names_other_category(&self, folders: &[String], question: &str, category: &str, language: Language) -> bool {
        self.with_view(folders, |view| view.index.names_other_category(question, category, language))
            .unwrap_or_default()
    }
}

/// Rows that a message names are at most so many: a word in more titles names none.
const NAMED: usize = 3;

/// A word with a digit is the number of a model from this length on.
const MODEL: usize = 4;

/// A word of a title without a digit tells a product from this length on.
const LONG: usize = 5;

/// Returns the rows that a text names by a word of their titles that few others have. `is_telling` excludes common words.
pub fn rows_by_title(rows: Vec<Row>, text: &str, is_telling: impl Fn(&str) -> bool) -> Vec<Row> {
    let said: HashSet<String> = words(text).into_iter().filter(|word| word.len() > 2).collect();
    let titles: Vec<Vec<String>> = rows.iter().map(|row| words(&row.passage.title)).collect();
    let is_rare = |word: &&String| titles.iter().filter(|title| title.contains(word)).count() <= NAMED;
    let telling: Vec<&String> = said.iter().filter(is_rare).filter(|word| is_telling(word)).collect();
    let names = |title: &Vec<String>| telling.iter().filter(|word| title.contains(word)).count();
    let named: Vec<(usize, Row)> =
        rows.into_iter().zip(&titles).map(|(row, title)| (names(title), row)).filter(|(count, _)| *count > 0).collect();
    // "The RTX 4060 Ti" names none that only has a 4060.
    let most = if named.len() > NAMED { named.iter().map(|(count, _)| *count).max().unwrap_or(0) } else { 1 };
    let named: Vec<Row> = named.into_iter().filter(|(count, _)| *count >= most).map(|(_, row)| row).collect();
    if named.len() > NAMED { Vec::new() } else { named }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amount_is_the_number_before_its_unit() {
        let row = |text: &str| Row {
            price: None,
            in_stock: true,
            passage: Passage {
                title: String::new(),
                section: String::new(),
                file: String::new(),
                version: None,
                language: None,
                text: text.to_owned(),
                score: 1.0,
            },
        };
        assert_eq!(row("RAM 16 GB, nặng 1.4 kg; Bảo hành: 24 tháng").amount("kg"), Some(1.4));
        assert_eq!(row("nặng 1,59 kg.").amount("kg"), Some(1.59));
        assert_eq!(row("IPS, 180Hz, 1 ms").amount("hz"), Some(180.0));
        assert_eq!(row("RAM 16 GB").amount("kg"), None);
    }
}
