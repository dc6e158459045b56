//! Serials that stand on more than one line: once if the lines agree, refused if they do not.

use super::sorter::ImportRow;
use crate::domain::{Serial, WarrantyRecord};

/// A line that is refused because another line has the same serial and other values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub line: u64,
    pub serial: Serial,
    /// A line that contradicts it.
    pub other_line: u64,
}

/// What is known of the rows seen so far.
#[derive(Debug, Default)]
pub struct Settled {
    /// One record for each serial on whose values all its lines agree, in order of serials.
    pub records: Vec<WarrantyRecord>,
    pub conflicts: Vec<Conflict>,
    /// Lines that say the same as an earlier one.
    pub repeated: u64,
}

/// Reads sorted rows one by one. Holds one row and, of lines that agree with it, eight bytes each.
#[derive(Debug, Default)]
pub struct Repeats {
    /// The first row of the serial at hand.
    first: Option<ImportRow>,
    /// Lines that agree with the first row; its own line is not among them.
    agreeing: Vec<u64>,
    contradicted: bool,
}

impl Repeats {
    /// Takes the next row, in the order of [`ImportRow`]; what it settles is added to `settled`.
    pub fn push(&mut self, row: ImportRow, settled: &mut Settled) {
        let Some(first) = self.first.as_ref().filter(|first| first.record.serial == row.record.serial) else {
            self.finish(settled);
            self.first = Some(row);
            return;
        };
        if first.record == row.record {
            // Equal rows follow each other, so no contradiction has been seen yet.
            self.agreeing.push(row.line);
            return;
        }
        let refuse = |line, other_line| Conflict { line, serial: first.record.serial.clone(), other_line };
        if !self.contradicted {
            self.contradicted = true;
            let agreeing = std::iter::once(first.line).chain(self.agreeing.drain(..));
            settled.conflicts.extend(agreeing.map(|line| refuse(line, row.line)));
        }
        settled.conflicts.push(refuse(row.line, first.line));
    }

    /// Settles the serial at hand: there are no more rows of it.
    pub fn finish(&mut self, settled: &mut Settled) {
        let Some(first) = self.first.take() else { return };
        if !std::mem::take(&mut self.contradicted) {
            settled.repeated += u64::try_from(self.agreeing.len()).unwrap_or(u64::MAX);
            settled.records.push(first.record);
        }
        self.agreeing.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::warranty::parse_row;

    #[test]
    fn lines_that_agree_count_once_and_lines_that_do_not_are_all_refused() {
        let mut rows: Vec<ImportRow> = [
            (2, "a1b", "Chuột", "2027-01-01"),
            (3, "B1B", "Chuột", "2027-01-01"),
            (4, "A1B", " Chuột ", "01/01/2027"),
            (5, "C1C", "Chuột", "2027-01-01"),
            (6, "c1c", "Chuột", "2027-01-02"),
            (7, "C1C", "Chuột", "2027-01-01"),
            (8, "C1C", "Bàn phím", "2027-01-01"),
            (9, "D1D", "Loa", "2027-01-01"),
        ]
        .map(|(line, serial, name, date)| ImportRow { record: parse_row(serial, name, date).unwrap(), line })
        .into();
        rows.sort();
        let (mut repeats, mut settled) = (Repeats::default(), Settled::default());
        for row in rows {
            repeats.push(row, &mut settled);
        }
        repeats.finish(&mut settled);
        let serials: Vec<&str> = settled.records.iter().map(|record| record.serial.as_str()).collect();
        let mut lines: Vec<(u64, u64)> = settled.conflicts.iter().map(|c| (c.line, c.other_line)).collect();
        lines.sort_unstable();
        assert_eq!(serials, ["A1B", "B1B", "D1D"]);
        assert_eq!(settled.repeated, 1);
        assert_eq!(lines, [(5, 8), (6, 8), (7, 8), (8, 5)]);
    }
}
