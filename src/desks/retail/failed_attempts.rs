//! Counts serial numbers that were not found, to prevent guessing.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::MutexGuard;

use crate::domain::network::client_network;
use crate::domain::{ConversationId, TenantId};

/// What failed attempts are counted for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum AttemptKey {
    Conversation(ConversationId),
    User(TenantId, String),
    /// A browser's network. A shop's back end sends for all its customers, so its address is not counted.
    Network(IpAddr),
}

impl AttemptKey {
    pub(super) fn of_address(address: IpAddr) -> Self {
        Self::Network(client_network(address))
    }
}

/// At this many keys, those without a recent failure are removed.
const SWEEP_AT: usize = 10_000;

/// The number of locks that keys share.
const LOCKS: usize = 64;

/// The recent failed attempts, in this process.
#[derive(Debug)]
pub struct FailedAttempts {
    table: Mutex<HashMap<AttemptKey, Vec<Instant>>>,
    locks: [tokio::sync::Mutex<()>; LOCKS],
}

impl Default for FailedAttempts {
    fn default() -> Self {
        Self { table: Mutex::default(), locks: std::array::from_fn(|_| tokio::sync::Mutex::default()) }
    }
}

impl FailedAttempts {
    /// Waits until no other turn with one of the keys looks up a serial number. Otherwise guesses in a hundred conversations at
    /// once would all be looked up before the first failure is counted.
    pub(super) async fn lock(&self, keys: &[AttemptKey]) -> Vec<MutexGuard<'_, ()>> {
        let mut locks: Vec<usize> = keys.iter().map(lock_of).collect();
        // All turns take the locks in the same order, which prevents deadlocks.
        locks.sort_unstable();
        locks.dedup();
        let mut held = Vec::with_capacity(locks.len());
        for lock in locks {
            held.push(self.locks[lock].lock().await);
        }
        held
    }

    /// Returns whether one of the keys has `limit` failures within `window`, so that nothing is looked up.
    pub(super) fn is_over(&self, keys: &[AttemptKey], limit: usize, window: Duration, now: Instant) -> bool {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter().any(|key| table.get(key).is_some_and(|failures| recent(failures, window, now).count() >= limit))
    }

    /// Adds this many failures to each key.
    pub(super) fn add(&self, keys: &[AttemptKey], failures: usize, window: Duration, now: Instant) {
        if failures == 0 {
            return;
        }
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if table.len() >= SWEEP_AT {
            table.retain(|_, failures| recent(failures, window, now).next().is_some());
        }
        for key in keys {
            let earlier = table.entry(key.clone()).or_default();
            let kept: Vec<Instant> = recent(earlier, window, now).collect();
            *earlier = kept;
            earlier.extend(std::iter::repeat_n(now, failures));
        }
    }
}

fn lock_of(key: &AttemptKey) -> usize {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    // Below 64, so it fits.
    usize::try_from(hasher.finish() % LOCKS as u64).unwrap_or_default()
}

fn recent(failures: &[Instant], window: Duration, now: Instant) -> impl Iterator<Item = Instant> {
    failures.iter().copied().filter(move |at| now.duration_since(*at) < window)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_count_by_key_until_the_window_ends() {
        let (attempts, window, start) = (FailedAttempts::default(), Duration::from_secs(600), Instant::now());
        let a = AttemptKey::Conversation(ConversationId::now());
        let b = AttemptKey::User(TenantId::default(), "u-1".to_owned());
        let at = |seconds| start + Duration::from_secs(seconds);
        attempts.add(&[a.clone(), b.clone()], 2, window, at(0));
        attempts.add(std::slice::from_ref(&b), 3, window, at(10));
        let over = |key: &AttemptKey, when| attempts.is_over(std::slice::from_ref(key), 5, window, at(when));
        assert!(!over(&a, 20));
        assert!(over(&b, 20));
        assert!(attempts.is_over(&[a, b.clone()], 5, window, at(20)));
        assert!(!over(&b, 601), "the two of the beginning no longer count");
        let [one, neighbour, other] = ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"]
            .map(|address| AttemptKey::of_address(address.parse().unwrap()));
        assert!(one == neighbour && one != other, "IPv6 counts by /64");
    }
}
