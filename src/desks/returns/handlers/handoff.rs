//! Hands a conversation over to a person.

use super::super::Returns;
use super::super::advance::Event;
use super::super::state::{HandoffReason, Intent, State};
use super::by;
use super::tickets::wanted_lines;
use crate::desks::{DeskError, Turn};
use crate::domain::returns::{Action, Claim};
use crate::store::returns::escalate::NewEscalation;

impl Returns {
    /// Opens a ticket for a person, with a summary of the conversation.
    pub(in crate::desks::returns) async fn escalate(&self, turn: &Turn, state: &State) -> Result<Event, DeskError> {
        let reason = state.handoff.reason().unwrap_or(HandoffReason::Person);
        let rma = state.meta.last_rma.as_ref().filter(|_| reason == HandoffReason::DamageLater);
        // That the assistant did not finish is no reason to lock a return, nor is the wish for a person without another one.
        let wants_nothing = reason == HandoffReason::Person && state.case.intent.is_none();
        let keeps_returns = reason == HandoffReason::GaveUp || wants_nothing || !concerns_goods(reason, state);
        let is_about_order = rma.is_none() && !keeps_returns;
        let order = state.order().map(|order| &order.number).filter(|_| is_about_order);
        let claim = self.claim(turn, state, reason).await?;
        let new = NewEscalation {
            rma,
            order,
            locks_returns: judges_returns(reason, state),
            priority: state.priority(reason),
            reason: reason_of(reason, state),
            summary: &summary(reason, state),
            claim: claim.as_ref(),
            once: None,
        };
        let escalated = self.store_of(turn).escalate(&new, &by(turn)).await?;
        Ok(Event::Escalated(escalated.ticket().id.clone()))
    }

    /// Returns the claim that the person decides. `None` if the customer wants a person for something else.
    async fn claim(&self, turn: &Turn, state: &State, reason: HandoffReason) -> Result<Option<Claim>, DeskError> {
        let is_review = match reason {
            HandoffReason::Review | HandoffReason::DamagedButRefused => true,
            HandoffReason::Person | HandoffReason::Assistant => {
                state.case.damage_reported || state.decision().is_some_and(|decision| decision.requires_manual_review)
            }
            HandoffReason::DamageLater | HandoffReason::GaveUp | HandoffReason::Request => false,
        };
        let Some(seen) = state.order().filter(|_| is_review) else { return Ok(None) };
        let Some(order) = self.store_of(turn).find_order(&seen.number).await? else { return Ok(None) };
        let open = order.open_lines();
        let mut lines = wanted_lines(&order, state);
        lines.retain(|line| open.contains(line));
        lines.sort_unstable();
        let action = if state.case.intent == Some(Intent::Refund) { Action::Refund } else { Action::Return };
        Ok((!lines.is_empty()).then(|| Claim { action, lines, reason: state.case.reason.clone() }))
    }
}

/// Whether returns of the order wait for the person. An invoice, an address or a payment does not hold them up.
fn concerns_goods(reason: HandoffReason, state: &State) -> bool {
    let is_paperwork = state.case.intent.is_some_and(Intent::is_paperwork);
    reason != HandoffReason::Request || !is_paperwork
}

/// Whether the person decides about returns that the order has already. Any other request only lets new ones wait.
fn judges_returns(reason: HandoffReason, state: &State) -> bool {
    use HandoffReason::{DamageLater, DamagedButRefused, Review};
    state.case.damage_reported || matches!(reason, Review | DamageLater | DamagedButRefused)
}

/// Returns the reason of the handoff, for the person.
fn reason_of(reason: HandoffReason, state: &State) -> &'static str {
    match (reason, state.decision().map(|decision| decision.reason_code.as_str())) {
        (HandoffReason::Person, _) => "the customer asks for a person",
        (HandoffReason::DamageLater, _) => "damage reported after the return was made",
        (HandoffReason::Review, Some("DAMAGED_MANUAL")) => "damaged items",
        (HandoffReason::DamagedButRefused, _) => "damaged items that the return rules do not take back",
        (HandoffReason::Review, _) => "manual review by the return rules",
        (HandoffReason::Assistant, _) if state.case.damage_reported => "damaged items",
        (HandoffReason::Assistant, _) => "the assistant cannot help",
        (HandoffReason::GaveUp, _) => "the assistant did not come to an end",
        (HandoffReason::Request, _) => match state.case.intent {
            Some(Intent::Exchange) => "the customer wants an exchange",
            Some(Intent::WrongItem) => "the wrong item arrived",
            Some(Intent::MissingItem) => "goods are missing or did not arrive",
            Some(Intent::DoubleCharge) => "the customer was charged twice",
            Some(Intent::AddressChange) => "the customer wants another delivery address",
            Some(Intent::Invoice) => "the customer wants an invoice",
            _ => "the assistant cannot help",
        },
    }
}

/// Returns the summary for the person: reason, request, actions taken, next steps.
fn summary(reason: HandoffReason, state: &State) -> String {
    let request = match state.case.intent {
        Some(intent) => intent.as_str(),
        None => "not clear yet",
    };
    let order = state.order().map_or("none named".to_owned(), |order| order.number.to_string());
    let decision =
        state.decision().map_or("none".to_owned(), |decision| format!("{} ({})", decision.reason_code, decision.cause));
    let rma = state.meta.last_rma.as_ref().map_or("none".to_owned(), ToString::to_string);
    let next = match reason {
        HandoffReason::Person | HandoffReason::Assistant => "answer the customer in the conversation",
        HandoffReason::GaveUp => "look at what was done, and answer the customer in the conversation",
        HandoffReason::DamageLater => "ask for photos, then approve or reject the return",
        HandoffReason::DamagedButRefused => "ask for photos, then decide about the order with the customer",
        HandoffReason::Request => "settle it with the customer in the conversation, whose own words are there",
        HandoffReason::Review => "look at the order and the customer's history, then approve or reject",
    };
    format!(
        "Reason: {}\nRequest: {request}, order {order}\nActions taken: eligibility {decision}, return {rma}\nNext steps: {next}",
        reason_of(reason, state)
    )
}
