//! The columns of a list.

use crate::domain::list::Column;

/// The positions of the columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header<C> {
    columns: Vec<Option<C>>,
    /// The quoted names of unknown columns.
    pub ignored: Vec<String>,
}

/// Why a header is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    #[error(
        "the first line must name the columns {}, in any order; missing: {}; found: {}",
        .needed.join(", "), .missing.join(", "), .found.join(", ")
    )]
    Missing { needed: Vec<&'static str>, missing: Vec<&'static str>, found: Vec<String> },
    #[error("the first line names the column {0} more than once; rename or delete all but one")]
    Twice(&'static str),
}

impl<C: Column> Header<C> {
    /// Finds the columns by name.
    pub fn find(header: &[&str]) -> Result<Self, HeaderError> {
        let columns: Vec<Option<C>> = header.iter().map(|name| C::parse(name.trim())).collect();
        for (place, column) in columns.iter().enumerate() {
            if let Some(twice) = column
                && columns.iter().skip(place + 1).any(|other| other == column)
            {
                return Err(HeaderError::Twice(twice.as_str()));
            }
        }
        let missing = C::NEEDED.iter().filter(|needed| !columns.contains(&Some(**needed)));
        let missing: Vec<&str> = missing.map(|column| column.as_str()).collect();
        if !missing.is_empty() {
            return Err(HeaderError::Missing {
                needed: C::NEEDED.iter().map(|column| column.as_str()).collect(),
                missing,
                found: header.iter().take(20).map(|name| shown(name)).collect(),
            });
        }
        let ignored = header.iter().zip(&columns).filter(|(_, column)| column.is_none());
        let ignored = ignored.map(|(name, _)| shown(name)).collect();
        Ok(Self { columns, ignored })
    }

    /// Counts the known columns.
    pub fn known_among(header: &[&str]) -> usize {
        header.iter().filter(|name| C::parse(name.trim()).is_some()).count()
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Returns the column at each position, `None` for unknown ones.
    pub fn columns(&self) -> &[Option<C>] {
        &self.columns
    }

    /// Returns the position of the column, if the list has it.
    pub fn place(&self, column: C) -> Option<usize> {
        self.columns.iter().position(|here| *here == Some(column))
    }
}

/// Formats a name for a report: trimmed, short, and on one line.
fn shown(field: &str) -> String {
    let name = field.trim();
    if name.is_empty() { "(no name)".to_owned() } else { super::refusals::quoted(name, 40) }
}
