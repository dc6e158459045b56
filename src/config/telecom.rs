use chrono_tz::Tz;

use super::Env;

/// How a customer without a signed-in account proves that an account is theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountVerification {
    /// With the number of one of the account's invoices.
    Invoice,
    /// The user id is enough, for a shop whose customers are all signed in.
    None,
}

/// The telecom desk. Failed proofs are limited by `ORDER_MISS_LIMIT` and `ORDER_MISS_LOCK_MINUTES`, as those of orders.
#[derive(Clone, Copy, Debug)]
pub struct TelecomConfig {
    /// `ACCOUNT_VERIFICATION`
    pub verification: AccountVerification,
    /// `TELECOM_TIME_ZONE`: an IANA name. Business days are counted there.
    pub time_zone: Tz,
}

impl TelecomConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self {
            verification: env.choice(
                "ACCOUNT_VERIFICATION",
                &[("invoice", AccountVerification::Invoice), ("none", AccountVerification::None)],
                AccountVerification::Invoice,
            ),
            time_zone: env.number("TELECOM_TIME_ZONE", chrono_tz::Europe::Warsaw),
        }
    }
}
