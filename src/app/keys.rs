//! The shops' API keys, stored as hashes.

use sha2::{Digest, Sha256};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use crate::config::KeyEntry;
use crate::domain::TenantId;

/// The valid keys.
#[derive(Clone)]
pub struct Keys(Vec<([u8; 32], TenantId)>);

impl Keys {
    /// Skips entries with an invalid tenant name, which the configuration refuses before.
    pub fn new(entries: &[KeyEntry]) -> Self {
        Self(
            entries
                .iter()
                .filter_map(|entry| Some((Self::hash(entry.key.as_bytes()), entry.tenant.parse().ok()?)))
                .collect(),
        )
    }

    /// Hashes a key.
    pub fn hash(key: &[u8]) -> [u8; 32] {
        Sha256::digest(key).into()
    }

    /// Iterates over the hash and the tenant of each key.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8; 32], &TenantId)> {
        self.0.iter().map(|(hash, tenant)| (hash, tenant))
    }

    /// Returns the tenant of a key, in constant time.
    pub fn find_tenant(&self, key: &[u8]) -> Option<TenantId> {
        let hash = Self::hash(key);
        let mut found = u32::MAX;
        for (index, (known, _)) in (0_u32..).zip(&self.0) {
            let same: Choice = known.ct_eq(&hash);
            found.conditional_assign(&index, same);
        }
        self.0.get(usize::try_from(found).ok()?).map(|(_, tenant)| tenant.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_identifies_its_tenant() {
        let entry = |tenant: &str, key: &str| KeyEntry { tenant: tenant.to_owned(), key: key.to_owned() };
        let keys = Keys::new(&[entry("default", "k0"), entry("acme", "k1")]);
        assert_eq!(keys.find_tenant(b"k1").unwrap().as_str(), "acme");
        assert_eq!(keys.find_tenant(b"k0").unwrap().as_str(), "default");
        assert_eq!(keys.find_tenant(b"k"), None);
        assert_eq!(keys.find_tenant(b""), None);
    }
}
