use std::time::Duration;

use super::Env;
use crate::domain::returns::{DamageWords, Frequency, Terms, Windows};

/// How a customer without an account proves that an order is theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderVerification {
    /// With the e-mail address or phone number on the order.
    Contact,
    /// No proof, for a shop whose customers are all signed in.
    None,
}

/// The returns desk.
#[derive(Clone, Debug)]
pub struct ReturnsConfig {
    /// `RETURN_WINDOW_DAYS` and `REFUND_WINDOW_DAYS`: the windows for orders without a policy.
    pub windows: Windows,
    /// `RETURN_REVIEW_COUNT` and `RETURN_REVIEW_DAYS`: the number of recent returns from which a person decides.
    pub frequency: Frequency,
    /// `ORDER_VERIFICATION`
    pub verification: OrderVerification,
    /// `LABEL_LINK_HOURS`: how long the link to a label is valid.
    pub label_link: Duration,
    /// `MAIL_WAIT_SECONDS`: how long a turn waits for the first attempt to send its mail, to report the result.
    pub mail_wait: Duration,
}

impl ReturnsConfig {
    /// Returns the settings of the return rules, with the time zone in which days are counted.
    pub fn terms(&self, damage: DamageWords, time_zone: chrono_tz::Tz) -> Terms {
        Terms { windows: self.windows, frequency: self.frequency, damage, damage_reported: false, time_zone }
    }

    pub(super) fn read(env: &mut Env) -> Self {
        let windows = Windows::default();
        let frequency = Frequency::default();
        Self {
            windows: Windows {
                return_days: env.days("RETURN_WINDOW_DAYS", windows.return_days),
                refund_days: env.days("REFUND_WINDOW_DAYS", windows.refund_days),
            },
            frequency: Frequency {
                count: env.number("RETURN_REVIEW_COUNT", frequency.count),
                days: env.days("RETURN_REVIEW_DAYS", frequency.days),
            },
            verification: env.choice(
                "ORDER_VERIFICATION",
                &[("contact", OrderVerification::Contact), ("none", OrderVerification::None)],
                OrderVerification::Contact,
            ),
            label_link: env.hours("LABEL_LINK_HOURS", 168),
            mail_wait: env.seconds("MAIL_WAIT_SECONDS", 5),
        }
    }
}
