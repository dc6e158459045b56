//! Which of a customer's orders an M-PESA receipt is for, if it names none.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::{CLOCKS_DIFFER, Payment, PaymentProvider, PaymentStatus};
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::commerce::{Money, SaleId};

/// A prompt is answered within this time, also if clocks differ.
const PROMPT_LASTS: TimeDelta = TimeDelta::minutes(5);
/// A prompt that was closed and has no result after this time is taken as unpaid: the customer waits for the receipt.
const PROMPT_ENDS_WITHIN: TimeDelta = TimeDelta::minutes(2);

impl Payment {
    /// Whether it is an M-PESA prompt on the customer's phone.
    pub fn is_prompt(&self) -> bool {
        self.method == PaymentMethod::MpesaStk && self.provider == PaymentProvider::Daraja
    }

    /// Whether a payment of this amount at this time may be the answer to this prompt.
    pub fn may_be_answered_by(&self, amount: Money, paid_at: DateTime<Utc>) -> bool {
        let answered = self.created_at - CLOCKS_DIFFER..self.created_at + PROMPT_LASTS;
        self.is_prompt() && self.request.amount == amount && answered.contains(&paid_at)
    }

    /// Whether to wait for the result of this prompt, or for the callback that names its receipt: for two minutes after it is closed, which
    /// is at the age of `closes_at`, and after the customer began to wait.
    pub fn may_still_report(&self, closes_at: Duration, waiting_since: DateTime<Utc>, now: DateTime<Utc>) -> bool {
        let closed_for = TimeDelta::from_std(closes_at).map_or(TimeDelta::zero(), |age| now - self.created_at - age);
        (now - waiting_since).min(closed_for) < PROMPT_ENDS_WITHIN
    }

    /// Whether the customer may send the code of its receipt. While a prompt is open, M-PESA reports its end.
    fn awaits_code(&self) -> bool {
        let status = self.request.status;
        let is_waiting = match self.method {
            PaymentMethod::MpesaC2b => status.is_open() || status == PaymentStatus::Timeout,
            PaymentMethod::MpesaStk => status == PaymentStatus::Timeout,
            PaymentMethod::Pesapal => false,
        };
        is_waiting && self.provider == PaymentProvider::Daraja
    }
}

/// Whether a payment of the order stands.
fn is_paid(payments: &[Payment], sale: &SaleId) -> bool {
    payments.iter().any(|payment| payment.sale == *sale && payment.request.status == PaymentStatus::Paid)
}

/// Returns the request, of those that `fits` holds for, for which a customer who sends a code has most likely paid. `payments` are all
/// of the customer's, newest first, and those of cancelled orders last. Unpaid orders come before paid ones, then in the order of
/// `payments`; of one order, a payment to the paybill or till comes before a prompt.
pub fn find_awaiting_code(payments: &[Payment], fits: impl Fn(&Payment) -> bool) -> Option<&Payment> {
    let awaiting: Vec<&Payment> = payments.iter().filter(|payment| payment.awaits_code() && fits(payment)).collect();
    let unpaid = awaiting.iter().find(|payment| !is_paid(payments, &payment.sale));
    let newest = *unpaid.or(awaiting.first())?;
    let is_to_paybill = |payment: &&&Payment| payment.sale == newest.sale && payment.method == PaymentMethod::MpesaC2b;
    Some(awaiting.iter().find(is_to_paybill).copied().unwrap_or(newest))
}

/// Returns the request that a receipt is for, of all of a customer's payments in the order of [`find_awaiting_code`]; `None` if a person
/// decides.
///
/// It is the one that has the receipt; else the one that awaits a code, costs this amount, and whose order the customer was asked to
/// pay before; else that of the only order that awaits a code, which then got too little or too much. Requests that ran out of time
/// count as such an order only if none is open. It is for a person if it may also be the receipt of a paid prompt of another order, since
/// a payment must not pay two orders.
pub fn match_receipt<'a>(
    payments: &'a [Payment],
    receipt: &str,
    amount: Money,
    paid_at: DateTime<Utc>,
) -> Option<&'a Payment> {
    let has_it = |payment: &&Payment| payment.request.receipts.iter().any(|known| known == receipt);
    if let Some(known) = payments.iter().find(has_it) {
        return Some(known);
    }
    let asked_at = |sale: &SaleId| payments.iter().filter(|of| of.sale == *sale).map(|of| of.created_at).min();
    let is_new = |payment: &Payment| asked_at(&payment.sale).is_some_and(|asked| paid_at >= asked - CLOCKS_DIFFER);
    let found = find_awaiting_code(payments, |payment| payment.request.amount == amount && is_new(payment));
    let prompt = payments.iter().find(|payment| payment.is_unnamed() && payment.may_be_answered_by(amount, paid_at));
    match (found, prompt) {
        (Some(found), Some(prompt)) if found.sale != prompt.sale => None,
        (Some(payment), _) | (None, Some(payment)) => Some(payment),
        (None, None) => {
            let is_unpaid = |of: &Payment| of.awaits_code() && !is_paid(payments, &of.sale);
            let is_open = |of: &Payment| of.request.status.is_open() && is_unpaid(of);
            let any_open = payments.iter().any(is_open);
            let fits = |of: &Payment| is_new(of) && (!any_open || is_open(of));
            let only = find_awaiting_code(payments, fits)?;
            let is_other = |of: &Payment| fits(of) && is_unpaid(of) && of.sale != only.sale;
            (!payments.iter().any(is_other)).then_some(only)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::PaymentId;
    use crate::domain::commerce::Currency;
    use crate::domain::commerce::payment::PaymentRequest;

    use PaymentMethod::{MpesaC2b, MpesaStk};
    use PaymentStatus::{Paid, Pending, Timeout};

    const RECEIPT: &str = "QKJ41HAY6L";

    fn minute(minutes: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes)
    }

    fn shillings(amount: i64) -> Money {
        Money::new(amount * 100, Currency::Kes)
    }

    /// A request to pay the order with this number.
    fn payment(order: u64, method: PaymentMethod, status: PaymentStatus, amount: i64, created: i64) -> Payment {
        let reference = format!("ws_CO_{order}");
        let receipts = if status == Paid { vec![reference.clone()] } else { Vec::new() };
        Payment {
            id: PaymentId(uuid::Uuid::nil()),
            sale: SaleId::new(order * 24),
            conversation: None,
            method,
            phone: None,
            provider: PaymentProvider::Daraja,
            reference: Some(reference),
            request: PaymentRequest { status, amount: shillings(amount), receipts },
            created_at: minute(created),
        }
    }

    fn named(mut payment: Payment, receipt: &str) -> Payment {
        payment.request.receipts = vec![receipt.to_owned()];
        payment
    }

    #[test]
    fn receipt_is_matched_by_amount_and_time() {
        let older = || payment(1, MpesaC2b, Pending, 2_500, 0);
        let prompt = |status, amount| payment(2, MpesaStk, status, amount, 20);
        let till = |amount| payment(2, MpesaC2b, Pending, amount, 20);
        // The payments, newest first; the amount and the minute of the receipt; the order that it pays.
        for (case, payments, amount, paid_at, order) in [
            ("an open prompt of another amount", vec![prompt(Pending, 1_250), older()], 2_500, 21, Some(1)),
            ("a newer order of another amount", vec![till(1_250), older()], 2_500, 21, Some(1)),
            ("paid before the newer order", vec![till(2_500), older()], 2_500, 10, Some(1)),
            ("two orders that it fits", vec![till(2_500), older()], 2_500, 21, Some(2)),
            ("a prompt that is paid, without a receipt", vec![prompt(Paid, 2_500), older()], 2_500, 21, None),
            ("a prompt that was paid before", vec![prompt(Paid, 2_500), older()], 2_500, 40, Some(1)),
            ("the receipt of a prompt", vec![named(prompt(Paid, 2_500), RECEIPT), older()], 2_500, 21, Some(2)),
            ("another receipt of a prompt", vec![named(prompt(Paid, 2_500), "R2"), older()], 2_500, 21, Some(1)),
            ("a prompt that ran out of time", vec![prompt(Timeout, 1_250), older()], 1_250, 21, Some(2)),
            ("an order that is paid", vec![named(prompt(Paid, 2_500), "R2"), till(2_500), older()], 2_500, 21, Some(1)),
            ("too little for the only order", vec![older()], 2_400, 1, Some(1)),
            (
                "too much for the only open order",
                vec![payment(2, MpesaStk, Timeout, 1_250, -900), older()],
                2_600,
                1,
                Some(1),
            ),
            ("too little for one of two orders", vec![till(1_250), older()], 1_000, 21, None),
            ("paid before every order", vec![older()], 2_500, -10, None),
        ] {
            let found = match_receipt(&payments, RECEIPT, shillings(amount), minute(paid_at));
            let expected = order.map(|order: u64| SaleId::new(order * 24));
            assert_eq!(found.map(|payment| &payment.sale), expected.as_ref(), "{case}");
        }
    }

    #[test]
    fn prompt_has_two_minutes_after_its_end() {
        let prompt = payment(1, MpesaStk, Timeout, 2_500, 0);
        // The minute at which the customer began to wait, and now.
        for (since, now, expected) in [(0, 3, true), (0, 4, true), (0, 5, false), (9, 10, true), (9, 11, false)] {
            let found = prompt.may_still_report(Duration::from_secs(180), minute(since), minute(now));
            assert_eq!(found, expected, "{since} {now}");
        }
    }

    #[test]
    fn paybill_comes_before_a_prompt_of_its_order() {
        let payments = [payment(1, MpesaStk, Timeout, 2_500, 5), payment(1, MpesaC2b, Timeout, 2_500, 0)];
        assert_eq!(find_awaiting_code(&payments, |_| true).map(|payment| payment.method), Some(MpesaC2b));
        assert_eq!(find_awaiting_code(&payments[..1], |_| true).map(|payment| payment.method), Some(MpesaStk));
    }
}
