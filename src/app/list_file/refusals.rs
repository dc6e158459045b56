//! Refused rows.

use std::collections::BinaryHeap;

use serde::Serialize;

use crate::domain::list::{BadValue, Column};
use crate::domain::warranty::RowCode;

/// A refused value or row. Ordered by its line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Refused {
    /// The first line of the row, from 1.
    pub line: u64,
    /// The column of the value, or `None` if the whole row is refused.
    pub column: Option<&'static str>,
    /// The value, shortened to [`VALUE_SHOWN`] characters.
    pub value: String,
    /// What is wrong with it, and how to fix it.
    pub reason: String,
    /// The code of the reason, in a list of warranties.
    #[serde(skip)]
    pub code: Option<RowCode>,
    /// The numbers of the reason, for a text in another language.
    #[serde(skip)]
    pub numbers: Vec<u64>,
}

impl Refused {
    pub fn new(line: u64, column: Option<&'static str>, value: &str, reason: impl Into<String>) -> Self {
        let value = shortened(value, VALUE_SHOWN);
        Self { line, column, value, reason: reason.into(), code: None, numbers: Vec::new() }
    }

    pub fn with_code(self, code: RowCode, numbers: impl Into<Vec<u64>>) -> Self {
        Self { code: Some(code), numbers: numbers.into(), ..self }
    }
}

impl<C: Column> From<&BadValue<C>> for Refused {
    fn from(bad: &BadValue<C>) -> Self {
        Self::new(bad.place, Some(bad.field.as_str()), &bad.value, &*bad.hint)
    }
}

/// Characters of a refused value that are shown.
pub const VALUE_SHOWN: usize = 80;

/// The number of refused rows, and the first ones of the file.
#[derive(Debug)]
pub struct Refusals {
    count: u64,
    shown_max: usize,
    /// The rows with the lowest lines, as a max-heap. Each has at least one refused value.
    first: BinaryHeap<Vec<Refused>>,
}

impl Refusals {
    /// Keeps at most `shown_max` rows, which limits the memory for a file full of refused rows.
    pub fn new(shown_max: usize) -> Self {
        Self { count: 0, shown_max, first: BinaryHeap::new() }
    }

    /// Returns the number of refused rows.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the refused values of the first rows in file order, and the number of further rows.
    pub fn into_first(self) -> (Vec<Refused>, u64) {
        let first = self.first.into_sorted_vec();
        let more = self.count - first.len() as u64;
        (first.into_iter().flatten().collect(), more)
    }

    pub fn add_ragged(&mut self, line: u64, fields: usize, expected: usize, first: &str) {
        let reason = format!(
            "the row has {fields} columns and the header {expected}; put fields that contain the delimiter in \
             double quotes, or add the missing fields"
        );
        let numbers = [fields as u64, expected as u64];
        self.add(vec![Refused::new(line, None, first, reason).with_code(RowCode::Columns, numbers)]);
    }

    /// Adds refused values, which are sorted by row.
    pub fn add_values<C: Column>(&mut self, bad: &[BadValue<C>]) {
        for row in bad.chunk_by(|one, next| one.place == next.place) {
            self.add(row.iter().map(Refused::from).collect());
        }
    }

    /// Adds a row with all its refused values.
    pub fn add(&mut self, row: Vec<Refused>) {
        self.count += 1;
        self.first.push(row);
        if self.first.len() > self.shown_max {
            self.first.pop();
        }
    }
}

fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// Quotes a value from the file on one line, with control characters escaped.
pub fn quoted(text: &str, max: usize) -> String {
    format!("{:?}", shortened(text, max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_refused_rows_are_kept_in_any_order() {
        let mut refusals = Refusals::new(2);
        for line in [9, 4, 7, 3, 8] {
            refusals.add_ragged(line, 2, 3, "A1");
        }
        let count = refusals.count();
        let lines: Vec<u64> = refusals.into_first().0.iter().map(|row| row.line).collect();
        assert_eq!((count, lines), (5, vec![3, 4]));
    }

    #[test]
    fn values_are_shortened_and_escaped() {
        assert_eq!(quoted("Chuột\n\u{1b}[2J", 80), r#""Chuột\n\u{1b}[2J""#);
        assert_eq!(quoted("ăâđê", 2), "\"ăâ…\"");
    }
}
