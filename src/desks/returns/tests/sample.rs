//! An order, decisions and states for tests.

use crate::desks::returns::state::{
    ActionTicket, Case, FlowTicket, Intent, ItemSnapshot, Mail, OrderSnapshot, Phase, Progress, Question, Stage, State,
    Subject, TicketStatus,
};
use crate::domain::commerce::{Currency, Money, OrderNumber, OrderStatus};
use crate::domain::returns::{Action, Cause, Decision, ReasonCode, RmaNumber};

pub fn rma() -> RmaNumber {
    "RMA-1700000000-AB12".parse().expect("a number")
}

/// A flow whose order is not known.
pub fn wants(intent: Intent) -> State {
    State { case: Case { intent: Some(intent), ..Case::default() }, ..State::default() }
}

/// A flow with the number of its order.
pub fn named(intent: Intent) -> State {
    State { stage: Stage::Named { number: number(), confidence: 1.0 }, ..wants(intent) }
}

/// A flow with its order.
pub fn found(intent: Intent) -> State {
    with_progress(intent, Progress::Undecided)
}

pub fn with_progress(intent: Intent, progress: Progress) -> State {
    with_subject(intent, Subject { refund: Some(refund()), progress, ..Subject::new(order(), 1.0) })
}

pub fn with_subject(intent: Intent, subject: Subject) -> State {
    State { stage: Stage::Found(Box::new(subject)), ..wants(intent) }
}

/// A flow whose order's status was shown.
pub fn shown() -> State {
    with_subject(Intent::OrderStatus, Subject { status_shown: true, ..Subject::new(order(), 1.0) })
}

/// A return with the rules' decision.
pub fn decided(decision: Decision) -> State {
    with_progress(Intent::Return, Progress::Decided { decision, action: None })
}

/// The same with the action that the customer wants.
pub fn chosen(action: Action) -> State {
    with_progress(Intent::Return, Progress::Decided { decision: approved(), action: Some(action) })
}

/// The same with the customer's yes.
pub fn agreed(action: Action) -> State {
    with_progress(Intent::Return, Progress::Agreed { decision: approved(), action })
}

/// The same with its RMA.
pub fn ticketed(status: TicketStatus, mail: Mail) -> State {
    let ticket = FlowTicket { mail, ..FlowTicket::new(ActionTicket { id: rma().to_string(), status }) };
    let progress = Progress::Ticketed { decision: Some(approved()), action: Some(Action::Return), ticket };
    with_progress(Intent::Return, progress)
}

/// The state after a question.
pub fn after(question: Question, state: State) -> State {
    State { phase: Phase::Asked(question), ..state }
}

pub fn refund() -> Money {
    Money::new(12_999, Currency::Usd)
}

pub fn number() -> OrderNumber {
    "77893".parse().expect("a number")
}

pub fn item(line: u32, name: &str) -> ItemSnapshot {
    ItemSnapshot { line, name: name.to_owned(), quantity: 1, stays_sold: false }
}

pub fn order() -> OrderSnapshot {
    order_of(number())
}

pub fn order_of(number: OrderNumber) -> OrderSnapshot {
    OrderSnapshot {
        number,
        status: OrderStatus::Delivered,
        ordered_on: "2026-11-01".parse().expect("a day"),
        items: vec![item(1, "Hiking Boots")],
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
