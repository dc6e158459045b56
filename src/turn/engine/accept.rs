//! Taking a message in, a customer's or a person's of the shop: it is stored before anybody is told so, and then its turn waits in its conversation's lane.

use std::sync::atomic::Ordering;

use chrono::Utc;

use super::Engine;
use crate::desks::Caller;
use crate::domain::{Author, ConsoleAct, ConversationId, MessageId, TenantId};
use crate::store::StoreError;
use crate::store::acceptance::{Acceptance, NewTurn};
use crate::store::idempotency::IdempotencyKey;

/// A message that wants to become a turn.
#[derive(Debug)]
pub struct Message {
    /// A person answers in a conversation that is taken, and limits are for customers.
    pub author: Author,
    pub text: String,
    pub idempotency: Option<IdempotencyKey>,
    pub caller: Caller,
    /// `false`: taken in only if it repeats one that was accepted; a new one is refused as if the server were full.
    pub new: bool,
    /// Who answers, for the console's audit log.
    pub act: Option<ConsoleAct>,
}

/// A message that was taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub turn: u32,
    pub message_id: MessageId,
}

/// Why a message was not taken in. Nothing was stored.
#[derive(Debug, thiserror::Error)]
pub enum AcceptError {
    #[error("no such conversation")]
    NotFound,
    #[error("nobody has taken the conversation")]
    NotTaken,
    #[error("the idempotency key was used with another body")]
    KeyReused,
    #[error("too many turns of this conversation wait")]
    TooManyWaiting,
    #[error("too many turns of this conversation in a minute")]
    TooManyPerMinute {
        /// Seconds until the next one is welcome.
        retry_after: u64,
    },
    #[error("too many turns of this shop on a day")]
    TooManyPerDay {
        /// Seconds until the next day.
        retry_after: u64,
    },
    #[error("too many turns wait")]
    Overloaded,
    #[error("the server is going down")]
    Draining,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Engine {
    /// Takes a message in: what this returns is stored, and its turn will run, even if nobody waits for the answer
    /// any more. While the engine is draining, only what was accepted before is answered.
    pub async fn accept(
        &self,
        tenant: &TenantId,
        conversation: ConversationId,
        message: Message,
    ) -> Result<Accepted, AcceptError> {
        let (engine, tenant) = (self.clone(), tenant.clone());
        self.to_its_end(async move { engine.accept_now(tenant, conversation, message).await }).await
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
        // Counted before it is stored: requests that come together cannot all see the last free place.
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
            engine.journal.changes().tell(&tenant, conversation);
            return Ok(Accepted { turn, message_id });
        }
        engine.waiting.fetch_sub(1, Ordering::Relaxed);
        match acceptance? {
            Acceptance::Accepted { turn, message_id } | Acceptance::Repeated { turn, message_id } => {
                Ok(Accepted { turn, message_id })
            }
            Acceptance::KeyReused => Err(AcceptError::KeyReused),
            Acceptance::Full if draining => Err(AcceptError::Draining),
            Acceptance::TooManyWaiting => Err(AcceptError::TooManyWaiting),
            Acceptance::TooManyPerMinute { retry_after } => Err(AcceptError::TooManyPerMinute { retry_after }),
            Acceptance::TooManyPerDay { retry_after } => Err(AcceptError::TooManyPerDay { retry_after }),
            Acceptance::Full => Err(AcceptError::Overloaded),
            Acceptance::NotTaken => Err(AcceptError::NotTaken),
            Acceptance::NotFound => Err(AcceptError::NotFound),
        }
    }
}
