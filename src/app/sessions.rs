//! Console sessions: what a browser of the shop's own people holds instead of the API key.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use subtle::ConstantTimeEq;

use super::keys::Keys;
use crate::domain::TenantId;
use crate::tools::signed::Signer;

/// Told apart from conversation tokens, and from later formats.
const PURPOSE: &[u8] = b"frontdesk console session 1\n";

/// Somebody of the shop, signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub tenant: TenantId,
    /// How the person wants to be called.
    pub name: Option<String>,
    pub expires_at: DateTime<Utc>,
}

/// Opens sessions and reads them back. A session names its key by a fingerprint, so that it ends with the key.
#[derive(Clone)]
pub struct Sessions {
    signer: Signer,
    keys: Keys,
    ttl: TimeDelta,
}

impl Sessions {
    /// `secret`: what tokens are signed with. `ttl`: how long a session lasts.
    pub fn new(secret: &str, keys: Keys, ttl: std::time::Duration) -> Self {
        // A century stands in for what no calendar holds.
        let ttl = TimeDelta::from_std(ttl).unwrap_or(TimeDelta::MAX).min(TimeDelta::days(36_525));
        Self { signer: Signer::new(secret, PURPOSE), keys, ttl }
    }

    /// A session for who knows the key, and the token that holds it; `None`: the key opens nothing.
    pub fn begin(&self, key: &[u8], name: Option<String>, now: DateTime<Utc>) -> Option<(Session, String)> {
        let tenant = self.keys.find_tenant(key)?;
        // Whole seconds, as the token holds them.
        let expires_at = DateTime::from_timestamp((now + self.ttl).timestamp(), 0)?;
        let fingerprint = self.fingerprint(&Keys::hash(key));
        let encoded = URL_SAFE_NO_PAD.encode(name.as_deref().unwrap_or_default());
        let payload = format!("{tenant}|{fingerprint}|{}|{encoded}", expires_at.timestamp());
        Some((Session { tenant, name, expires_at }, self.signer.sign(&payload)))
    }

    /// The session that the token holds, if we signed it, it has not expired at `now`, and its key still opens its shop.
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
        let holds = now < expires_at && self.keys.iter().any(is_its_key);
        holds.then_some(Session { tenant, name: Some(name).filter(|name| !name.is_empty()), expires_at })
    }

    fn fingerprint(&self, hash: &[u8; 32]) -> String {
        URL_SAFE_NO_PAD.encode(&self.signer.digest(hash)[..16])
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::app::{Claims, Tokens};
    use crate::config::KeyEntry;
    use crate::domain::ConversationId;

    const SECRET: &str = "a secret of the shop, long enough";

    fn sessions(secret: &str, keys: &[(&str, &str)]) -> Sessions {
        let entry = |(tenant, key): &(&str, &str)| KeyEntry { tenant: (*tenant).into(), key: (*key).into() };
        let keys: Vec<KeyEntry> = keys.iter().map(entry).collect();
        Sessions::new(secret, Keys::new(&keys), Duration::from_secs(60))
    }

    #[test]
    fn a_session_holds_until_it_expires_or_its_key_is_gone_and_cannot_be_changed() {
        let now = Utc::now();
        let ours = sessions(SECRET, &[("default", "k0"), ("acme", "k1")]);
        let (session, token) = ours.begin(b"k1", Some("Lan | Đỗ".to_owned()), now).unwrap();
        assert_eq!((session.tenant.as_str(), session.name.as_deref()), ("acme", Some("Lan | Đỗ")));
        assert_eq!(ours.verify(&token, now), Some(session.clone()));
        assert_eq!(ours.verify(&token, session.expires_at), None);
        assert_eq!(ours.begin(b"k2", None, now), None);
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

    #[test]
    fn a_token_of_one_purpose_does_not_pass_for_the_other() {
        let now = Utc::now();
        let (sessions, tokens) = (sessions(SECRET, &[("default", "k0")]), Tokens::new(SECRET));
        let (_, session) = sessions.begin(b"k0", None, now).unwrap();
        let claims = Claims {
            tenant: TenantId::default(),
            conversation: ConversationId::now(),
            expires_at: now + TimeDelta::seconds(60),
        };
        let token = tokens.sign(&claims);
        assert!(sessions.verify(&session, now).is_some() && tokens.verify(&token, now).is_some());
        assert_eq!(sessions.verify(&token, now), None);
        assert_eq!(tokens.verify(&session, now), None);
    }
}
