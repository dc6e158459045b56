//! Return merchandise authorizations (RMAs): goods that come back, from the first yes to the refund.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::eligibility::ReasonCode;
use super::number::{RmaNumber, TrackingNumber};
use super::ticket::Action;
use crate::domain::ConversationId;
use crate::domain::commerce::money::Money;
use crate::domain::commerce::order_number::OrderNumber;
use crate::domain::status::{IllegalChange, Status, StatusChange};
use crate::domain::string_enum::string_enum;

string_enum! {
    /// Where the goods and the money are.
    pub enum RmaStatus {
        Initiated = "Initiated",
        LabelSent = "Label_Sent",
        InTransit = "In_Transit",
        Received = "Received",
        Inspected = "Inspected",
        Approved = "Approved",
        Refunded = "Refunded",
        Rejected = "Rejected",
        Processed = "Processed",
    }
}

impl Status for RmaStatus {
    const WHAT: &'static str = "an RMA";

    fn next(self) -> &'static [Self] {
        match self {
            Self::Initiated => &[Self::LabelSent],
            Self::LabelSent => &[Self::InTransit],
            Self::InTransit => &[Self::Received],
            Self::Received => &[Self::Inspected],
            Self::Inspected => &[Self::Approved, Self::Rejected],
            Self::Approved => &[Self::Refunded],
            Self::Rejected => &[Self::Processed],
            Self::Refunded | Self::Processed => &[],
        }
    }
}

impl RmaStatus {
    /// Whether the return was rejected. Its items may be returned again.
    pub fn is_rejected(self) -> bool {
        matches!(self, Self::Rejected | Self::Processed)
    }

    /// Whether the shop has inspected the goods, so that their label is of no use any more.
    pub fn is_past_inspection(self) -> bool {
        !matches!(self, Self::Initiated | Self::LabelSent | Self::InTransit | Self::Received)
    }

    /// Whether this is the last status.
    pub fn has_ended(self) -> bool {
        self.next().is_empty()
    }
}

/// Why an RMA does not take a step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoStep {
    #[error(transparent)]
    Illegal(#[from] IllegalChange),
    /// An escalation waits for a person.
    #[error("the RMA is locked by an escalation and stays {from}; resolve the escalation first, then take it to {to}")]
    Locked { from: RmaStatus, to: RmaStatus },
    /// Only the label itself sets this status; otherwise nothing would make the label any more.
    #[error("an RMA is Label_Sent when its label has been made; make the label, and the state follows")]
    NoLabel,
}

/// An RMA, for the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RmaId(pub Uuid);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rma {
    pub id: RmaId,
    pub number: RmaNumber,
    pub order: OrderNumber,
    /// What the customer asked for. `Cancel` has no RMA.
    pub action: Action,
    pub status: RmaStatus,
    pub lines: Vec<RmaLine>,
    /// The total refund.
    pub refund: Money,
    /// In the customer's words.
    pub reason: String,
    pub reason_code: ReasonCode,
    pub escalated: bool,
    pub escalation_reason: Option<String>,
    /// The conversation of the request.
    pub conversation: Option<ConversationId>,
    pub label: Option<Label>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// A returned line of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct RmaLine {
    pub line: u32,
    pub amount: Money,
}

/// The label that the customer sticks on the parcel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub tracking: TrackingNumber,
    pub created_at: DateTime<Utc>,
}

impl Rma {
    /// Takes the step, unless it is illegal or the RMA is locked.
    pub fn step(&self, to: RmaStatus) -> Result<StatusChange<RmaStatus>, NoStep> {
        step(self.status, self.escalated, to)
    }
}

/// The rule of [`Rma::step`]. An illegal step is reported before a lock, since no resolution would make it legal.
pub fn step(from: RmaStatus, escalated: bool, to: RmaStatus) -> Result<StatusChange<RmaStatus>, NoStep> {
    let step = StatusChange::new(from, to)?;
    if escalated {
        return Err(NoStep::Locked { from, to });
    }
    Ok(step)
}

/// Returns the step by which a person rejects an escalated return, wherever the goods are. An approved return stays approved.
pub fn rejection(from: RmaStatus) -> Result<StatusChange<RmaStatus>, IllegalChange> {
    use RmaStatus as S;
    match from {
        S::Initiated | S::LabelSent | S::InTransit | S::Received | S::Inspected => {
            Ok(StatusChange::unlisted(from, S::Rejected))
        }
        S::Approved | S::Refunded | S::Rejected | S::Processed => Err(IllegalChange::new(from, S::Rejected)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_rma_takes_legal_steps_only() {
        use RmaStatus as S;
        let legal = [
            (S::Initiated, S::LabelSent),
            (S::LabelSent, S::InTransit),
            (S::InTransit, S::Received),
            (S::Received, S::Inspected),
            (S::Inspected, S::Approved),
            (S::Inspected, S::Rejected),
            (S::Approved, S::Refunded),
            (S::Rejected, S::Processed),
        ];
        for from in S::ALL {
            for to in S::ALL {
                let made = step(*from, false, *to);
                assert_eq!(made.is_ok(), legal.contains(&(*from, *to)), "{from} {to}");
            }
        }
        let error = step(S::Received, false, S::Refunded).unwrap_err().to_string();
        assert_eq!(error, "an RMA cannot go from Received to Refunded; it may go to Inspected");
    }

    #[test]
    fn an_escalated_rma_takes_no_step() {
        use RmaStatus as S;
        let locked = step(S::Initiated, true, S::LabelSent);
        assert_eq!(locked, Err(NoStep::Locked { from: S::Initiated, to: S::LabelSent }));
        assert!(locked.unwrap_err().to_string().contains("resolve the escalation first"));
        assert!(matches!(step(S::Initiated, true, S::Refunded), Err(NoStep::Illegal(_))));
    }

    #[test]
    fn rma_can_be_rejected_until_approved() {
        let open = RmaStatus::ALL.iter().filter(|status| rejection(**status).is_ok()).count();
        assert_eq!(open, 5);
        let error = rejection(RmaStatus::Refunded).unwrap_err().to_string();
        assert!(error.contains("from Refunded to Rejected"), "{error}");
    }

    #[test]
    fn status_name_parses_in_either_case() {
        assert_eq!(RmaStatus::parse("label_sent"), Some(RmaStatus::LabelSent));
        assert_eq!(RmaStatus::parse("received"), Some(RmaStatus::Received));
        assert_eq!(RmaStatus::parse("lost"), None);
        assert_eq!(serde_json::to_value(RmaStatus::InTransit).unwrap(), "In_Transit");
    }
}
