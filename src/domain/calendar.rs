//! Calendar days in the shop's time zone (`SHOP_TIME_ZONE`), business days, and times in JSON.
//!
//! - [`poland`]: Poland's public holidays

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, SecondsFormat, TimeDelta, TimeZone, Utc, Weekday};
use chrono_tz::Tz;
use serde::Serializer;

pub mod poland;

/// Returns the day in the shop's time zone.
pub fn day_of(at: DateTime<Utc>, zone: Tz) -> NaiveDate {
    at.with_timezone(&zone).date_naive()
}

/// Returns the last second of a day in the shop's time zone.
pub fn end_of_day(day: NaiveDate, zone: Tz) -> DateTime<Utc> {
    let local = day.and_time(NaiveTime::MIN) + TimeDelta::seconds(24 * 60 * 60 - 1);
    // Where the clocks skip midnight, the day in UTC is near enough.
    zone.from_local_datetime(&local).latest().map_or(local.and_utc(), |at| at.with_timezone(&Utc))
}

/// Returns the number of calendar days from `from` to `to`, negative if `to` is earlier.
pub fn days_between(from: NaiveDate, to: NaiveDate) -> i64 {
    to.signed_duration_since(from).num_days()
}

/// Returns the day that is `count` business days after `from`. Business days are the days from Monday to Friday that are no holidays.
pub fn add_business_days(from: NaiveDate, count: u32, is_holiday: impl Fn(NaiveDate) -> bool) -> NaiveDate {
    let is_business_day = |day: &NaiveDate| !matches!(day.weekday(), Weekday::Sat | Weekday::Sun) && !is_holiday(*day);
    let after = from.iter_days().skip(1).filter(is_business_day);
    after.take(count as usize).last().unwrap_or(from)
}

/// Serializes a time as RFC 3339 in UTC, with milliseconds and `Z`.
pub fn time<S: Serializer>(time: &DateTime<Utc>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&time.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// Serializes an optional time like [`time`].
pub fn optional_time<S: Serializer>(value: &Option<DateTime<Utc>>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => time(value, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn day_depends_on_the_shops_time_zone() {
        let vietnam = chrono_tz::Asia::Ho_Chi_Minh;
        let late = "2026-03-01T16:59:59Z".parse().unwrap();
        let midnight = "2026-03-01T17:00:00Z".parse().unwrap();
        assert_eq!((day_of(late, vietnam), day_of(midnight, vietnam)), (day("2026-03-01"), day("2026-03-02")));
        assert_eq!(day_of(midnight, chrono_tz::UTC), day("2026-03-01"));
    }

    #[test]
    fn day_of_clock_change_counts_once() {
        let new_york = chrono_tz::America::New_York;
        // Clocks went forward on 8 March 2026 and back on 1 November.
        for (from, to) in
            [("2026-03-08T04:30:00Z", "2026-03-09T03:30:00Z"), ("2026-11-01T03:30:00Z", "2026-11-02T04:30:00Z")]
        {
            let (from, to) = (day_of(from.parse().unwrap(), new_york), day_of(to.parse().unwrap(), new_york));
            assert_eq!(days_between(from, to), 1, "{from} {to}");
        }
        assert_eq!(days_between(day("2028-02-28"), day("2028-03-01")), 2, "a leap day counts");
        assert_eq!(days_between(day("2027-02-28"), day("2027-03-01")), 1);
        assert_eq!(days_between(day("2027-03-01"), day("2027-02-28")), -1);
    }
}
