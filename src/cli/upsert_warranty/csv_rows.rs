//! Reads the rows of a warranty list as spreadsheets write it: UTF-8 with or without a byte order mark, `,` `;` or tab,
//! any order of columns, quoted fields with delimiters and line breaks in them.

use std::io::{BufReader, Chain, Cursor, Read};

use super::header::{Columns, HeaderError};
use super::records::Records;

/// Why the file as a whole cannot be read.
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
    #[error(
        "line {line} opens a quote that is not closed within its row; close it, or write a quote inside a field twice"
    )]
    OpenQuote { line: u64 },
    #[error("the row on line {line} is longer than 1 MiB; is the file a CSV file?")]
    LongRow { line: u64 },
    #[error("{0}")]
    Header(#[from] HeaderError),
}

const SAVE_AS_UTF8: &str = "in Excel choose File, Save As, \"CSV UTF-8 (Comma delimited)\"; in LibreOffice save as \
     Text CSV with the character set Unicode (UTF-8)";

/// How much of the file is looked at to find its delimiter, and how much is read at a time, in bytes.
const CHUNK: usize = 64 << 10;

const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

/// A file whose beginning has been read.
pub type FileRecords<R> = Records<BufReader<Chain<Cursor<Vec<u8>>, R>>>;

/// Opens a CSV file and reads its header; the line is the one that the header begins on. `known_among` says how many of the
/// fields name a column, which tells the delimiter.
pub fn open_records<R: Read>(
    mut file: R,
    known_among: impl Fn(&[&str]) -> usize,
) -> Result<(FileRecords<R>, u64), FileError> {
    let mut head = Vec::with_capacity(CHUNK);
    file.by_ref().take(CHUNK as u64).read_to_end(&mut head)?;
    check_encoding(&head)?;
    let bom = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let delimiter = sniff_delimiter(head.get(bom..).unwrap_or_default(), known_among)?;
    let mut head = Cursor::new(head);
    head.set_position(bom as u64);
    let mut records = Records::new(BufReader::with_capacity(CHUNK, head.chain(file)), delimiter);
    let line = records.advance()?.ok_or(FileError::Empty)?;
    Ok((records, line))
}

/// The rows below the header, one by one.
#[derive(Debug)]
pub struct CsvRows<R> {
    records: FileRecords<R>,
    columns: Columns,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<'a> {
    /// As many fields as the header has.
    Whole { line: u64, serial: &'a str, product_name: &'a str, warranty_end_date: &'a str },
    /// More or fewer.
    Ragged { line: u64, fields: usize, expected: usize, first: &'a str },
}

impl<R: Read> CsvRows<R> {
    /// Reads the header.
    pub fn open(file: R) -> Result<Self, FileError> {
        let (records, line) = open_records(file, Columns::known_among)?;
        let columns = Columns::find(&records.fields(line)?)?;
        Ok(Self { records, columns })
    }

    /// The columns of the header that mean nothing to us.
    pub fn ignored_columns(&self) -> &[String] {
        &self.columns.ignored
    }

    /// How far the file has been read, in bytes, not counting a byte order mark.
    pub fn bytes_read(&self) -> u64 {
        self.records.bytes_read()
    }

    /// The next row, `None` at the end. Empty lines are no rows.
    pub fn next_row(&mut self) -> Result<Option<Row<'_>>, FileError> {
        let Some(line) = self.records.advance()? else { return Ok(None) };
        let columns = &self.columns;
        let fields = self.records.field_count();
        if fields != columns.width {
            let first = self.records.field(0, line)?;
            return Ok(Some(Row::Ragged { line, fields, expected: columns.width, first }));
        }
        // The columns that are ignored must be UTF-8 too: one encoding, one file.
        (0..fields).try_for_each(|index| self.records.field(index, line).map(|_| ()))?;
        Ok(Some(Row::Whole {
            line,
            serial: self.records.field(columns.serial, line)?,
            product_name: self.records.field(columns.product_name, line)?,
            warranty_end_date: self.records.field(columns.warranty_end_date, line)?,
        }))
    }
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

/// The delimiter with which the first line names most of our columns, or else has most columns.
fn sniff_delimiter(head: &[u8], known_among: impl Fn(&[&str]) -> usize) -> Result<u8, FileError> {
    let mut best = (b',', (0, 0));
    for delimiter in DELIMITERS {
        let mut records = Records::new(head, delimiter);
        // A header that fails with this delimiter fails with the right one too, and is reported then.
        let Ok(Some(line)) = records.advance() else { continue };
        let Ok(fields) = records.fields(line) else { return Err(FileError::NotUtf8 { line }) };
        let score = (known_among(&fields), fields.len());
        if score > best.1 {
            best = (delimiter, score);
        }
    }
    Ok(best.0)
}

#[cfg(test)]
mod tests {
    use super::super::records::MAX_ROW;
    use super::*;

    const HEADER: &str = "serial,product_name,warranty_end_date\n";

    /// Every row as `line:serial|name|date`, or as `line:!fields`; then the error, if any.
    fn rows(file: &[u8]) -> Vec<String> {
        let mut rows = match CsvRows::open(file) {
            Ok(rows) => rows,
            Err(error) => return vec![error.to_string()],
        };
        let mut seen = Vec::new();
        loop {
            seen.push(match rows.next_row() {
                Ok(None) => return seen,
                Ok(Some(Row::Whole { line, serial, product_name, warranty_end_date })) => {
                    format!("{line}:{serial}|{product_name}|{warranty_end_date}")
                }
                Ok(Some(Row::Ragged { line, fields, first, .. })) => format!("{line}:!{fields} {first}"),
                Err(error) => {
                    seen.push(error.to_string());
                    return seen;
                }
            });
        }
    }

    #[test]
    fn every_shape_of_the_same_file_gives_the_same_rows() {
        let expected = ["2:A1B|Bàn phím; đen|31/12/2027", "3:B2B|Màn 27\" cong, to|2027-01-01"];
        for file in [
            "serial,product_name,warranty_end_date\nA1B,Bàn phím; đen,31/12/2027\nB2B,\"Màn 27\"\" cong, to\",2027-01-01\n",
            "\u{feff}serial;product_name;warranty_end_date\r\nA1B;\"Bàn phím; đen\";31/12/2027\r\nB2B;Màn 27\" cong, to;2027-01-01\r\n",
            "serial\tproduct_name\twarranty_end_date\rA1B\tBàn phím; đen\t31/12/2027\rB2B\tMàn 27\" cong, to\t2027-01-01",
            "\"warranty_end_date\",\"Giá, VND\", Serial ,PRODUCT_NAME\n31/12/2027,1,A1B,Bàn phím; đen\n2027-01-01,2,B2B,\"Màn 27\"\" cong, to\"",
        ] {
            assert_eq!(rows(file.as_bytes()), expected, "{file:?}");
        }
    }

    #[test]
    fn a_line_number_is_the_one_that_an_editor_shows() {
        for (body, expected) in [
            ("A1,N,D\n\n\nB1,N,D\n", vec!["2:A1|N|D", "5:B1|N|D"]),
            ("A1,N,D\r\n\r\nB1,N,D\r\nC1,N,D", vec!["2:A1|N|D", "4:B1|N|D", "5:C1|N|D"]),
            ("A1,\"N\n1\r\n2\",D\nB1,N,D\n", vec!["2:A1|N\n1\r\n2|D", "5:B1|N|D"]),
            ("A1,N,D\rB1,N,D\r", vec!["2:A1|N|D", "3:B1|N|D"]),
            ("A1,N\nB1,N,D,\n,,\n \n", vec!["2:!2 A1", "3:!4 B1", "4:||", "5:!1  "]),
        ] {
            assert_eq!(rows(format!("{HEADER}{body}").as_bytes()), expected, "{body:?}");
        }
    }

    #[test]
    fn line_numbers_hold_across_the_ends_of_chunks() {
        let mut file = HEADER.replace('\n', "\r\n");
        let mut expected = Vec::new();
        for line in 2..6_000 {
            file.push_str(&format!("SN-{line},Loa số {line},2027-01-01\r\n"));
            expected.push(format!("{line}:SN-{line}|Loa số {line}|2027-01-01"));
        }
        assert!(file.len() > 2 * CHUNK);
        assert_eq!(rows(file.as_bytes()), expected);
    }

    #[test]
    fn a_quote_that_is_never_closed_does_not_swallow_the_rest_of_the_file() {
        let open = format!("{HEADER}A1,N,D\nB1,\"N,D\nC1,N,D\n");
        assert_eq!(rows(open.as_bytes())[1], FileError::OpenQuote { line: 3 }.to_string());
        let long = format!("{open}{}", "C1,N,D\n".repeat(MAX_ROW / 4));
        assert_eq!(rows(long.as_bytes())[1], FileError::OpenQuote { line: 3 }.to_string());
        let one_line = format!("{HEADER}{}", "x".repeat(2 * MAX_ROW));
        assert_eq!(rows(one_line.as_bytes())[0], FileError::LongRow { line: 2 }.to_string());
    }

    #[test]
    fn what_is_no_utf_8_is_named_with_the_way_out() {
        let utf16: Vec<u8> = HEADER.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (file, says) in [
            (b"".to_vec(), "the file is empty"),
            (b"\xef\xbb\xbf\r\n".to_vec(), "the file is empty"),
            ([b"\xff\xfe".to_vec(), utf16.clone()].concat(), "UTF-16"),
            (utf16, "UTF-16"),
            (b"PK\x03\x04aaaa".to_vec(), "workbook"),
            ([HEADER.as_bytes(), b"A1,N,D\nB1,Chu\xd4t,D\n"].concat(), "line 3 is not UTF-8"),
            (b"serial,product_name,warranty_end_date,gi\xe1\n".to_vec(), "line 1 is not UTF-8"),
            (b"serial,product_name,warranty_end_date,x\n1,2,3,gi\xe1\n".to_vec(), "line 2 is not UTF-8"),
        ] {
            let seen = rows(&file);
            assert!(seen.last().unwrap().contains(says), "{seen:?} lacks {says:?}");
        }
    }
}
