//! Reads CSV lists as spreadsheets export them: UTF-8 with or without a byte order mark, delimited by `,` `;` or tab, columns in any
//! order, quoted fields with delimiters and line breaks.
//!
//! - `records`: CSV records with line numbers
//! - `header`: the columns
//! - `table`: lists that fit into memory
//! - `refusals`: refused rows

use std::io::{BufReader, Chain, Cursor, Read};

use crate::domain::list::Column;

mod header;
mod records;
mod refusals;
mod table;

pub use header::{Header, HeaderError};
#[cfg(test)]
pub use records::MAX_ROW;
use records::Records;
pub use refusals::{Refusals, Refused, VALUE_SHOWN, quoted};
pub use table::{Ragged, Table};

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
