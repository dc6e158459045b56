//! Refused rows.

use std::collections::BinaryHeap;

use serde::Serialize;

/// A refused row. Ordered by its line.
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
    /// A stable code of the reason, which the console translates.
    #[serde(skip)]
    pub code: Option<&'static str>,
}

/// What is wrong with a row.
#[derive(Debug)]
pub struct Fault {
    pub code: Option<&'static str>,
    pub column: Option<&'static str>,
    pub value: String,
    pub reason: String,
}

/// A fault without a code, from column, value and reason.
impl From<(Option<&'static str>, String, String)> for Fault {
    fn from((column, value, reason): (Option<&'static str>, String, String)) -> Self {
        Self { code: None, column, value, reason }
    }
}

/// Characters of a refused value that are shown.
pub const VALUE_SHOWN: usize = 80;

/// The number of refused rows, and the first ones of the file.
#[derive(Debug)]
pub struct Refusals {
    count: u64,
    shown_max: usize,
    /// The rows with the lowest lines, as a max-heap.
    first: BinaryHeap<Refused>,
}

impl Refusals {
    /// Keeps at most `shown_max` rows, which limits the memory for a file full of refused rows.
    pub fn new(shown_max: usize) -> Self {
        Self { count: 0, shown_max, first: BinaryHeap::new() }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the first refused rows in file order, and the number of further ones.
    pub fn into_first(self) -> (Vec<Refused>, u64) {
        let first = self.first.into_sorted_vec();
        let more = self.count - first.len() as u64;
        (first, more)
    }

    pub fn add_ragged(&mut self, line: u64, fields: usize, expected: usize, first: &str) {
        self.add(line, || {
            let reason = format!(
                "the row has {fields} columns and the header {expected}; put fields that contain the delimiter in \
                double quotes, or add the missing fields"
            );
            Fault { code: Some("columns"), column: None, value: first.to_owned(), reason }
        });
    }

    /// Adds a refused row. Calls `describe` only if the row is kept.
    pub fn add<F: Into<Fault>>(&mut self, line: u64, describe: impl FnOnce() -> F) {
        self.count += 1;
        let refused = |fault: F| {
            let Fault { code, column, value, reason } = fault.into();
            Refused { line, column, value: shortened(&value, VALUE_SHOWN), reason, code }
        };
        if self.first.len() < self.shown_max {
            self.first.push(refused(describe()));
        } else if let Some(mut last) = self.first.peek_mut()
            && last.line > line
        {
            *last = refused(describe());
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
