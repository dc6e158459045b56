//! Serial numbers must not be guessable by trying: counting those that were not found.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::MutexGuard;

use crate::domain::network::client_network;
use crate::domain::{ConversationId, TenantId};

/// Under what a miss is counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum MissKey {
    Conversation(ConversationId),
    User(TenantId, String),
    /// A browser's network; a shop's back end, which speaks for all its customers, has none here.
    Network(IpAddr),
}

impl MissKey {
    pub(super) fn of_address(address: IpAddr) -> Self {
        Self::Network(client_network(address))
    }
}

/// So many keys are kept before those without a recent miss are swept out.
const SWEEP_AT: usize = 10_000;

/// Keys share so many doors.
const DOORS: usize = 64;

/// The misses of the last while, in this process.
#[derive(Debug)]
pub struct Misses {
    table: Mutex<HashMap<MissKey, Vec<Instant>>>,
    doors: [tokio::sync::Mutex<()>; DOORS],
}

impl Default for Misses {
    fn default() -> Self {
        Self { table: Mutex::default(), doors: std::array::from_fn(|_| tokio::sync::Mutex::default()) }
    }
}

impl Misses {
    /// Waits until nobody else who counts under one of the keys looks a serial number up. Without it, guesses in a
    /// hundred conversations at once would all be looked up before the first miss is counted.
    pub(super) async fn alone(&self, keys: &[MissKey]) -> Vec<MutexGuard<'_, ()>> {
        let mut doors: Vec<usize> = keys.iter().map(door).collect();
        // Everybody takes them in the same order, so that nobody waits for each other.
        doors.sort_unstable();
        doors.dedup();
        let mut held = Vec::with_capacity(doors.len());
        for door in doors {
            held.push(self.doors[door].lock().await);
        }
        held
    }

    /// Whether one of the keys has had `limit` misses within `window`: nothing is then looked up.
    pub(super) fn is_over(&self, keys: &[MissKey], limit: usize, window: Duration, now: Instant) -> bool {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter().any(|key| table.get(key).is_some_and(|misses| recent(misses, window, now).count() >= limit))
    }

    /// Counts `misses` more under each key.
    pub(super) fn add(&self, keys: &[MissKey], misses: usize, window: Duration, now: Instant) {
        if misses == 0 {
            return;
        }
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if table.len() >= SWEEP_AT {
            table.retain(|_, misses| recent(misses, window, now).next().is_some());
        }
        for key in keys {
            let earlier = table.entry(key.clone()).or_default();
            let kept: Vec<Instant> = recent(earlier, window, now).collect();
            *earlier = kept;
            earlier.extend(std::iter::repeat_n(now, misses));
        }
    }
}

fn door(key: &MissKey) -> usize {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    // Below 64, so it fits.
    usize::try_from(hasher.finish() % DOORS as u64).unwrap_or_default()
}

fn recent(misses: &[Instant], window: Duration, now: Instant) -> impl Iterator<Item = Instant> {
    misses.iter().copied().filter(move |miss| now.duration_since(*miss) < window)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misses_count_for_each_key_and_are_forgotten_after_the_window() {
        let (misses, window, start) = (Misses::default(), Duration::from_secs(600), Instant::now());
        let a = MissKey::Conversation(ConversationId::now());
        let b = MissKey::User(TenantId::default(), "u-1".to_owned());
        let at = |seconds| start + Duration::from_secs(seconds);
        misses.add(&[a.clone(), b.clone()], 2, window, at(0));
        misses.add(std::slice::from_ref(&b), 3, window, at(10));
        let over = |key: &MissKey, when| misses.is_over(std::slice::from_ref(key), 5, window, at(when));
        assert!(!over(&a, 20));
        assert!(over(&b, 20));
        assert!(misses.is_over(&[a, b.clone()], 5, window, at(20)));
        assert!(!over(&b, 601), "the two of the beginning no longer count");
        let [one, neighbour, other] = ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"]
            .map(|address| MissKey::of_address(address.parse().unwrap()));
        assert!(one == neighbour && one != other, "IPv6 counts by /64");
    }
}
