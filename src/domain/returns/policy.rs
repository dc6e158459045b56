//! Return policies: how long goods may come back, and which policy comes first.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::text::{fold, hex};

/// Whom a policy is for, in order of priority.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    Vip,
    /// Items of this category. Case and diacritics do not count.
    Category(String),
    General,
}

/// One policy of a shop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// The policy's name in decisions.
    pub name: String,
    pub scope: Scope,
    /// The last day on which goods may come back, counted from delivery.
    pub return_days: u32,
    /// The last day of a refund. `None` means `REFUND_WINDOW_DAYS`.
    pub refund_days: Option<u32>,
}

/// The windows of the shop's settings, which hold without a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// `RETURN_WINDOW_DAYS`
    pub return_days: u32,
    /// `REFUND_WINDOW_DAYS`
    pub refund_days: u32,
}

impl Default for Windows {
    fn default() -> Self {
        Self { return_days: 30, refund_days: 14 }
    }
}

/// The name of the policy that the settings make.
const GENERAL: &str = "general";

/// All policies of a shop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policies {
    /// In order of priority.
    list: Vec<Policy>,
    refund_days: u32,
    version: String,
}

impl Policies {
    /// The shop's policies, with a general one from its settings unless it has one.
    pub fn new(mut own: Vec<Policy>, windows: Windows) -> Self {
        if !own.iter().any(|policy| policy.scope == Scope::General) {
            own.push(Policy {
                name: GENERAL.to_owned(),
                scope: Scope::General,
                return_days: windows.return_days,
                refund_days: Some(windows.refund_days),
            });
        }
        Self::exactly(own, windows.refund_days)
    }

    /// Exactly these policies. Goods without one do not come back.
    pub fn exactly(mut list: Vec<Policy>, refund_days: u32) -> Self {
        list.sort_by(|a, b| (&a.scope, &a.name).cmp(&(&b.scope, &b.name)));
        let version = version(&list, refund_days);
        Self { list, refund_days, version }
    }

    /// Returns a hash of the policies, as twelve hexadecimal digits.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the policies in order of priority.
    pub fn list(&self) -> &[Policy] {
        &self.list
    }

    /// Returns the first policy that fits an item.
    pub fn find(&self, is_vip: bool, category: Option<&str>) -> Option<&Policy> {
        let category = category.map(|category| fold(category.trim()));
        self.list.iter().find(|policy| match &policy.scope {
            Scope::Vip => is_vip,
            Scope::Category(name) => Some(fold(name.trim())) == category,
            Scope::General => true,
        })
    }

    /// Returns the days for a return and for a refund of a category's items, or `None` if no policy applies.
    pub fn windows(&self, is_vip: bool, category: Option<&str>) -> Option<[u32; 2]> {
        self.find(is_vip, category).map(|policy| [policy.return_days, self.refund_days(policy)])
    }

    /// Returns the refund window of a policy, in days.
    pub fn refund_days(&self, policy: &Policy) -> u32 {
        policy.refund_days.unwrap_or(self.refund_days)
    }
}

fn version(list: &[Policy], refund_days: u32) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{refund_days}"));
    for policy in list {
        hash.update(format!("|{policy:?}"));
    }
    hex(&hash.finalize()[..6])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(name: &str, scope: Scope, return_days: u32, refund_days: Option<u32>) -> Policy {
        Policy { name: name.to_owned(), scope, return_days, refund_days }
    }

    #[test]
    fn policy_precedence_ignores_list_order() {
        let electronics = policy("electronics", Scope::Category("Điện tử".to_owned()), 15, Some(7));
        let vip = policy("vip", Scope::Vip, 120, None);
        let policies = Policies::new(vec![electronics, vip], Windows::default());
        let found = |is_vip, category| {
            let policy = policies.find(is_vip, category).unwrap();
            (policy.name.as_str(), policy.return_days, policies.refund_days(policy))
        };
        assert_eq!(found(true, Some("Điện tử")), ("vip", 120, 14));
        assert_eq!(found(false, Some(" dien tu ")), ("electronics", 15, 7));
        assert_eq!(found(false, Some("Shoes")), ("general", 30, 14));
        assert_eq!(found(false, None), ("general", 30, 14));
    }

    #[test]
    fn general_policy_replaces_the_settings() {
        let own = policy("house", Scope::General, 60, Some(20));
        let policies = Policies::new(vec![own], Windows::default());
        assert_eq!(policies.list().len(), 1);
        assert_eq!(policies.find(false, None).unwrap().return_days, 60);
        assert_eq!(Policies::exactly(vec![], 14).find(true, None), None);
    }

    #[test]
    fn policy_version_changes_only_with_its_rules() {
        let windows = Windows::default();
        let (a, b) = (policy("a", Scope::Vip, 120, None), policy("b", Scope::General, 30, None));
        let version = |list: &[&Policy], windows| {
            Policies::new(list.iter().map(|policy| (*policy).clone()).collect(), windows).version().to_owned()
        };
        assert_eq!(version(&[&a, &b], windows), version(&[&b, &a], windows));
        let longer = Policy { return_days: 121, ..a.clone() };
        assert_ne!(version(&[&a, &b], windows), version(&[&longer, &b], windows));
        assert_ne!(version(&[&a, &b], windows), version(&[&a, &b], Windows { refund_days: 15, ..windows }));
        assert_eq!(version(&[], windows).len(), 12);
    }
}
