//! Codes that a customer types for a payment: the PIN at the sandbox, and the receipt of a payment to the paybill or till.

use super::payments::{self, Checking};
use super::said::Said;
use super::sandbox::Sandbox;
use super::texts::Text;
use super::{Commerce, Situation, kind};
use crate::desks::{DeskError, Turn};
use crate::domain::IntentSource;
use crate::domain::commerce::payment::{PaymentProvider, PaymentStatus, SandboxState, find_awaiting_code};
use crate::domain::commerce::policy::Intent;
use crate::domain::commerce::sale::SaleStatus;

impl Commerce {
    /// Types a PIN into the sandbox's dialog, if one is open. Returns whether it did.
    pub(super) async fn answer_sandbox(
        &self,
        turn: &mut Turn,
        situation: &Situation,
        said: &Said,
    ) -> Result<bool, DeskError> {
        let Some(payment) = &situation.payment else { return Ok(false) };
        let is_waiting = payment.request.status.is_open() || payment.request.status == PaymentStatus::Timeout;
        let is_waiting = is_waiting && payment.provider == PaymentProvider::Sandbox;
        let Some(answered) = Sandbox::answer_of(said).filter(|_| is_waiting) else { return Ok(false) };
        turn.report_intent(Intent::PaymentHelp.as_str(), 1.0, IntentSource::Rules, false).await?;
        let tenant = turn.conversation.tenant.clone();
        self.payments.sandbox.answer(&tenant, payment.id, answered).await?;
        let settled = self.payments.settle(&tenant, payment.id).await?;
        let sale = self.door(turn).find_sale(situation.shopper.id, &payment.sale).await?;
        let is_paid = settled.is_some_and(|settled| settled.payment.request.status == PaymentStatus::Paid);
        let is_order_paid = sale.is_some_and(|sale| sale.status == SaleStatus::Paid);
        let text = match answered {
            SandboxState::Paid if is_paid && is_order_paid => Text::SandboxPaid,
            SandboxState::Paid => Text::SandboxAccepted,
            SandboxState::TimedOut => Text::SandboxTimeout,
            _ => Text::SandboxFailed,
        };
        let total = payment.request.amount.shown(&self.common.get(turn.language()).number_format);
        let values = [("order", payment.sale.as_str()), ("total", total.as_str())];
        let text = self.texts.get(turn.language()).text(text, &values)?;
        turn.say_with(kind::PAYMENT, &text, payments::metadata(payment)).await?;
        self.services.jobs.wake();
        Ok(true)
    }

    /// Checks the receipt code that the customer sends for a payment to the paybill or till, or for a prompt that timed out. Returns
    /// whether there is one.
    pub(super) async fn check_receipt(
        &self,
        turn: &mut Turn,
        situation: &Situation,
        said: &Said,
    ) -> Result<bool, DeskError> {
        let Some(code) = said.receipt() else { return Ok(false) };
        let known = self.door(turn).list_payments_of(situation.shopper.id).await?;
        let Some(likely) = find_awaiting_code(&known, |_| true) else { return Ok(false) };
        if self.coupon(turn, said).await?.is_some() {
            return Ok(false);
        }
        turn.report_intent(Intent::PaymentHelp.as_str(), 1.0, IntentSource::Rules, false).await?;
        let (checking, payment) = self.payments.check_receipt(&turn.conversation, (&known, likely), &code).await?;
        let text = match checking {
            Checking::Asked => Text::ReceiptChecking,
            Checking::Counted => Text::ReceiptCounted,
            Checking::WithPerson => Text::ResultProblem,
        };
        self.services.jobs.wake();
        let values = [("receipt", code.as_str()), ("order", payment.sale.as_str())];
        let text = self.texts.get(turn.language()).text(text, &values)?;
        turn.say_with(kind::PAYMENT, &text, payments::metadata(payment)).await?;
        Ok(true)
    }
}
