//! Accepts messages of customers, people of the shop, and the shop itself. A message is stored before the call returns;
//! its turn then waits in the lane of its conversation.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use chrono::{DateTime, SubsecRound, Utc};
use tokio::sync::oneshot;

use super::Engine;
use crate::channels::{Announced, Announcement, Announcer};
use crate::desks::Caller;
use crate::domain::{Author, ConsoleAct, ConversationId, MessageId, TenantId};
use crate::store::acceptance::{Acceptance, Acceptor, Decision, IdempotencyKey, NewTurn};
use crate::store::channels::Inbound;
use crate::store::{StoreError, TenantStore};
use crate::turn::lane::AcceptedTurn;

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
    /// For a message over a channel. It is accepted on a full server and during a shutdown, too.
    pub inbound: Option<Inbound>,
}

impl Message {
    /// Returns a new message that comes over no channel, without its caller and its act.
    pub fn new(author: Author, text: String, idempotency: Option<IdempotencyKey>) -> Self {
        Self { author, text, idempotency, caller: Caller::default(), new: true, act: None, inbound: None }
    }
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

/// A message on its way into the store.
pub(super) struct Proposal {
    tenant: TenantId,
    conversation: ConversationId,
    id: MessageId,
    message: Message,
    now: DateTime<Utc>,
    /// The server is at its limit, or is shutting down.
    full: bool,
    /// [`Engine::edits`] before the message was stored.
    edits_before: u64,
    result: oneshot::Sender<Result<Acceptance, StoreError>>,
}

/// The most messages in one commit.
const MAX_BATCH: usize = 64;

impl Engine {
    /// Accepts a message. When this returns, the message is stored and its turn will run, even if the client disconnects.
    /// While the engine is draining, only messages over a channel and repetitions of accepted messages succeed.
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
        let (result, mut accepted) = oneshot::channel();
        let is_customer = message.author == Author::Customer;
        // The provider of a channel may not repeat a message that was refused. Its turn waits in the store, if need be for the next start.
        let is_overloaded =
            message.inbound.is_none() && (draining || (is_customer && waiting >= engine.config.waiting_total));
        let full = is_overloaded || !message.new;
        // Without a key it repeats nothing: it is refused before it waits for the store, which is busy now.
        if is_overloaded && message.idempotency.is_none() {
            engine.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(if draining { AcceptError::Draining } else { AcceptError::Overloaded });
        }
        let (id, edits_before) = (MessageId::now(), self.edits());
        // PostgreSQL stores microseconds.
        let now = Utc::now().trunc_subsecs(6);
        let proposal = Proposal { tenant, conversation, id, message, now, full, edits_before, result };
        self.proposals(|proposals| proposals.push_back(proposal));
        // One caller stores the messages of all. The others must not wait for the right to do so: with many customers, there is always
        // a later message to store.
        let acceptance = loop {
            let acceptor = tokio::select! {
                biased;
                // The sender is dropped only if the task that held it panicked.
                acceptance = &mut accepted => break acceptance.unwrap_or(Ok(Acceptance::Full)),
                acceptor = engine.store.acceptor(engine.config.lock_wait) => acceptor,
            };
            // Boxed, because the store's futures are large.
            Box::pin(self.store_waiting(acceptor)).await;
        };
        if !matches!(acceptance, Ok(Acceptance::Accepted { .. })) {
            engine.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        match acceptance? {
            Acceptance::Accepted { turn, message_id } | Acceptance::Repeated { turn, message_id } => {
                Ok(Accepted { turn, message_id })
            }
            Acceptance::KeyReused => Err(AcceptError::KeyReused),
            Acceptance::Full if draining => Err(AcceptError::Draining),
            Acceptance::TooManyWaiting => Err(AcceptError::TooManyWaiting { limit: engine.config.waiting_max }),
            Acceptance::TooManyPerMinute { retry_after } => {
                Err(AcceptError::TooManyPerMinute { limit: engine.config.per_minute.unwrap_or_default(), retry_after })
            }
            Acceptance::TooManyPerDay { retry_after } => {
                Err(AcceptError::TooManyPerDay { limit: engine.config.per_day.unwrap_or_default(), retry_after })
            }
            Acceptance::Full => Err(AcceptError::Overloaded),
            Acceptance::NotTaken => Err(AcceptError::NotTaken),
            Acceptance::NotFound => Err(AcceptError::NotFound),
        }
    }

    /// Stores the messages that wait, and queues their turns in the order in which they were numbered. The acceptor is held until
    /// then.
    async fn store_waiting(&self, acceptor: Acceptor<'_>) {
        // Messages that arrive just now join the batch.
        tokio::task::yield_now().await;
        let batch: Vec<Proposal> = self.proposals(|proposals| {
            let count = proposals.len().min(MAX_BATCH);
            proposals.drain(..count).collect()
        });
        if batch.is_empty() {
            return;
        }
        let is_delivered = batch.iter().any(|proposal| proposal.message.author != Author::Customer);
        let jobs = self.0.jobs.count_stored();
        self.store_proposals(&acceptor, batch).await;
        match is_delivered {
            true => self.0.jobs.wake_if_stored_since(jobs),
            // The job that embeds a customer's message can wait until its turn has ended. Now it would delay the turn's first text:
            // there is one connection that writes.
            false => self.0.jobs.wake_later_if_stored_since(jobs),
        }
    }

    async fn store_proposals(&self, acceptor: &Acceptor<'_>, batch: Vec<Proposal>) {
        // Before the turns are stored: a lane may claim a stored turn, which must not run a second time.
        self.0.lanes.prepare(batch.iter().map(|proposal| proposal.conversation));
        let new: Vec<NewTurn<'_>> = batch.iter().map(|proposal| self.new_turn(proposal)).collect();
        let shops = batch.iter().map(|proposal| self.shop_of(proposal));
        let stored = acceptor.accept_all(&shops.zip(&new).collect::<Vec<_>>()).await;
        match stored {
            Ok(decisions) => {
                for (proposal, decision) in batch.into_iter().zip(decisions) {
                    self.queue(proposal, decision);
                }
            }
            // Store each message alone: a refused message or a locked conversation then fails only its caller.
            Err(cause) if batch.len() > 1 && !cause.is_outage() => {
                let mut rest = VecDeque::from(batch);
                while let Some(proposal) = rest.pop_front() {
                    self.0.lanes.prepare([proposal.conversation]);
                    match acceptor.accept_all(&[(self.shop_of(&proposal), &self.new_turn(&proposal))]).await {
                        Ok(mut decisions) => {
                            if let Some(decision) = decisions.pop() {
                                self.queue(proposal, decision);
                            }
                        }
                        Err(cause) => {
                            let is_outage = cause.is_outage();
                            self.fail(acceptor, proposal, cause.clone());
                            if is_outage {
                                self.fail_untried(std::mem::take(&mut rest), &cause);
                            }
                        }
                    }
                }
            }
            Err(cause) => {
                batch.into_iter().for_each(|proposal| self.fail(acceptor, proposal, cause.clone()));
                if cause.is_outage() {
                    self.fail_untried([], &cause);
                }
            }
        }
    }

    /// Fails these messages and all that wait, during an outage: each batch of them would wait for the store as long as the
    /// last one did.
    fn fail_untried(&self, proposals: impl IntoIterator<Item = Proposal>, cause: &StoreError) {
        let waiting = self.proposals(std::mem::take);
        proposals.into_iter().chain(waiting).for_each(|proposal| drop(proposal.result.send(Err(cause.clone()))));
    }

    /// Fails a message that the store did not accept.
    fn fail(&self, acceptor: &Acceptor<'_>, proposal: Proposal, cause: StoreError) {
        if cause.is_unavailable() {
            // A lost connection can hide a successful commit.
            self.look_for_turns(acceptor, &proposal.tenant, proposal.conversation);
        }
        // The caller may have disconnected.
        let _ = proposal.result.send(Err(cause));
    }

    fn new_turn<'a>(&self, proposal: &'a Proposal) -> NewTurn<'a> {
        let (config, message) = (&self.0.config, &proposal.message);
        let is_customer = message.author == Author::Customer;
        NewTurn {
            conversation: proposal.conversation,
            message_id: proposal.id,
            author: &message.author,
            text: &message.text,
            idempotency: message.idempotency.as_ref(),
            inbound: message.inbound.as_ref(),
            now: proposal.now,
            waiting_max: if is_customer { config.waiting_max } else { u64::MAX },
            per_minute: config.per_minute.filter(|_| is_customer),
            per_day: config.per_day.filter(|_| is_customer),
            full: proposal.full,
        }
    }

    fn shop_of<'a>(&'a self, proposal: &'a Proposal) -> TenantStore<'a> {
        self.0.store.tenant(&proposal.tenant).noting(proposal.message.act.as_ref())
    }

    /// Queues the turn of a message that was accepted, and returns the result to its caller.
    fn queue(&self, proposal: Proposal, (acceptance, open): Decision) {
        let Proposal { tenant, conversation, message, edits_before, result, .. } = proposal;
        if let Acceptance::Accepted { message_id, .. } = acceptance {
            let caller = (message.caller != Caller::default()).then_some((message_id, message.caller));
            let feed = || self.0.feeds.get(conversation);
            let accepted = open.map(|open| Box::new(AcceptedTurn { open, edits_before, feed: feed() }));
            if self.0.lanes.add(conversation, 1, caller, accepted) {
                self.spawn_lane(tenant.clone(), conversation);
            }
            self.0.journal.changes().notify(&tenant, conversation);
        }
        // The caller may have disconnected.
        let _ = result.send(Ok(acceptance));
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
        let idempotency = Some(IdempotencyKey { body_hash: key.clone(), key });
        let message = Message::new(Author::Shop { metadata }, text, idempotency);
        match self.accept(tenant, conversation, message).await {
            // A deleted conversation needs no announcement.
            Ok(_) | Err(AcceptError::NotFound | AcceptError::KeyReused) => Ok(Announced::Done),
            Err(AcceptError::Store(cause)) => Err(cause),
            Err(_) => Ok(Announced::Later),
        }
    }

    fn note_change(&self, tenant: &TenantId, conversation: ConversationId) {
        self.0.journal.changes().notify(tenant, conversation);
    }
}
