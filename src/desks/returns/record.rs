//! The audit log's rows about a turn, besides tools and changes: what the customer decided, and how a flow ended.
//!
//! No row holds words of the customer; those are in the conversation's messages.

use chrono::Utc;
use serde_json::{Value, json};

use super::Returns;
use super::state::{Ending, Handoff, HandoffReason, State};
use crate::desks::{DeskError, Turn};
use crate::domain::AuditEntry;
use crate::domain::AuditKind;

/// The customer's name in the audit log.
const CUSTOMER: &str = "customer";

impl Returns {
    /// Records what the customer decided with a message.
    pub(super) async fn record_decisions(&self, turn: &Turn, before: &State, after: &State) -> Result<(), DeskError> {
        for (what, told) in decisions(before, after) {
            // A no removes the order from the state.
            let state = if after.order.is_some() { after } else { before };
            self.record_row(turn, state, AuditKind::User, CUSTOMER, what.to_owned(), told).await?;
        }
        Ok(())
    }

    /// Records how a flow ended.
    pub(super) async fn record_ending(&self, turn: &Turn, state: &State, ending: Ending) -> Result<(), DeskError> {
        if ending == Ending::Other {
            return Ok(());
        }
        let told = json!({
            "ending": ending,
            "reason_code": state.eligibility.as_ref().map(|decision| decision.reason_code),
            "ticket": state.handoff.ticket().or(state.action_ticket().map(|ticket| &ticket.id)),
            "email": state.email_status(),
        });
        self.record_row(turn, state, AuditKind::Assistant, super::work::WHO, "flow.ended".to_owned(), Some(told)).await
    }

    async fn record_row(
        &self,
        turn: &Turn,
        state: &State,
        kind: AuditKind,
        who: &str,
        what: String,
        after: Option<Value>,
    ) -> Result<(), DeskError> {
        let entry = AuditEntry {
            kind,
            who: who.to_owned(),
            what,
            before: None,
            after,
            conversation: Some(turn.conversation.id),
            order: state.order.as_ref().map(|order| order.number.clone()),
            rma: None,
            at: Utc::now(),
        };
        Ok(self.store_of(turn).record(&entry).await?)
    }
}

/// Returns the decisions between two states: their names and details.
fn decisions(before: &State, after: &State) -> Vec<(&'static str, Option<Value>)> {
    let mut made = Vec::new();
    // Decisions of an earlier flow do not count in a new one.
    let is_new_flow = before.meta.flow != after.meta.flow;
    let earlier = |decided: bool| decided && !is_new_flow;
    match after.user_confirmed_order {
        Some(true) if !earlier(before.user_confirmed_order == Some(true)) => made.push(("customer.confirmed", None)),
        Some(false) if !earlier(before.user_confirmed_order == Some(false)) => made.push(("customer.declined", None)),
        // The customer named another order's number.
        _ if after.declines > before.declines => made.push(("customer.declined", None)),
        _ => {}
    }
    if let Some(action) = after.desired_action
        && !earlier(before.desired_action == Some(action))
    {
        made.push(("customer.chose", Some(json!({ "action": action }))));
    }
    let was_handed_over = earlier(before.handoff != Handoff::None);
    match after.handoff.reason() {
        Some(HandoffReason::Person) if !was_handed_over => made.push(("customer.wants_person", None)),
        Some(HandoffReason::DamageLater) if !was_handed_over => {
            made.push(("customer.reported_damage", None));
        }
        _ => {}
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::returns::Action;

    fn names(before: &State, after: &State) -> Vec<&'static str> {
        decisions(before, after).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn each_decision_of_the_customer_is_recorded_once() {
        let nothing = State::default();
        let confirmed = State { user_confirmed_order: Some(true), ..State::default() };
        let chosen = State { desired_action: Some(Action::Return), ..confirmed.clone() };
        let declined = State { user_confirmed_order: Some(false), ..State::default() };
        let person = State { handoff: Handoff::Due(HandoffReason::Person), ..State::default() };
        let damage = State { handoff: Handoff::Due(HandoffReason::DamageLater), ..chosen.clone() };
        let mut again = chosen.clone();
        again.meta.flow += 1;
        for (before, after, expected) in [
            (&nothing, &nothing, vec![]),
            (&nothing, &confirmed, vec!["customer.confirmed"]),
            (&confirmed, &confirmed, vec![]),
            (&confirmed, &chosen, vec!["customer.chose"]),
            (&confirmed, &declined, vec!["customer.declined"]),
            (&nothing, &State { declines: 1, ..State::default() }, vec!["customer.declined"]),
            (&nothing, &person, vec!["customer.wants_person"]),
            (&person, &person, vec![]),
            (&chosen, &damage, vec!["customer.reported_damage"]),
            (&chosen, &again, vec!["customer.confirmed", "customer.chose"]),
        ] {
            assert_eq!(names(before, after), expected);
        }
        let details = decisions(&confirmed, &chosen).remove(0).1.unwrap();
        assert_eq!(details, json!({ "action": "return" }));
    }
}
