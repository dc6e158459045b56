//! Reads the rows of a warranty list.

use std::io::Read;

use crate::app::list_file::{FileError, FileRecords, Header, open};
use crate::domain::list::Column;
use crate::domain::string_enum;

string_enum! {
    /// The columns of a warranty list.
    pub enum WarrantyColumn {
        Serial = "serial",
        ProductName = "product_name",
        WarrantyEndDate = "warranty_end_date",
    }
}

impl Column for WarrantyColumn {
    const NEEDED: &'static [Self] = Self::ALL;
}

/// An iterator over the rows below the header.
#[derive(Debug)]
pub struct WarrantyRows<R> {
    records: FileRecords<R>,
    header: Header<WarrantyColumn>,
    /// The indexes of the columns.
    serial: usize,
    product_name: usize,
    warranty_end_date: usize,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<'a> {
    /// A row with as many fields as the header.
    Whole { line: u64, serial: &'a str, product_name: &'a str, warranty_end_date: &'a str },
    /// A row with more or fewer fields.
    Ragged { line: u64, fields: usize, expected: usize, first: &'a str },
}

impl<R: Read> WarrantyRows<R> {
    /// Reads the header.
    pub fn open(file: R) -> Result<Self, FileError> {
        let (records, header) = open::<WarrantyColumn, _>(file)?;
        // A valid header has all columns.
        let place = |column| header.place(column).unwrap_or_default();
        let (serial, product_name) = (place(WarrantyColumn::Serial), place(WarrantyColumn::ProductName));
        let warranty_end_date = place(WarrantyColumn::WarrantyEndDate);
        Ok(Self { records, header, serial, product_name, warranty_end_date })
    }

    /// Returns the quoted names of unknown columns.
    pub fn ignored_columns(&self) -> &[String] {
        &self.header.ignored
    }

    /// Returns the number of bytes read, without a byte order mark.
    pub fn bytes_read(&self) -> u64 {
        self.records.bytes_read()
    }

    /// Returns the next row, or `None` at the end. Skips empty lines.
    pub fn next_row(&mut self) -> Result<Option<Row<'_>>, FileError> {
        let Some(line) = self.records.advance()? else { return Ok(None) };
        let (fields, expected) = (self.records.field_count(), self.header.width());
        if fields != expected {
            let first = self.records.field(0, line)?;
            return Ok(Some(Row::Ragged { line, fields, expected, first }));
        }
        // Ignored columns must be UTF-8, too.
        (0..fields).try_for_each(|index| self.records.field(index, line).map(|_| ()))?;
        Ok(Some(Row::Whole {
            line,
            serial: self.records.field(self.serial, line)?,
            product_name: self.records.field(self.product_name, line)?,
            warranty_end_date: self.records.field(self.warranty_end_date, line)?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::list_file::{CHUNK, MAX_ROW};

    const HEADER: &str = "serial,product_name,warranty_end_date\n";

    /// Formats each row as `line:serial|name|date` or `line:!fields`, then the error if any.
    fn rows(file: &[u8]) -> Vec<String> {
        let mut rows = match WarrantyRows::open(file) {
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
    fn csv_dialects_give_the_same_rows() {
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
    fn line_numbers_match_an_editor() {
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
    fn line_numbers_are_right_across_chunks() {
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
    fn unclosed_quote_is_an_error() {
        let open = format!("{HEADER}A1,N,D\nB1,\"N,D\nC1,N,D\n");
        assert_eq!(rows(open.as_bytes())[1], FileError::OpenQuote { line: 3 }.to_string());
        let long = format!("{open}{}", "C1,N,D\n".repeat(MAX_ROW / 4));
        assert_eq!(rows(long.as_bytes())[1], FileError::OpenQuote { line: 3 }.to_string());
        let one_line = format!("{HEADER}{}", "x".repeat(2 * MAX_ROW));
        assert_eq!(rows(one_line.as_bytes())[0], FileError::LongRow { line: 2 }.to_string());
    }

    #[test]
    fn other_encodings_are_refused_with_a_hint() {
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
