//! Serials that are on more than one line. They are imported once if the lines agree, and refused if not.

use super::RecordTexts;
use super::sorter::ImportRow;
use crate::domain::Serial;

/// A line that is refused because another line has other values for the same serial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub line: u64,
    pub serial: Serial,
    /// A line with other values.
    pub other_line: u64,
}

/// The results for the rows that were read so far.
#[derive(Debug, Default)]
pub struct Resolved {
    /// One record for each serial whose lines agree, sorted by serial.
    pub records: Vec<RecordTexts>,
    pub conflicts: Vec<Conflict>,
    /// The number of lines that repeat an earlier one.
    pub repeated: u64,
}

/// Detects repeated serials in sorted rows. Keeps one row, and eight bytes for each line that agrees with it.
#[derive(Debug, Default)]
pub struct Repeats {
    /// The first row of the current serial.
    first: Option<ImportRow>,
    /// The other lines that agree with the first row.
    agreeing: Vec<u64>,
    contradicted: bool,
}

impl Repeats {
    /// Reads the next row, in the order of [`ImportRow`], and adds results to `resolved`.
    pub fn push(&mut self, row: ImportRow, resolved: &mut Resolved) {
        let Some(first) = self.first.as_ref().filter(|first| first.record.serial == row.record.serial) else {
            self.finish(resolved);
            self.first = Some(row);
            return;
        };
        if first.record == row.record {
            // Equal rows are adjacent, so there has been no conflict yet.
            self.agreeing.push(row.line);
            return;
        }
        let refuse = |line, other_line| Conflict { line, serial: first.record.serial.clone(), other_line };
        if !self.contradicted {
            self.contradicted = true;
            let agreeing = std::iter::once(first.line).chain(self.agreeing.drain(..));
            resolved.conflicts.extend(agreeing.map(|line| refuse(line, row.line)));
        }
        resolved.conflicts.push(refuse(row.line, first.line));
    }

    /// Adds the result of the current serial, which has no more rows.
    pub fn finish(&mut self, resolved: &mut Resolved) {
        let Some(first) = self.first.take() else { return };
        if !std::mem::take(&mut self.contradicted) {
            resolved.repeated += u64::try_from(self.agreeing.len()).unwrap_or(u64::MAX);
            resolved.records.push(first.record.into());
        }
        self.agreeing.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::warranty::parse_row;

    #[test]
    fn agreeing_lines_count_once_and_conflicting_lines_fail() {
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
        let (mut repeats, mut resolved) = (Repeats::default(), Resolved::default());
        for row in rows {
            repeats.push(row, &mut resolved);
        }
        repeats.finish(&mut resolved);
        let serials: Vec<&str> = resolved.records.iter().map(|record| record.serial.as_str()).collect();
        let mut lines: Vec<(u64, u64)> = resolved.conflicts.iter().map(|c| (c.line, c.other_line)).collect();
        lines.sort_unstable();
        assert_eq!(serials, ["A1B", "B1B", "D1D"]);
        assert_eq!(resolved.repeated, 1);
        assert_eq!(lines, [(5, 8), (6, 8), (7, 8), (8, 5)]);
    }
}
