//! Accepts messages of customers, people of the shop, and the shop itself. A message is stored before the call returns;
//! its turn then waits in the lane of its conversation.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use chrono::Utc;

use super::Engine;
use crate::channels::{Announced, Announcement, Announcer};
use crate::desks::Caller;
use crate::domain::{Author, ConsoleAct, ConversationId, MessageId, TenantId};
use crate::store::StoreError;
use crate::store::acceptance::{Acceptance, NewTurn};
use crate::store::idempotency::IdempotencyKey;

/// A message to accept.
#[derive(Debug)]
pub struct Message {
    /// Limits apply to customers only. A person can answer only in a conversation that is taken.
    pub author: Author,
    pub text: String,
    pub idempotency: Option<IdempotencyKey>,
    pub caller: Caller,
    /// `false`: the message is accepted only if it repeats an accepted one; otherwise it is refused as on a full server.
    pub new: bool,
    /// For the console's audit log.
    pub act: Option<ConsoleAct>,
}

/// An accepted message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub turn: u32,
    pub message_id: MessageId,
}

/// Why a message was refused. Nothing was stored.
#[derive(Debug, thiserror::Error)]
pub enum AcceptError {
    #[error("no such conversation")]
    NotFound,
    #[error("the conversation is not taken by a person")]
    NotTaken,
    #[error("the idempotency key was used with a different body")]
    KeyReused,
    #[error("too many turns of this conversation are waiting")]
    TooManyWaiting { limit: u64 },
    #[error("too many turns of this conversation in a minute")]
    TooManyPerMinute {
        limit: u64,
        /// Seconds until the next message is accepted.
        retry_after: u64,
    },
    #[error("too many turns of this shop in a day")]
    TooManyPerDay {
        limit: u64,
        /// Seconds until the next day.
        retry_after: u64,
    },
    #[error("too many turns are waiting")]
    Overloaded,
    #[error("the server is shutting down")]
    Draining,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Engine {
    /// Accepts a message. When this returns, the message is stored and its turn will run, even if the client disconnects.
    /// While the engine is draining, only repetitions of accepted messages succeed.
    pub async fn accept(
        &self,
        tenant: &TenantId,
        conversation: ConversationId,
        message: Message,
    ) -> Result<Accepted, AcceptError> {
        let (engine, tenant) = (self.clone(), tenant.clone());
        self.run_detached(async move { engine.accept_now(tenant, conversation, message).await }).await
    }

    async fn accept_now(
        &self,
        tenant: TenantId,
        conversation: ConversationId,
        message: Message,
    ) -> Result<Accepted, AcceptError> {
        let engine = &self.0;
        if engine.lanes.is_closed(conversation) {
            return Err(AcceptError::NotFound);
        }
        let draining = engine.draining.is_cancelled();
        // Counted before it is stored, so that concurrent requests cannot all take the last free place.
        let waiting = engine.waiting.fetch_add(1, Ordering::Relaxed);
        let is_customer = message.author == Author::Customer;
        let new = NewTurn {
            conversation,
            message_id: MessageId::now(),
            author: &message.author,
            text: &message.text,
            idempotency: message.idempotency.as_ref(),
            now: Utc::now(),
            waiting_max: if is_customer { engine.config.waiting_max } else { u64::MAX },
            per_minute: engine.config.per_minute.filter(|_| is_customer),
            per_day: engine.config.per_day.filter(|_| is_customer),
            full: draining || !message.new || (is_customer && waiting >= engine.config.waiting_total),
        };
        let acceptance = engine.store.tenant(&tenant).noting(message.act.as_ref()).accept(&new).await;
        if let Ok(Acceptance::Accepted { turn, message_id }) = acceptance {
            if message.caller != Caller::default() {
                self.callers(|callers| callers.insert(message_id, message.caller));
            }
            self.enqueue(tenant.clone(), conversation, 1);
            engine.jobs.wake();
            engine.journal.changes().notify(&tenant, conversation);
            return Ok(Accepted { turn, message_id });
        }
        engine.waiting.fetch_sub(1, Ordering::Relaxed);
        match acceptance? {
            Acceptance::Accepted { turn, message_id } | Acceptance::Repeated { turn, message_id } => {
                Ok(Accepted { turn, message_id })
            }
            Acceptance::KeyReused => Err(AcceptError::KeyReused),
            Acceptance::Full if draining => Err(AcceptError::Draining),
            Acceptance::TooManyWaiting => Err(AcceptError::TooManyWaiting { limit: new.waiting_max }),
            Acceptance::TooManyPerMinute { retry_after } => {
                Err(AcceptError::TooManyPerMinute { limit: new.per_minute.unwrap_or_default(), retry_after })
            }
            Acceptance::TooManyPerDay { retry_after } => {
                Err(AcceptError::TooManyPerDay { limit: new.per_day.unwrap_or_default(), retry_after })
            }
            Acceptance::Full => Err(AcceptError::Overloaded),
            Acceptance::NotTaken => Err(AcceptError::NotTaken),
            Acceptance::NotFound => Err(AcceptError::NotFound),
        }
    }
}

/// A message that the shop starts is a turn in its conversation's lane, like a person's answer.
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
