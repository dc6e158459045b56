//! Console sessions: signed tokens that a browser holds instead of the API key.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use subtle::ConstantTimeEq;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::keys::Keys;
use crate::domain::TenantId;
use crate::tools::signed::Signer;

/// Distinguishes session tokens from conversation tokens and from later formats.
const PURPOSE: &[u8] = b"frontdesk console session 1\n";

/// A person of the shop who is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub tenant: TenantId,
    /// The person's name.
    pub name: Option<String>,
    pub expires_at: DateTime<Utc>,
    /// Identifies the session without giving access to it.
    pub id: String,
}

/// Revoked sessions, and sessions with open streams. Each entry is kept until the session expires.
#[derive(Debug, Default)]
struct Ended {
    revoked: HashMap<String, DateTime<Utc>>,
    watched: HashMap<String, (DateTime<Utc>, CancellationToken)>,
}

/// Creates and verifies sessions. A session contains its key's fingerprint, so that it ends when the key is removed.
#[derive(Clone)]
pub struct Sessions {
    signer: Signer,
    keys: Keys,
    ttl: TimeDelta,
    ended: Arc<Mutex<Ended>>,
}

impl Sessions {
    /// `secret` signs the tokens, `ttl` is the lifetime of a session, and `revoked` lists the revoked sessions with their expiry.
    pub fn new(secret: &str, keys: Keys, ttl: std::time::Duration, revoked: Vec<(String, DateTime<Utc>)>) -> Self {
        // At most a century, which dates can represent.
        let ttl = TimeDelta::from_std(ttl).unwrap_or(TimeDelta::MAX).min(TimeDelta::days(36_525));
        let ended = Ended { revoked: revoked.into_iter().collect(), ..Ended::default() };
        Self { signer: Signer::new(secret, PURPOSE), keys, ttl, ended: Arc::new(Mutex::new(ended)) }
    }

    /// Creates a session and its token. Returns `None` for a wrong key.
    pub fn begin(&self, key: &[u8], name: Option<String>, now: DateTime<Utc>) -> Option<(Session, String)> {
        let tenant = self.keys.find_tenant(key)?;
        // Tokens store whole seconds.
        let expires_at = DateTime::from_timestamp((now + self.ttl).timestamp(), 0)?;
        let fingerprint = self.fingerprint(&Keys::hash(key));
        let encoded = URL_SAFE_NO_PAD.encode(name.as_deref().unwrap_or_default());
        // Makes each session unique, so that it can be revoked alone.
        let nonce = Uuid::now_v7().simple();
        let payload = format!("{tenant}|{fingerprint}|{}|{encoded}|{nonce}", expires_at.timestamp());
        let id = self.id(&payload);
        Some((Session { tenant, name, expires_at, id }, self.signer.sign(&payload)))
    }

    /// Returns the session of a token that is signed, not expired, not revoked, and whose key is still valid.
    pub fn verify(&self, token: &str, now: DateTime<Utc>) -> Option<Session> {
        let payload = self.signer.verify(token)?;
        let mut parts = payload.split('|');
        let tenant: TenantId = parts.next()?.parse().ok()?;
        let fingerprint = parts.next()?;
        let expires_at = DateTime::from_timestamp(parts.next()?.parse().ok()?, 0)?;
        let name = String::from_utf8(URL_SAFE_NO_PAD.decode(parts.next()?).ok()?).ok()?;
        let is_its_key = |(hash, of): (&[u8; 32], &TenantId)| {
            *of == tenant && bool::from(self.fingerprint(hash).as_bytes().ct_eq(fingerprint.as_bytes()))
        };
        let id = self.id(&payload);
        let holds = now < expires_at && self.keys.iter().any(is_its_key) && !self.ended().revoked.contains_key(&id);
        holds.then_some(Session { tenant, name: Some(name).filter(|name| !name.is_empty()), expires_at, id })
    }

    /// Revokes the session and ends its streams. The caller has stored the revocation.
    pub fn revoke(&self, session: &Session, now: DateTime<Utc>) {
        let mut ended = self.ended();
        ended.revoked.retain(|_, expires_at| now < *expires_at);
        ended.revoked.insert(session.id.clone(), session.expires_at);
        if let Some((_, token)) = ended.watched.remove(&session.id) {
            token.cancel();
        }
    }

    /// Returns a token that is cancelled when the session is signed out.
    pub fn watch(&self, session: &Session, now: DateTime<Utc>) -> CancellationToken {
        let mut ended = self.ended();
        ended.watched.retain(|_, (expires_at, _)| now < *expires_at);
        let watched = ended.watched.entry(session.id.clone());
        let token = watched.or_insert_with(|| (session.expires_at, CancellationToken::new())).1.clone();
        if ended.revoked.contains_key(&session.id) {
            token.cancel();
        }
        token
    }

    fn ended(&self) -> MutexGuard<'_, Ended> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn id(&self, payload: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.signer.digest(payload.as_bytes()))
    }

    fn fingerprint(&self, hash: &[u8; 32]) -> String {
        URL_SAFE_NO_PAD.encode(&self.signer.digest(hash)[..16])
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::KeyEntry;

    const SECRET: &str = "a secret of the shop, long enough";

    fn sessions(secret: &str, keys: &[(&str, &str)]) -> Sessions {
        let entry = |(tenant, key): &(&str, &str)| KeyEntry { tenant: (*tenant).into(), key: (*key).into() };
        let keys: Vec<KeyEntry> = keys.iter().map(entry).collect();
        Sessions::new(secret, Keys::new(&keys), Duration::from_secs(60), Vec::new())
    }

    #[test]
    fn session_ends_with_expiry_revocation_or_key() {
        let now = Utc::now();
        let ours = sessions(SECRET, &[("default", "k0"), ("acme", "k1")]);
        let (session, token) = ours.begin(b"k1", Some("Lan | Đỗ".to_owned()), now).unwrap();
        assert_eq!((session.tenant.as_str(), session.name.as_deref()), ("acme", Some("Lan | Đỗ")));
        assert_eq!(ours.verify(&token, now), Some(session.clone()));
        assert_eq!(ours.verify(&token, session.expires_at), None);
        assert_eq!(ours.begin(b"k2", None, now).map(|(session, _)| session), None);
        let (_, twin) = ours.begin(b"k1", Some("Lan | Đỗ".to_owned()), now).unwrap();
        let stream = ours.watch(&session, now);
        let signed_out = sessions(SECRET, &[("acme", "k1")]);
        signed_out.revoke(&session, now);
        assert_eq!((signed_out.verify(&token, now), stream.is_cancelled()), (None, false));
        assert!(signed_out.verify(&twin, now).is_some(), "another session of the same person stays");
        let kept = sessions(SECRET, &[("acme", "k1")]);
        assert_eq!(kept.verify(&token, now), Some(session));
        for other in [&[("default", "k0")][..], &[("acme", "k9")], &[("default", "k1")]] {
            assert_eq!(sessions(SECRET, other).verify(&token, now), None, "{other:?}");
        }
        assert_eq!(sessions("another secret of the shop", &[("acme", "k1")]).verify(&token, now), None);
        let (payload, signature) = token.split_once('.').unwrap();
        for bad in ["", ".", payload, &format!("{payload}A.{signature}"), &format!("{payload}.{}", &signature[1..])] {
            assert_eq!(ours.verify(bad, now), None, "{bad:?}");
        }
    }
}
