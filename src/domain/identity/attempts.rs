//! Guessing whose order it is must not pay: five misses lock for an hour (issue 6, "Whose order is it?").

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::ConversationId;
use crate::domain::commerce::order_number::OrderNumber;

/// What misses are counted for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MissSubject {
    Conversation(ConversationId),
    Order(OrderNumber),
    /// A browser's address, as a keyed hash that only the server can make: addresses themselves are kept nowhere.
    Client(String),
}

impl MissSubject {
    /// The name under which the misses are stored.
    pub fn name(&self) -> String {
        match self {
            Self::Conversation(id) => format!("conversation:{id}"),
            Self::Order(number) => format!("order:{number}"),
            Self::Client(hash) => format!("client:{hash}"),
        }
    }
}

/// How many misses lock, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissLimit {
    /// `ORDER_MISS_LIMIT`
    pub misses: u32,
    /// `ORDER_MISS_LOCK_MINUTES`: misses are forgotten after the same time without another one.
    pub lock: TimeDelta,
}

impl Default for MissLimit {
    fn default() -> Self {
        Self { misses: 5, lock: TimeDelta::hours(1) }
    }
}

/// The misses of one subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissCount {
    pub misses: u32,
    pub last_at: DateTime<Utc>,
    pub locked_until: Option<DateTime<Utc>>,
}

impl MissCount {
    /// The count after one more miss; what is locked counts nothing more, so that a lock always ends.
    pub fn after_miss(earlier: Option<Self>, now: DateTime<Utc>, limit: &MissLimit) -> Self {
        if let Some(locked) = earlier.filter(|count| count.is_locked(now)) {
            return locked;
        }
        let fresh = earlier.filter(|count| count.locked_until.is_none() && now - count.last_at < limit.lock);
        let misses = fresh.map_or(0, |count| count.misses) + 1;
        let locked_until = (misses >= limit.misses).then(|| now + limit.lock);
        Self { misses, last_at: now, locked_until }
    }

    pub fn is_locked(&self, now: DateTime<Utc>) -> bool {
        self.locked_until.is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fifth_miss_locks_for_an_hour_and_then_counting_begins_anew() {
        let limit = MissLimit::default();
        let start: DateTime<Utc> = "2026-11-22T08:00:00Z".parse().unwrap();
        let at = |minutes: i64| start + TimeDelta::minutes(minutes);
        let mut count = None;
        for minute in 0..5 {
            assert!(!count.is_some_and(|count: MissCount| count.is_locked(at(minute))));
            count = Some(MissCount::after_miss(count, at(minute), &limit));
        }
        let locked = count.unwrap();
        assert_eq!((locked.misses, locked.locked_until), (5, Some(at(64))));
        assert!(locked.is_locked(at(63)) && !locked.is_locked(at(64)));
        assert_eq!(MissCount::after_miss(count, at(30), &limit), locked, "trying on does not prolong it");
        assert_eq!(MissCount::after_miss(count, at(64), &limit).misses, 1);
    }

    #[test]
    fn a_miss_is_forgotten_after_an_hour_without_another() {
        let limit = MissLimit::default();
        let start: DateTime<Utc> = "2026-11-22T08:00:00Z".parse().unwrap();
        let one = MissCount::after_miss(None, start, &limit);
        assert_eq!(MissCount::after_miss(Some(one), start + TimeDelta::minutes(59), &limit).misses, 2);
        assert_eq!(MissCount::after_miss(Some(one), start + TimeDelta::minutes(60), &limit).misses, 1);
    }
}
