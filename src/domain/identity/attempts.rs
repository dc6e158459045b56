//! Limits failed attempts to prove whose order or account it is: by default, five in a row lock for an hour. Desks use them
//! through `dialogue::verification`.

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::ConversationId;
use crate::domain::commerce::order_number::OrderNumber;

/// What failed attempts are counted for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AttemptSubject {
    Conversation(ConversationId),
    Order(OrderNumber),
    /// A customer's account, by the `user_id` that was claimed. Case does not count.
    Account(String),
    /// A client's network address, as a keyed hash that only the server can compute. The address itself is not stored.
    Client(String),
}

impl AttemptSubject {
    /// Returns the name under which the count is stored.
    pub fn name(&self) -> String {
        match self {
            Self::Conversation(id) => format!("conversation:{id}"),
            Self::Order(number) => format!("order:{number}"),
            Self::Account(name) => format!("account:{}", name.to_ascii_lowercase()),
            Self::Client(hash) => format!("client:{hash}"),
        }
    }
}

/// How many failed attempts lock a subject, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptLimit {
    /// `ORDER_MISS_LIMIT`, for orders and accounts.
    pub misses: u32,
    /// `ORDER_MISS_LOCK_MINUTES`. A count also expires this long after the last failed attempt.
    pub lock: TimeDelta,
}

impl Default for AttemptLimit {
    fn default() -> Self {
        Self { misses: 5, lock: TimeDelta::hours(1) }
    }
}

/// The failed attempts of one subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptCount {
    pub misses: u32,
    pub last_at: DateTime<Utc>,
    pub locked_until: Option<DateTime<Utc>>,
}

impl AttemptCount {
    /// Returns the count after another failed attempt. A locked subject's count does not change, so that a lock always
    /// ends.
    pub fn after_failure(earlier: Option<Self>, now: DateTime<Utc>, limit: &AttemptLimit) -> Self {
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
    fn fifth_failure_locks_for_an_hour() {
        let limit = AttemptLimit::default();
        let start: DateTime<Utc> = "2026-11-22T08:00:00Z".parse().unwrap();
        let at = |minutes: i64| start + TimeDelta::minutes(minutes);
        let mut count = None;
        for minute in 0..5 {
            assert!(!count.is_some_and(|count: AttemptCount| count.is_locked(at(minute))));
            count = Some(AttemptCount::after_failure(count, at(minute), &limit));
        }
        let locked = count.unwrap();
        assert_eq!((locked.misses, locked.locked_until), (5, Some(at(64))));
        assert!(locked.is_locked(at(63)) && !locked.is_locked(at(64)));
        assert_eq!(
            AttemptCount::after_failure(count, at(30), &limit),
            locked,
            "an attempt during the lock does not extend it"
        );
        assert_eq!(AttemptCount::after_failure(count, at(64), &limit).misses, 1);
    }

    #[test]
    fn failure_expires_after_an_hour() {
        let limit = AttemptLimit::default();
        let start: DateTime<Utc> = "2026-11-22T08:00:00Z".parse().unwrap();
        let one = AttemptCount::after_failure(None, start, &limit);
        assert_eq!(AttemptCount::after_failure(Some(one), start + TimeDelta::minutes(59), &limit).misses, 2);
        assert_eq!(AttemptCount::after_failure(Some(one), start + TimeDelta::minutes(60), &limit).misses, 1);
    }
}
