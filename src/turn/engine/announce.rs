//! Announcements: messages that the shop starts. Each is a turn in its conversation's lane, like a person's answer.

use async_trait::async_trait;

use super::{AcceptError, Engine, Message};
use crate::channels::{Announced, Announcement, Announcer};
use crate::desks::Caller;
use crate::domain::{Author, ConversationId, TenantId};
use crate::store::StoreError;
use crate::store::idempotency::IdempotencyKey;

#[async_trait]
impl Announcer for Engine {
    async fn announce(
        &self,
        tenant: &TenantId,
        conversation: ConversationId,
        announcement: Announcement,
    ) -> Result<Announced, StoreError> {
        let Announcement { text, metadata, key } = announcement;
        let message = Message {
            author: Author::Shop { metadata },
            text,
            idempotency: Some(IdempotencyKey { body_hash: key.clone(), key }),
            caller: Caller::default(),
            act: None,
            new: true,
        };
        match self.accept(tenant, conversation, message).await {
            // A deleted conversation needs no announcement.
            Ok(_) | Err(AcceptError::NotFound | AcceptError::KeyReused) => Ok(Announced::Done),
            Err(AcceptError::Store(cause)) => Err(cause),
            Err(_) => Ok(Announced::Later),
        }
    }
}
