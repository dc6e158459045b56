use chrono::TimeDelta;

use super::Env;
use crate::domain::identity::attempts::AttemptLimit;

/// How customers without an account prove what is theirs, at every desk.
#[derive(Clone, Debug)]
pub struct IdentityConfig {
    /// `ORDER_MISS_LIMIT` and `ORDER_MISS_LOCK_MINUTES`: failed proofs of an order or account before a lock, and its length.
    pub attempts: AttemptLimit,
}

impl IdentityConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        let lock: u32 = env.number("ORDER_MISS_LOCK_MINUTES", 60);
        let misses = env.number("ORDER_MISS_LIMIT", AttemptLimit::default().misses);
        if misses == 0 {
            env.refuse("ORDER_MISS_LIMIT", "must be at least 1".to_owned());
        }
        Self { attempts: AttemptLimit { misses: misses.max(1), lock: TimeDelta::minutes(lock.into()) } }
    }
}
