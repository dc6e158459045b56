//! What the tools work on. The customer comes from the desk, never from a model's arguments.

use chrono::Utc;
use serde_json::Value;

use super::tools::ToolError;
use crate::agent::ToolContext;
use crate::desks::telecom::Telecom;
use crate::desks::telecom::billing::Identity;
use crate::desks::telecom::memory::Memory;
use crate::desks::telecom::said::Said;
use crate::dialogue::agent_turn::AgentContext;
use crate::dialogue::{DeskError, Turn};
use crate::domain::telecom::RefundCase;
use crate::domain::{AuditEntry, AuditKind, Sender};
use crate::grounding::claims::Facts;
use crate::nlu::long_text::read_text;
use crate::store::TenantStore;

/// The refund case that a tool call is about.
pub(super) struct FoundCase {
    pub case: RefundCase,
    /// Whether the call opened it.
    pub is_new: bool,
}

/// The desk, the turn and the state that the tools of one turn work on.
pub(super) struct BillingContext<'a> {
    pub desk: &'a Telecom,
    pub turn: &'a mut Turn,
    pub memory: &'a mut Memory,
    identity: &'a Identity,
    /// The case that a call has opened or found.
    pub case: Option<FoundCase>,
    /// The claims that the calls support.
    pub facts: Facts,
}

impl ToolContext for BillingContext<'_> {
    type Error = ToolError;
}

impl AgentContext for BillingContext<'_> {
    fn turn(&mut self) -> &mut Turn {
        self.turn
    }

    async fn record(&mut self, tool: &'static str, call: &Value) -> Result<(), DeskError> {
        let entry = AuditEntry {
            kind: AuditKind::Tool,
            after: Some(call.clone()),
            conversation: Some(self.turn.conversation.id),
            account: self.user_id(None).ok(),
            ..AuditEntry::system("agent", &format!("tool.{tool}"), Utc::now())
        };
        Ok(self.store().record(&entry).await?)
    }
}

impl<'a> BillingContext<'a> {
    pub fn new(desk: &'a Telecom, turn: &'a mut Turn, identity: &'a Identity, memory: &'a mut Memory) -> Self {
        Self { desk, turn, memory, identity, case: None, facts: Facts::OF_DOCUMENTS }
    }

    pub fn store(&self) -> TenantStore<'_> {
        self.desk.store_of(self.turn)
    }

    /// Returns the customer of this conversation. `claimed` is the user that the model named, if it did.
    pub fn user_id(&self, claimed: Option<&str>) -> Result<String, ToolError> {
        match self.identity {
            Identity::Known(user_id) if claimed.is_none_or(|claimed| claimed.eq_ignore_ascii_case(user_id)) => {
                Ok(user_id.clone())
            }
            Identity::Known(_) => Err(ToolError::OtherUser),
            Identity::Unproved | Identity::Other => Err(ToolError::NoProof),
            Identity::Unknown | Identity::Wrong | Identity::Locked => Err(ToolError::NoUser),
        }
    }

    /// Whether a message of the customer names something. Together they may be long.
    pub fn customer_said(&self, names: impl Fn(&Said) -> bool) -> bool {
        let length: usize = self.customers_words().map(str::len).sum();
        read_text(length, || self.customers_words().any(|text| names(&self.desk.rules.said(text))))
    }

    fn customers_words(&self) -> impl Iterator<Item = &str> {
        let earlier = self.turn.history.iter().filter(|message| message.sender == Sender::User);
        earlier.chain([&self.turn.message]).map(|message| message.text.as_str())
    }
}
