//! Channels: how messages that the shop starts reach a conversation.
//!
//! The web is the only channel. The turn engine implements [`Announcer`] for it: the message becomes a turn of the
//! conversation, and every open event stream receives it.

use async_trait::async_trait;

use crate::domain::{ConversationId, Metadata, TenantId};
use crate::store::StoreError;

/// A message from the shop that answers no message of the customer.
#[derive(Clone, Debug)]
pub struct Announcement {
    pub text: String,
    pub metadata: Metadata,
    /// Announcements with the same key are delivered once.
    pub key: String,
}

/// The result of an announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announced {
    /// The message is stored and will be delivered, or the conversation was deleted.
    Done,
    /// The server accepts no messages now.
    Later,
}

/// Delivers announcements.
#[async_trait]
pub trait Announcer: Send + Sync {
    async fn announce(
        &self,
        tenant: &TenantId,
        conversation: ConversationId,
        announcement: Announcement,
    ) -> Result<Announced, StoreError>;
}
