//! The desk's texts about accounts, refunds and the refund policy.

use crate::desks::telecom::Telecom;
use crate::desks::telecom::texts::Text;
use crate::dialogue::Turn;
use crate::domain::commerce::Money;
use crate::domain::telecom::refund::{COOLING_OFF_DAYS, DECISION_BUSINESS_DAYS, PAYOUT_DAYS};
use crate::domain::telecom::{Account, CaseStatus, RefundCase, RefundReason, SubscriptionStatus};
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

    pub(super) fn invoices(&self, turn: &Turn, account: &Account) -> TextResult {
        self.list(turn, &account.invoices, (Text::Invoices, Text::NoInvoices), |invoice| {
            let (amount, date) = (self.money(turn, invoice.amount), self.date(turn, invoice.issued_on));
            let values = [("invoice", invoice.number.as_str()), ("amount", &amount), ("date", &date)];
            self.text(turn, Text::Invoice, &values)
        })
    }

    pub(super) fn cases(&self, turn: &Turn, account: &Account) -> TextResult {
        self.list(turn, &account.cases, (Text::Cases, Text::NoCases), |case| {
            let (id, status, amount) = (case.id.to_string(), self.status(turn, case)?, self.money(turn, case.amount));
            let invoice = case.invoice.as_str();
            self.text(
                turn,
                Text::Case,
                &[("case", &id), ("status", &status), ("invoice", invoice), ("amount", &amount)],
            )
        })
    }

    pub(super) fn opened(&self, turn: &Turn, case: &RefundCase) -> TextResult {
        let (id, date, days) = (case.id.to_string(), self.date(turn, case.eta), DECISION_BUSINESS_DAYS.to_string());
        self.text(turn, Text::Opened, &[("case", &id), ("date", &date), ("days", &days)])
    }

    pub(super) fn already_open(&self, turn: &Turn, case: &RefundCase) -> TextResult {
        let (id, status, date) = (case.id.to_string(), self.status(turn, case)?, self.date(turn, case.eta));
        let invoice = case.invoice.as_str();
        self.text(turn, Text::AlreadyOpen, &[("case", &id), ("status", &status), ("invoice", invoice), ("date", &date)])
    }

    /// Returns what a case is about and when it is decided.
    pub(super) fn case(&self, turn: &Turn, case: &RefundCase) -> TextResult {
        let (id, status, date) = (case.id.to_string(), self.status(turn, case)?, self.date(turn, case.eta));
        let (invoice, amount) = (case.invoice.as_str(), self.money(turn, case.amount));
        let values = [("case", id.as_str()), ("status", &status), ("invoice", invoice), ("amount", &amount)];
        self.text(turn, Text::CaseIs, &[&values[..], &[("date", &date)]].concat())
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
        let reason = self.reason(turn, case.reason)?;
        let (amount, days) = (self.money(turn, case.amount), COOLING_OFF_DAYS.to_string());
        let mut lines = vec![
            self.text(turn, Text::NextSteps, &[])?,
            self.text(turn, Text::StepInvoice, &[("invoice", case.invoice.as_str())])?,
            self.text(turn, Text::StepReason, &[("reason", &reason)])?,
            self.text(turn, Text::StepReview, &[])?,
            self.text(turn, Text::StepRefund, &[("amount", &amount)])?,
        ];
        if case.status == CaseStatus::PendingReview {
            lines.push(self.text(turn, Text::StepCoolingOff, &[("days", &days)])?);
        }
        Ok(lines.join("\n"))
    }

    /// Returns how refunds work.
    pub(super) fn policy(&self, turn: &Turn) -> TextResult {
        let (cooling_off, days) = (COOLING_OFF_DAYS.to_string(), DECISION_BUSINESS_DAYS.to_string());
        let values = [("cooling_off", cooling_off.as_str()), ("days", &days), ("transfer", PAYOUT_DAYS)];
        let lines = [
            self.text(turn, Text::Policy, &values)?,
            self.text(turn, Text::PolicyActivation, &[])?,
            self.text(turn, Text::PolicyUsage, &[])?,
            String::new(),
            self.text(turn, Text::PolicyNotes, &[])?,
        ];
        Ok(lines.join("\n"))
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
