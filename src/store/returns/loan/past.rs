//! Rows as they were at a moment, from what they are and the record of what has changed since.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::Loan;
use crate::domain::commerce::OrderStatus;
use crate::domain::returns::TicketKind;
use crate::store::entities::{audit, orders, rmas, tickets};

/// Takes back what `later` tells, oldest first: the first change of a thing says what it was before.
pub(super) fn take_back(loan: &mut Loan, later: &[audit::Model]) {
    let of_order = |row: &audit::Model| row.order_number.clone();
    let of_rma = |row: &audit::Model| row.rma_number.clone();
    let order_states = before(later, "order.status", "status", of_order);
    let rma_states = before(later, "rma.status", "status", of_rma);
    let locks = before(later, "rma.escalated", "escalated", of_rma);
    let priorities = before(later, "ticket.priority", "priority", |row| text(row.before.as_ref()?, "ticket"));
    let resolutions = before(later, "ticket.", "resolution", |row| text(row.before.as_ref()?, "ticket"));
    let mail_states = before(later, "mail.", "status", |row| text(row.after.as_ref()?, "mail"));
    for order in &mut loan.orders {
        if let Some(status) = order_states.get(&order.number).and_then(|was| was.as_str()) {
            set_order_back(order, status);
        }
    }
    for rma in &mut loan.rmas {
        if let Some(status) = rma_states.get(&rma.number).and_then(|was| was.as_str()) {
            status.clone_into(&mut rma.status);
        }
        if let Some(is_locked) = locks.get(&rma.number).and_then(|was| was.as_bool()) {
            set_lock_back(rma, is_locked, &loan.tickets);
        }
    }
    for ticket in &mut loan.tickets {
        if let Some(priority) = priorities.get(&ticket.id) {
            ticket.priority = priority.as_str().map(str::to_owned);
        }
        if let Some(resolution) = resolutions.get(&ticket.id) {
            ticket.resolution = resolution.as_str().map(str::to_owned);
        }
    }
    for mail in &mut loan.mails {
        if let Some(status) = mail_states.get(&mail.number).and_then(|was| was.as_str()) {
            status.clone_into(&mut mail.status);
        }
    }
}

/// A ticket that was resolved at that moment or later was open.
pub(super) fn reopen(ticket: &mut tickets::Model, at: DateTime<Utc>) {
    if ticket.resolved_at.is_some_and(|resolved_at| at <= resolved_at) {
        ticket.resolution = None;
        ticket.resolved_by = None;
        ticket.resolved_why = None;
        ticket.resolved_at = None;
    }
}

/// What each subject's field was before the first of those changes.
fn before<'a>(
    later: &'a [audit::Model],
    what: &str,
    field: &str,
    subject: impl Fn(&audit::Model) -> Option<String>,
) -> HashMap<String, &'a Value> {
    let mut first = HashMap::new();
    for row in later.iter().filter(|row| row.what.starts_with(what)) {
        let was = row.before.as_ref().and_then(|before| before.get(field));
        if let (Some(subject), Some(was)) = (subject(row), was) {
            first.entry(subject).or_insert(was);
        }
    }
    first
}

fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field)?.as_str().map(str::to_owned)
}

/// What had not been sent had no parcel, and what had not arrived no day of arrival.
fn set_order_back(order: &mut orders::Model, status: &str) {
    status.clone_into(&mut order.status);
    let status = OrderStatus::parse(status);
    if status.is_some_and(|status| status < OrderStatus::Delivered) {
        order.delivered_at = None;
    }
    if status == Some(OrderStatus::Pending) {
        order.shipped_at = None;
        order.tracking = None;
    }
}

/// An RMA names the ticket under which it was locked last, which may be a later one. `tickets` are those of the moment, oldest
/// first.
fn set_lock_back(rma: &mut rmas::Model, is_locked: bool, tickets: &[tickets::Model]) {
    rma.escalated = is_locked;
    if rma.escalation_ticket.as_ref().is_some_and(|id| tickets.iter().any(|ticket| ticket.id == *id)) {
        return;
    }
    let is_its = |ticket: &&tickets::Model| {
        let is_about = match &ticket.rma_number {
            Some(number) => *number == rma.number,
            None => ticket.order_number.as_ref() == Some(&rma.order_number),
        };
        ticket.kind == TicketKind::Escalation.as_str() && is_about
    };
    rma.escalation_ticket = tickets.iter().rev().find(is_its).map(|ticket| ticket.id.clone());
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn at(hour: u32) -> DateTime<Utc> {
        format!("2026-11-22T{hour:02}:00:00Z").parse().expect("a time")
    }

    fn change(what: &str, before: Value, after: Value) -> audit::Model {
        audit::Model {
            id: Uuid::now_v7(),
            tenant_id: "acme".into(),
            kind: "system".into(),
            who: "Thu".into(),
            what: what.into(),
            before: Some(before),
            after: Some(after),
            conversation_id: None,
            order_number: Some("77893".into()),
            rma_number: Some("RMA-1-ABCD".into()),
            at: at(12),
        }
    }

    fn order(status: &str) -> orders::Model {
        orders::Model {
            tenant_id: "acme".into(),
            number: "77893".into(),
            customer_id: Uuid::nil(),
            email: "a@example.com".into(),
            phone: None,
            status: status.into(),
            currency: "USD".into(),
            paid: 1,
            ordered_at: at(1),
            shipped_at: Some(at(2)),
            delivered_at: Some(at(3)),
            tracking: Some("FEDEX-000000000001".into()),
        }
    }

    fn rma(status: &str, locked_under: Option<&str>) -> rmas::Model {
        rmas::Model {
            id: Uuid::nil(),
            tenant_id: "acme".into(),
            number: "RMA-1-ABCD".into(),
            order_number: "77893".into(),
            customer_id: Uuid::nil(),
            action: "return".into(),
            status: status.into(),
            currency: "USD".into(),
            refund: 1,
            reason: String::new(),
            reason_code: "APPROVED".into(),
            escalated: locked_under.is_some(),
            escalation_reason: None,
            escalation_ticket: locked_under.map(str::to_owned),
            conversation_id: None,
            created_at: at(4),
            updated_at: at(12),
        }
    }

    fn escalation(id: &str, rma: Option<&str>, resolved_at: Option<DateTime<Utc>>) -> tickets::Model {
        tickets::Model {
            tenant_id: "acme".into(),
            id: id.into(),
            kind: "escalation".into(),
            idempotency_key: id.into(),
            request: String::new(),
            order_number: Some("77893".into()),
            rma_number: rma.map(str::to_owned),
            conversation_id: None,
            priority: Some("HIGH".into()),
            reason: String::new(),
            summary: String::new(),
            claim: None,
            created_at: at(5),
            resolution: resolved_at.map(|_| "approve".into()),
            resolved_by: resolved_at.map(|_| "Thu".into()),
            resolved_why: resolved_at.map(|_| "ok".into()),
            resolved_at,
        }
    }

    #[test]
    fn the_first_later_change_says_what_was_before() {
        let status = |from: &str, to: &str| (json!({ "status": from }), json!({ "status": to }));
        let step = |what: &str, (before, after): (Value, Value)| change(what, before, after);
        let later = [
            step("rma.status", status("Initiated", "Label_Sent")),
            step("order.status", status("Return_Initiated", "Returned")),
            step("rma.status", status("Label_Sent", "In_Transit")),
            change("order.looked_up", json!({"status": "Pending"}), json!({})),
        ];
        let mut loan = Loan { orders: vec![order("Returned")], rmas: vec![rma("In_Transit", None)], ..Loan::default() };
        take_back(&mut loan, &later);
        assert_eq!((loan.orders[0].status.as_str(), loan.rmas[0].status.as_str()), ("Return_Initiated", "Initiated"));
        assert!(loan.orders[0].delivered_at.is_some(), "what came back had arrived");
        let mut untouched = Loan { orders: vec![order("Shipped")], ..Loan::default() };
        take_back(&mut untouched, &[]);
        assert_eq!(untouched.orders, [order("Shipped")]);
    }

    #[test]
    fn what_had_not_arrived_has_no_day_of_arrival() {
        let delivered = change("order.status", json!({"status": "Pending"}), json!({"status": "Delivered"}));
        let mut loan = Loan { orders: vec![order("Delivered")], ..Loan::default() };
        take_back(&mut loan, &[delivered]);
        let order = &loan.orders[0];
        assert_eq!(
            (order.status.as_str(), order.shipped_at, order.delivered_at, &order.tracking),
            ("Pending", None, None, &None)
        );
    }

    #[test]
    fn a_lock_stands_under_the_ticket_of_its_time() {
        let locked =
            |before: bool| change("rma.escalated", json!({"escalated": before}), json!({"escalated": !before}));
        let own = || escalation("TICKET-1-0001", Some("RMA-1-ABCD"), None);
        let of_order = || escalation("TICKET-1-0002", None, None);
        let other = || escalation("TICKET-1-0003", Some("RMA-1-ZZZZ"), None);
        for (now, was_locked, tickets, ticket) in [
            // Released since.
            (rma("Initiated", Some("TICKET-1-0001")), true, vec![own(), other()], Some("TICKET-1-0001")),
            // Released, and locked anew under a later ticket.
            (rma("Initiated", Some("TICKET-9-0009")), true, vec![own(), other()], Some("TICKET-1-0001")),
            (rma("Initiated", Some("TICKET-9-0009")), true, vec![of_order(), other()], Some("TICKET-1-0002")),
            // Locked since.
            (rma("Initiated", Some("TICKET-9-0009")), false, vec![other()], None),
        ] {
            let mut loan = Loan { rmas: vec![now], tickets, ..Loan::default() };
            take_back(&mut loan, &[locked(was_locked), locked(!was_locked)]);
            let rma = &loan.rmas[0];
            assert_eq!((rma.escalated, rma.escalation_ticket.as_deref()), (was_locked, ticket));
        }
    }

    #[test]
    fn a_ticket_that_was_resolved_later_was_open_and_as_urgent_as_it_was() {
        let mut ticket = escalation("TICKET-1-0001", None, Some(at(10)));
        reopen(&mut ticket, at(11));
        assert!(ticket.resolved_at.is_some(), "it was resolved before");
        reopen(&mut ticket, at(10));
        assert_eq!(ticket, escalation("TICKET-1-0001", None, None));
        let raised = change(
            "ticket.priority",
            json!({"ticket": "TICKET-1-0001", "priority": "MEDIUM"}),
            json!({"ticket": "TICKET-1-0001", "priority": "HIGH"}),
        );
        let mut loan = Loan { tickets: vec![ticket], ..Loan::default() };
        take_back(&mut loan, &[raised]);
        assert_eq!(loan.tickets[0].priority.as_deref(), Some("MEDIUM"));
    }
}
