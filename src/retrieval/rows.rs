//! Catalogue rows that were shown, and the others of their kind.

use super::Passage;
use super::chunk::Chunk;
use super::search::Knowledge;
use crate::domain::Language;

/// A row of a catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The chunk's id. It changes with the row's text.
    pub id: String,
    pub price: Option<u64>,
    pub in_stock: bool,
    pub passage: Passage,
}

impl Row {
    fn of(chunk: &Chunk, language: Language) -> Option<Self> {
        let product = chunk.product?;
        let passage = chunk.passage(language, 1.0);
        Some(Self { id: chunk.id(), price: product.price, in_stock: product.in_stock, passage })
    }

    /// Returns the number before a unit in the row's text: 1.4 for `kg` in "nặng 1.4 kg".
    pub fn amount(&self, unit: &str) -> Option<f64> {
        let words: Vec<&str> = self.passage.text.split_whitespace().collect();
        let is_unit = |word: &str| word.trim_end_matches(|c: char| !c.is_alphanumeric()).eq_ignore_ascii_case(unit);
        words.windows(2).find(|pair| is_unit(pair[1])).and_then(|pair| pair[0].replace(',', ".").parse().ok())
    }
}

impl Knowledge {
    /// Returns the rows with these ids that are still in the catalogue, in the order of the ids.
    pub fn rows(&self, folders: &[String], ids: &[String], language: Language) -> Vec<Row> {
        let rows = self.with_view(folders, |view| {
            let chunk = |id: &String| Some(&view.index.chunks()[*view.places.get(id)?]);
            ids.iter().filter_map(|id| Row::of(chunk(id)?, language)).collect()
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

    /// Returns the ids of the passages that are catalogue rows.
    pub fn ids_of_rows(&self, folders: &[String], passages: &[Passage]) -> Vec<String> {
        let ids = self.with_view(folders, |view| {
            let shows = |chunk: &&std::sync::Arc<Chunk>, passage: &Passage| {
                chunk.product.is_some() && chunk.title == passage.title && chunk.path == passage.file
            };
            let id = |passage| view.index.chunks().iter().find(|chunk| shows(chunk, passage)).map(|chunk| chunk.id());
            passages.iter().filter_map(id).collect()
        });
        ids.unwrap_or_default()
    }

    /// Returns whether a text contains most of a question's meaningful words.
    pub fn is_covered_by(&self, folders: &[String], question: &str, text: &str, language: Language) -> bool {
        self.with_view(folders, |view| view.index.is_covered_by(question, text, language)).unwrap_or_default()
    }

    /// Returns whether a question names a category of the catalogue other than this one.
    pub fn names_other_category(&self, folders: &[String], question: &str, category: &str, language: Language) -> bool {
        self.with_view(folders, |view| view.index.names_other_category(question, category, language))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amount_is_the_number_before_its_unit() {
        let row = |text: &str| Row {
            id: String::new(),
            price: None,
            in_stock: true,
            passage: Passage {
                title: String::new(),
                section: String::new(),
                file: String::new(),
                version: None,
                text: text.to_owned(),
                score: 1.0,
            },
        };
        assert_eq!(row("RAM 16 GB, nặng 1.4 kg; Bảo hành: 24 tháng").amount("kg"), Some(1.4));
        assert_eq!(row("nặng 1,59 kg.").amount("kg"), Some(1.59));
        assert_eq!(row("RAM 16 GB").amount("kg"), None);
    }
}
