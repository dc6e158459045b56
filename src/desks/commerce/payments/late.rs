//! When a payment without a result is closed, and how long it may still be paid.

use chrono::{DateTime, TimeDelta, Utc};

use super::FOLLOWED_FOR;
use crate::config::PaymentProvidersConfig;
use crate::domain::commerce::payment::{Payment, PaymentProvider, PaymentReport, PaymentStatus};
use crate::domain::commerce::tenant::PaymentMethod;

/// The answers that a payment page takes: a token, the notification address and the order, and a new token if one is refused.
const CHECKOUT_ANSWERS: u32 = 4;

/// Returns what a report means for a payment of this age.
pub(super) fn close_if_old(
    config: &PaymentProvidersConfig,
    payment: &Payment,
    report: PaymentReport,
    now: DateTime<Utc>,
) -> PaymentReport {
    let has_no_page = payment.provider == PaymentProvider::Pesapal && payment.reference.is_none();
    let wait = match (payment.provider, payment.method) {
        // The sandbox closes its payments itself.
        (PaymentProvider::Sandbox, _) => return report,
        (_, PaymentMethod::MpesaStk) => config.stk_wait,
        _ if has_no_page => config.timeout * CHECKOUT_ANSWERS,
        (_, PaymentMethod::MpesaC2b | PaymentMethod::Pesapal) => config.checkout_wait,
    };
    let age = now - payment.created_at;
    let is_over = TimeDelta::from_std(wait).is_ok_and(|wait| age >= wait);
    match report {
        // The answer with the page was lost, so the customer cannot pay.
        PaymentReport::StillRunning if is_over && has_no_page => PaymentReport::Failed,
        PaymentReport::StillRunning if is_over => PaymentReport::NoResult,
        // The provider does not answer, so the customer may have paid.
        PaymentReport::AnswerLost if age < FOLLOWED_FOR => PaymentReport::StillRunning,
        PaymentReport::AnswerLost => PaymentReport::NoResult,
        report => report,
    }
}

/// Whether a payment that was closed may still be paid, and its provider can be asked.
pub(super) fn may_be_late(payment: &Payment, now: DateTime<Utc>) -> bool {
    payment.request.status == PaymentStatus::Timeout
        && payment.reference.is_some()
        && now - payment.created_at < FOLLOWED_FOR
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::{Config, Env};
    use crate::domain::PaymentId;
    use crate::domain::commerce::Money;
    use crate::domain::commerce::catalog::CATALOG_CURRENCY;
    use crate::domain::commerce::payment::PaymentRequest;

    #[test]
    fn checkout_without_page_fails_before_others_close() {
        let config = Config::read(Env::of([])).expect("settings").commerce.providers;
        let report = |reference: Option<&str>, age: Duration| {
            let status = PaymentStatus::Pending;
            let payment = Payment {
                id: PaymentId::now(),
                sale: "K48213".parse().expect("an order"),
                conversation: None,
                method: PaymentMethod::Pesapal,
                phone: None,
                provider: PaymentProvider::Pesapal,
                reference: reference.map(str::to_owned),
                request: PaymentRequest { status, amount: Money::zero(CATALOG_CURRENCY), receipts: Vec::new() },
                created_at: DateTime::UNIX_EPOCH,
            };
            close_if_old(&config, &payment, PaymentReport::StillRunning, DateTime::UNIX_EPOCH + age)
        };
        let asked = config.timeout * CHECKOUT_ANSWERS;
        assert_eq!(report(None, asked / 2), PaymentReport::StillRunning);
        assert_eq!(report(None, asked), PaymentReport::Failed);
        assert_eq!(report(Some("b945e4af"), asked), PaymentReport::StillRunning);
        assert_eq!(report(Some("b945e4af"), config.checkout_wait), PaymentReport::NoResult);
    }
}
