//! Warranty records, and how a row of the shop's list becomes one.

use chrono::{Datelike, NaiveDate};
use serde::Serialize;

use super::serial::{InvalidSerial, Serial};
use super::string_enum::string_enum;

/// The warranty of one product.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct WarrantyRecord {
    pub serial: Serial,
    /// Trimmed, not empty, at most [`MAX_NAME_LENGTH`] characters.
    pub product_name: String,
    /// The last day of the warranty.
    pub warranty_end_date: NaiveDate,
}

impl WarrantyRecord {
    /// Whether the warranty has ended. The last day itself is still covered.
    pub fn is_expired(&self, today: NaiveDate) -> bool {
        self.warranty_end_date < today
    }
}

/// The longest product name, in characters. A longer one means that a stray quote has swallowed the following rows.
pub const MAX_NAME_LENGTH: usize = 500;

/// The first plausible year of a warranty's end; an earlier one is a typing error (`0225-01-01`). There is no last
/// year, because back offices write `9999-12-31` for a warranty without an end.
pub const FIRST_YEAR: i32 = 1970;

/// Why a text is not a valid end date. Each message includes the fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDate {
    #[error("it is empty; write the last day of the warranty, such as 2027-12-31")]
    Empty,
    #[error("it is not written YYYY-MM-DD or DD/MM/YYYY, such as 2027-12-31 or 31/12/2027")]
    Format,
    #[error("there is no such day; fix the day or the month (in DD/MM/YYYY the day comes first)")]
    NoSuchDay,
    #[error("its year is before {FIRST_YEAR}; fix the year")]
    Year,
}

/// Parses `YYYY-MM-DD` or `DD/MM/YYYY`, with leading zeros.
pub fn parse_date(text: &str) -> Result<NaiveDate, InvalidDate> {
    if text.is_empty() {
        return Err(InvalidDate::Empty);
    }
    let [year, month, day] = split_date(text).ok_or(InvalidDate::Format)?;
    let date = i32::try_from(year).ok().and_then(|year| NaiveDate::from_ymd_opt(year, month, day));
    let date = date.ok_or(InvalidDate::NoSuchDay)?;
    if date.year() < FIRST_YEAR { Err(InvalidDate::Year) } else { Ok(date) }
}

/// Splits a date of either format into year, month and day.
fn split_date(text: &str) -> Option<[u32; 3]> {
    let number = |range: std::ops::Range<usize>| {
        let digits = text.get(range)?;
        digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
    };
    match text.as_bytes() {
        [_, _, _, _, b'-', _, _, b'-', _, _] => Some([number(0..4)?, number(5..7)?, number(8..10)?]),
        [_, _, b'/', _, _, b'/', _, _, _, _] => Some([number(6..10)?, number(3..5)?, number(0..2)?]),
        _ => None,
    }
}

/// Formats a date for customers, without leading zeros: `5/1/2025`.
pub fn format_date(date: NaiveDate) -> String {
    format!("{}/{}/{}", date.day(), date.month(), date.year())
}

string_enum! {
    /// Stable codes of the reasons for which a row is refused. The console translates them.
    pub enum RowCode {
        NoSerial = "serial_empty",
        Serial = "serial",
        NoName = "name_empty",
        LongName = "name_long",
        ControlCharacter = "name_control",
        NoDate = "date_empty",
        DateFormat = "date_format",
        NoSuchDay = "date_unknown",
        Year = "date_year",
        /// The row has more or fewer columns than the header.
        Columns = "columns",
        /// Another row contradicts it.
        Conflict = "conflict",
    }
}

/// Why a row of the shop's list is refused. Each message includes the fix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    #[error("it is empty; write the serial number, or delete the row")]
    NoSerial,
    #[error("{cause}; a serial number is 3 to 32 of A-Z, a-z, 0-9 and '-', with a digit among them")]
    Serial { value: String, cause: InvalidSerial },
    #[error("it is empty; write the name of the product")]
    NoName,
    #[error("it is {length} characters long, more than {MAX_NAME_LENGTH}; shorten it, and look for a stray quote")]
    LongName { value: String, length: usize },
    #[error("it holds a control character; type the name again")]
    ControlCharacter { value: String },
    #[error("{cause}")]
    Date { value: String, cause: InvalidDate },
}

impl RowError {
    /// Returns a stable code for the error.
    pub fn code(&self) -> RowCode {
        match self {
            Self::NoSerial => RowCode::NoSerial,
            Self::Serial { .. } => RowCode::Serial,
            Self::NoName => RowCode::NoName,
            Self::LongName { .. } => RowCode::LongName,
            Self::ControlCharacter { .. } => RowCode::ControlCharacter,
            Self::Date { cause: InvalidDate::Empty, .. } => RowCode::NoDate,
            Self::Date { cause: InvalidDate::Format, .. } => RowCode::DateFormat,
            Self::Date { cause: InvalidDate::NoSuchDay, .. } => RowCode::NoSuchDay,
            Self::Date { cause: InvalidDate::Year, .. } => RowCode::Year,
        }
    }

    /// Returns the column of the refused value.
    pub fn column(&self) -> &'static str {
        match self {
            Self::NoSerial | Self::Serial { .. } => "serial",
            Self::NoName | Self::LongName { .. } | Self::ControlCharacter { .. } => "product_name",
            Self::Date { .. } => "warranty_end_date",
        }
    }

    /// Returns the refused value, trimmed.
    pub fn value(&self) -> &str {
        match self {
            Self::NoSerial | Self::NoName => "",
            Self::Serial { value, .. }
            | Self::LongName { value, .. }
            | Self::ControlCharacter { value }
            | Self::Date { value, .. } => value,
        }
    }
}

/// Parses the three fields of a row, or returns the errors of all that are refused.
///
/// Fields are trimmed and the serial is converted to upper case. A product name may contain line breaks (a cell of two
/// lines), but no other control characters.
pub fn parse_row(serial: &str, product_name: &str, end_date: &str) -> Result<WarrantyRecord, Vec<RowError>> {
    let (serial, name, date) = (parse_serial(serial.trim()), parse_name(product_name.trim()), end_date.trim());
    let date = parse_date(date).map_err(|cause| RowError::Date { value: date.to_owned(), cause });
    match (serial, name, date) {
        (Ok(serial), Ok(product_name), Ok(warranty_end_date)) => {
            Ok(WarrantyRecord { serial, product_name, warranty_end_date })
        }
        (serial, name, date) => Err([serial.err(), name.err(), date.err()].into_iter().flatten().collect()),
    }
}

fn parse_serial(text: &str) -> Result<Serial, RowError> {
    if text.is_empty() {
        return Err(RowError::NoSerial);
    }
    text.parse().map_err(|cause| RowError::Serial { value: text.to_owned(), cause })
}

fn parse_name(text: &str) -> Result<String, RowError> {
    let length = text.chars().count();
    if length == 0 {
        return Err(RowError::NoName);
    }
    if length > MAX_NAME_LENGTH {
        return Err(RowError::LongName { value: text.to_owned(), length });
    }
    if text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\r' | '\n')) {
        return Err(RowError::ControlCharacter { value: text.to_owned() });
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(year: i32, month: u32, day: u32) -> NaiveDate {
        NaiveDate::from_ymd_opt(year, month, day).unwrap()
    }

    #[test]
    fn date_has_two_formats() {
        use InvalidDate::{Empty, Format, NoSuchDay, Year};
        for (text, expected) in [
            ("2024-12-31", Ok(day(2024, 12, 31))),
            ("30/06/2025", Ok(day(2025, 6, 30))),
            ("2028-02-29", Ok(day(2028, 2, 29))),
            ("9999-12-31", Ok(day(9999, 12, 31))),
            ("1970-01-01", Ok(day(1970, 1, 1))),
            ("", Err(Empty)),
            ("31/02/2025", Err(NoSuchDay)),
            ("2027-02-29", Err(NoSuchDay)),
            ("2100-02-29", Err(NoSuchDay)),
            ("2025-13-01", Err(NoSuchDay)),
            ("12/31/2025", Err(NoSuchDay)),
            ("00/01/2025", Err(NoSuchDay)),
            ("2025-00-10", Err(NoSuchDay)),
            ("1969-12-31", Err(Year)),
            ("0225-01-01", Err(Year)),
            ("1/1/2025", Err(Format)),
            ("2025-1-1", Err(Format)),
            ("31-12-2025", Err(Format)),
            ("2025/12/31", Err(Format)),
            ("31.12.2025", Err(Format)),
            ("20251231", Err(Format)),
            ("2025-12-31 00:00:00", Err(Format)),
            ("+025-12-31", Err(Format)),
            ("2025-12-3١", Err(Format)),
            ("hết hạn", Err(Format)),
            ("２０25-12", Err(Format)),
        ] {
            assert_eq!(parse_date(text), expected, "{text:?}");
        }
    }

    #[test]
    fn shown_date_has_no_leading_zeros() {
        assert_eq!(format_date(day(2025, 1, 5)), "5/1/2025");
        assert_eq!(format_date(day(2024, 12, 31)), "31/12/2024");
    }

    #[test]
    fn last_day_is_still_covered() {
        let record = parse_row("A1B", "Chuột", "2025-06-30").unwrap();
        assert!(!record.is_expired(day(2025, 6, 30)));
        assert!(record.is_expired(day(2025, 7, 1)));
    }

    #[test]
    fn row_is_trimmed_and_serial_upper_case() {
        let record = parse_row(" abc-123\u{a0}", "\t Bàn phím\n2 dòng ", " 31/12/2027 ").unwrap();
        assert_eq!(record.serial.as_str(), "ABC-123");
        assert_eq!(record.product_name, "Bàn phím\n2 dòng");
        assert_eq!(record.warranty_end_date, day(2027, 12, 31));
    }

    #[test]
    fn bad_row_reports_its_column_and_value() {
        let long = "ă".repeat(MAX_NAME_LENGTH + 1);
        for (row, column, value, says) in [
            (("", "N", "2027-01-01"), "serial", "", "empty"),
            (("CC", "N", "2027-01-01"), "serial", "CC", "3 to 32 characters"),
            ((&*"A1".repeat(17), "N", "2027-01-01"), "serial", &*"A1".repeat(17), "3 to 32 characters"),
            (("ABC", "N", "2027-01-01"), "serial", "ABC", "no digit"),
            (("AB 12", "N", "2027-01-01"), "serial", "AB 12", "character other than"),
            (("đ123", "N", "2027-01-01"), "serial", "đ123", "character other than"),
            (("AB1", " \u{a0}", "2027-01-01"), "product_name", "", "empty"),
            (("AB1", &*long, "2027-01-01"), "product_name", &*long, "501 characters"),
            (("AB1", "a\0b", "2027-01-01"), "product_name", "a\0b", "control character"),
            (("AB1", "N", "2027-02-29"), "warranty_end_date", "2027-02-29", "no such day"),
            (("AB1", "N", ""), "warranty_end_date", "", "empty"),
        ] {
            let errors = parse_row(row.0, row.1, row.2).unwrap_err();
            let [error] = errors.as_slice() else { panic!("{errors:?}") };
            assert_eq!((error.column(), error.value()), (column, value));
            assert!(error.to_string().contains(says), "{error} lacks {says:?}");
        }
        let columns: Vec<&str> = parse_row("CC", "", "x").unwrap_err().iter().map(RowError::column).collect();
        assert_eq!(columns, ["serial", "product_name", "warranty_end_date"], "all errors of a row are reported");
        let longest = "ă".repeat(MAX_NAME_LENGTH);
        assert_eq!(parse_row("AB1", &longest, "2027-01-01").unwrap().product_name, longest);
    }
}
