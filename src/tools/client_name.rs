//! A browser's address under a name that only this server can make, so that misses can be counted for it and the address
//! itself is kept nowhere.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::signed::Signer;

/// Makes the names.
#[derive(Clone)]
pub struct ClientNames {
    signer: Signer,
}

/// Told apart from other uses of the same secret.
const PURPOSE: &[u8] = b"frontdesk client name 1\n";

impl ClientNames {
    pub fn new(secret: &str) -> Self {
        Self { signer: Signer::new(secret, PURPOSE) }
    }

    /// The same for the same address, and for the network of an IPv6 address, since a customer has all of one.
    pub fn of(&self, address: IpAddr) -> String {
        let network: Vec<u8> = match address.to_canonical() {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets()[..8].to_vec(),
        };
        URL_SAFE_NO_PAD.encode(self.signer.digest(&network))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_addresses_apart_and_servers_too() {
        let names = ClientNames::new("a secret");
        let of = |text: &str| names.of(text.parse().expect("an address"));
        assert_eq!(of("192.0.2.1"), of("::ffff:192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_ne!(of("192.0.2.1"), ClientNames::new("another").of("192.0.2.1".parse().expect("an address")));
    }
}
