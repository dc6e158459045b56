//! Reads CSV lists as spreadsheets export them: UTF-8 with or without a byte order mark, delimited by `,` `;` or tab, columns in any
//! order, quoted fields with delimiters and line breaks.
//!
//! - `records`: CSV records with line numbers
//! - `header`: the columns
//! - `refusals`: refused rows

use std::io::{BufReader, Chain, Cursor, Read};

use crate::domain::list::{Column, Row};
use crate::domain::string_enum;
use crate::domain::text::clean;

mod header;
mod records;
mod refusals;

pub use header::{Header, HeaderError};
#[cfg(test)]
pub use records::MAX_ROW;
use records::Records;
pub use refusals::{Refusals, Refused, VALUE_SHOWN, quoted};

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("the file is empty; its first line must name the columns")]
    Empty,
    #[error("line {line} is not UTF-8 text; {SAVE_AS_UTF8}")]
    NotUtf8 { line: u64 },
    #[error("the file is UTF-16 (\"Unicode Text\"), not UTF-8; {SAVE_AS_UTF8}")]
    Utf16,
    #[error("the file is a workbook or an archive, not CSV; {SAVE_AS_UTF8}")]
    Workbook,
    #[error("line {line} opens a quote that is not closed within its row; close it, or double a quote inside a field")]
    OpenQuote { line: u64 },
    #[error("the row on line {line} is longer than 1 MiB; is the file a CSV file?")]
    LongRow { line: u64 },
    #[error(transparent)]
    Header(#[from] HeaderError),
}

string_enum! {
    /// Stable codes of the reasons for which a file cannot be read. The console translates them.
    pub enum FileCode {
        Unreadable = "unreadable",
        Empty = "empty",
        NotUtf8 = "not_utf8",
        Utf16 = "utf16",
        Workbook = "workbook",
        OpenQuote = "open_quote",
        LongRow = "long_row",
        ColumnMissing = "column_missing",
        ColumnTwice = "column_twice",
    }
}

impl FileError {
    /// Returns a stable code for the error.
    pub fn code(&self) -> FileCode {
        match self {
            Self::Io(_) => FileCode::Unreadable,
            Self::Empty => FileCode::Empty,
            Self::NotUtf8 { .. } => FileCode::NotUtf8,
            Self::Utf16 => FileCode::Utf16,
            Self::Workbook => FileCode::Workbook,
            Self::OpenQuote { .. } => FileCode::OpenQuote,
            Self::LongRow { .. } => FileCode::LongRow,
            Self::Header(HeaderError::Missing { .. }) => FileCode::ColumnMissing,
            Self::Header(HeaderError::Twice(_)) => FileCode::ColumnTwice,
        }
    }

    /// Returns the line that the error is about, counted from 1.
    pub fn line(&self) -> Option<u64> {
        match self {
            Self::NotUtf8 { line } | Self::OpenQuote { line } | Self::LongRow { line } => Some(*line),
            _ => None,
        }
    }
}

const SAVE_AS_UTF8: &str = "in Excel choose File, Save As, \"CSV UTF-8 (Comma delimited)\"; in LibreOffice save as \
     Text CSV with the character set Unicode (UTF-8)";

/// Bytes that are read at a time, and that are examined to find the delimiter.
pub(super) const CHUNK: usize = 64 << 10;

const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

/// The records of a file.
pub type FileRecords<R> = Records<BufReader<Chain<Cursor<Vec<u8>>, R>>>;

/// Opens a CSV file and reads its header.
///
/// # Errors
/// Fails if the file is not CSV in UTF-8 or its header lacks a column.
pub fn open<C: Column, R: Read>(mut file: R) -> Result<(FileRecords<R>, Header<C>), FileError> {
    let mut head = Vec::with_capacity(CHUNK);
    file.by_ref().take(CHUNK as u64).read_to_end(&mut head)?;
    check_encoding(&head)?;
    let bom = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let delimiter = sniff_delimiter(head.get(bom..).unwrap_or_default(), Header::<C>::known_among)?;
    let mut head = Cursor::new(head);
    head.set_position(bom as u64);
    let mut records = Records::new(BufReader::with_capacity(CHUNK, head.chain(file)), delimiter);
    let line = records.advance()?.ok_or(FileError::Empty)?;
    let header = Header::find(&records.fields(line)?)?;
    Ok((records, header))
}

fn check_encoding(head: &[u8]) -> Result<(), FileError> {
    let zeros = head.iter().take(64).filter(|byte| **byte == 0).count();
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") || zeros > 8 {
        Err(FileError::Utf16)
    } else if head.starts_with(b"PK\x03\x04") || head.starts_with(b"\xd0\xcf\x11\xe0") {
        Err(FileError::Workbook)
    } else {
        Ok(())
    }
}

/// Picks the delimiter with which the first line has the most known columns, else the most columns.
fn sniff_delimiter(head: &[u8], known_among: impl Fn(&[&str]) -> usize) -> Result<u8, FileError> {
    let mut best = (b',', (0, 0));
    for delimiter in DELIMITERS {
        let mut records = Records::new(head, delimiter);
        // A header that fails with this delimiter also fails with the right one, and is reported then.
        let Ok(Some(line)) = records.advance() else { continue };
        let Ok(fields) = records.fields(line) else { return Err(FileError::NotUtf8 { line }) };
        let score = (known_among(&fields), fields.len());
        if score > best.1 {
            best = (delimiter, score);
        }
    }
    Ok(best.0)
}

/// The rows of a list that fits into memory.
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
