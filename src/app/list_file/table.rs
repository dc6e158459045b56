//! Lists that fit into memory.

use std::io::Read;

use super::{FileError, open};
use crate::domain::list::{Column, Row};
use crate::domain::text::clean;

/// The rows of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table<C> {
    pub rows: Vec<Row<C>>,
    /// Rows with more or fewer fields than the header.
    pub ragged: Vec<Ragged>,
    /// The quoted names of unknown columns.
    pub ignored_columns: Vec<String>,
}

/// A row with more or fewer fields than the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ragged {
    pub line: u64,
    pub fields: usize,
    pub expected: usize,
    /// The field at the position of the first required column.
    pub first: String,
}

impl<C: Column> Table<C> {
    /// Reads the whole file. Rows without any text have no fields.
    pub fn read(file: impl Read) -> Result<Self, FileError> {
        let (mut records, header) = open::<C, _>(file)?;
        let first = C::NEEDED.first().and_then(|column| header.place(*column)).unwrap_or(0);
        let mut table = Self { rows: Vec::new(), ragged: Vec::new(), ignored_columns: header.ignored.clone() };
        while let Some(line) = records.advance()? {
            let texts = records.fields(line)?;
            if texts.len() != header.width() {
                let first = texts.get(first).copied().unwrap_or_default().trim().to_owned();
                table.ragged.push(Ragged { line, fields: texts.len(), expected: header.width(), first });
                continue;
            }
            let fields = header.columns().iter().zip(texts).filter_map(|(column, text)| {
                let text = clean(text);
                let text = text.trim();
                column.filter(|_| !text.is_empty()).map(|column| (column, text.to_owned()))
            });
            table.rows.push(Row { place: line, fields: fields.collect() });
        }
        Ok(table)
    }
}
