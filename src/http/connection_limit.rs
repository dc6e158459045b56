//! Limits on open connections: in total and per client address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ipnet::IpNet;
use tracing::warn;

use super::client::is_trusted;
use crate::config::HttpConfig;
use crate::domain::network::client_network;

/// The shortest time between two log lines about refused connections.
const WARN_EVERY: Duration = Duration::from_secs(60);

/// Counts the open connections.
#[derive(Debug)]
pub(super) struct ConnectionLimit {
    max: usize,
    per_address: usize,
    trusted_proxies: Vec<IpNet>,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    total: usize,
    networks: HashMap<IpAddr, usize>,
    warned_at: Option<Instant>,
}

/// One open connection, which counts until it is dropped.
#[derive(Debug)]
pub(super) struct ConnectionPermit {
    limit: Arc<ConnectionLimit>,
    network: Option<IpAddr>,
}

impl ConnectionLimit {
    pub fn new(config: &HttpConfig) -> Arc<Self> {
        Arc::new(Self {
            max: config.connections_max,
            per_address: config.connections_per_address,
            trusted_proxies: config.trusted_proxies.clone(),
            open: Mutex::default(),
        })
    }

    /// Counts a connection from `peer`, or returns `None` if a limit is reached. The limit per address does not apply to this
    /// machine and to trusted proxies, which carry many clients.
    pub fn acquire(self: &Arc<Self>, peer: IpAddr) -> Option<ConnectionPermit> {
        let peer = peer.to_canonical();
        let counts = self.per_address > 0 && !peer.is_loopback() && !is_trusted(&self.trusted_proxies, peer);
        let network = counts.then(|| client_network(peer));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let of_network = network.and_then(|network| open.networks.get(&network).copied()).unwrap_or_default();
        let reason = if open.total >= self.max {
            "CONNECTIONS_MAX"
        } else if network.is_some() && of_network >= self.per_address {
            "CONNECTIONS_PER_ADDRESS"
        } else {
            open.total += 1;
            if let Some(network) = network {
                open.networks.insert(network, of_network + 1);
            }
            return Some(ConnectionPermit { limit: self.clone(), network });
        };
        if open.warned_at.is_none_or(|at| at.elapsed() >= WARN_EVERY) {
            open.warned_at = Some(Instant::now());
            warn!(client.address = %peer, limit = reason, open = open.total, "Refused a connection: too many are open");
        }
        metrics::counter!("frontdesk_refused_connections_total", "limit" => reason).increment(1);
        None
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut open = self.limit.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.total -= 1;
        if let Some(network) = self.network
            && let Some(count) = open.networks.get_mut(&network)
        {
            *count -= 1;
            if *count == 0 {
                open.networks.remove(&network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_limited_in_total_and_per_address() {
        let limit = Arc::new(ConnectionLimit {
            max: 6,
            per_address: 2,
            trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
            open: Mutex::default(),
        });
        let take = |peer: &str| limit.acquire(peer.parse().unwrap());
        let one = take("2001:db8::1");
        let held = [take("2001:db8::2"), take("10.0.0.1"), take("10.0.0.1"), take("10.0.0.1")];
        assert!(one.is_some() && held.iter().all(Option::is_some));
        assert!(take("2001:db8::3").is_none(), "the same network");
        let last = take("127.0.0.1");
        assert!(last.is_some() && take("192.0.2.1").is_none() && take("127.0.0.1").is_none(), "the server is full");
        drop(one);
        assert!(take("2001:db8::3").is_some());
        drop((held, last));
        let open = limit.open.lock().unwrap();
        assert_eq!((open.total, open.networks.len()), (0, 0));
    }
}
