//! Links to labels: whoever holds one may open that label until it expires, and nothing else.

use chrono::{DateTime, TimeDelta, Utc};

use super::signed::Signer;
use crate::domain::TenantId;
use crate::domain::returns::RmaNumber;

/// Makes links and knows its own.
#[derive(Clone)]
pub struct LabelLinks {
    signer: Signer,
    /// `https://chat.example.com`, without a slash at its end.
    base: String,
    holds: TimeDelta,
}

/// What a link opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelClaim {
    pub tenant: TenantId,
    pub rma: RmaNumber,
}

/// Told apart from other uses of the same secret.
const PURPOSE: &[u8] = b"frontdesk label link 1\n";

impl LabelLinks {
    /// `base` is the address that browsers call; a link holds for so long as `holds`.
    pub fn new(secret: &str, base: &str, holds: TimeDelta) -> Self {
        Self { signer: Signer::new(secret, PURPOSE), base: base.trim_end_matches('/').to_owned(), holds }
    }

    /// The label's link from now on.
    pub fn link(&self, claim: &LabelClaim, now: DateTime<Utc>) -> String {
        let until = (now + self.holds).timestamp();
        // The signature is the permission, and stands in the query: paths are logged.
        let signed = self.signer.sign(&format!("{}|{}|{until}", claim.tenant, claim.rma));
        format!("{}/labels/{}", self.base, signed.replacen('.', "?signature=", 1))
    }

    /// What a link opens, by its path's last part and its signature, if we made it and it holds at `now`.
    pub fn open(&self, label: &str, signature: &str, now: DateTime<Utc>) -> Option<LabelClaim> {
        let payload = self.signer.verify(&format!("{label}.{signature}"))?;
        let mut parts = payload.split('|');
        let claim = LabelClaim { tenant: parts.next()?.parse().ok()?, rma: parts.next()?.parse().ok()? };
        let until = DateTime::from_timestamp(parts.next()?.parse().ok()?, 0)?;
        (now < until).then_some(claim)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    #[test]
    fn a_link_opens_its_own_label_until_it_expires_and_cannot_be_changed() {
        let now = Utc::now();
        let links = LabelLinks::new("a secret of the shop, long enough", "https://chat.example/", TimeDelta::hours(1));
        let claim = LabelClaim {
            tenant: "acme".parse().expect("a tenant"),
            rma: "RMA-1700000000-AB12".parse().expect("a number"),
        };
        let link = links.link(&claim, now);
        let signed = link.strip_prefix("https://chat.example/labels/").expect("a link of ours");
        let (label, signature) = signed.split_once("?signature=").expect("two parts");
        assert_eq!(links.open(label, signature, now), Some(claim));
        assert_eq!(links.open(label, signature, now + TimeDelta::minutes(61)), None);
        assert_eq!(LabelLinks::new("another secret", "", TimeDelta::hours(1)).open(label, signature, now), None);
        let forged = URL_SAFE_NO_PAD.encode("acme|RMA-1700000000-ZZ99|99999999999");
        for (label, signature) in
            [(forged.as_str(), signature), (label, ""), ("", signature), ("é", "x"), (label, &signature[1..])]
        {
            assert_eq!(links.open(label, signature, now), None, "{label} {signature}");
        }
    }
}
