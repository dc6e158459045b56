//! Signed payloads: anyone can read them, but only this server can make them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Signs payloads for one purpose, as `payload.signature` in base64url. The signature is HMAC-SHA256.
#[derive(Clone)]
pub struct Signer {
    key: Hmac<Sha256>,
}

impl Signer {
    /// Payloads that were signed with the same secret for another `purpose` are not accepted.
    pub fn new(secret: &str, purpose: &[u8]) -> Self {
        // HMAC takes a key of any length, so the error cannot happen; an empty key would still sign.
        let key = Hmac::<Sha256>::new_from_slice(secret.as_bytes())
            .unwrap_or_else(|_| Hmac::<Sha256>::new(&hmac::digest::Key::<Hmac<Sha256>>::default()));
        Self { key: key.chain_update(purpose) }
    }

    pub fn sign(&self, payload: &str) -> String {
        let payload = URL_SAFE_NO_PAD.encode(payload);
        let signature = URL_SAFE_NO_PAD.encode(self.digest(payload.as_bytes()));
        format!("{payload}.{signature}")
    }

    /// Returns the payload if the signature is ours.
    pub fn verify(&self, signed: &str) -> Option<String> {
        let (payload, signature) = signed.split_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        // Compares in constant time.
        self.key.clone().chain_update(payload.as_bytes()).verify_slice(&signature).ok()?;
        String::from_utf8(URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
    }

    /// Returns a keyed hash. Equal input has an equal hash, and it cannot be computed without the secret.
    pub fn digest(&self, bytes: &[u8]) -> [u8; 32] {
        self.key.clone().chain_update(bytes).finalize().into_bytes().into()
    }
}
