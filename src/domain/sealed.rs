//! Encrypts values that must not be readable in the database, such as credentials.

use std::fmt;
use std::sync::Arc;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};

/// Separates this key from others that are derived from the same secret.
const PURPOSE: &[u8] = b"frontdesk: credentials of tenants";

/// A random number that is used once.
pub type SealNonce = [u8; NONCE_LEN];

/// Seals values with ChaCha20-Poly1305: reading or changing one needs the key.
#[derive(Clone)]
pub struct SealingKey(Arc<LessSafeKey>);

/// The value was sealed with another key or for another owner, or was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value was sealed with another key, for another owner, or was changed")]
pub struct CannotOpen;

/// The value cannot be sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value is too long to be sealed")]
pub struct TooLong;

impl SealingKey {
    /// Derives the key from a secret of any length.
    pub fn new(secret: &str) -> Option<Self> {
        let derived = Salt::new(HKDF_SHA256, PURPOSE).extract(secret.as_bytes());
        let key = UnboundKey::from(derived.expand(&[], &CHACHA20_POLY1305).ok()?);
        Some(Self(Arc::new(LessSafeKey::new(key))))
    }

    /// Seals a value. Only the same `owner` can open it, so a sealed value that is copied to another row stays closed.
    pub fn seal(&self, owner: &str, value: &str, nonce: SealNonce) -> Result<Vec<u8>, TooLong> {
        let mut text = value.as_bytes().to_vec();
        let aad = Aad::from(owner.as_bytes());
        self.0.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut text).map_err(|_| TooLong)?;
        Ok([&nonce[..], &text].concat())
    }

    /// Opens a value that was sealed for this owner.
    pub fn open(&self, owner: &str, sealed: &[u8]) -> Result<String, CannotOpen> {
        let (nonce, text) = sealed.split_at_checked(NONCE_LEN).ok_or(CannotOpen)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| CannotOpen)?;
        let mut text = text.to_vec();
        let opened = self.0.open_in_place(nonce, Aad::from(owner.as_bytes()), &mut text).map_err(|_| CannotOpen)?;
        String::from_utf8(opened.to_vec()).map_err(|_| CannotOpen)
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(secret: &str) -> SealingKey {
        SealingKey::new(secret).expect("a key")
    }

    proptest! {
        #[test]
        fn sealed_value_opens_only_unchanged_for_its_owner(
            value in ".{0,60}", owner in "[a-z]{1,8}", nonce: SealNonce, at: prop::sample::Index, bit in 0..8_u8,
        ) {
            let sealed = key("one").seal(&owner, &value, nonce).expect("sealed");
            prop_assert_eq!(key("one").open(&owner, &sealed), Ok(value));
            prop_assert_eq!(key("two").open(&owner, &sealed), Err(CannotOpen));
            prop_assert_eq!(key("one").open(&format!("{owner}x"), &sealed), Err(CannotOpen));
            let mut changed = sealed.clone();
            changed[at.index(sealed.len())] ^= 1 << bit;
            prop_assert_eq!(key("one").open(&owner, &changed), Err(CannotOpen));
            prop_assert_eq!(key("one").open(&owner, &sealed[..at.index(sealed.len())]), Err(CannotOpen));
        }
    }

    #[test]
    fn sealed_value_does_not_contain_the_plain_one() {
        let sealed = key("one").seal("acme", "a-very-secret-token", [7; NONCE_LEN]).expect("sealed");
        assert!(!sealed.windows(6).any(|part| part == b"secret"));
        assert_ne!(sealed, key("one").seal("acme", "a-very-secret-token", [8; NONCE_LEN]).expect("sealed"));
        assert!(!format!("{:?}", key("one")).contains("one"));
    }
}
