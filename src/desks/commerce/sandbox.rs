//! The sandbox: a payment provider inside the program, for trying things out. No money moves.
//!
//! It remembers payments in the database, as a provider would. In place of the dialog on a phone, the customer types the PIN into the
//! chat: any four digits pay, `0000` is a wrong PIN, "pin cancel" refuses, and "pin timeout" does not answer.

use async_trait::async_trait;
use chrono::{TimeDelta, Utc};
use tracing::warn;

use super::rules::SandboxWish;
use super::said::Said;
use crate::domain::commerce::payment::{Payment, PaymentReport, SandboxState};
use crate::domain::{PaymentId, TenantId};
use crate::providers::payment::{PaymentAnswer, PaymentGateway};
use crate::store::{Store, StoreError};

/// How long the customer has for the PIN.
const ANSWER_TIME: TimeDelta = TimeDelta::seconds(90);
/// The number that the sandbox takes for a wrong one.
const WRONG_PIN: &str = "0000";
/// A paybill that no shop has.
pub(super) const PAYBILL: &str = "000000";

#[derive(Clone)]
pub struct Sandbox {
    store: Store,
}

impl Sandbox {
    pub fn new(store: &Store) -> Self {
        Self { store: store.clone() }
    }

    /// Returns what a message types into the dialog of an open payment.
    pub fn answer_of(said: &Said) -> Option<SandboxState> {
        match (said.pin(), said.sandbox) {
            (Some(WRONG_PIN), _) | (None, Some(SandboxWish::Cancel)) => Some(SandboxState::Failed),
            (Some(_), _) => Some(SandboxState::Paid),
            (None, Some(SandboxWish::Timeout)) => Some(SandboxState::TimedOut),
            (None, None) => None,
        }
    }

    /// Stores the customer's answer. A payment that has ended without success can still be paid, late.
    pub async fn answer(&self, tenant: &TenantId, payment: PaymentId, state: SandboxState) -> Result<(), StoreError> {
        let receipt =
            (state == SandboxState::Paid).then(|| format!("SBX{}", &payment.to_string()[24..]).to_uppercase());
        self.store.tenant(tenant).answer_sandbox(payment, state, receipt.as_deref()).await
    }

    async fn look_up(&self, tenant: &TenantId, payment: &Payment) -> Result<PaymentReport, StoreError> {
        let door = self.store.tenant(tenant);
        let has_expired = |since| Utc::now() - since > ANSWER_TIME;
        let find = async || door.find_sandbox_payment(payment.id).await;
        let mut found = find().await?;
        if found.as_ref().is_some_and(|found| found.state == SandboxState::Asked && has_expired(found.asked_at)) {
            // The customer may answer at the same moment, and the answer counts.
            door.expire_sandbox(payment.id).await?;
            found = find().await?;
        }
        let Some(found) = found else {
            // The server was killed between the row and the request: the customer was never asked.
            let waits = !has_expired(payment.created_at);
            return Ok(if waits { PaymentReport::StillRunning } else { PaymentReport::TimedOut });
        };
        Ok(match found.state {
            SandboxState::Asked => PaymentReport::StillRunning,
            SandboxState::Paid => PaymentReport::Paid {
                amount: payment.request.amount,
                receipt: found.receipt.unwrap_or_else(|| payment.id.to_string()),
                paid_at: None,
            },
            SandboxState::Failed => PaymentReport::Failed,
            SandboxState::TimedOut => PaymentReport::TimedOut,
        })
    }
}

#[async_trait]
impl PaymentGateway for Sandbox {
    async fn request(&self, tenant: &TenantId, payment: &Payment) -> PaymentAnswer {
        match self.store.tenant(tenant).ask_sandbox(payment.id, Utc::now()).await {
            Ok(()) => PaymentReport::Accepted.into(),
            Err(error) => {
                warn!(%error, "The sandbox did not answer");
                PaymentReport::AnswerLost.into()
            }
        }
    }

    async fn query(&self, tenant: &TenantId, payment: &Payment) -> PaymentReport {
        self.look_up(tenant, payment).await.unwrap_or_else(|error| {
            warn!(%error, "The sandbox did not answer");
            PaymentReport::StillRunning
        })
    }
}
