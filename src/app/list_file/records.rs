//! CSV records with line numbers.
//!
//! Uses `csv-core`, the parser of the `csv` crate. The reader of `csv` 1.4 itself reports wrong line numbers after a CRLF or an empty
//! line, and reads the whole file into memory after an unclosed quote.

use std::io::BufRead;
use std::str::Utf8Error;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::FileError;

/// The maximum length of a row in bytes.
pub const MAX_ROW: usize = 1 << 20;

/// Reads records with the line that each starts on. Lines end with LF, CRLF or CR, as in an editor.
#[derive(Debug)]
pub struct Records<R> {
    input: R,
    parser: Reader,
    /// The line number of the next byte.
    line: u64,
    after_cr: bool,
    bytes_read: u64,
    text: Vec<u8>,
    ends: Vec<usize>,
    ends_used: usize,
}

impl<R: BufRead> Records<R> {
    pub fn new(input: R, delimiter: u8) -> Self {
        let parser = ReaderBuilder::new().delimiter(delimiter).build();
        let (text, ends) = (vec![0; 4 << 10], vec![0; 64]);
        Self { input, parser, line: 1, after_cr: false, bytes_read: 0, text, ends, ends_used: 0 }
    }

    /// Reads one record and returns its first line, or `None` at the end of the input.
    pub fn advance(&mut self) -> Result<Option<u64>, FileError> {
        if !self.skip_line_breaks()? {
            return Ok(None);
        }
        let line = self.line;
        let mut text_used = 0;
        self.ends_used = 0;
        loop {
            let (text, ends) = (&mut self.text[text_used..], &mut self.ends[self.ends_used..]);
            let input = self.input.fill_buf()?;
            let at_end = input.is_empty();
            // At the end of the input a line break closes the record, unless a quote is open.
            let bytes = if at_end { b"\n" } else { input };
            let (result, read, written, ended) = self.parser.read_record(bytes, text, ends);
            text_used += written;
            self.ends_used += ended;
            if !at_end {
                count_lines(&bytes[..read], &mut self.line, &mut self.after_cr);
                self.input.consume(read);
                self.bytes_read += read as u64;
            }
            match result {
                ReadRecordResult::Record => return Ok(Some(line)),
                ReadRecordResult::InputEmpty if at_end => return Err(FileError::OpenQuote { line }),
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if self.text.len() >= MAX_ROW && self.line > line => {
                    return Err(FileError::OpenQuote { line });
                }
                ReadRecordResult::OutputFull if self.text.len() >= MAX_ROW => return Err(FileError::LongRow { line }),
                ReadRecordResult::OutputFull => self.text.resize(self.text.len() * 2, 0),
                ReadRecordResult::OutputEndsFull if self.ends.len() >= MAX_ROW => {
                    return Err(FileError::LongRow { line });
                }
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::End => return Ok(None),
            }
        }
    }

    /// Returns the number of fields of the last record.
    pub fn field_count(&self) -> usize {
        self.ends_used
    }

    /// Returns the number of bytes read.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Skips empty lines. Returns `false` at the end of the input.
    fn skip_line_breaks(&mut self) -> Result<bool, FileError> {
        loop {
            let input = self.input.fill_buf()?;
            if input.is_empty() {
                return Ok(false);
            }
            let breaks = input.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            if breaks == 0 {
                return Ok(true);
            }
            count_lines(&input[..breaks], &mut self.line, &mut self.after_cr);
            self.input.consume(breaks);
            self.bytes_read += breaks as u64;
        }
    }

    /// Returns a field of the last record, which started on `line`.
    pub fn field(&self, index: usize, line: u64) -> Result<&str, FileError> {
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends[..self.ends_used].get(index).copied().unwrap_or(start);
        let text = self.text.get(start..end).unwrap_or_default();
        std::str::from_utf8(text).map_err(|_: Utf8Error| FileError::NotUtf8 { line })
    }

    /// Returns the fields of the last record, which started on `line`.
    pub fn fields(&self, line: u64) -> Result<Vec<&str>, FileError> {
        (0..self.ends_used).map(|index| self.field(index, line)).collect()
    }
}

fn count_lines(bytes: &[u8], line: &mut u64, after_cr: &mut bool) {
    for byte in bytes {
        let breaks = *byte == b'\r' || (*byte == b'\n' && !*after_cr);
        *line += u64::from(breaks);
        *after_cr = *byte == b'\r';
    }
}
