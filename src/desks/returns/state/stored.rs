//! The stored form of the state: flat fields, as every version of the desk has written them.

use serde::{Deserialize, Serialize};

use super::{HandoffReason, Question, Trouble};

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Stage {
    asked: Option<Question>,
    error: Option<Trouble>,
    conversation_complete: bool,
}

impl From<Stage> for super::Stage {
    fn from(stored: Stage) -> Self {
        match stored {
            Stage { error: Some(trouble), .. } => Self::Failed(trouble),
            Stage { conversation_complete: true, .. } => Self::Over,
            Stage { asked: Some(question), .. } => Self::Asked(question),
            Stage { asked: None, .. } => Self::Working,
        }
    }
}

impl From<super::Stage> for Stage {
    fn from(stage: super::Stage) -> Self {
        match stage {
            super::Stage::Working => Self::default(),
            super::Stage::Asked(question) => Self { asked: Some(question), ..Self::default() },
            super::Stage::Failed(trouble) => Self { error: Some(trouble), ..Self::default() },
            super::Stage::Over => Self { conversation_complete: true, ..Self::default() },
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Handoff {
    escalate: Option<HandoffReason>,
    escalation_ticket: Option<String>,
}

impl From<Handoff> for super::Handoff {
    fn from(stored: Handoff) -> Self {
        match (stored.escalate, stored.escalation_ticket) {
            (Some(reason), Some(ticket)) => Self::Opened(reason, ticket),
            (Some(reason), None) => Self::Due(reason),
            (None, _) => Self::None,
        }
    }
}

impl From<super::Handoff> for Handoff {
    fn from(handoff: super::Handoff) -> Self {
        Self { escalate: handoff.reason(), escalation_ticket: handoff.ticket().cloned() }
    }
}

/// The ticket of a flow. Without `action_ticket`, the other fields mean nothing.
pub(super) mod ticket {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::super::{ActionTicket, EmailStatus, FlowTicket, Mail};
    use crate::domain::commerce::Money;

    #[derive(Default, Serialize, Deserialize)]
    #[serde(default)]
    struct Stored {
        action_ticket: Option<ActionTicket>,
        email_status: Option<EmailStatus>,
        refund: Option<Money>,
        mail_to: Option<String>,
        mail_missing: bool,
        leaves_mail: bool,
    }

    pub fn serialize<S: Serializer>(ticket: &Option<FlowTicket>, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = ticket.clone().map_or_else(Stored::default, |of_flow| Stored {
            email_status: of_flow.email_status(),
            mail_missing: matches!(of_flow.mail, Mail::Missing(_)),
            leaves_mail: matches!(of_flow.mail, Mail::Left(_)),
            action_ticket: Some(of_flow.ticket),
            refund: of_flow.refund,
            mail_to: of_flow.mail_to,
        });
        stored.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<FlowTicket>, D::Error> {
        let Stored { action_ticket, email_status, refund, mail_to, mail_missing, leaves_mail } =
            Stored::deserialize(deserializer)?;
        let mail = match email_status {
            None => Mail::Due,
            Some(status) if leaves_mail => Mail::Left(status),
            Some(status) if mail_missing => Mail::Missing(status),
            Some(status) => Mail::Settled(status),
        };
        Ok(action_ticket.map(|ticket| FlowTicket { ticket, refund, mail, mail_to }))
    }
}
