//! Runs the steps of the routing table: each has one side effect and returns its event.
//!
//! - `orders`: look-up and status
//! - `tickets`: decisions, tickets and their mails
//! - `handoff`: tickets for a person

use chrono::Utc;
use serde_json::Value;

use super::Returns;
use super::advance::Event;
use super::route::Handler;
use super::state::{Intent, Stage, State};
use crate::config::OrderVerification;
use crate::desks::{DeskError, Turn};
use crate::domain::commerce::OrderNumber;
use crate::domain::returns::{Action, Terms};
use crate::domain::{ActorKind, AuditKind};
use crate::store::TenantStore;
use crate::store::audit::Actor;

mod handoff;
mod orders;
mod tickets;

pub(super) use orders::status_of;
pub(super) use tickets::decided;

/// The desk's name in the audit log.
pub(super) const WHO: &str = "desk";

impl Returns {
    /// Whether the customer must name a contact of the order. A customer whom the shop's back end named does not.
    pub(super) fn needs_contact(&self, turn: &Turn) -> bool {
        self.services.config.returns.verification == OrderVerification::Contact && turn.conversation.user_id.is_none()
    }

    pub(super) async fn run_handler(
        &self,
        turn: &mut Turn,
        state: &State,
        handler: Handler,
    ) -> Result<Event, DeskError> {
        match handler {
            Handler::ClassifyIntent => {
                let (intent, source) = self.ask_for_intent(turn).await;
                // Without an intent, an order number asks for the status, which changes nothing.
                let names_order = matches!(state.stage, Stage::Named { .. });
                let intent = intent.or(names_order.then_some(Intent::OrderStatus));
                self.report_intent(turn, intent, source).await?;
                Ok(Event::Classified(intent))
            }
            Handler::FillSlot => Ok(Event::SlotFilled(self.ask_for_order_number(turn).await)),
            Handler::LookUpOrder => {
                let step = turn.step("order");
                let event = step.take(self.look_up(turn, state)).await?;
                self.answer_first_question(turn, state, event).await
            }
            Handler::ShowStatus => self.show_status(turn, state).await,
            Handler::CheckPolicy => {
                let step = turn.step("policy");
                step.take(self.check_policy(turn, state)).await
            }
            Handler::DecideAction => Ok(Event::ActionDecided),
            Handler::ProcessReturn => self.process(turn, state, Action::Return).await,
            Handler::ProcessRefund => self.process(turn, state, Action::Refund).await,
            Handler::ProcessCancel => self.cancel(turn, state).await,
            Handler::SendEmail => self.send_email(turn, state).await,
            Handler::Escalate => self.escalate(turn, state).await,
        }
    }

    /// Returns the shop's rules for this flow. Damage that the customer reported counts, in whatever words.
    pub(super) fn terms(&self, state: &State) -> Terms {
        let terms = self.services.config.returns.terms(self.rules.damage().clone(), self.services.shop.time_zone);
        Terms { damage_reported: state.case.damage_reported, ..terms }
    }

    pub(super) fn store_of<'a>(&'a self, turn: &'a Turn) -> TenantStore<'a> {
        self.services.store.tenant(&turn.conversation.tenant)
    }

    /// Records an action that changed nothing.
    async fn record(&self, turn: &Turn, what: &str, order: &OrderNumber, after: Value) -> Result<(), DeskError> {
        self.record_row(turn, Some(order.clone()), AuditKind::Tool, WHO, what, Some(after)).await
    }
}

pub(super) fn by(turn: &Turn) -> Actor<'static> {
    Actor { kind: ActorKind::Automatic, who: WHO, conversation: Some(turn.conversation.id), now: Utc::now() }
}

/// Identifies the request of a flow. The same flow that asks again after a crash finds what it made.
pub(super) fn request_of(turn: &Turn, state: &State) -> String {
    format!("{}:{}", turn.conversation.id, state.meta.flow)
}
