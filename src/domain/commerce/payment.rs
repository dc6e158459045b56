//! Payments: what a provider reports about a payment request, and what follows from it. The caller stores the steps and opens the
//! tickets.
//!
//! Reports come late, twice and in any order, since callbacks, polls and the customer's receipt report the same payment. Money that
//! arrived counts, and only a reversal takes it back.

use chrono::{DateTime, TimeDelta, Utc};

use super::money::MoneyError;
use super::sale::{Sale, SaleStatus};
use super::tenant::PaymentMethod;
use super::{Money, SaleId};
use crate::domain::identity::e164::E164;
use crate::domain::status::{IllegalChange, Status, StatusChange};
use crate::domain::string_enum::string_enum;
use crate::domain::{ConversationId, PaymentId};

mod matching;

pub use matching::{find_awaiting_code, match_receipt};

/// The clocks of the server and of a provider may differ by so much.
const CLOCKS_DIFFER: TimeDelta = TimeDelta::minutes(2);

string_enum! {
    /// The state of a payment request.
    pub enum PaymentStatus {
        /// The request is stored, and may be on its way to the provider.
        Created = "created",
        /// The provider has accepted the request, and the customer is asked to pay.
        Pending = "pending",
        Paid = "paid",
        /// The provider or the customer refused.
        Failed = "failed",
        /// The customer did not answer in time, or no result came in time.
        Timeout = "timeout",
        /// The provider's answer was lost, so it is unknown whether the customer was asked.
        Unknown = "unknown",
        /// The money went back.
        Reversed = "reversed",
    }
}

impl Status for PaymentStatus {
    const WHAT: &'static str = "a payment";

    fn next(self) -> &'static [Self] {
        match self {
            Self::Created => &[Self::Pending, Self::Paid, Self::Failed, Self::Timeout, Self::Unknown],
            Self::Pending => &[Self::Paid, Self::Failed, Self::Timeout, Self::Unknown],
            Self::Unknown => &[Self::Paid, Self::Failed, Self::Timeout],
            // A success that is reported late counts.
            Self::Failed | Self::Timeout => &[Self::Paid],
            Self::Paid => &[Self::Reversed],
            Self::Reversed => &[],
        }
    }
}

impl PaymentStatus {
    /// Whether the customer may still be paying.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Created | Self::Pending | Self::Unknown)
    }
}

/// What a provider says about a payment request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaymentReport {
    /// It took the request.
    Accepted,
    /// The customer is still being asked.
    StillRunning,
    Paid {
        /// The amount that arrived.
        amount: Money,
        /// The provider's number of the payment, such as an M-PESA receipt code. Another one is another payment.
        receipt: String,
        /// When the customer paid; `None` if the provider does not report it. Then the time of the request counts.
        paid_at: Option<DateTime<Utc>>,
    },
    Failed,
    /// The customer did not answer in time, and paid nothing.
    TimedOut,
    /// It has had no result for too long. The customer may have paid.
    NoResult,
    /// It did not answer, or its answer could not be read.
    AnswerLost,
    Reversed {
        /// The number of the payment that went back, if the provider names it.
        receipt: Option<String>,
    },
}

impl PaymentReport {
    /// Returns when the customer paid, if the provider reported it.
    pub fn paid_at(&self) -> Option<DateTime<Utc>> {
        match self {
            Self::Paid { paid_at, .. } => *paid_at,
            _ => None,
        }
    }
}

/// A payment request before a report is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentRequest {
    pub status: PaymentStatus,
    /// The amount that the customer confirmed.
    pub amount: Money,
    /// The receipts that were reported for it, in their order. The first one is of the payment that counts.
    pub receipts: Vec<String>,
}

string_enum! {
    /// Who asks the customer to pay.
    pub enum PaymentProvider {
        /// A provider inside the program, for trying things out. No money moves.
        Sandbox = "sandbox",
        /// Safaricom's API of M-PESA.
        Daraja = "daraja",
        /// Cards, on a page of PesaPal.
        Pesapal = "pesapal",
    }
}

string_enum! {
    /// What an address for callbacks of a provider is for.
    pub enum CallbackPurpose {
        /// The end of one payment request, which is the subject.
        Payment = "payment",
        /// A payment to the shop's paybill, before it is made. The subject is what was registered.
        C2bValidation = "c2b_validation",
        /// A payment to the shop's paybill or till that was made.
        C2bConfirmation = "c2b_confirmation",
        /// Changes of the shop's payments at PesaPal.
        PesapalIpn = "pesapal_ipn",
        /// The status of a receipt of M-PESA, which is the subject.
        Receipt = "receipt",
    }
}

string_enum! {
    /// What became of a payment at the sandbox.
    pub enum SandboxState {
        /// The customer is asked for the PIN.
        Asked = "asked",
        Paid = "paid",
        /// A wrong PIN, or the customer refused.
        Failed = "failed",
        TimedOut = "timed_out",
    }
}

/// A stored payment request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    pub id: PaymentId,
    pub sale: SaleId,
    pub conversation: Option<ConversationId>,
    pub method: PaymentMethod,
    /// The number that is asked for its PIN.
    pub phone: Option<E164>,
    pub provider: PaymentProvider,
    /// The provider's number of the request; `None` until it has answered.
    pub reference: Option<String>,
    pub request: PaymentRequest,
    pub created_at: DateTime<Utc>,
}

impl Payment {
    /// Returns the report about this request. A prompt on the phone, or an order at a payment page, is paid at most once: another
    /// receipt is another name of the same payment.
    pub fn same_payment(&self, report: &PaymentReport) -> PaymentReport {
        match (report, self.request.receipts.first()) {
            (PaymentReport::Paid { amount, paid_at, .. }, Some(known)) if self.is_paid_once() => {
                PaymentReport::Paid { amount: *amount, receipt: known.clone(), paid_at: *paid_at }
            }
            _ => report.clone(),
        }
    }

    fn is_paid_once(&self) -> bool {
        self.provider != PaymentProvider::Sandbox && self.method != PaymentMethod::MpesaC2b
    }

    /// Whether it is paid, and only the provider's number of the request is known.
    pub fn is_unnamed(&self) -> bool {
        self.request.receipts.iter().eq(&self.reference) && self.request.status == PaymentStatus::Paid
    }

    /// Returns the receipt of a report that comes after the payment counted, if the request is unnamed so far.
    pub fn late_receipt(&self, report: &PaymentReport) -> Option<String> {
        let PaymentReport::Paid { amount, receipt, .. } = report else { return None };
        let is_its = self.is_paid_once() && self.is_unnamed() && *amount == self.request.amount;
        (is_its && self.reference.as_ref() != Some(receipt)).then(|| receipt.clone())
    }

    /// Returns the receipt to show: not the provider's own number of the request, which customers never see.
    pub fn shown_receipt(&self) -> Option<&str> {
        let first = self.request.receipts.first()?;
        (self.reference.as_ref() != Some(first)).then_some(first)
    }
}

string_enum! {
    /// Why a person looks at a payment.
    pub enum PaymentProblem {
        /// The order was paid more than once.
        Double = "double",
        /// Less arrived than the customer confirmed.
        Short = "short",
        /// More arrived than the customer confirmed.
        Excess = "excess",
        /// The money went back.
        Reversed = "reversed",
        /// The order was changed or given up after the customer had confirmed this amount.
        OrderChanged = "order_changed",
        /// The customer paid after the prices had expired.
        PriceExpired = "price_expired",
        /// The shop has no longer all of the goods that were paid.
        OutOfStock = "out_of_stock",
    }
}

/// What follows from a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaymentOutcome {
    /// The steps to store, in order; none if the report says nothing new.
    pub steps: Vec<StatusChange<PaymentStatus>>,
    /// A person decides on this.
    pub problem: Option<PaymentProblem>,
    /// Whether the order counts as paid from now on.
    pub settles_order: bool,
    /// A payment that counted went back. A person decides what happens to the order.
    pub unsettles_order: bool,
    /// Store it as the last one of the request's receipts.
    pub receipt: Option<String>,
}

/// Why an order cannot be paid now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotPay {
    #[error("another payment of this order is still open; wait for its result")]
    Open,
    #[error("the order is paid")]
    Paid,
    #[error("a payment of another amount has arrived; wait for the shop's decision")]
    UnderReview,
}

/// Checks that a new request may be made for an order with these earlier ones: at most one is open, and none is made while a payment
/// of the order stands.
pub fn check_new_request(earlier: &[PaymentStatus], order_is_paid: bool) -> Result<(), CannotPay> {
    if order_is_paid {
        return Err(CannotPay::Paid);
    }
    if earlier.contains(&PaymentStatus::Paid) {
        return Err(CannotPay::UnderReview);
    }
    if earlier.iter().any(|status| status.is_open()) { Err(CannotPay::Open) } else { Ok(()) }
}

impl PaymentOutcome {
    /// Settles the order only if it is still what the customer confirmed: an unpaid order that costs this amount, and whose prices
    /// held when the customer paid.
    pub fn for_order(mut self, order: Option<&Sale>, confirmed: Money, paid_at: DateTime<Utc>) -> Self {
        let is_same = |sale: &&Sale| sale.status == SaleStatus::Draft && sale.totals.total == confirmed;
        let problem = match order.filter(is_same) {
            Some(sale) if sale.is_held(paid_at - CLOCKS_DIFFER) => return self,
            Some(_) => PaymentProblem::PriceExpired,
            None => PaymentProblem::OrderChanged,
        };
        if self.settles_order {
            self.settles_order = false;
            self.problem = self.problem.or(Some(problem));
        }
        self
    }
}

impl PaymentRequest {
    /// Decides what follows from a report. `order_is_paid`: by this request or by another one.
    ///
    /// # Errors
    /// The amount is in another currency than the request.
    pub fn decide(&self, report: &PaymentReport, order_is_paid: bool) -> Result<PaymentOutcome, MoneyError> {
        let to = |status| PaymentOutcome { steps: self.path(&[status]), ..PaymentOutcome::default() };
        Ok(match report {
            PaymentReport::StillRunning => PaymentOutcome::default(),
            PaymentReport::Accepted => to(PaymentStatus::Pending),
            PaymentReport::Failed => to(PaymentStatus::Failed),
            PaymentReport::TimedOut | PaymentReport::NoResult => to(PaymentStatus::Timeout),
            PaymentReport::AnswerLost => to(PaymentStatus::Unknown),
            PaymentReport::Paid { amount, receipt, .. } => self.decide_paid(*amount, receipt, order_is_paid)?,
            PaymentReport::Reversed { receipt } => self.decide_reversed(receipt.as_ref()),
        })
    }

    fn decide_reversed(&self, receipt: Option<&String>) -> PaymentOutcome {
        // Another payment of the customer went back, such as a second one.
        if receipt.zip(self.receipts.first()).is_some_and(|(reversed, counted)| reversed != counted) {
            return PaymentOutcome::default();
        }
        let was_paid = self.status == PaymentStatus::Paid;
        // A payment that was reversed before anyone asked was paid in between.
        let path: &[_] = match was_paid {
            true => &[PaymentStatus::Reversed],
            false => &[PaymentStatus::Paid, PaymentStatus::Reversed],
        };
        let steps = self.path(path);
        PaymentOutcome {
            problem: (!steps.is_empty()).then_some(PaymentProblem::Reversed),
            unsettles_order: was_paid,
            receipt: receipt.filter(|_| self.receipts.is_empty()).cloned(),
            steps,
            ..PaymentOutcome::default()
        }
    }

    fn decide_paid(&self, amount: Money, receipt: &str, order_is_paid: bool) -> Result<PaymentOutcome, MoneyError> {
        let is_short = self.amount.minus(amount)?.minor > 0;
        let is_excess = amount.minus(self.amount)?.minor > 0;
        if self.receipts.iter().any(|known| known == receipt) {
            return Ok(PaymentOutcome::default());
        }
        let (steps, stored) = (self.path(&[PaymentStatus::Paid]), Some(receipt.to_owned()));
        if steps.is_empty() {
            // This request is paid already, or was. A reversal without a receipt may have come before the report of its payment.
            let problem = (!self.receipts.is_empty()).then_some(PaymentProblem::Double);
            return Ok(PaymentOutcome { problem, receipt: stored, ..PaymentOutcome::default() });
        }
        let problem = match () {
            () if order_is_paid => Some(PaymentProblem::Double),
            () if is_short => Some(PaymentProblem::Short),
            () if is_excess => Some(PaymentProblem::Excess),
            () => None,
        };
        let settles_order = !order_is_paid && !is_short;
        Ok(PaymentOutcome { steps, problem, settles_order, receipt: stored, ..PaymentOutcome::default() })
    }

    /// Returns the steps through these states, or none if the first is not allowed from here.
    fn path(&self, states: &[PaymentStatus]) -> Vec<StatusChange<PaymentStatus>> {
        let mut from = self.status;
        let steps = states.iter().map(|to| {
            let step = StatusChange::new(from, *to);
            from = *to;
            step
        });
        steps.collect::<Result<_, IllegalChange>>().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
