//! The audit log's rows about a turn, apart from tools and changes: what the customer decided, and how a flow ended.
//!
//! No row holds words of the customer; those are in the conversation's messages.

use chrono::Utc;
use serde_json::{Value, json};

use super::Returns;
use super::handlers::WHO;
use super::state::{Ending, HandoffReason, State};
use crate::desks::{DeskError, Turn};
use crate::domain::commerce::OrderNumber;
use crate::domain::returns::Action;
use crate::domain::{AuditEntry, AuditKind};

/// The customer's name in the audit log.
const CUSTOMER: &str = "customer";

/// A decision of the customer.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    what: &'static str,
    details: Option<Value>,
    order: Option<OrderNumber>,
}

/// What the customer has decided in a flow.
pub(super) struct DecisionState {
    flow: u32,
    answer: Option<bool>,
    declines: u32,
    action: Option<Action>,
    has_handoff: bool,
    order: Option<OrderNumber>,
}

impl DecisionState {
    pub fn of(state: &State) -> Self {
        Self {
            flow: state.meta.flow,
            answer: if state.is_declined() { Some(false) } else { state.is_agreed().then_some(true) },
            declines: state.case.declines,
            action: state.action().filter(|_| state.is_agreed()),
            has_handoff: state.handoff.reason().is_some(),
            order: state.order().map(|order| order.number.clone()),
        }
    }

    /// Returns the decisions that the customer has made since then.
    pub fn decisions_until(self, after: &State) -> Vec<Decided> {
        let now = Self::of(after);
        // Decisions of an earlier flow do not count in a new one.
        let is_same_flow = self.flow == now.flow;
        let mut made = Vec::new();
        match now.answer.filter(|_| !is_same_flow || self.answer != now.answer) {
            Some(true) => made.push(("customer.confirmed", None)),
            Some(false) => made.push(("customer.declined", None)),
            // The customer named another order's number.
            None if now.answer.is_none() && now.declines > self.declines => made.push(("customer.declined", None)),
            None => {}
        }
        if let Some(action) = now.action.filter(|_| !is_same_flow || self.action != now.action) {
            made.push(("customer.chose", Some(json!({ "action": action }))));
        }
        match after.handoff.reason().filter(|_| !(is_same_flow && self.has_handoff)) {
            Some(HandoffReason::Person) => made.push(("customer.wants_person", None)),
            Some(HandoffReason::Request) => made.push(("customer.confirmed", None)),
            Some(HandoffReason::DamageLater) => made.push(("customer.reported_damage", None)),
            _ => {}
        }
        // A no removes the order from the state.
        let order = now.order.or(self.order);
        let decided = |(what, details)| Decided { what, details, order: order.clone() };
        made.into_iter().map(decided).collect()
    }
}

impl Returns {
    /// Records what the customer decided with a message.
    pub(super) async fn record_decision(&self, turn: &Turn, decided: Decided) -> Result<(), DeskError> {
        let Decided { what, details, order } = decided;
        self.record_row(turn, order, AuditKind::User, CUSTOMER, what, details).await
    }

    /// Records how a flow ended.
    pub(super) async fn record_ending(&self, turn: &Turn, state: &State, ending: Ending) -> Result<(), DeskError> {
        if ending == Ending::Other {
            return Ok(());
        }
        let details = json!({
            "ending": ending,
            "reason_code": state.decision().map(|decision| decision.reason_code),
            "ticket": state.handoff.ticket().or(state.action_ticket().map(|ticket| &ticket.id)),
            "email": state.email_status(),
        });
        let order = state.order().map(|order| order.number.clone());
        self.record_row(turn, order, AuditKind::Assistant, WHO, "flow.ended", Some(details)).await
    }

    /// Adds a row about the turn.
    pub(super) async fn record_row(
        &self,
        turn: &Turn,
        order: Option<OrderNumber>,
        kind: AuditKind,
        who: &str,
        what: &str,
        after: Option<Value>,
    ) -> Result<(), DeskError> {
        let entry = AuditEntry {
            kind,
            after,
            conversation: Some(turn.conversation.id),
            order,
            ..AuditEntry::system(who, what, Utc::now())
        };
        Ok(self.store_of(turn).record(&entry).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desks::returns::state::{Case, HandoffStatus};
    use crate::desks::returns::tests::sample;

    #[test]
    fn each_decision_is_recorded_once() {
        let nothing = State::default();
        let asked = sample::chosen(Action::Return);
        let agreed = sample::agreed(Action::Return);
        let declined = State { stage: crate::desks::returns::state::Stage::Declined, ..State::default() };
        let declined_once = State { case: Case { declines: 1, ..Case::default() }, ..State::default() };
        let person = State { handoff: HandoffStatus::Due(HandoffReason::Person), ..State::default() };
        let request = State { handoff: HandoffStatus::Due(HandoffReason::Request), ..State::default() };
        let damage = State { handoff: HandoffStatus::Due(HandoffReason::DamageLater), ..agreed.clone() };
        let mut again = agreed.clone();
        again.meta.flow += 1;
        for (before, after, expected) in [
            (&nothing, &nothing, vec![]),
            (&nothing, &asked, vec![]),
            (&asked, &agreed, vec!["customer.confirmed", "customer.chose"]),
            (&agreed, &agreed, vec![]),
            (&asked, &declined, vec!["customer.declined"]),
            (&nothing, &declined_once, vec!["customer.declined"]),
            (&nothing, &person, vec!["customer.wants_person"]),
            (&person, &person, vec![]),
            (&nothing, &request, vec!["customer.confirmed"]),
            (&agreed, &damage, vec!["customer.reported_damage"]),
            (&agreed, &again, vec!["customer.confirmed", "customer.chose"]),
        ] {
            let names: Vec<_> =
                DecisionState::of(before).decisions_until(after).into_iter().map(|decided| decided.what).collect();
            assert_eq!(names, expected);
        }
        let details = DecisionState::of(&asked).decisions_until(&agreed).remove(1).details.unwrap();
        assert_eq!(details, json!({ "action": "return" }));
    }
}
