//! Keeps what was computed last.

use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use hashlink::LruCache;

/// The values of the keys that were asked for last.
#[derive(Debug)]
pub struct Memo<K, T>(Mutex<LruCache<K, Arc<T>>>);

impl<K: Hash + Eq, T> Memo<K, T> {
    /// Keeps at most so many values.
    pub fn new(most: usize) -> Self {
        Self(Mutex::new(LruCache::new(most)))
    }

    /// Returns the value of a key, and computes it if it is not known.
    pub fn of(&self, key: K, compute: impl FnOnce(&K) -> T) -> Arc<T> {
        // Not locked while it computes: others may compute the same.
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = kept().get(&key) {
            return value.clone();
        }
        let value = Arc::new(compute(&key));
        kept().insert(key, value.clone());
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_values_are_computed_once() {
        let memo = Memo::new(2);
        let computed = |key: u32| {
            let mut is_new = false;
            let value = memo.of(key, |key| {
                is_new = true;
                key * 10
            });
            (*value, is_new)
        };
        assert_eq!(
            [1, 2, 1, 3, 1, 2].map(computed),
            [(10, true), (20, true), (10, false), (30, true), (10, false), (20, true)]
        );
    }
}
