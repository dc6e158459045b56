//! Dates.

use super::{Found, Reader};
use crate::nlu::facts::Value;
use crate::nlu::facts::lexicon::Role;
use crate::nlu::facts::normal::Kind;

/// Years that a number of four digits may be.
const YEARS: std::ops::RangeInclusive<u64> = 1900..=2199;

impl Reader<'_> {
    /// `31/12/2024`, `2024-12-31`, `31/12`, `12/2024`, `31 tháng 12`, `31 Dec 2024`.
    pub(super) fn date(&self, at: usize) -> Option<Found> {
        self.date_in_digits(at).or_else(|| self.day_then_month(at))
    }

    fn date_in_digits(&self, at: usize) -> Option<Found> {
        let separator = ["/", "-", "."].into_iter().find(|mark| self.is_mark(at + 1, mark))?;
        let part = |index: usize| self.whole(at + index, 4).zip(self.digits(at + index).map(str::len));
        let (first, second) = (part(0)?, part(2)?);
        if self.is_mark(at + 3, separator)
            && let Some(third) = part(4)
        {
            let date = match (first, second, third) {
                ((year, 4), month, day) => date(Some(year), month.0, Some(day.0)),
                (day, month, (year, 4)) => full(day.0, month.0, year),
                (day, month, (year, 2)) if separator == "/" => full(day.0, month.0, 2000 + year),
                _ => None,
            }?;
            return self.ends(at + 5, separator).then(|| Found::new(at, at + 5, date));
        }
        // A fraction or a ratio may look like a date too; it is compared by what it looks like.
        let date = match (separator, first, second) {
            ("/", (day, 1..=2), (month, 1..=2)) => date(None, month, Some(day)),
            ("/" | "-", (month, 1..=2), (year, 4)) => date(Some(year), month, None),
            _ => None,
        }?;
        self.ends(at + 3, separator).then(|| Found::new(at, at + 3, date))
    }

    /// Whether neither letters nor another part follow at once.
    fn ends(&self, end: usize, separator: &str) -> bool {
        let more = self.is_mark(end, separator) && self.kind(end + 1) == Some(&Kind::Digits);
        !more && self.kind(end) != Some(&Kind::Word)
    }

    /// `31 tháng 12 năm 2024`, `31st of December, 2024`.
    fn day_then_month(&self, at: usize) -> Option<Found> {
        let day = self.whole(at, 2)?;
        let after = self.lexicon.is(Role::Ordinal, self.tokens, at + 1).unwrap_or(at + 1);
        let next = self.past_space(after);
        let name_at = self.lexicon.is(Role::Of, self.tokens, next).map_or(next, |end| self.past_space(end));
        let name = self.word(name_at).filter(|_| name_at > after).and_then(|word| self.lexicon.months.get(word));
        let (month, end) = match name {
            Some(month) => (u64::from(*month), name_at + 1),
            None => self.month_at(next)?,
        };
        let (year, end) = self.year_after(end);
        Some(Found::new(at, end, date(year, month, Some(day))?))
    }

    /// `tháng 12`, unless it is a number of months.
    fn month_at(&self, at: usize) -> Option<(u64, usize)> {
        let end = self.lexicon.is(Role::Month, self.tokens, at)?;
        let at = self.past_space(end);
        if let Some(month) = self.word(at).and_then(|word| self.lexicon.months.get(word)) {
            return Some((u64::from(*month), at + 1));
        }
        let month = self.whole(at, 2).filter(|month| (1..=12).contains(month))?;
        let year = self.lexicon.is(Role::Year, self.tokens, self.past_space(at + 1)).is_some();
        (year || self.is_no_amount(at)).then_some((month, at + 1))
    }

    /// `năm 2024`, `/2024`, `, 2024`, ` 2024`; where there is none, the same place.
    fn year_after(&self, end: usize) -> (Option<u64>, usize) {
        let mut at = self.past_space(end);
        if ["/", ",", "-"].iter().any(|mark| self.is_mark(at, mark)) {
            at = self.past_space(at + 1);
        }
        if let Some(after) = self.lexicon.is(Role::Year, self.tokens, at) {
            at = self.past_space(after);
        }
        let year = self.digits(at).filter(|digits| digits.len() == 4).and_then(|_| self.whole(at, 4));
        match year.filter(|year| YEARS.contains(year)) {
            Some(year) if self.is_no_amount(at) => (Some(year), at + 1),
            _ => (None, end),
        }
    }

    /// `ngày 31`, `mùng 4`, `tháng 12 năm 2024`, `năm 2024`, `December 31, 2024`.
    pub(super) fn date_in_words(&self, at: usize) -> Option<Found> {
        let word = self.word(at)?;
        if let Some(month) = self.lexicon.months.get(word) {
            return self.month_then_day(at, u64::from(*month));
        }
        if let Some(end) = self.lexicon.is(Role::Day, self.tokens, at) {
            let number = self.past_space(end);
            if let Some(found) = self.digits(number).and_then(|_| self.date(number)) {
                return Some(Found { start: at, ..found });
            }
            let day = self.whole(number, 2).filter(|day| (1..=31).contains(day) && self.is_no_amount(number))?;
            return Some(Found::new(
                at,
                number + 1,
                Value::Date { year: None, month: None, day: u8::try_from(day).ok() },
            ));
        }
        if let Some((month, end)) = self.month_at(at) {
            let (year, end) = self.year_after(end);
            return Some(Found::new(at, end, date(year, month, None)?));
        }
        self.lexicon.is(Role::Year, self.tokens, at)?;
        let (year, end) = self.year_after(at);
        let year = u16::try_from(year?).ok();
        Some(Found::new(at, end, Value::Date { year, month: None, day: None }))
    }

    fn month_then_day(&self, at: usize, month: u64) -> Option<Found> {
        let point = if self.is_mark(at + 1, ".") { at + 2 } else { at + 1 };
        let next = self.past_space(point);
        if let Some(day) = self.whole(next, 2).filter(|_| next > point) {
            let end = self.lexicon.is(Role::Ordinal, self.tokens, next + 1).unwrap_or(next + 1);
            if self.kind(end) != Some(&Kind::Word) {
                let (year, end) = self.year_after(end);
                return Some(Found::new(at, end, date(year, month, Some(day))?));
            }
        }
        let (year, end) = self.year_after(point);
        Some(Found::new(at, end, date(Some(year?), month, None)?))
    }

    /// Whether the digits at this token are neither part of a longer number nor an amount of something.
    pub(super) fn is_no_amount(&self, at: usize) -> bool {
        let after = self.past_space(at + 1);
        let separated = [".", ",", ":"].iter().any(|mark| self.is_mark(at + 1, mark));
        let longer = self.kind(at + 1) == Some(&Kind::Word) || separated && self.kind(at + 2) == Some(&Kind::Digits);
        let scale = self.word(after).is_some_and(|word| self.lexicon.scales.contains_key(word));
        !longer && !scale && self.lexicon.unit(self.tokens, after).is_none()
    }

    /// `thứ 7`, and the days' names in words.
    pub(super) fn weekday(&self, at: usize) -> Option<Found> {
        let name = self.word(at)?;
        let Some(end) = self.lexicon.is(Role::Weekday, self.tokens, at) else {
            let day = self.lexicon.weekdays.get(name).filter(|_| name.is_ascii() && name.len() > 3)?;
            return Some(Found { spoken: true, ..Found::new(at, at + 1, Value::Weekday(*day)) });
        };
        let next = self.past_space(end);
        if let Some(day) = self.word(next).and_then(|word| self.lexicon.weekdays.get(word)) {
            return Some(Found { spoken: true, ..Found::new(at, next + 1, Value::Weekday(*day)) });
        }
        let day = self.whole(next, 1).filter(|day| (2..=7).contains(day) && self.is_no_amount(next))?;
        Some(Found::new(at, next + 1, Value::Weekday(u8::try_from(day).ok()?)))
    }
}

/// Day before month, as in Viet Nam; month before day where nothing else is possible.
fn full(day: u64, month: u64, year: u64) -> Option<Value> {
    date(Some(year), month, Some(day)).or_else(|| date(Some(year), day, Some(month)))
}

fn date(year: Option<u64>, month: u64, day: Option<u64>) -> Option<Value> {
    let year = match year {
        Some(year) => Some(u16::try_from(year).ok().filter(|_| YEARS.contains(&year))?),
        None => None,
    };
    let fits = (1..=12).contains(&month) && day.is_none_or(|day| (1..=31).contains(&day));
    let small = |number: u64| u8::try_from(number).ok();
    fits.then(|| Value::Date { year, month: small(month), day: day.and_then(small) })
}
