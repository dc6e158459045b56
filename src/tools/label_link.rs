//! Signed links to return labels. A link opens one label until it expires.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use super::label::{Label, LabelTexts};
use super::signed::Signer;
use crate::domain::returns::RmaNumber;
use crate::domain::{PerShop, TenantId};
use crate::persona::texts::fill;
use crate::store::{Store, StoreError};

/// The labels of all shops.
pub struct Labels {
    store: Store,
    links: LabelLinks,
    /// Empty if no persona takes returns.
    texts: PerShop<LabelTexts>,
}

impl Labels {
    pub fn new(store: Store, links: LabelLinks) -> Arc<Self> {
        Arc::new(Self { store, links, texts: PerShop::default() })
    }

    /// Replaces the texts of a shop's labels.
    pub fn set_texts(&self, tenant: &TenantId, texts: LabelTexts) {
        self.texts.set(tenant, texts);
    }

    /// Returns a link to the label of an RMA, valid from now on.
    pub fn link(&self, tenant: &TenantId, rma: &RmaNumber) -> String {
        self.links.link(&LabelClaim { tenant: tenant.clone(), rma: rma.clone() }, Utc::now())
    }

    /// Returns the label that a link opens, as a PDF. `None`: the link is invalid or has expired, or the RMA has no label yet.
    pub async fn open(&self, label: &str, signature: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(claim) = self.links.open(label, signature, Utc::now()) else { return Ok(None) };
        let Some(texts) = self.texts.get(&claim.tenant) else { return Ok(None) };
        let rma = self.store.tenant(&claim.tenant).find_rma(&claim.rma).await?;
        Ok(rma.and_then(|rma| {
            let tracking = rma.label?.tracking;
            let line = |text: &str, value: &dyn std::fmt::Display| fill(text, &[("value", &value.to_string())]);
            let lines = [
                line(&texts.rma, &rma.number),
                line(&texts.order, &rma.order),
                line(&texts.carrier, &tracking.carrier()),
            ];
            Some(Label { title: &texts.title, tracking: &tracking.to_string(), lines: &lines }.pdf())
        }))
    }
}

/// Makes links and verifies them.
#[derive(Clone)]
pub struct LabelLinks {
    signer: Signer,
    /// `https://chat.example.com`, without a trailing slash.
    base: String,
    valid_for: TimeDelta,
}

/// The label that a link opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelClaim {
    pub tenant: TenantId,
    pub rma: RmaNumber,
}

/// Separates these signatures from other uses of the same secret.
const PURPOSE: &[u8] = b"frontdesk label link 1\n";

impl LabelLinks {
    /// `base` is the address that browsers call.
    pub fn new(secret: &str, base: &str, valid_for: TimeDelta) -> Self {
        Self { signer: Signer::new(secret, PURPOSE), base: base.trim_end_matches('/').to_owned(), valid_for }
    }

    /// Returns a link to the label, valid from `now` on.
    pub fn link(&self, claim: &LabelClaim, now: DateTime<Utc>) -> String {
        let until = (now + self.valid_for).timestamp();
        // The signature is the permission. It is in the query, since paths are logged.
        let signed = self.signer.sign(&format!("{}|{}|{until}", claim.tenant, claim.rma));
        format!("{}/labels/{}", self.base, signed.replacen('.', "?signature=", 1))
    }

    /// Returns the claim of a link, from the last segment of its path and its signature, if we made it and it is valid at `now`.
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
    fn link_opens_its_label_until_it_expires() {
        let now = Utc::now();
        let links = LabelLinks::new("a secret of the shop, long enough", "https://chat.example/", TimeDelta::hours(1));
        let claim = LabelClaim {
            tenant: "acme".parse().expect("a tenant"),
            rma: "RMA-1700000000-AB12".parse().expect("a number"),
        };
        let link = links.link(&claim, now);
        let signed = link.strip_prefix("https://chat.example/labels/").expect("our address");
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
