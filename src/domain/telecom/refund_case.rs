//! Refund cases: claims that the shop works on, until a person approves or rejects them.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::account::Invoice;
use super::invoice_number::InvoiceNumber;
use super::refund::{DECISION_BUSINESS_DAYS, RefundClaim, RefundReason};
use crate::domain::ConversationId;
use crate::domain::calendar::{add_business_days, day_of, poland};
use crate::domain::commerce::money::Money;
use crate::domain::status::Status;
use crate::domain::string_enum::{string_enum, text_conversions};

/// The number of a refund case, written `R10001`. Numbers are counted in each shop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CaseId(u32);

/// The text is no case number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a case number is written R10001")]
pub struct InvalidCaseId;

impl CaseId {
    /// The number of a shop's first case.
    pub const FIRST: Self = Self(10_001);

    pub(crate) fn new(number: u32) -> Self {
        Self(number)
    }

    pub fn number(self) -> u32 {
        self.0
    }
}

impl FromStr for CaseId {
    type Err = InvalidCaseId;

    /// Case does not count.
    fn from_str(text: &str) -> Result<Self, InvalidCaseId> {
        let digits = text.trim().strip_prefix(['R', 'r']).ok_or(InvalidCaseId)?;
        let is_number = digits.len() >= 5 && !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
        if is_number { digits.parse().map(Self).map_err(|_| InvalidCaseId) } else { Err(InvalidCaseId) }
    }
}

text_conversions!(CaseId);

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "R{}", self.0)
    }
}

string_enum! {
    /// How far a case is.
    pub enum CaseStatus {
        Opened = "opened",
        /// A withdrawal from the contract, which is decided first.
        PendingReview = "pending_review",
        /// The money goes back.
        Approved = "approved",
        Rejected = "rejected",
    }
}

impl Status for CaseStatus {
    const WHAT: &'static str = "a refund case";

    fn next(self) -> &'static [Self] {
        match self {
            Self::Opened | Self::PendingReview => &[Self::Approved, Self::Rejected],
            Self::Approved | Self::Rejected => &[],
        }
    }
}

impl CaseStatus {
    /// The statuses of cases that wait for a decision.
    pub const OPEN: [Self; 2] = [Self::Opened, Self::PendingReview];

    /// Returns the status of a new case.
    pub fn of(reason: RefundReason) -> Self {
        match reason {
            RefundReason::WithinCoolingOff => Self::PendingReview,
            RefundReason::Overcharge | RefundReason::ServiceOutage | RefundReason::Other => Self::Opened,
        }
    }

    pub fn is_open(self) -> bool {
        Self::OPEN.contains(&self)
    }
}

string_enum! {
    /// A person's decision on a case.
    pub enum Verdict {
        Approve = "approve",
        Reject = "reject",
    }
}

impl From<Verdict> for CaseStatus {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Approve => Self::Approved,
            Verdict::Reject => Self::Rejected,
        }
    }
}

/// A refund case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefundCase {
    pub id: CaseId,
    /// Whose case it is; empty after an erasure.
    pub user_id: String,
    pub invoice: InvoiceNumber,
    pub reason: RefundReason,
    /// The amount that the customer claims.
    pub amount: Money,
    /// In the customer's words.
    pub description: Option<String>,
    pub status: CaseStatus,
    /// The day by which the shop decides.
    pub eta: NaiveDate,
    /// The conversation in which the case was opened.
    pub conversation: Option<ConversationId>,
    pub opened_at: DateTime<Utc>,
    pub decided: Option<Decided>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[schema(as = RefundDecision)]
pub struct Decided {
    pub by: String,
    pub why: String,
    #[serde(serialize_with = "crate::domain::calendar::time")]
    pub at: DateTime<Utc>,
}

/// A person's decision on a case, for the chat message to the customer. It is stored as a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseNotice {
    pub case: CaseId,
    /// The person's name for customers, if the person has one.
    pub by: Option<String>,
}

/// Why an invoice gets no new case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal<'a> {
    /// This case of the invoice is not decided yet.
    AlreadyOpen(&'a RefundCase),
    /// The claim and the approved ones are more than the invoice. `left` may still be claimed; it can be zero.
    AboveInvoice { left: Money },
}

/// Returns what may still be claimed of an invoice after these cases of it. It can be zero.
pub fn left_of<'a>(invoice: &Invoice, earlier: impl IntoIterator<Item = &'a RefundCase>) -> Money {
    let approved = earlier.into_iter().filter(|case| case.status == CaseStatus::Approved).map(|case| case.amount.minor);
    Money::new(invoice.amount.minor.saturating_sub(approved.sum()).max(0), invoice.amount.currency)
}

/// Checks a claim against its invoice and the invoice's earlier cases.
pub fn check_claim<'a>(claim: &RefundClaim, invoice: &Invoice, earlier: &'a [RefundCase]) -> Result<(), Refusal<'a>> {
    if let Some(open) = earlier.iter().find(|case| case.status.is_open()) {
        return Err(Refusal::AlreadyOpen(open));
    }
    let left = left_of(invoice, earlier);
    if claim.amount().minor > left.minor {
        return Err(Refusal::AboveInvoice { left });
    }
    Ok(())
}

/// Returns the day by which the shop decides on a case that is opened now. Days are counted in `zone`, without weekends and
/// Polish holidays.
pub fn decision_day(opened_at: DateTime<Utc>, zone: Tz) -> NaiveDate {
    add_business_days(day_of(opened_at, zone), DECISION_BUSINESS_DAYS, poland::is_public_holiday)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::commerce::money::Currency;
    use crate::domain::status::StatusChange;

    fn pln(minor: i64) -> Money {
        Money::new(minor, Currency::Pln)
    }

    fn case(status: CaseStatus, minor: i64) -> RefundCase {
        RefundCase {
            id: CaseId::FIRST,
            user_id: "u123".to_owned(),
            invoice: "INV-12345".parse().unwrap(),
            reason: RefundReason::Overcharge,
            amount: pln(minor),
            description: None,
            status,
            eta: "2026-01-02".parse().unwrap(),
            conversation: None,
            opened_at: "2025-12-22T10:00:00Z".parse().unwrap(),
            decided: None,
        }
    }

    #[test]
    fn case_number_parses_in_either_case() {
        assert_eq!("r10001".parse(), Ok(CaseId::FIRST));
        assert_eq!(CaseId::FIRST.to_string(), "R10001");
        for bad in ["10001", "R1", "R010001", "R10001x", "R99999999999", ""] {
            assert_eq!(bad.parse::<CaseId>(), Err(InvalidCaseId), "{bad:?}");
        }
    }

    #[test]
    fn only_an_open_case_is_decided() {
        use CaseStatus as S;
        for from in S::ALL {
            for to in S::ALL {
                let allowed = from.is_open() && !to.is_open();
                assert_eq!(StatusChange::new(*from, *to).is_ok(), allowed, "{from} {to}");
            }
        }
        let statuses = RefundReason::ALL.iter().map(|reason| CaseStatus::of(*reason)).collect::<Vec<_>>();
        assert_eq!(statuses, [S::Opened, S::Opened, S::PendingReview, S::Opened]);
    }

    #[test]
    fn claims_never_exceed_the_invoice() {
        use CaseStatus as S;
        let invoice = Invoice {
            number: "INV-12345".parse().unwrap(),
            user_id: "u123".to_owned(),
            amount: pln(14_500),
            issued_on: "2025-11-01".parse().unwrap(),
        };
        let check = |minor, earlier: &[RefundCase]| {
            let claim = RefundClaim::new(invoice.number.clone(), RefundReason::Other, pln(minor), None).unwrap();
            match check_claim(&claim, &invoice, earlier) {
                Ok(()) => "opened".to_owned(),
                Err(Refusal::AlreadyOpen(case)) => case.id.to_string(),
                Err(Refusal::AboveInvoice { left }) => format!("at most {left}"),
            }
        };
        assert_eq!(check(14_500, &[]), "opened");
        assert_eq!(check(14_501, &[]), "at most 145.00 PLN");
        assert_eq!(check(1, &[case(S::Rejected, 100), case(S::PendingReview, 100)]), "R10001");
        assert_eq!(check(14_500, &[case(S::Rejected, 14_500)]), "opened");
        let approved = [case(S::Approved, 10_000)];
        assert_eq!((check(4_500, &approved), check(4_501, &approved)), ("opened".into(), "at most 45.00 PLN".into()));
        assert_eq!(check(1, &[case(S::Approved, 14_500)]), "at most 0.00 PLN");
    }

    #[test]
    fn decision_day_is_counted_in_the_time_zone() {
        let warsaw = chrono_tz::Europe::Warsaw;
        let day = |at: &str, zone| decision_day(at.parse().unwrap(), zone).to_string();
        // In Warsaw, the 23rd begins at 23:00 UTC. The 24th, 25th, 26th and 1st are holidays.
        assert_eq!(day("2025-12-22T22:59:59Z", warsaw), "2026-01-02");
        assert_eq!(day("2025-12-22T23:00:00Z", warsaw), "2026-01-05");
        assert_eq!(day("2025-12-22T23:00:00Z", chrono_tz::UTC), "2026-01-02");
    }
}
