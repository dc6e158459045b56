//! The goods that a question names: categories of the catalogue, and quantities.

use super::super::budget::take_budget;
use super::LexicalIndex;
use crate::domain::Language;

impl LexicalIndex {
    /// Returns the categories of the catalogue that a question names, in their order: keyboards and laptops in "a keyboard for my
    /// laptop".
    pub fn categories(&self, text: &str, language: Language) -> Vec<String> {
        let mut named: Vec<String> = Vec::new();
        for rows in self.parsed(text, language).rows_of_categories(self) {
            for section in rows.into_iter().map(|row| self.pieces[row].section()) {
                if !named.contains(&section) {
                    named.push(section);
                }
            }
        }
        named
    }

    /// Returns whether a question names categories of the catalogue, but not this one.
    pub fn names_other_category(&self, text: &str, category: &str, language: Language) -> bool {
        let named = self.categories(text, language);
        !named.is_empty() && !named.iter().any(|named| named == category)
    }

    /// Returns the numbers with a unit of a question, without its budget: "27inch", "2tb".
    pub fn quantities(&self, text: &str, language: Language) -> Vec<String> {
        let words = self.rules.words(Some(language));
        let (_, tokens) = take_budget(text, words);
        let quantities = tokens.into_iter().filter(|token| words.analyzer.bare_number(&token.exact).is_some());
        quantities.map(|token| token.exact).collect()
    }
}
