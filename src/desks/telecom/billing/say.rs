//! The desk's texts about accounts, refunds and the refund policy.

use crate::desks::telecom::Telecom;
use crate::desks::telecom::memory::Draft;
use crate::desks::telecom::texts::Text;
use crate::dialogue::Turn;
use crate::domain::commerce::Money;
use crate::domain::telecom::refund::{COOLING_OFF_DAYS, DECISION_BUSINESS_DAYS, PAYOUT_DAYS};
use crate::domain::telecom::{
    Account, CaseStatus, Invoice, InvoiceNumber, RefundCase, RefundReason, SubscriptionStatus,
};
use crate::replies::MissingValue;
use chrono::NaiveDate;

type TextResult = Result<String, MissingValue>;

impl Telecom {
    pub(super) fn money(&self, turn: &Turn, amount: Money) -> String {
        amount.shown(&self.common(turn).number_format)
    }

    fn date(&self, turn: &Turn, day: NaiveDate) -> String {
        self.common(turn).date_format.format(day)
    }

    pub(super) fn plan(&self, turn: &Turn, account: &Account) -> TextResult {
        let subscription = &account.subscription;
        let status = match subscription.status {
            SubscriptionStatus::Active => Text::StatusActive,
            SubscriptionStatus::Suspended => Text::StatusSuspended,
            SubscriptionStatus::Cancelled => Text::StatusCancelled,
        };
        let status = self.text(turn, status, &[])?;
        let (price, date) =
            (self.money(turn, subscription.plan.price_monthly), self.date(turn, subscription.start_date));
        let plan = subscription.plan.name.as_str();
        self.text(turn, Text::Subscription, &[("plan", plan), ("price", &price), ("date", &date), ("status", &status)])
    }

    pub(super) fn invoices(&self, turn: &Turn, invoices: &[Invoice]) -> TextResult {
        self.list(turn, invoices, (Text::Invoices, Text::NoInvoices), |invoice| {
            let (amount, date) = (self.money(turn, invoice.amount), self.date(turn, invoice.issued_on));
            let values = [("invoice", invoice.number.as_str()), ("amount", &amount), ("date", &date)];
            self.text(turn, Text::Invoice, &values)
        })
    }

    pub(super) fn cases(&self, turn: &Turn, account: &Account) -> TextResult {
        self.list(turn, &account.cases, (Text::Cases, Text::NoCases), |case| self.of_case(turn, Text::Case, case))
    }

    /// Returns a text about a case.
    pub(super) fn of_case(&self, turn: &Turn, text: Text, case: &RefundCase) -> TextResult {
        let (id, status, date) = (case.id.to_string(), self.status(turn, case)?, self.date(turn, case.eta));
        let (amount, reason) = (self.money(turn, case.amount), self.reason(turn, case.reason)?);
        let (days, cooling_off) = (DECISION_BUSINESS_DAYS.to_string(), COOLING_OFF_DAYS.to_string());
        let values = [
            ("case", id.as_str()),
            ("status", &status),
            ("invoice", case.invoice.as_str()),
            ("amount", &amount),
            ("reason", &reason),
            ("date", &date),
            ("days", &days),
            ("cooling_off", &cooling_off),
        ];
        self.text(turn, text, &values)
    }

    /// Returns what a case would be opened for, with the question whether that is right.
    pub(super) fn summary(&self, turn: &Turn, text: Text, draft: &Draft) -> TextResult {
        let amount = draft.amount.map(|amount| self.money(turn, amount)).unwrap_or_default();
        let reason = draft.reason.map(|reason| self.reason(turn, reason)).transpose()?.unwrap_or_default();
        let invoice = draft.invoice.as_ref().map(InvoiceNumber::as_str).unwrap_or_default();
        self.text(turn, text, &[("invoice", invoice), ("amount", &amount), ("reason", &reason)])
    }

    pub(super) fn reason(&self, turn: &Turn, reason: RefundReason) -> TextResult {
        let text = match reason {
            RefundReason::Overcharge => Text::ReasonOvercharge,
            RefundReason::ServiceOutage => Text::ReasonServiceOutage,
            RefundReason::WithinCoolingOff => Text::ReasonWithinCoolingOff,
            RefundReason::Other => Text::ReasonOther,
        };
        self.text(turn, text, &[])
    }

    /// Returns what happens next with a case, as a list.
    pub(in crate::desks::telecom) fn next_steps(&self, turn: &Turn, case: &RefundCase) -> TextResult {
        let mut texts = vec![Text::NextSteps, Text::StepInvoice, Text::StepReason, Text::StepReview, Text::StepRefund];
        if case.status == CaseStatus::PendingReview {
            texts.push(Text::StepCoolingOff);
        }
        let lines: Vec<String> =
            texts.into_iter().map(|text| self.of_case(turn, text, case)).collect::<Result<_, _>>()?;
        Ok(lines.join("\n"))
    }

    /// Returns how refunds work.
    pub(in crate::desks::telecom) fn policy(&self, turn: &Turn) -> TextResult {
        let (cooling_off, days) = (COOLING_OFF_DAYS.to_string(), DECISION_BUSINESS_DAYS.to_string());
        let values = [("cooling_off", cooling_off.as_str()), ("days", &days), ("transfer", PAYOUT_DAYS)];
        self.text(turn, Text::Policy, &values)
    }

    fn status(&self, turn: &Turn, case: &RefundCase) -> TextResult {
        let status = match case.status {
            CaseStatus::Opened => Text::CaseOpened,
            CaseStatus::PendingReview => Text::CasePendingReview,
            CaseStatus::Approved => Text::CaseApproved,
            CaseStatus::Rejected => Text::CaseRejected,
        };
        self.text(turn, status, &[])
    }
}
