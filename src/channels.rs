//! Channels: how messages reach customers, and how messages that the shop starts reach a conversation.
//!
//! The turn engine implements [`Announcer`]: the message becomes a turn of the conversation, and every open event stream receives
//! it. In a conversation over another channel than the web, each message is also stored with a delivery
//! (`src/jobs/deliver.rs` sends it): [`markup`] formats its text, [`split`] cuts it into parts, and [`Reports`] passes on what the
//! provider reports.

use async_trait::async_trait;
use tokio::sync::broadcast;

use crate::domain::{ConversationId, Metadata, TenantId};
use crate::store::StoreError;

pub mod markup;
pub mod split;

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

    /// Lets the console read the conversation again.
    fn note_change(&self, tenant: &TenantId, conversation: ConversationId);
}

/// How many reports a delivery may lag.
const MAX_LAG: usize = 1024;

/// Passes on that a provider reported about a conversation's message. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Reports(broadcast::Sender<ConversationId>);

impl Default for Reports {
    fn default() -> Self {
        Self(broadcast::Sender::new(MAX_LAG))
    }
}

impl Reports {
    /// To be called after the report is stored.
    pub fn note(&self, conversation: ConversationId) {
        // An error means that no delivery waits.
        let _ = self.0.send(conversation);
    }

    /// Receives the conversations that are reported about from now on.
    pub fn listen(&self) -> broadcast::Receiver<ConversationId> {
        self.0.subscribe()
    }
}
