//! Conversation tokens, which give a browser access to one conversation.

use chrono::{DateTime, Utc};

use crate::domain::{ConversationId, TenantId};
use crate::tools::signed::Signer;

/// Signs and verifies tokens.
#[derive(Clone)]
pub struct Tokens {
    signer: Signer,
}

/// The content of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    pub tenant: TenantId,
    pub conversation: ConversationId,
    pub expires_at: DateTime<Utc>,
}

/// Distinguishes tokens from other uses of the same secret and from later formats.
const PURPOSE: &[u8] = b"frontdesk conversation token 1\n";

impl Tokens {
    pub fn new(secret: &str) -> Self {
        Self { signer: Signer::new(secret, PURPOSE) }
    }

    pub fn sign(&self, claims: &Claims) -> String {
        self.signer.sign(&format!("{}|{}|{}", claims.tenant, claims.conversation, claims.expires_at.timestamp()))
    }

    /// Returns the claims of a token that is signed and not expired at `now`.
    pub fn verify(&self, token: &str, now: DateTime<Utc>) -> Option<Claims> {
        let payload = self.signer.verify(token)?;
        let mut parts = payload.split('|');
        let claims = Claims {
            tenant: parts.next()?.parse().ok()?,
            conversation: parts.next()?.parse().ok()?,
            expires_at: DateTime::from_timestamp(parts.next()?.parse().ok()?, 0)?,
        };
        (now < claims.expires_at).then_some(claims)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn token_is_valid_until_expiry_and_tamper_proof() {
        let now = Utc::now();
        let tokens = Tokens::new("a secret of the shop, long enough");
        let claims = Claims {
            tenant: "acme".parse().unwrap(),
            conversation: ConversationId::now(),
            expires_at: DateTime::from_timestamp(now.timestamp() + 60, 0).unwrap(),
        };
        let token = tokens.sign(&claims);
        assert_eq!(tokens.verify(&token, now), Some(claims.clone()));
        assert_eq!(tokens.verify(&token, now + TimeDelta::seconds(61)), None);
        assert_eq!(Tokens::new("another secret").verify(&token, now), None);
        let (payload, signature) = token.split_once('.').unwrap();
        let forged = URL_SAFE_NO_PAD.encode(format!("acme|{}|9999999999", claims.conversation));
        for bad in ["", ".", payload, &format!("{forged}.{signature}"), &format!("{payload}.{}", &signature[1..])] {
            assert_eq!(tokens.verify(bad, now), None, "{bad:?}");
        }
    }
}
