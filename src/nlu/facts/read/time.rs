//! Times of day.

use super::{Found, Reader};
use crate::nlu::facts::Value;
use crate::nlu::facts::lexicon::Role;
use crate::nlu::facts::normal::Kind;

impl Reader<'_> {
    /// `09:30`, `9h30`, `9 giờ 30`, `9am`, `8 giờ tối`.
    pub(super) fn time(&self, at: usize) -> Option<Found> {
        let hour = self.whole(at, 2)?;
        let (minute, end, is_clock) = self.minutes(at)?;
        let next = self.past_space(end);
        let said = |role| self.lexicon.is(role, self.tokens, next);
        let (hour, end) = if let Some(end) = said(Role::Afternoon).filter(|_| hour <= 12) {
            (if hour < 12 { hour + 12 } else { 12 }, end)
        } else if let Some(end) = said(Role::Morning) {
            (if hour == 12 { 0 } else { hour }, end)
        } else if let Some(end) = said(Role::Night).filter(|_| hour <= 12) {
            (if hour > 6 { (hour + 12) % 24 } else { hour }, end)
        } else if is_clock {
            (hour, end)
        } else {
            return None;
        };
        let (hour, minute) = (u8::try_from(hour).ok()?, u8::try_from(minute).ok()?);
        (hour < 24 && minute < 60).then(|| Found::new(at, end, Value::Time { hour, minute }))
    }

    /// Minutes after an hour, where they end, and whether they alone make a time of day of it.
    fn minutes(&self, at: usize) -> Option<(u64, usize, bool)> {
        let two_digits = |at: usize| self.digits(at).filter(|digits| digits.len() == 2).and_then(|_| self.whole(at, 2));
        if self.is_mark(at + 1, ":") {
            let seconds = self.is_mark(at + 3, ":") && self.kind(at + 4) == Some(&Kind::Digits);
            let glued = self.kind(at + 3) == Some(&Kind::Word) && !self.is_half_day(at + 3);
            return two_digits(at + 2).filter(|_| !seconds && !glued).map(|minute| (minute, at + 3, true));
        }
        let word = self.past_space(at + 1);
        if self.lexicon.is(Role::HourMark, self.tokens, word).is_some() {
            return self.minutes_after_hour(at, word);
        }
        // "9 sáng" may be said of anything; "9 am" may not.
        self.is_half_day(word).then_some((0, at + 1, false))
    }

    /// `9h30`, `9 giờ 30 phút`, `9 giờ rưỡi`, `9 giờ`.
    fn minutes_after_hour(&self, at: usize, word: usize) -> Option<(u64, usize, bool)> {
        let next = self.past_space(word + 1);
        // "9h 30" may be nine hours of thirty things.
        let as_spaced = (next > word + 1) == (word > at + 1);
        let minute =
            self.digits(next).filter(|digits| digits.len() == 2 && as_spaced).and_then(|_| self.whole(next, 2));
        if let Some(minute) = minute.filter(|minute| *minute < 60) {
            let after = self.past_space(next + 1);
            if self.lexicon.is(Role::MinuteMark, self.tokens, after).is_some() {
                return Some((minute, after + 1, true));
            }
            if self.is_no_amount(next) {
                return Some((minute, next + 1, true));
            }
        }
        match self.lexicon.is(Role::Half, self.tokens, next).filter(|_| next > word + 1) {
            Some(end) => Some((30, end, true)),
            None => Some((0, word + 1, false)),
        }
    }

    fn is_half_day(&self, at: usize) -> bool {
        self.lexicon.is(Role::HalfDay, self.tokens, at).is_some()
    }
}
