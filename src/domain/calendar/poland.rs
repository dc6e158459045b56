//! Poland's public holidays, computed. `tests/data/polish_business_days.tsv` compares them with another calendar.

use chrono::{Datelike, Days, NaiveDate};

/// The first year in which 24 December is a public holiday.
const CHRISTMAS_EVE_SINCE: i32 = 2025;

/// Whether the day is a public holiday in Poland. Valid from 2011, when 6 January became one.
pub fn is_public_holiday(day: NaiveDate) -> bool {
    let is_fixed = match (day.month(), day.day()) {
        (1, 1 | 6) | (5, 1 | 3) | (8, 15) | (11, 1 | 11) | (12, 25 | 26) => true,
        (12, 24) => day.year() >= CHRISTMAS_EVE_SINCE,
        _ => false,
    };
    // Easter Sunday and Monday, Pentecost, Corpus Christi.
    is_fixed || [0, 1, 49, 60].iter().any(|days| easter(day.year()).checked_add_days(Days::new(*days)) == Some(day))
}

/// Returns Easter Sunday of the Gregorian calendar: Butcher's algorithm, with the names of its original.
fn easter(year: i32) -> NaiveDate {
    let (a, b, c) = (year % 19, year / 100, year % 100);
    let (d, e) = (b / 4, b % 4);
    let g = (8 * b + 13) / 25;
    let h = (19 * a + b - d - g + 15) % 30;
    let (i, k) = (c / 4, c % 4);
    let l = (32 + 2 * e + 2 * i - h - k) % 7;
    let m = (a + 11 * h + 19 * l) / 433;
    let month = (h + l - 7 * m + 90) / 25;
    let day = (h + l - 7 * m + 33 * month + 19) % 32;
    NaiveDate::from_ymd_opt(year, month.unsigned_abs(), day.unsigned_abs()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::add_business_days;
    use super::*;

    /// Lines of day, holiday and the day five business days later, which `tests/data/make_polish_business_days.py` wrote with the
    /// Python package `holidays`.
    const TABLE: &str = include_str!("../../../tests/data/polish_business_days.tsv");

    #[test]
    fn business_days_equal_those_of_another_calendar() {
        let mut days = 0;
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<&str> = line.split('\t').collect();
            let [day, holiday, later] = fields[..] else { panic!("{line:?}") };
            let day: NaiveDate = day.parse().unwrap();
            assert_eq!(is_public_holiday(day), holiday == "holiday", "{day}");
            assert_eq!(add_business_days(day, 5, is_public_holiday).to_string(), later, "five days after {day}");
            days += 1;
        }
        assert_eq!(days, 2557, "every day from 2024 to 2030");
    }
}
