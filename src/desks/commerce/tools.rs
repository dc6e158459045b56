//! The desk's 15 tools: typed functions with exactly these names and arguments. The journeys call 13 of them (see
//! `docs/desks/commerce.md`), and no model calls any.
//!
//! The server fills in the shop, the customer, the conversation and the request ([`ToolContext`]); an argument that is not listed is refused. The
//! receipt of a message has each call with its error, if there is one.
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::payments::Payments;
use crate::domain::commerce::Tenant;
use crate::domain::identity::e164::E164;
use crate::domain::{ActorKind, ConversationId, MessageId};
use crate::store::audit::Actor;
use crate::store::sales::SaleOwner;
use crate::store::shoppers::Shopper;
use crate::store::{Store, StoreError, TenantStore};

pub mod catalog;
pub mod customer;
pub mod order;
pub mod payment;
pub mod support;

pub use order::OrderView;

/// What the server fills in for every call.
pub struct ToolContext<'a> {
    pub store: &'a Store,
    pub tenant: &'a Tenant,
    pub conversation: ConversationId,
    /// The request: the message that the turn answers.
    pub request: MessageId,
    pub shopper: &'a Shopper,
    /// The number that may be asked to pay.
    pub phone: Option<&'a E164>,
    pub payments: &'a Payments,
    /// The present time, for prices, reservations and payments.
    pub now: DateTime<Utc>,
    /// When the customer sent the message, for the log of consents.
    pub said_at: DateTime<Utc>,
}

/// A tool: the type of its arguments.
pub trait Tool: Serialize + DeserializeOwned + JsonSchema + Send + Sync {
    const NAME: &'static str;
    type Output: Serialize + Send;

    /// Runs the tool.
    fn run(&self, context: &ToolContext<'_>) -> impl Future<Output = Result<Self::Output, CallError>> + Send;
}

/// Why a call has no result: the tool's own answer, or a store that does not answer, which ends the turn.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("{0}")]
    Tool(ToolError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The error of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{code}")]
pub struct ToolError {
    /// A stable word.
    pub code: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
}

impl ToolError {
    /// An answer that does not change by asking again.
    pub fn refused(code: &str) -> Self {
        Self { code: code.to_owned(), retryable: false }
    }
}

impl CallError {
    /// See [`ToolError::refused`].
    pub fn refused(code: &str) -> Self {
        Self::Tool(ToolError::refused(code))
    }

    /// A provider that could not be asked: a later call may succeed.
    pub fn unavailable() -> Self {
        Self::Tool(ToolError { code: "provider_unavailable".to_owned(), retryable: true })
    }
}

impl ToolContext<'_> {
    pub fn door(&self) -> TenantStore<'_> {
        self.store.tenant(&self.tenant.id)
    }

    /// Whether the channel knows the customer's number.
    pub fn has_number(&self) -> bool {
        self.shopper.phone.is_some()
    }

    /// Returns the customer and the conversation, for rows.
    pub fn owner(&self) -> SaleOwner {
        SaleOwner { shopper: self.shopper.id, conversation: self.conversation }
    }

    /// Returns who acts, for the audit log.
    pub fn actor(&self) -> Actor<'static> {
        let conversation = Some(self.conversation);
        Actor { kind: ActorKind::Automatic, who: "desk", conversation, now: self.now }
    }
}

#[cfg(test)]
mod tests;
