//! An order and decisions for tests.

use crate::desks::returns::state::{ItemSnapshot, OrderSnapshot};
use crate::domain::commerce::OrderNumber;
use crate::domain::commerce::OrderStatus;
use crate::domain::returns::{Cause, Decision, ReasonCode};

pub fn number() -> OrderNumber {
    "77893".parse().expect("a number")
}

pub fn order() -> OrderSnapshot {
    order_of(number())
}

pub fn order_of(number: OrderNumber) -> OrderSnapshot {
    OrderSnapshot {
        number,
        status: OrderStatus::Delivered,
        ordered_on: "2026-11-01".parse().expect("a day"),
        items: vec![ItemSnapshot { line: 1, name: "Hiking Boots".to_owned(), quantity: 1 }],
        masked_email: "j***@example.com".to_owned(),
    }
}

pub fn approved() -> Decision {
    open(true, true)
}

pub fn open(for_return: bool, for_refund: bool) -> Decision {
    Decision {
        eligible: true,
        reason_code: ReasonCode::Approved,
        cause: Cause::Approved,
        is_return_eligible: for_return,
        is_refund_eligible: for_refund,
        ..refused(Cause::WindowOver)
    }
}

pub fn refused(cause: Cause) -> Decision {
    Decision {
        eligible: false,
        reason_code: ReasonCode::DataError,
        cause,
        refused_lines: Vec::new(),
        policy_applied: None,
        policy_version: "1".to_owned(),
        days_since_order: Some(20),
        requires_manual_review: matches!(cause, Cause::Damaged | Cause::FraudFlag),
        is_return_eligible: false,
        is_refund_eligible: false,
        cutoff_days: Some(30),
        refund_cutoff_days: Some(14),
        computed_days_since_delivery: Some(15),
        counted_from: None,
    }
}
