//! Rate limits of requests.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::config::HttpConfig;
use crate::domain::network::client_network;

/// How long a network's further refused sign-ins are left out of the audit log.
const AUDIT_PAUSE: Duration = Duration::from_secs(60);

/// The rate limits. A disabled limit is `None`.
pub struct Limits {
    addresses: Option<DefaultKeyedRateLimiter<IpAddr>>,
    address_rate: u32,
    /// By the hashes of API keys.
    keys: Option<DefaultKeyedRateLimiter<[u8; 32]>>,
    key_rate: u32,
    /// Networks that sent too many wrong keys, and until when keys from there are refused.
    guessing: Mutex<HashMap<IpAddr, Instant>>,
    /// When a network's refused sign-in was last entered into the audit log. `None`: callers without an address.
    audited: Mutex<HashMap<Option<IpAddr>, Instant>>,
    notices: [AtomicBool; 3],
}

/// A request above the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    /// The limit of this caller, or `None` for a network that has sent too many wrong keys.
    pub per_second: Option<u32>,
    /// Seconds until the next request is accepted.
    pub retry_after: u64,
}

/// A warning that is logged once.
#[derive(Clone, Copy, Debug)]
pub enum Notice {
    ProxyWithoutKeys,
    LocalProxy,
    FarProxy,
}

impl Limits {
    pub fn new(config: &HttpConfig) -> Self {
        let addresses = NonZeroU32::new(config.rate_per_second).map(|rate| {
            let burst = NonZeroU32::new(config.rate_burst).unwrap_or(rate);
            RateLimiter::keyed(Quota::per_second(rate).allow_burst(burst))
        });
        let keys = NonZeroU32::new(config.key_rate_per_second).map(|rate| RateLimiter::keyed(Quota::per_second(rate)));
        let (address_rate, key_rate) = (config.rate_per_second, config.key_rate_per_second);
        Self {
            addresses,
            address_rate,
            keys,
            key_rate,
            guessing: Mutex::default(),
            audited: Mutex::default(),
            notices: Default::default(),
        }
    }

    /// Counts a request of a caller without a key. IPv6 callers count by network.
    pub fn count_address(&self, address: IpAddr) -> Result<(), TooMany> {
        count(self.addresses.as_ref(), &client_network(address), self.address_rate)
    }

    /// Counts a request with a wrong key. Above the limit, valid keys from the same network are refused for `retry_after` seconds, too.
    pub fn count_guess(&self, address: IpAddr) -> Result<(), TooMany> {
        self.count_address(address).inspect_err(|too_many| {
            let until = Instant::now() + Duration::from_secs(too_many.retry_after);
            let mut guessing = self.guessing.lock().unwrap_or_else(PoisonError::into_inner);
            guessing.insert(client_network(address), until);
        })
    }

    /// Refuses a key from a network that has just sent too many wrong ones.
    pub fn check_guessing(&self, address: IpAddr) -> Result<(), TooMany> {
        let guessing = self.guessing.lock().unwrap_or_else(PoisonError::into_inner);
        let left = guessing.get(&client_network(address)).map(|until| until.saturating_duration_since(Instant::now()));
        match left.filter(|left| !left.is_zero()) {
            Some(left) => Err(TooMany { per_second: None, retry_after: left.as_secs() + 1 }),
            None => Ok(()),
        }
    }

    /// Returns whether to enter a refused sign-in into the audit log: at most one for each network and minute, since no key is
    /// needed to be refused.
    pub fn may_audit_refusal(&self, address: Option<IpAddr>, now: Instant) -> bool {
        let mut audited = self.audited.lock().unwrap_or_else(PoisonError::into_inner);
        let network = address.map(client_network);
        let is_recent = audited.get(&network).is_some_and(|at| now.saturating_duration_since(*at) < AUDIT_PAUSE);
        if !is_recent {
            audited.insert(network, now);
        }
        !is_recent
    }

    /// Counts a request with the API key of this hash.
    pub fn count_key(&self, hash: &[u8; 32]) -> Result<(), TooMany> {
        count(self.keys.as_ref(), hash, self.key_rate)
    }

    /// Returns `true` on the first call for this notice.
    pub fn is_first(&self, notice: Notice) -> bool {
        !self.notices[notice as usize].swap(true, Ordering::Relaxed)
    }

    /// Removes entries of callers that are idle.
    pub fn sweep(&self) {
        if let Some(limiter) = &self.addresses {
            limiter.retain_recent();
        }
        if let Some(limiter) = &self.keys {
            limiter.retain_recent();
        }
        let now = Instant::now();
        self.guessing.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, until| now < *until);
        let mut audited = self.audited.lock().unwrap_or_else(PoisonError::into_inner);
        audited.retain(|_, at| now.saturating_duration_since(*at) < AUDIT_PAUSE);
    }
}

fn count<K: std::hash::Hash + Eq + Clone>(
    limiter: Option<&DefaultKeyedRateLimiter<K>>,
    key: &K,
    per_second: u32,
) -> Result<(), TooMany> {
    let Some(limiter) = limiter else { return Ok(()) };
    limiter.check_key(key).map_err(|until| {
        let wait: Duration = until.wait_time_from(DefaultClock::default().now());
        TooMany { per_second: Some(per_second), retry_after: wait.as_secs() + 1 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Env};

    #[test]
    fn burst_passes_then_only_that_caller_waits() {
        let env = [("RATE_LIMIT_PER_SECOND", "1"), ("RATE_LIMIT_BURST", "3")];
        let env = Env::of(env.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let limits = Limits::new(&Config::read(env).unwrap().http);
        let (a, b) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        assert!((0..3).all(|_| limits.count_address(a).is_ok()));
        assert!(limits.count_address(a).unwrap_err().retry_after >= 1);
        assert!(limits.count_address(b).is_ok());
        let (v6, neighbour) = ("2001:db8::1".parse().unwrap(), "2001:db8::ffff:2".parse().unwrap());
        assert!((0..3).all(|_| limits.count_address(v6).is_ok()));
        assert!(limits.count_address(neighbour).is_err(), "the same network");
        assert!((0..100).all(|_| limits.count_key(&[0; 32]).is_ok()), "off");
    }

    #[test]
    fn valid_keys_from_guessing_networks_are_refused() {
        let env = [("RATE_LIMIT_PER_SECOND", "1"), ("RATE_LIMIT_BURST", "2")];
        let env = Env::of(env.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let limits = Limits::new(&Config::read(env).unwrap().http);
        let (guesser, neighbour, other) = ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1");
        let [guesser, neighbour, other] = [guesser, neighbour, other].map(|address| address.parse().unwrap());
        assert!((0..2).all(|_| limits.count_guess(guesser).is_ok() && limits.check_guessing(guesser).is_ok()));
        assert!(limits.count_guess(guesser).is_err() && limits.check_guessing(guesser).is_err());
        assert!(limits.check_guessing(neighbour).is_err() && limits.check_guessing(other).is_ok());
    }

    #[test]
    fn one_refusal_is_audited_per_network_and_minute() {
        let limits = Limits::new(&Config::read(Env::default()).unwrap().http);
        let [guesser, neighbour, other] =
            ["2001:db8::1", "2001:db8::2", "192.0.2.1"].map(|address| Some(address.parse().unwrap()));
        let now = Instant::now();
        for (address, after, expected) in [
            (guesser, 0, true),
            (guesser, 1, false),
            (neighbour, 59, false),
            (other, 59, true),
            (None, 59, true),
            (None, 59, false),
            (neighbour, 60, true),
            (guesser, 61, false),
        ] {
            let at = now + Duration::from_secs(after);
            assert_eq!(limits.may_audit_refusal(address, at), expected, "{address:?} after {after} s");
        }
    }
}
