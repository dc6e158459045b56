//! Catalogue rows that were shown, and the others of their kind.

use std::sync::Arc;

use super::budget::{Budget, Order};
use super::chunk::Chunk;
use super::search::Pages;
use super::{Passage, Query};
use crate::domain::Language;
use crate::nlu::long_text::read_text;

/// A row of a catalogue. The title of its passage names it, also after its price or stock has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub price: Option<u64>,
    pub in_stock: bool,
    pub passage: Passage,
}

impl Row {
    pub(super) fn of(chunk: &Chunk, language: Language) -> Option<Self> {
        let product = chunk.product?;
        let passage = chunk.passage(language, 1.0);
        Some(Self { price: product.price, in_stock: product.in_stock, passage })
    }

    /// Returns its price, or the number before the first of some units that its text has: `price`, `kg|g`.
    pub fn value(&self, attribute: &str) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "prices are far below 2⁵²")]
        let price = self.price.map(|price| price as f64);
        if attribute == "price" { price } else { attribute.split('|').find_map(|unit| self.amount(unit)) }
    }

    /// Returns its name, category and text.
    pub fn whole(&self) -> String {
        let Passage { title, section, text, .. } = &self.passage;
        format!("{title}\n{section}\n{text}")
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

impl Pages {
    /// Formats an amount as a price of the catalogue: `1.890.000 đ`.
    pub fn price(&self, amount: u64, language: Language) -> String {
        self.index().map_or_else(|| amount.to_string(), |index| index.rules.price(amount, language))
    }

    /// Returns the row of each of these products, or `None` if the catalogue has it no longer.
    pub fn rows(&self, products: &[String], language: Language) -> Vec<Option<Row>> {
        let row = |name: &String| {
            let is_its = |chunk: &&Arc<Chunk>| chunk.product.is_some() && chunk.title == *name;
            Row::of(self.chunks().iter().find(is_its)?, language)
        };
        products.iter().map(row).collect()
    }

    /// Returns the rows of a category within the budget that a question names.
    pub fn rows_of_category(&self, category: &str, asked: &str, language: Language) -> Vec<Row> {
        let budget = self.budget(asked);
        let of_category = self.chunks().iter().filter(|chunk| chunk.section() == category);
        let rows = of_category.filter_map(|chunk| Row::of(chunk, language));
        rows.filter(|row| budget.allows(row.price)).collect()
    }

    /// Returns the rows among the passages, with their scores.
    pub fn rows_of(&self, passages: &[Passage], language: Language) -> Vec<Row> {
        let row = |passage: &Passage| {
            let is_its = |chunk: &&Arc<Chunk>| chunk.title == passage.title && chunk.path == passage.file;
            let mut rows = self.chunks().iter().filter(is_its).filter_map(|chunk| Row::of(chunk, language));
            let first = rows.next()?;
            // Of rows with one name, that with the passage's price and stock.
            let is_same = |row: &Row| row.passage.text == passage.text;
            let row = if is_same(&first) { first } else { rows.find(is_same).unwrap_or(first) };
            Some(Row { passage: passage.clone(), ..row })
        };
        passages.iter().filter_map(row).collect()
    }

    /// Returns the rows that a wish describes, best first: those of the category that it names first or describes, within its budget,
    /// which have the most of its words. Without a budget they need at least so many of its words, of which the category is one.
    pub fn rows_wished(&self, query: &Query, least: Option<usize>) -> Vec<Row> {
        let named = self.categories(&query.text, query.language).into_iter().next();
        let category = named.or_else(|| self.described_category(query));
        category.map_or_else(Vec::new, |category| self.rows_wished_of(query, &category, least))
    }

    /// Returns the rows of a category that a wish describes.
    pub fn rows_wished_of(&self, query: &Query, category: &str, least: Option<usize>) -> Vec<Row> {
        let Some(index) = self.index() else { return Vec::new() };
        let (budget, language) = (index.budget(&query.text), query.language);
        let is_limited = budget.most.is_some() || budget.least.is_some() || budget.order != Order::Any;
        let of_category = index.chunks().iter().filter(|chunk| chunk.section() == category);
        let rows: Vec<(usize, Row)> = of_category
            .filter_map(|chunk| Row::of(chunk, language))
            .filter(|row| budget.allows(row.price))
            .map(|row| (index.met_of(&query.text, &row.whole(), language).0, row))
            .collect();
        let price = |row: &Row| match budget.order {
            // The best that the budget buys.
            Order::Any if budget.most.is_some() => u64::MAX - row.price.unwrap_or_default(),
            Order::Any => 0,
            Order::Cheapest => row.price.unwrap_or(u64::MAX),
            Order::Dearest => u64::MAX - row.price.unwrap_or_default(),
        };
        let texts: Vec<String> = rows.iter().map(|(_, row)| row.whole()).collect();
        let mut rows: Vec<(usize, Row)> =
            index.exact(&query.text, &texts, language).into_iter().map(|at| rows[at].clone()).collect();
        rows.sort_by_key(|(met, row)| (std::cmp::Reverse(*met), !row.in_stock, price(row)));
        let most = rows.first().map_or(0, |(met, _)| *met);
        rows.retain(|(met, _)| *met == most && (is_limited || least.is_some_and(|least| *met >= least)));
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// Returns the categories that a question names, in their order.
    pub fn categories(&self, question: &str, language: Language) -> Vec<String> {
        self.index().map(|index| index.categories(question, language)).unwrap_or_default()
    }

    /// Returns the only category whose products have the quantities that a wish names ("27 inch", "2 TB") and the most of its other
    /// words.
    fn described_category(&self, query: &Query) -> Option<String> {
        let (index, language) = (self.index()?, query.language);
        let quantities = index.quantities(&query.text, language);
        if quantities.is_empty() {
            return None;
        }
        let rows = index.chunks().iter().filter_map(|chunk| Row::of(chunk, language));
        let rows: Vec<(usize, String)> = rows
            .filter(|row| index.met_of(&quantities.join(" "), &row.whole(), language).0 == quantities.len())
            .map(|row| (index.met_of(&query.text, &row.whole(), language).0, row.passage.section))
            .collect();
        let most = rows.iter().map(|(met, _)| *met).max()?;
        let mut best: Vec<String> =
            rows.into_iter().filter(|(met, _)| *met == most).map(|(_, section)| section).collect();
        best.dedup();
        (best.len() == 1).then(|| best.remove(0))
    }

    /// Returns a question without the words that only products have, to search pages: "ship a LG 27GS75Q to Hue".
    pub fn without_products(&self, question: &str, language: Language) -> String {
        let rest = self.index().map(|index| {
            let words = question.split_whitespace().filter(|word| !index.is_of_products(word, language));
            words.collect::<Vec<_>>().join(" ")
        });
        rest.filter(|rest| !rest.is_empty()).unwrap_or_else(|| question.to_owned())
    }

    /// Returns the names of the products in a passage of a document that names several of one category, in their order.
    pub fn products_named(&self, passage: &Passage) -> Vec<String> {
        let is_named = |chunk: &&Arc<Chunk>| chunk.product.is_some() && !chunk.title.trim().is_empty();
        let rows = self.chunks().iter().filter(is_named);
        let mut named: Vec<(usize, &Arc<Chunk>)> =
            rows.filter_map(|row| Some((passage.text.find(&row.title)?, row))).collect();
        named.sort_by_key(|(at, _)| *at);
        let is_one_category = named.windows(2).all(|pair| pair[0].1.section_path == pair[1].1.section_path);
        let names: Vec<String> = named.iter().map(|(_, row)| row.title.clone()).collect();
        if is_one_category && names.len() > 1 { names } else { Vec::new() }
    }

    /// Returns the price that a question wants.
    pub fn budget(&self, question: &str) -> Budget {
        self.index().map(|index| index.budget(question)).unwrap_or_default()
    }

    /// Splits a message into its questions and these into clauses, if it has several clauses with a meaningful word.
    pub fn clauses(&self, query: &Query) -> Vec<Vec<String>> {
        self.index().map(|index| index.clauses(&query.text, query.language)).unwrap_or_default()
    }

    /// Returns the part of a passage that answers a question: of a table, the rows that it names.
    pub fn excerpt(&self, question: &str, passage: &Passage, language: Language) -> String {
        let excerpt = self.index().map(|index| index.excerpt(question, &passage.text, language));
        excerpt.unwrap_or_else(|| passage.text.clone())
    }

    /// Returns a quotation with the sentence in bold that most probably answers a question.
    pub fn emphasized(&self, question: &str, text: &str, language: Language) -> String {
        let Some(index) = self.index() else { return text.to_owned() };
        read_text(question.len(), || index.emphasized(question, text, language))
    }

    /// Returns whether a passage has at least two thirds of a question's meaningful words.
    pub fn has_most_of(&self, question: &str, passage: &Passage, language: Language) -> bool {
        let text = format!("{}\n{}\n{}", passage.title, passage.section, passage.text);
        let (met, all) = self.met_of(question, &text, language);
        3 * met >= 2 * all
    }

    /// Returns the rows among these that have all meaningful words of a question. A question without such words has none.
    pub fn rows_with(&self, rows: &[Row], question: &str, language: Language) -> Vec<Row> {
        let has = |row: &&Row| {
            let text = format!("{}\n{}", row.passage.title, row.passage.text);
            let (met, all) = self.met_of(question, &text, language);
            all > 0 && met == all
        };
        rows.iter().filter(has).cloned().collect()
    }

    /// Returns those of these rows that a question describes: all that have its numbers and codes, and the most of its other words. None
    /// if none of its words tells them apart.
    pub fn rows_told(&self, rows: &[Row], question: &str, language: Language) -> Vec<Row> {
        let Some(index) = self.index() else { return Vec::new() };
        let texts: Vec<String> =
            rows.iter().map(|Row { passage, .. }| format!("{}\n{}", passage.title, passage.text)).collect();
        index.told(question, &texts, language).into_iter().map(|at| rows[at].clone()).collect()
    }

    /// Returns whether a text contains most of a question's meaningful words.
    pub fn is_covered_by(&self, question: &str, text: &str, language: Language) -> bool {
        self.index().is_some_and(|index| index.is_covered_by(question, text, language))
    }

    /// Returns whether a question has meaningful words that a text does not have.
    pub fn names_more_than(&self, question: &str, text: &str, language: Language) -> bool {
        let (met, all) = self.met_of(question, text, language);
        met < all
    }

    /// Returns whether a question names a category of the catalogue other than this one.
    pub fn names_other_category(&self, question: &str, category: &str, language: Language) -> bool {
        self.index().is_some_and(|index| index.names_other_category(question, category, language))
    }
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
