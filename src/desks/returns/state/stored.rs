//! The stored form of the state: flat fields, as every version of the desk has written them.

use serde::{Deserialize, Serialize};

use super::stage::{
    ActionTicket, EmailStatus, FlowTicket, HandoffReason, HandoffStatus, Mail, Phase, Progress, Stage, Subject,
};
use super::{Case, Meta, OrderSnapshot, Question, State, Trouble};
use crate::domain::commerce::{Money, OrderNumber};
use crate::domain::returns::{Action, Decision};

#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::desks::returns) struct Stored {
    #[serde(flatten)]
    pub case: Case,
    pub order_number: Option<OrderNumber>,
    pub order_match_confidence: Option<f64>,
    pub order: Option<OrderSnapshot>,
    pub lines: Option<Vec<u32>>,
    pub status_shown: bool,
    pub user_confirmed_order: Option<bool>,
    pub eligibility: Option<Decision>,
    pub desired_action: Option<Action>,
    pub action_ticket: Option<ActionTicket>,
    pub email_status: Option<EmailStatus>,
    pub refund: Option<Money>,
    pub mail_to: Option<String>,
    pub mail_missing: bool,
    pub leaves_mail: bool,
    pub asked: Option<Question>,
    pub error: Option<Trouble>,
    pub conversation_complete: bool,
    pub escalate: Option<HandoffReason>,
    pub escalation_ticket: Option<String>,
    pub meta: Meta,
}

impl Stored {
    /// Returns the ticket. Without `action_ticket`, the other fields of a mail mean nothing.
    fn ticket(&mut self) -> Option<FlowTicket> {
        let mail = match self.email_status {
            None => Mail::Due,
            Some(status) if self.leaves_mail => Mail::Left(status),
            Some(status) if self.mail_missing => Mail::Missing(status),
            Some(status) => Mail::Settled(status),
        };
        let ticket = self.action_ticket.take()?;
        Some(FlowTicket { ticket, mail, mail_to: self.mail_to.take() })
    }

    fn progress(&mut self) -> Progress {
        let (decision, action) = (self.eligibility.take(), self.desired_action);
        match (self.ticket(), self.user_confirmed_order, decision, action) {
            (Some(ticket), _, decision, action) => Progress::Ticketed { decision, action, ticket },
            (None, Some(false), decision, _) => Progress::Declined(decision),
            (None, _, None, _) => Progress::Undecided,
            // Earlier versions asked without naming the money. The rules decide again, and the desk asks again.
            (None, _, Some(_), _)
                if self.refund.is_none() && self.escalate.is_none() && !self.conversation_complete =>
            {
                Progress::Undecided
            }
            (None, Some(true), Some(decision), Some(action)) => Progress::Agreed { decision, action },
            (None, _, Some(decision), action) => Progress::Decided { decision, action },
        }
    }
}

impl From<Stored> for State {
    fn from(mut stored: Stored) -> Self {
        let confidence = stored.order_match_confidence.unwrap_or(1.0);
        let stage = match (stored.order.take(), stored.order_number.take()) {
            (Some(order), _) => Stage::Found(Box::new(Subject {
                lines: stored.lines.take(),
                refund: stored.refund,
                status_shown: stored.status_shown,
                progress: stored.progress(),
                ..Subject::new(order, confidence)
            })),
            (None, Some(number)) => Stage::Named { number, confidence },
            (None, None) if stored.user_confirmed_order == Some(false) => Stage::Declined,
            (None, None) => Stage::NoOrder,
        };
        let phase = match (stored.error, stored.asked) {
            (Some(trouble), _) => Phase::Failed(trouble),
            _ if stored.conversation_complete => Phase::Over,
            (None, Some(question)) => Phase::Asked(question),
            (None, None) => Phase::Working,
        };
        let handoff = match (stored.escalate, stored.escalation_ticket) {
            (Some(reason), Some(ticket)) => HandoffStatus::Opened(reason, ticket),
            (Some(reason), None) => HandoffStatus::Due(reason),
            (None, _) => HandoffStatus::None,
        };
        Self { case: stored.case, stage, phase, handoff, meta: stored.meta }
    }
}

impl From<State> for Stored {
    fn from(state: State) -> Self {
        let mut stored = Self {
            order_number: state.order_number().cloned(),
            user_confirmed_order: if state.is_declined() { Some(false) } else { state.is_agreed().then_some(true) },
            asked: state.open_question(),
            error: if let Phase::Failed(trouble) = state.phase { Some(trouble) } else { None },
            conversation_complete: state.phase == Phase::Over,
            escalate: state.handoff.reason(),
            escalation_ticket: state.handoff.ticket().cloned(),
            case: state.case,
            meta: state.meta,
            ..Self::default()
        };
        match state.stage {
            Stage::NoOrder | Stage::Declined => {}
            Stage::Named { confidence, .. } => stored.order_match_confidence = Some(confidence),
            Stage::Found(subject) => {
                let Subject { order, confidence, lines, refund, status_shown, progress } = *subject;
                stored.order = Some(order);
                stored.order_match_confidence = Some(confidence);
                stored.lines = lines;
                stored.refund = refund;
                stored.status_shown = status_shown;
                stored.desired_action = progress.action();
                stored.eligibility = progress.decision().cloned();
                if let Progress::Ticketed { ticket, .. } = progress {
                    stored.email_status = ticket.email_status();
                    stored.mail_missing = matches!(ticket.mail, Mail::Missing(_));
                    stored.leaves_mail = matches!(ticket.mail, Mail::Left(_));
                    stored.action_ticket = Some(ticket.ticket);
                    stored.mail_to = ticket.mail_to;
                }
            }
        }
        stored
    }
}
