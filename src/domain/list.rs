//! Lists that a shop imports: their rows, and the values in them that are refused.

use std::collections::BTreeMap;

use super::StringEnum;

/// The columns of one kind of list.
pub trait Column: StringEnum {
    /// The required columns, in the recommended order.
    const NEEDED: &'static [Self];
}

/// One row: its fields as trimmed texts, without the empty ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row<C> {
    /// The line in a CSV file, or the place of the order in a JSON file.
    pub place: u64,
    pub fields: BTreeMap<C, String>,
}

/// A refused value, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadValue<C> {
    /// The place of its row.
    pub place: u64,
    pub field: C,
    pub value: String,
    pub hint: String,
}

impl<C: Column> Row<C> {
    /// Refuses the value of a field.
    pub fn refuse(&self, field: C, hint: impl Into<String>) -> BadValue<C> {
        let value = self.fields.get(&field).cloned().unwrap_or_default();
        BadValue { place: self.place, field, value, hint: hint.into() }
    }
}

/// Reads the fields of one row, and collects all values that are refused.
pub struct Reader<'a, C> {
    row: &'a Row<C>,
    bad: Vec<BadValue<C>>,
}

impl<'a, C: Column> Reader<'a, C> {
    pub fn new(row: &'a Row<C>) -> Self {
        Self { row, bad: Vec::new() }
    }

    /// Reads a field that may be empty. Returns `None` for an empty or a refused one.
    pub fn find<T>(&mut self, field: C, read: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let text = self.row.fields.get(&field)?;
        read(text).map_err(|hint| self.refuse(field, hint)).ok()
    }

    /// Reads a field that every row must have. Returns `None` for a refused one.
    pub fn needed<T>(&mut self, field: C, read: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        if !self.row.fields.contains_key(&field) {
            self.refuse(field, "it is empty; every row must have it");
        }
        self.find(field, read)
    }

    pub fn refuse(&mut self, field: C, hint: impl Into<String>) {
        self.bad.push(self.row.refuse(field, hint));
    }

    /// Returns what the fields make, or all refused values.
    pub fn finish<T>(self, made: Option<T>) -> Result<T, Vec<BadValue<C>>> {
        match made {
            Some(made) if self.bad.is_empty() => Ok(made),
            _ => Err(self.bad),
        }
    }
}
