//! Handing over to a person, with what the person should know.

use super::super::Returns;
use super::super::advance::Event;
use super::super::state::{Escalate, Intent, State};
use super::by;
use super::tickets::wanted_lines;
use crate::desks::{DeskError, Turn};
use crate::domain::returns::{Action, Claim};
use crate::store::returns::escalate::NewEscalation;

impl Returns {
    /// A ticket for a person, with what the person should know.
    pub(in crate::desks::returns) async fn escalate(&self, turn: &Turn, state: &State) -> Result<Event, DeskError> {
        let why = state.escalate.unwrap_or(Escalate::Person);
        let rma = state.meta.last_rma.as_ref().filter(|_| why == Escalate::DamageLater);
        // What the assistant could not finish is no reason to lock a return that was made.
        let is_about_order = rma.is_none() && why != Escalate::GaveUp;
        let order = state.order.as_ref().map(|order| &order.number).filter(|_| is_about_order);
        let claim = self.claim(turn, state, why).await?;
        let new = NewEscalation {
            rma,
            order,
            priority: state.priority(why),
            reason: reason_of(why, state),
            summary: &summary(why, state),
            claim: claim.as_ref(),
        };
        let escalated = self.store_of(turn).escalate(&new, &by(turn)).await?;
        Ok(Event::Escalated(escalated.ticket().id.clone()))
    }
}

impl Returns {
    /// The return that the person is to decide about; `None`: the customer wants a person for something else.
    async fn claim(&self, turn: &Turn, state: &State, why: Escalate) -> Result<Option<Claim>, DeskError> {
        let is_review = match why {
            Escalate::Review | Escalate::DamageTold => true,
            Escalate::Person | Escalate::Assistant => {
                state.damage_told || state.eligibility.as_ref().is_some_and(|decision| decision.requires_manual_review)
            }
            Escalate::DamageLater | Escalate::GaveUp => false,
        };
        let Some(seen) = state.order.as_ref().filter(|_| is_review) else { return Ok(None) };
        let Some(order) = self.store_of(turn).find_order(&seen.number).await? else { return Ok(None) };
        let open = order.open_lines();
        let mut lines = wanted_lines(&order, state);
        lines.retain(|line| open.contains(line));
        lines.sort_unstable();
        let action = if state.intent == Some(Intent::Refund) { Action::Refund } else { Action::Return };
        Ok((!lines.is_empty()).then(|| Claim { action, lines, reason: state.reason.clone() }))
    }
}

/// Why a person looks, for that person.
fn reason_of(why: Escalate, state: &State) -> &'static str {
    match (why, state.eligibility.as_ref().map(|decision| decision.reason_code.as_str())) {
        (Escalate::Person, _) => "the customer asks for a person",
        (Escalate::DamageLater, _) => "damage reported after the return was made",
        (Escalate::Review, Some("DAMAGED_MANUAL")) => "damaged items",
        (Escalate::DamageTold, _) => "damaged items that the return rules do not take back",
        (Escalate::Review, _) => "manual review by the return rules",
        (Escalate::Assistant, _) if state.damage_told => "damaged items",
        (Escalate::Assistant, _) => "the assistant cannot help",
        (Escalate::GaveUp, _) => "the assistant did not come to an end",
    }
}

/// Seed 001's handoff summary: reason, request, actions taken, next steps.
fn summary(why: Escalate, state: &State) -> String {
    let request = match state.intent {
        Some(intent) => intent.as_str(),
        None => "not clear yet",
    };
    let order = state.order.as_ref().map_or("none named".to_owned(), |order| order.number.to_string());
    let decision = state
        .eligibility
        .as_ref()
        .map_or("none".to_owned(), |decision| format!("{} ({})", decision.reason_code, decision.why));
    let rma = state.meta.last_rma.as_ref().map_or("none".to_owned(), ToString::to_string);
    let next = match why {
        Escalate::Person | Escalate::Assistant => "answer the customer in the conversation",
        Escalate::GaveUp => "look at what was done, and answer the customer in the conversation",
        Escalate::DamageLater => "ask for photos, then approve or reject the return",
        Escalate::DamageTold => "ask for photos, then decide about the order with the customer",
        Escalate::Review => "look at the order and the customer's history, then approve or reject",
    };
    format!(
        "Reason: {}\nRequest: {request}, order {order}\nActions taken: eligibility {decision}, return {rma}\nNext steps: {next}",
        reason_of(why, state)
    )
}
