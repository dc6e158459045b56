//! Rows that cannot be taken.

use std::collections::BinaryHeap;

use serde::Serialize;

/// A row that cannot be taken. Ordered by its line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Refused {
    /// The line of the file on which the row begins, counted from 1.
    pub line: u64,
    /// The column that the value stands in; `None` when the row as a whole is at fault.
    pub column: Option<&'static str>,
    /// The value, shortened to [`VALUE_SHOWN`] characters.
    pub value: String,
    /// What is wrong with it, and how to fix it.
    pub reason: String,
    /// A stable word for the reason, if it has one. A page translates it.
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

/// Column, value and reason of a fault without a code.
impl From<(Option<&'static str>, String, String)> for Fault {
    fn from((column, value, reason): (Option<&'static str>, String, String)) -> Self {
        Self { code: None, column, value, reason }
    }
}

/// How much of a refused value is shown, in characters.
pub const VALUE_SHOWN: usize = 80;

/// The refused rows: how many there are, and the first ones of the file.
#[derive(Debug)]
pub struct Refusals {
    count: u64,
    shown_max: usize,
    /// The rows with the lowest lines, the highest of them on top.
    first: BinaryHeap<Refused>,
}

impl Refusals {
    /// Keeps at most `shown_max` rows, so that a file without one good row takes no more memory than another.
    pub fn new(shown_max: usize) -> Self {
        Self { count: 0, shown_max, first: BinaryHeap::new() }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first ones, in the order of the file, and how many more there are.
    pub fn into_first(self) -> (Vec<Refused>, u64) {
        let first = self.first.into_sorted_vec();
        let more = self.count - first.len() as u64;
        (first, more)
    }

    pub fn add_ragged(&mut self, line: u64, fields: usize, expected: usize, first: &str) {
        self.add(line, || {
            let reason = format!(
                "the row has {fields} columns and the header {expected}; put a field that holds the delimiter into \
                 double quotes, or add what is missing"
            );
            Fault { code: Some("columns"), column: None, value: first.to_owned(), reason }
        });
    }

    /// A refused row; `describe` gives what is wrong with it, if it is kept.
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

/// A value from the file in quotes, on one line, with nothing in it that could move a terminal's cursor.
pub fn quoted(text: &str, max: usize) -> String {
    format!("{:?}", shortened(text, max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_refused_rows_of_the_file_are_kept_whatever_order_they_come_in() {
        let mut refusals = Refusals::new(2);
        for line in [9, 4, 7, 3, 8] {
            refusals.add_ragged(line, 2, 3, "A1");
        }
        let count = refusals.count();
        let lines: Vec<u64> = refusals.into_first().0.iter().map(|row| row.line).collect();
        assert_eq!((count, lines), (5, vec![3, 4]));
    }

    #[test]
    fn a_long_or_wild_value_is_shown_short_and_tame() {
        assert_eq!(quoted("Chuột\n\u{1b}[2J", 80), r#""Chuột\n\u{1b}[2J""#);
        assert_eq!(quoted("ăâđê", 2), "\"ăâ…\"");
    }
}
