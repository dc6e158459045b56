//! Every state and report, and reports in any order.

use proptest::prelude::*;

use super::*;
use crate::domain::commerce::Currency;
use crate::domain::commerce::sale::Totals;

use PaymentStatus::{Created, Failed, Paid, Pending, Reversed, Timeout, Unknown};

fn shillings(amount: i64) -> Money {
    Money::new(amount * 100, Currency::Kes)
}

fn request(status: PaymentStatus) -> PaymentRequest {
    let receipts = if matches!(status, Paid | Reversed) { vec!["R1".to_owned()] } else { vec![] };
    PaymentRequest { status, amount: shillings(1_250), receipts }
}

fn paid(amount: i64, receipt: &str) -> PaymentReport {
    PaymentReport::Paid { amount: shillings(amount), receipt: receipt.to_owned(), paid_at: None }
}

fn reversed(receipt: Option<&str>) -> PaymentReport {
    PaymentReport::Reversed { receipt: receipt.map(str::to_owned) }
}

fn states(outcome: &PaymentOutcome) -> Vec<PaymentStatus> {
    outcome.steps.iter().map(StatusChange::to).collect()
}

#[test]
fn every_state_and_report_is_decided_as_listed() {
    // The states after each report, from each state; an empty list is no change.
    let rows: [(PaymentReport, [&[PaymentStatus]; 7]); 8] = [
        // From           created             pending            paid          failed             timeout            unknown            reversed
        (PaymentReport::Accepted, [&[Pending], &[], &[], &[], &[], &[], &[]]),
        (PaymentReport::StillRunning, [&[], &[], &[], &[], &[], &[], &[]]),
        (paid(1_250, "R1"), [&[Paid], &[Paid], &[], &[Paid], &[Paid], &[Paid], &[]]),
        (PaymentReport::Failed, [&[Failed], &[Failed], &[], &[], &[], &[Failed], &[]]),
        (PaymentReport::TimedOut, [&[Timeout], &[Timeout], &[], &[], &[], &[Timeout], &[]]),
        (PaymentReport::NoResult, [&[Timeout], &[Timeout], &[], &[], &[], &[Timeout], &[]]),
        (PaymentReport::AnswerLost, [&[Unknown], &[Unknown], &[], &[], &[], &[], &[]]),
        (
            reversed(None),
            [
                &[Paid, Reversed],
                &[Paid, Reversed],
                &[Reversed],
                &[Paid, Reversed],
                &[Paid, Reversed],
                &[Paid, Reversed],
                &[],
            ],
        ),
    ];
    for (report, expected) in rows {
        for (status, expected) in PaymentStatus::ALL.iter().zip(expected) {
            let outcome = request(*status).decide(&report, *status == Paid).expect("one currency");
            assert_eq!(states(&outcome), expected, "{report:?} when {status}");
            let is_reversal = expected.last() == Some(&Reversed);
            assert_eq!(outcome.problem, is_reversal.then_some(PaymentProblem::Reversed), "{report:?} when {status}");
            assert_eq!(outcome.settles_order, expected == [Paid], "{report:?} when {status}");
            assert_eq!(outcome.unsettles_order, expected == [Reversed], "{report:?} when {status}");
        }
    }
}

#[test]
fn wrong_and_second_payments_go_to_people() {
    use PaymentProblem::{Double, Excess, Short};
    for (status, report, order_is_paid, problem, settles) in [
        (Pending, paid(1_250, "R1"), false, None, true),
        (Pending, paid(1_249, "R1"), false, Some(Short), false),
        (Timeout, paid(1_251, "R1"), false, Some(Excess), true),
        (Pending, paid(1_250, "R1"), true, Some(Double), false),
        (Pending, paid(1_000, "R1"), true, Some(Double), false),
        (Paid, paid(1_250, "R1"), true, None, false),
        (Paid, paid(1_250, "R2"), true, Some(Double), false),
        (Reversed, paid(1_250, "R1"), false, None, false),
        (Reversed, paid(1_250, "R2"), false, Some(Double), false),
    ] {
        let outcome = request(status).decide(&report, order_is_paid).expect("one currency");
        assert_eq!((outcome.problem, outcome.settles_order), (problem, settles), "{report:?} when {status}");
    }
    let amount = Money::new(1_250, Currency::Usd);
    let dollars = PaymentReport::Paid { amount, receipt: "R1".to_owned(), paid_at: None };
    assert_eq!(request(Pending).decide(&dollars, false), Err(MoneyError::Currencies(Currency::Kes, Currency::Usd)));
}

#[test]
fn only_an_order_with_held_prices_is_settled() {
    use PaymentProblem::{OrderChanged, PriceExpired};
    use SaleStatus::{Cancelled, Draft};
    let minute = |minutes| DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes);
    let sale = |(status, total)| Sale {
        id: SaleId::new(1),
        status,
        lines: Vec::new(),
        totals: Totals { subtotal: shillings(total), discount: shillings(0), total: shillings(total) },
        coupon: None,
        held_until: minute(30),
        conversation: None,
        updated_at: minute(0),
    };
    for (order, paid_at, problem) in [
        (Some((Draft, 1_250)), 29, None),
        // The clock of M-PESA may be ahead.
        (Some((Draft, 1_250)), 31, None),
        (Some((Draft, 1_250)), 33, Some(PriceExpired)),
        (Some((Draft, 1_300)), 1, Some(OrderChanged)),
        (Some((Cancelled, 1_250)), 1, Some(OrderChanged)),
        (None, 1, Some(OrderChanged)),
    ] {
        let outcome = request(Pending).decide(&paid(1_250, "R1"), false).expect("one currency");
        let outcome = outcome.for_order(order.map(sale).as_ref(), shillings(1_250), minute(paid_at));
        assert_eq!((outcome.problem, outcome.settles_order), (problem, problem.is_none()), "{order:?} at {paid_at}");
    }
    let excess = request(Pending).decide(&paid(1_300, "R1"), false).expect("one currency");
    let outcome = excess.for_order(Some(&sale((Draft, 1_250))), shillings(1_250), minute(33));
    assert_eq!((outcome.problem, outcome.settles_order), (Some(PaymentProblem::Excess), false));
}

#[test]
fn order_has_one_open_request() {
    for (earlier, order_is_paid, expected) in [
        (&[][..], false, Ok(())),
        (&[Failed, Timeout, Reversed], false, Ok(())),
        (&[Failed, Created], false, Err(CannotPay::Open)),
        (&[Pending], false, Err(CannotPay::Open)),
        (&[Unknown], false, Err(CannotPay::Open)),
        (&[Failed, Paid], true, Err(CannotPay::Paid)),
        // A short payment.
        (&[Failed, Paid], false, Err(CannotPay::UnderReview)),
    ] {
        assert_eq!(check_new_request(earlier, order_is_paid), expected, "{earlier:?}");
    }
}

#[test]
fn reversal_concerns_the_payment_it_names() {
    let mut twice = request(Paid);
    twice.receipts.push("R2".to_owned());
    for other in ["R2", "R3"] {
        let outcome = twice.decide(&reversed(Some(other)), true).expect("one currency");
        assert_eq!(outcome, PaymentOutcome::default(), "{other}");
    }
    let outcome = twice.decide(&reversed(Some("R1")), true).expect("one currency");
    assert_eq!((states(&outcome), outcome.unsettles_order), (vec![Reversed], true));
}

#[test]
fn second_receipt_is_reported_once() {
    let mut paid_twice = History::new();
    paid_twice.apply(&paid(1_250, "R1"));
    assert_eq!(paid_twice.apply(&paid(1_250, "R2")).problem, Some(PaymentProblem::Double));
    assert_eq!(paid_twice.apply(&paid(1_250, "R2")), PaymentOutcome::default());
    for receipt in [None, Some("R1")] {
        let mut went_back_first = History::new();
        assert_eq!(went_back_first.apply(&reversed(receipt)).problem, Some(PaymentProblem::Reversed));
        assert_eq!(went_back_first.apply(&paid(1_250, "R1")).problem, None);
        assert_eq!(went_back_first.apply(&paid(1_250, "R2")).problem, Some(PaymentProblem::Double));
        assert_eq!(went_back_first.request.receipts, ["R1", "R2"]);
    }
}

/// A request of an order with the reports that were applied to it.
struct History {
    request: PaymentRequest,
    order_is_paid: bool,
    settled: usize,
    seen: Vec<PaymentStatus>,
}

impl History {
    fn new() -> Self {
        Self { request: request(Created), order_is_paid: false, settled: 0, seen: vec![Created] }
    }

    fn apply(&mut self, report: &PaymentReport) -> PaymentOutcome {
        let outcome = self.request.decide(report, self.order_is_paid).expect("one currency");
        for step in &outcome.steps {
            assert_eq!(step.from(), self.request.status);
            self.request.status = step.to();
            self.seen.push(step.to());
        }
        self.request.receipts.extend(outcome.receipt.clone());
        self.settled += usize::from(outcome.settles_order);
        self.order_is_paid = (self.order_is_paid || outcome.settles_order) && !outcome.unsettles_order;
        outcome
    }
}

fn any_report() -> impl Strategy<Value = PaymentReport> {
    prop_oneof![
        Just(PaymentReport::Accepted),
        Just(PaymentReport::StillRunning),
        Just(PaymentReport::Failed),
        Just(PaymentReport::TimedOut),
        Just(PaymentReport::NoResult),
        Just(PaymentReport::AnswerLost),
        (prop::sample::select(vec![1_249, 1_250, 1_251]), prop::sample::select(vec!["R1", "R2"]))
            .prop_map(|(amount, receipt)| paid(amount, receipt)),
        prop::option::of(prop::sample::select(vec!["R1", "R2"])).prop_map(reversed),
    ]
}

proptest! {
    // Feature: tulia-ai-v2-langgraph-refactor, Property 7: Secure Payment Processing
    #[test]
    fn order_is_settled_once_and_only_by_money(reports in prop::collection::vec(any_report(), 0..20)) {
        let mut history = History::new();
        for report in &reports {
            let outcome = history.apply(report);
            let is_money = matches!(report, PaymentReport::Paid { .. });
            prop_assert!(is_money || !outcome.settles_order);
        }
        prop_assert!(history.settled <= 1);
        let enough = |report: &PaymentReport| match report {
            PaymentReport::Paid { amount, .. } => amount.minor >= shillings(1_250).minor,
            _ => false,
        };
        prop_assert!(history.settled == 0 || reports.iter().any(enough));
    }

    #[test]
    fn paid_is_left_by_a_reversal_only(reports in prop::collection::vec(any_report(), 0..20)) {
        let mut history = History::new();
        reports.iter().for_each(|report| drop(history.apply(report)));
        let after = history.seen.iter().skip_while(|status| **status != Paid).skip(1);
        prop_assert!(after.clone().count() <= 1 && after.clone().all(|status| *status == Reversed));
    }

    #[test]
    fn repeated_report_changes_nothing(
        before in prop::collection::vec(any_report(), 0..10), report in any_report(),
    ) {
        let mut history = History::new();
        before.iter().for_each(|report| drop(history.apply(report)));
        history.apply(&report);
        let again = history.apply(&report);
        prop_assert_eq!(again, PaymentOutcome::default());
    }

    #[test]
    fn late_success_counts_whatever_came_before(before in prop::collection::vec(any_report(), 0..10)) {
        let no_money = before.into_iter()
            .filter(|report| !matches!(report, PaymentReport::Paid { .. } | PaymentReport::Reversed { .. }));
        let mut history = History::new();
        no_money.for_each(|report| drop(history.apply(&report)));
        let outcome = history.apply(&paid(1_250, "R1"));
        prop_assert!(outcome.settles_order && outcome.problem.is_none());
        prop_assert_eq!(history.request.status, Paid);
    }
}
