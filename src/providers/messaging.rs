//! Providers that deliver messages to phones.

use std::fmt;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::domain::identity::e164::E164;
use crate::domain::{DeliveryStatus, TenantId};

pub mod signature;
pub mod twilio;

/// A shop's account at a provider.
#[derive(Clone, PartialEq, Eq)]
pub struct Account {
    pub shop: TenantId,
    pub id: String,
    /// The valid tokens: two while the shop replaces one.
    pub tokens: Vec<String>,
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account").field("shop", &self.shop).finish_non_exhaustive()
    }
}

/// A message to send.
#[derive(Clone, Debug)]
pub struct Outgoing<'a> {
    pub from: &'a E164,
    pub to: &'a E164,
    pub content: Content<'a>,
    /// Where the provider reports what becomes of it.
    pub report_to: Option<&'a str>,
}

/// The content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    Text(&'a str),
    /// A template that WhatsApp has approved, with the text as its only variable.
    Template {
        id: &'a str,
        text: &'a str,
    },
}

/// A message that the provider has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The provider's id of the message.
    pub reference: String,
    pub status: DeliveryStatus,
    pub error: Option<String>,
}

/// Why a message was not sent, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The provider refused it, and would refuse it again. Holds the provider's code.
    #[error("the provider refused the message: {0}")]
    Refused(String),
    /// The provider does not have it; a later attempt may succeed.
    #[error("the provider did not take the message: {0}")]
    NotSent(String),
    /// The answer was lost, so that the provider may have it.
    #[error("the answer of the provider was lost: {0}")]
    Lost(String),
}

/// Sends messages.
#[async_trait]
pub trait MessageGateway: Send + Sync {
    async fn send(&self, account: &Account, message: &Outgoing<'_>) -> Result<Accepted, SendError>;

    /// Returns the messages with the same receiver and content that the provider got at or after `since`, oldest first.
    async fn find(
        &self,
        account: &Account,
        message: &Outgoing<'_>,
        since: DateTime<Utc>,
    ) -> Result<Vec<Accepted>, SendError>;
}
