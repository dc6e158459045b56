//! The workers: each one side effect, and the event that came of it.
//!
//! - `orders`: whose order it is, and its status
//! - `tickets`: decisions, tickets and their mails
//! - `handoff`: a person takes over

use chrono::Utc;

use super::Returns;
use super::advance::Event;
use super::route::Worker;
use super::state::{Intent, State};
use crate::config::OrderVerification;
use crate::desks::{DeskError, Turn};
use crate::domain::AuditEntry;
use crate::domain::AuditKind;
use crate::domain::commerce::OrderNumber;
use crate::domain::returns::{Action, Hand, Terms};
use crate::store::TenantStore;
use crate::store::returns::By;

mod handoff;
mod orders;
mod tickets;

pub(super) use crate::store::mails::mail_context;
pub(super) use orders::status_of;

/// Who the desk is in the records.
pub(super) const WHO: &str = "desk";

impl Returns {
    /// Whether whose order it is has to be shown: not by a customer whom the shop's own back end named.
    pub(super) fn needs_contact(&self, turn: &Turn) -> bool {
        self.services.config.returns.verification == OrderVerification::Contact && turn.conversation.user_id.is_none()
    }

    pub(super) async fn do_work(&self, turn: &mut Turn, state: &State, worker: Worker) -> Result<Event, DeskError> {
        match worker {
            Worker::ClassifyIntent => {
                let (intent, source) = self.ask_for_intent(turn).await;
                // An order without a wish: to say how it stands changes nothing.
                let intent = intent.or(state.order_number.as_ref().map(|_| Intent::OrderStatus));
                self.tell_intent(turn, intent, source).await?;
                Ok(Event::Classified(intent))
            }
            Worker::FillSlot => Ok(Event::SlotFilled(self.ask_for_order_number(turn).await)),
            Worker::LookUpOrder => {
                let step = turn.step("order");
                step.take(self.look_up(turn, state)).await
            }
            Worker::ShowStatus => self.show_status(turn, state).await,
            Worker::CheckPolicy => {
                let step = turn.step("policy");
                step.take(self.check_policy(turn, state)).await
            }
            Worker::DecideAction => Ok(Event::ActionDecided),
            Worker::ProcessReturn => self.process(turn, state, Action::Return).await,
            Worker::ProcessRefund => self.process(turn, state, Action::Refund).await,
            Worker::ProcessCancel => self.cancel(turn, state).await,
            Worker::SendEmail => self.send_email(turn, state).await,
            Worker::Escalate => self.escalate(turn, state).await,
        }
    }

    pub(super) fn terms(&self) -> Terms {
        self.services.config.returns.terms(self.rules.damage().clone())
    }

    pub(super) fn store_of<'a>(&'a self, turn: &'a Turn) -> TenantStore<'a> {
        self.services.store.tenant(&turn.conversation.tenant)
    }

    /// A row of what the desk did that changed nothing.
    async fn record(
        &self,
        turn: &Turn,
        what: &str,
        order: &OrderNumber,
        after: serde_json::Value,
    ) -> Result<(), DeskError> {
        let entry = AuditEntry {
            kind: AuditKind::Tool,
            who: WHO.to_owned(),
            what: what.to_owned(),
            before: None,
            after: Some(after),
            conversation: Some(turn.conversation.id),
            order: Some(order.clone()),
            rma: None,
            at: Utc::now(),
        };
        Ok(self.store_of(turn).record(&entry).await?)
    }
}

pub(super) fn by(turn: &Turn) -> By<'static> {
    By { hand: Hand::Automatic, who: WHO, conversation: Some(turn.conversation.id), now: Utc::now() }
}

/// Names one asking: the same flow that asks again, after a crash, is told what it made.
pub(super) fn request_of(turn: &Turn, state: &State) -> String {
    format!("{}:{}", turn.conversation.id, state.meta.flow)
}
