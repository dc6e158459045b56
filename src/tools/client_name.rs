//! Pseudonyms for browsers' addresses. Failed look-ups are counted by pseudonym, so that no address is stored.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::signed::Signer;

/// Makes pseudonyms with a secret key.
#[derive(Clone)]
pub struct ClientNames {
    signer: Signer,
}

/// Separates these pseudonyms from other uses of the same secret.
const PURPOSE: &[u8] = b"frontdesk client name 1\n";

impl ClientNames {
    pub fn new(secret: &str) -> Self {
        Self { signer: Signer::new(secret, PURPOSE) }
    }

    /// Returns the pseudonym of an address. All addresses of one IPv6 /64 network have the same, since one customer has them all.
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
    fn pseudonym_depends_on_address_and_secret() {
        let names = ClientNames::new("a secret");
        let of = |text: &str| names.of(text.parse().expect("an address"));
        assert_eq!(of("192.0.2.1"), of("::ffff:192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_ne!(of("192.0.2.1"), ClientNames::new("another").of("192.0.2.1".parse().expect("an address")));
    }
}
