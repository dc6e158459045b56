//! Requests a second.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::config::HttpConfig;
use crate::domain::TenantId;

/// The limits of a server; one that is off is `None`.
pub struct Limits {
    addresses: Option<DefaultKeyedRateLimiter<IpAddr>>,
    keys: Option<DefaultKeyedRateLimiter<TenantId>>,
}

/// A request too many: seconds until the next one is welcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    pub retry_after: u64,
}

impl Limits {
    pub fn new(config: &HttpConfig) -> Self {
        let addresses = NonZeroU32::new(config.rate_per_second).map(|rate| {
            let burst = NonZeroU32::new(config.rate_burst).unwrap_or(rate);
            RateLimiter::keyed(Quota::per_second(rate).allow_burst(burst))
        });
        let keys = NonZeroU32::new(config.key_rate_per_second).map(|rate| RateLimiter::keyed(Quota::per_second(rate)));
        Self { addresses, keys }
    }

    /// Counts a request of a caller without a key. IPv6 callers count by network, since each has a whole one.
    pub fn count_address(&self, address: IpAddr) -> Result<(), TooMany> {
        let network = match address {
            IpAddr::V4(_) => address,
            IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() & (u128::MAX << 64)).into()),
        };
        count(self.addresses.as_ref(), &network)
    }

    /// Counts a request with a shop's key.
    pub fn count_key(&self, tenant: &TenantId) -> Result<(), TooMany> {
        count(self.keys.as_ref(), tenant)
    }

    /// Forgets callers that have not been heard of for a while.
    pub fn sweep(&self) {
        if let Some(limiter) = &self.addresses {
            limiter.retain_recent();
        }
        if let Some(limiter) = &self.keys {
            limiter.retain_recent();
        }
    }
}

fn count<K: std::hash::Hash + Eq + Clone>(
    limiter: Option<&DefaultKeyedRateLimiter<K>>,
    key: &K,
) -> Result<(), TooMany> {
    let Some(limiter) = limiter else { return Ok(()) };
    limiter.check_key(key).map_err(|until| {
        let wait: Duration = until.wait_time_from(DefaultClock::default().now());
        TooMany { retry_after: wait.as_secs() + 1 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Env};

    #[test]
    fn a_burst_passes_then_the_caller_waits_and_others_do_not() {
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
        assert!((0..100).all(|_| limits.count_key(&TenantId::default()).is_ok()), "off");
    }
}
