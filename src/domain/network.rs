//! Client addresses, grouped by network for rate limits.

use std::net::{IpAddr, Ipv6Addr};

/// Returns an IPv4 address unchanged and an IPv6 address as its /64 network, because a provider assigns a whole /64 to
/// each customer.
pub fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv6_addresses_share_their_64_network() {
        for (address, network) in [
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:3::1", "2001:db8:1:3::"),
        ] {
            assert_eq!(client_network(address.parse().unwrap()).to_string(), network);
        }
    }
}
