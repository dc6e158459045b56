//! Values of each shop.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use super::TenantId;

/// A value for each shop, such as its texts. A shop without a value has the default shop's.
#[derive(Debug)]
pub struct PerShop<T>(RwLock<BTreeMap<TenantId, T>>);

impl<T> Default for PerShop<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T: Clone> PerShop<T> {
    /// Sets the value of a shop, and replaces an earlier one.
    pub fn set(&self, tenant: &TenantId, value: T) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(tenant.clone(), value);
    }

    /// Returns the value of a shop, else of the default shop.
    pub fn get(&self, tenant: &TenantId) -> Option<T> {
        let values = self.0.read().unwrap_or_else(PoisonError::into_inner);
        values.get(tenant).or_else(|| values.get(&TenantId::default())).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shop_without_value_has_the_defaults() {
        let (texts, acme, beta) = (PerShop::default(), "acme".parse().unwrap(), "beta".parse().unwrap());
        assert_eq!(texts.get(&acme), None);
        texts.set(&TenantId::default(), 1);
        texts.set(&acme, 2);
        assert_eq!((texts.get(&acme), texts.get(&beta)), (Some(2), Some(1)));
    }
}
