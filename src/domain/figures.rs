//! Daily statistics of a shop's turns.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Kind, TurnStatus};

/// The figures that are stored when a turn ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnFigures {
    /// What the customer wanted, by the desk's name for it.
    pub intent: Option<String>,
    /// The kind of the main message, or `None` if the turn sent none.
    pub kind: Option<Kind>,
    /// Milliseconds from acceptance to the first text of the main message.
    pub first_text_ms: Option<u32>,
    /// The turn called a person: the customer asked for one, or the desk needs one.
    pub asked_person: bool,
    /// A call to a language model failed or ended early.
    pub model_failed: bool,
}

/// A customer's turn with its figures, as input of [`days`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedTurn {
    pub accepted_at: DateTime<Utc>,
    pub status: TurnStatus,
    pub intent: Option<String>,
    /// Whether the turn sent a message other than an error notice.
    pub answered: bool,
    pub first_text_ms: Option<u32>,
    pub asked_person: bool,
    pub model_failed: bool,
}

/// The statistics of one day. Only customers' turns count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Day {
    pub date: NaiveDate,
    pub turns: u64,
    /// Turns with a recognized intent, by its name.
    pub by_intent: BTreeMap<String, u64>,
    /// Turns that were answered completely and called no person.
    pub without_person: u64,
    /// Turns that called a person: the customer asked for one, or the desk needs one.
    pub asked_person: u64,
    pub first_text_ms: FirstText,
    /// Turns in which a language model failed.
    pub model_failed: u64,
    /// All turns, by status.
    pub statuses: BTreeMap<&'static str, u64>,
}

/// Percentiles (nearest rank) of the wait for the first text, in milliseconds; null if no turn sent a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct FirstText {
    pub p50: Option<u32>,
    pub p95: Option<u32>,
}

/// Returns the statistics of each day of `first..=last` in the shop's time zone, oldest first, including days without
/// turns.
pub fn days(turns: impl IntoIterator<Item = CountedTurn>, first: NaiveDate, last: NaiveDate, zone: Tz) -> Vec<Day> {
    let mut of_days: BTreeMap<NaiveDate, Vec<CountedTurn>> = BTreeMap::new();
    for turn in turns {
        of_days.entry(turn.accepted_at.with_timezone(&zone).date_naive()).or_default().push(turn);
    }
    let dates = first.iter_days().take_while(|date| *date <= last);
    dates.map(|date| day(date, &of_days.remove(&date).unwrap_or_default())).collect()
}

fn day(date: NaiveDate, turns: &[CountedTurn]) -> Day {
    let count = |counts: &dyn Fn(&CountedTurn) -> bool| turns.iter().filter(|turn| counts(turn)).count() as u64;
    let mut by_intent = BTreeMap::new();
    for intent in turns.iter().filter_map(|turn| turn.intent.clone()) {
        *by_intent.entry(intent).or_default() += 1;
    }
    let mut statuses = BTreeMap::new();
    for turn in turns {
        *statuses.entry(turn.status.as_str()).or_default() += 1;
    }
    let mut waits: Vec<u32> = turns.iter().filter_map(|turn| turn.first_text_ms).collect();
    waits.sort_unstable();
    Day {
        date,
        turns: turns.len() as u64,
        by_intent,
        without_person: count(&|turn| turn.status == TurnStatus::Completed && turn.answered && !turn.asked_person),
        asked_person: count(&|turn| turn.asked_person),
        first_text_ms: FirstText { p50: percentile(&waits, 50), p95: percentile(&waits, 95) },
        model_failed: count(&|turn| turn.model_failed),
        statuses,
    }
}

/// Returns the nearest-rank percentile of sorted values, or `None` for no values.
fn percentile(sorted: &[u32], percent: usize) -> Option<u32> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(at: &str, status: TurnStatus, first_text_ms: Option<u32>) -> CountedTurn {
        CountedTurn {
            accepted_at: at.parse().unwrap(),
            status,
            intent: Some("shopping".to_owned()),
            answered: first_text_ms.is_some(),
            first_text_ms,
            asked_person: false,
            model_failed: false,
        }
    }

    #[test]
    fn turn_counts_on_the_shops_day() {
        let turns = [
            // 23:30 and 00:30 in Ho Chi Minh City.
            turn("2026-11-20T16:30:00Z", TurnStatus::Completed, Some(10)),
            turn("2026-11-20T17:30:00Z", TurnStatus::Completed, Some(30)),
            turn("2026-11-21T03:00:00Z", TurnStatus::Cancelled, Some(20)),
            CountedTurn { asked_person: true, ..turn("2026-11-21T03:00:00Z", TurnStatus::Completed, Some(5)) },
            CountedTurn { intent: None, ..turn("2026-11-21T03:00:00Z", TurnStatus::Completed, None) },
            CountedTurn { model_failed: true, ..turn("2026-11-21T03:00:00Z", TurnStatus::Failed, None) },
        ];
        let date = |text: &str| text.parse::<NaiveDate>().unwrap();
        let days = days(turns, date("2026-11-19"), date("2026-11-21"), chrono_tz::Asia::Ho_Chi_Minh);
        let empty = day(date("2026-11-19"), &[]);
        assert_eq!((empty.turns, empty.first_text_ms), (0, FirstText::default()));
        let friday = Day {
            date: date("2026-11-20"),
            turns: 1,
            by_intent: [("shopping".to_owned(), 1)].into(),
            without_person: 1,
            asked_person: 0,
            first_text_ms: FirstText { p50: Some(10), p95: Some(10) },
            model_failed: 0,
            statuses: [("completed", 1)].into(),
        };
        let saturday = Day {
            date: date("2026-11-21"),
            turns: 5,
            by_intent: [("shopping".to_owned(), 4)].into(),
            without_person: 1,
            asked_person: 1,
            first_text_ms: FirstText { p50: Some(20), p95: Some(30) },
            model_failed: 1,
            statuses: [("cancelled", 1), ("completed", 3), ("failed", 1)].into(),
        };
        assert_eq!(days, [empty, friday, saturday]);
    }

    #[test]
    fn percentile_is_one_of_the_values() {
        let values: Vec<u32> = (1..=100).collect();
        assert_eq!((percentile(&values, 50), percentile(&values, 95)), (Some(50), Some(95)));
        assert_eq!(percentile(&[7], 95), Some(7));
        assert_eq!(percentile(&[], 50), None);
    }
}
