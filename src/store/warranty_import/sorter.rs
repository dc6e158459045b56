//! Sorts the rows of an import by serial with a fixed amount of memory: full buffers are sorted and written to
//! temporary files ("runs"), and the runs are merged while they are read back.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use chrono::{Datelike, NaiveDate};

use crate::domain::{Serial, WarrantyRecord};

/// A record with its line. Ordered by serial, then by the other values, then by line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImportRow {
    pub record: WarrantyRecord,
    /// The line on which the row starts, counted from 1.
    pub line: u64,
}

/// The memory for one run, in bytes, including the overhead of allocations.
const RUN_BYTES: usize = 16 << 20;

/// The memory of a row without its texts: its size and the allocator's overhead for two texts.
const ROW_OVERHEAD: usize = size_of::<ImportRow>() + 32;

/// Sorts rows. Its temporary files have no name and are removed with it.
#[derive(Debug)]
pub struct RowSorter {
    rows: Vec<ImportRow>,
    bytes: usize,
    run_bytes: usize,
    runs: Vec<File>,
}

impl Default for RowSorter {
    fn default() -> Self {
        Self::with_run_bytes(RUN_BYTES)
    }
}

impl RowSorter {
    fn with_run_bytes(run_bytes: usize) -> Self {
        Self { rows: Vec::new(), bytes: 0, run_bytes, runs: Vec::new() }
    }

    /// Adds a row. Sometimes writes a temporary file on the calling thread.
    pub fn push(&mut self, row: ImportRow) -> io::Result<()> {
        self.bytes += ROW_OVERHEAD + row.record.serial.as_str().len() + row.record.product_name.len();
        self.rows.push(row);
        if self.bytes >= self.run_bytes { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> io::Result<()> {
        self.rows.sort_unstable();
        let mut run = BufWriter::new(tempfile::tempfile()?);
        for row in self.rows.drain(..) {
            write_row(&mut run, &row)?;
        }
        let mut run = run.into_inner().map_err(io::IntoInnerError::into_error)?;
        run.rewind()?;
        self.runs.push(run);
        self.bytes = 0;
        Ok(())
    }

    /// Returns all rows, sorted.
    pub fn into_sorted(mut self) -> io::Result<SortedRows> {
        self.rows.sort_unstable();
        let mut sources: Vec<Source> = self.runs.into_iter().map(|run| Source::Run(BufReader::new(run))).collect();
        sources.push(Source::Memory(self.rows.into_iter()));
        let mut heads = BinaryHeap::with_capacity(sources.len());
        for (source, rows) in sources.iter_mut().enumerate() {
            if let Some(row) = rows.next_row()? {
                heads.push(Reverse((row, source)));
            }
        }
        Ok(SortedRows { sources, heads })
    }
}

/// The merged runs.
#[derive(Debug)]
pub struct SortedRows {
    sources: Vec<Source>,
    /// The next row of each source that has one, with the source's index.
    heads: BinaryHeap<Reverse<(ImportRow, usize)>>,
}

impl Iterator for SortedRows {
    type Item = io::Result<ImportRow>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut head = self.heads.peek_mut()?;
        let source = head.0.1;
        let next = self.sources.get_mut(source).map_or(Ok(None), Source::next_row);
        let Reverse((row, _)) = match next {
            Ok(Some(next)) => std::mem::replace(&mut *head, Reverse((next, source))),
            Ok(None) => PeekMut::pop(head),
            Err(error) => return Some(Err(error)),
        };
        Some(Ok(row))
    }
}

#[derive(Debug)]
enum Source {
    Run(BufReader<File>),
    Memory(std::vec::IntoIter<ImportRow>),
}

impl Source {
    fn next_row(&mut self) -> io::Result<Option<ImportRow>> {
        match self {
            Self::Run(run) => read_row(run),
            Self::Memory(rows) => Ok(rows.next()),
        }
    }
}

// A row in a run: line, day (counted as chrono does), length of the serial, length of the name, then both texts.

fn write_row(run: &mut impl Write, row: &ImportRow) -> io::Result<()> {
    let WarrantyRecord { serial, product_name, warranty_end_date } = &row.record;
    let mut head = [0; 17];
    head[..8].copy_from_slice(&row.line.to_le_bytes());
    head[8..12].copy_from_slice(&warranty_end_date.num_days_from_ce().to_le_bytes());
    head[12] = u8::try_from(serial.as_str().len()).map_err(io::Error::other)?;
    head[13..].copy_from_slice(&u32::try_from(product_name.len()).map_err(io::Error::other)?.to_le_bytes());
    run.write_all(&head)?;
    run.write_all(serial.as_str().as_bytes())?;
    run.write_all(product_name.as_bytes())
}

fn read_row(run: &mut impl Read) -> io::Result<Option<ImportRow>> {
    let mut line = [0; 8];
    match run.read_exact(&mut line) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let day = i32::from_le_bytes(read_bytes(run)?);
    let [serial_length] = read_bytes(run)?;
    let name_length = u32::from_le_bytes(read_bytes(run)?);
    let serial = read_text(run, usize::from(serial_length))?;
    let product_name = read_text(run, usize::try_from(name_length).map_err(io::Error::other)?)?;
    let warranty_end_date =
        NaiveDate::from_num_days_from_ce_opt(day).ok_or_else(|| io::Error::other("a temporary file is damaged"))?;
    let record =
        WarrantyRecord { serial: serial.parse::<Serial>().map_err(io::Error::other)?, product_name, warranty_end_date };
    Ok(Some(ImportRow { record, line: u64::from_le_bytes(line) }))
}

fn read_bytes<const N: usize>(run: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    run.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_text(run: &mut impl Read, length: usize) -> io::Result<String> {
    let mut bytes = vec![0; length];
    run.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::warranty::parse_row;

    proptest! {
        #[test]
        fn sorting_in_files_equals_sorting_in_memory(
            values in proptest::collection::vec((0..40u32, "[ăâđôơưa-z\n]{1,9}", 1..28u32), 0..300),
            run_bytes in 1..20_000usize,
        ) {
            let mut rows: Vec<ImportRow> = (2..).zip(values).map(|(line, (serial, name, day))| ImportRow {
                record: parse_row(&format!("SN-{serial}"), &format!("N{name}."), &format!("2027-01-{day:02}")).unwrap(),
                line,
            }).collect();
            let mut sorter = RowSorter::with_run_bytes(run_bytes);
            for row in &rows {
                sorter.push(row.clone()).unwrap();
            }
            rows.sort();
            prop_assert_eq!(sorter.into_sorted().unwrap().collect::<io::Result<Vec<_>>>().unwrap(), rows);
        }
    }
}
