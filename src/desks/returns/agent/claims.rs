//! The claims that are true in a returns conversation.

pub(super) use crate::desks::grounding::claims::{ClaimRules, Facts};
use crate::desks::returns::state::{EmailStatus, Intent, State};
use crate::domain::ConversationStatus;
use crate::domain::returns::Action;

impl Facts {
    /// Returns what is true of this flow, and of the conversation when no new return is requested. `is_refunded`: a tool
    /// has shown a return whose money was paid.
    pub fn of(state: &State, status: ConversationStatus, is_refunded: bool) -> Self {
        // A customer who asks for a new return must not hear of an earlier one as if it were this one.
        let wants_return = state.intent.is_some_and(Intent::is_return);
        let earlier = state.meta.last_rma.is_some() && !wants_return;
        let made = state.action_ticket.is_some() || earlier;
        let decision = state.eligibility.as_ref();
        let mailed = matches!(state.email_status, Some(EmailStatus::Queued | EmailStatus::Sent));
        Self {
            made,
            refunded: is_refunded,
            mailed: mailed || earlier,
            handed_over: state.escalation_ticket.is_some() || status != ConversationStatus::Bot,
            eligible: made || decision.is_some_and(|decision| decision.eligible),
            refused: decision.is_some_and(|decision| !decision.is_return_eligible || !decision.is_refund_eligible),
            offered: false,
            cancelled: state.action_ticket.is_some() && state.desired_action == Some(Action::Cancel),
        }
    }
}
