//! Runs the turns of each conversation in order. [`accept`] accepts messages, also of the shop itself, `execute` runs the turns of
//! a lane, and [`handoff`] changes who answers.

mod accept;
mod execute;
mod handoff;

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{Instrument, info};

use super::feed::{Feed, Feeds};
use super::journal::Journal;
use super::lane::Lanes;
use super::reader::{Reader, Source, Start};
use super::recent::HistoryCache;
use crate::config::TurnConfig;
use crate::desks::Shops;
use crate::domain::{ConsoleAct, ConversationId, Message as StoredMessage, TenantId};
use crate::jobs::JobRunner;
use crate::store::acceptance::Acceptor;
use crate::store::{Store, StoreError};

use accept::Proposal;
pub use accept::{AcceptError, Accepted, Message};

/// Why a turn was not cancelled.
#[derive(Debug, thiserror::Error)]
pub enum CancelError {
    #[error("no such turn")]
    NotFound,
    #[error("the turn has ended")]
    Ended,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Runs turns. Cheap to clone.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    config: TurnConfig,
    store: Store,
    shops: Arc<Shops>,
    journal: Journal,
    jobs: Arc<JobRunner>,
    feeds: Feeds,
    lanes: Lanes,
    histories: HistoryCache,
    /// Counts changes that no turn made.
    edits: AtomicU64,
    /// Messages that are not stored yet, in their order.
    proposals: Mutex<VecDeque<Proposal>>,
    /// Accepted turns of all conversations that have not started.
    waiting: AtomicUsize,
    /// A permit for each turn that may run.
    running: Semaphore,
    tasks: TaskTracker,
    draining: CancellationToken,
    stop: CancellationToken,
    closing: CancellationToken,
}

impl Engine {
    /// Creates the engine. It spawns its tasks on `tasks`.
    pub fn new(
        config: TurnConfig,
        store: Store,
        shops: Arc<Shops>,
        journal: Journal,
        jobs: Arc<JobRunner>,
        tasks: TaskTracker,
    ) -> Self {
        let running = Semaphore::new(config.running_max.min(Semaphore::MAX_PERMITS));
        Self(Arc::new(Inner {
            config,
            store,
            shops,
            journal,
            jobs,
            feeds: Feeds::default(),
            lanes: Lanes::default(),
            histories: HistoryCache::default(),
            edits: AtomicU64::new(0),
            proposals: Mutex::default(),
            waiting: AtomicUsize::new(0),
            running,
            tasks,
            draining: CancellationToken::new(),
            stop: CancellationToken::new(),
            closing: CancellationToken::new(),
        }))
    }

    /// Keeps the events of the running turn in memory, for a reader that comes later.
    pub fn keep_feed(&self, conversation: ConversationId) -> Arc<Feed> {
        self.0.feeds.get(conversation)
    }

    /// Reads one turn's events from its first to its last, live or from the store.
    pub fn read_turn(&self, tenant: &TenantId, conversation: ConversationId, turn: u32) -> Reader {
        Reader::of_turn(self.source(tenant, conversation), turn)
    }

    /// Reads the conversation's events from `start` on.
    pub fn read(&self, tenant: &TenantId, conversation: ConversationId, start: Start) -> Reader {
        Reader::of_conversation(self.source(tenant, conversation), start)
    }

    fn source(&self, tenant: &TenantId, conversation: ConversationId) -> Source {
        Source {
            store: self.0.store.clone(),
            feed: self.0.feeds.get(conversation),
            tenant: tenant.clone(),
            conversation,
            closing: self.0.closing.clone(),
        }
    }

    /// Cancels a turn. The request is stored first. A turn that has not started yet still gets a `turn.start` and a
    /// `turn.done`.
    pub async fn cancel(&self, tenant: &TenantId, conversation: ConversationId, turn: u32) -> Result<(), CancelError> {
        let (engine, tenant) = (self.clone(), tenant.clone());
        self.run_detached(async move { engine.cancel_now(&tenant, conversation, turn).await }).await
    }

    async fn cancel_now(&self, tenant: &TenantId, conversation: ConversationId, turn: u32) -> Result<(), CancelError> {
        match self.0.store.tenant(tenant).request_cancel(conversation, turn).await? {
            None => Err(CancelError::NotFound),
            Some(Err(_)) => Err(CancelError::Ended),
            Some(Ok(())) => {
                self.note_edit();
                self.0.lanes.cancel(conversation, turn);
                Ok(())
            }
        }
    }

    /// Stops the conversation's turns, waits for the running one, and deletes the conversation. `act` goes into the
    /// console's audit log. Returns `false` if there is no such conversation.
    pub async fn delete(
        &self,
        tenant: &TenantId,
        conversation: ConversationId,
        act: Option<ConsoleAct>,
    ) -> Result<bool, StoreError> {
        let (engine, tenant) = (self.clone(), tenant.clone());
        let deleting = async move {
            let store = engine.0.store.tenant(&tenant).noting(act.as_ref());
            if store.find_conversation(conversation).await?.is_none() {
                return Ok(false);
            }
            engine.0.lanes.close(conversation).await;
            let deleted = store.delete_conversation(conversation).await;
            engine.note_edit();
            // Whatever the result: a lost connection can hide a successful commit.
            engine.forget_histories();
            if deleted.is_ok() {
                engine.announce_deleted(&tenant, conversation);
                engine.0.lanes.reopen(conversation);
            } else {
                // Its lane has skipped the turns that waited.
                let acceptor = engine.0.store.acceptor(engine.0.config.lock_wait).await;
                engine.0.lanes.reopen(conversation);
                engine.look_for_turns(&acceptor, &tenant, conversation);
            }
            deleted
        };
        self.run_detached(deleting).await
    }

    /// Drops the greeting of a deleted conversation, ends its streams, and notifies the console. Later histories are dropped before.
    pub(super) fn announce_deleted(&self, tenant: &TenantId, conversation: ConversationId) {
        self.0.histories.take(conversation, 1);
        // Readers would wait for events that never come.
        self.0.feeds.get(conversation).close();
        self.0.journal.changes().notify(tenant, conversation);
    }

    /// Drops what the engine remembers of messages, because some were deleted.
    pub(super) fn forget_histories(&self) {
        self.0.histories.clear();
    }

    /// Returns a number that changes when histories are dropped. To be called before a conversation is stored.
    pub fn history_generation(&self) -> u64 {
        self.0.histories.generation()
    }

    /// Keeps the greeting of a conversation that was just stored, so that its first turn need not read it.
    pub fn keep_greeting(&self, generation: u64, greeting: &StoredMessage) {
        self.0.histories.keep(greeting.conversation_id, 1, generation, vec![greeting.clone()]);
    }

    /// Counts changes that no turn made: handoffs, cancelled turns, decisions, deletions. A turn that was accepted before
    /// such a change reads the store.
    fn edits(&self) -> u64 {
        self.0.edits.load(Ordering::SeqCst)
    }

    /// To be called after the change is stored, and before the conversation's turns are stopped.
    fn note_edit(&self) {
        self.0.edits.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn store(&self) -> &Store {
        &self.0.store
    }

    /// Runs `work` on a separate task, so that it completes even if the caller is dropped. A client that disconnects must
    /// not leave a stored message without its turn, or a conversation closed.
    async fn run_detached<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> T {
        match self.0.tasks.spawn(work.in_current_span()).await {
            Ok(value) => value,
            Err(lost) => match lost.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // The task is cancelled only when the runtime shuts down.
                Err(_) => std::future::pending().await,
            },
        }
    }

    /// Recovers the unfinished turns of an earlier process: ends running ones and runs queued ones.
    pub async fn recover(&self) -> Result<(), StoreError> {
        let unfinished = self.0.store.list_unfinished().await?;
        if !unfinished.is_empty() {
            info!(conversations = unfinished.len(), "Recovering unfinished turns");
        }
        for (tenant, conversation, turns) in unfinished {
            let turns = usize::try_from(turns).unwrap_or(usize::MAX);
            self.0.waiting.fetch_add(turns, Ordering::Relaxed);
            if self.0.lanes.add(conversation, turns, None, None) {
                self.spawn_lane(tenant, conversation);
            }
        }
        Ok(())
    }

    /// Runs no more turns from now on, and accepts only messages over a channel. Their turns wait for the next start.
    pub fn drain(&self) {
        self.0.draining.cancel();
    }

    /// Whether the engine is shutting down.
    pub fn is_draining(&self) -> bool {
        self.0.draining.is_cancelled()
    }

    /// Interrupts running turns.
    pub fn stop(&self) {
        self.0.draining.cancel();
        self.0.stop.cancel();
    }

    /// Ends the readers after they have read all stored events.
    pub fn close_readers(&self) {
        self.0.closing.cancel();
    }

    fn proposals<T>(&self, work: impl FnOnce(&mut VecDeque<Proposal>) -> T) -> T {
        work(&mut self.0.proposals.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs stored turns of the conversation whose acceptance was never confirmed. No message is accepted at the same time, since
    /// its turn could run twice.
    fn look_for_turns(&self, _: &Acceptor<'_>, tenant: &TenantId, conversation: ConversationId) {
        if self.0.lanes.add_unconfirmed(conversation) {
            self.spawn_lane(tenant.clone(), conversation);
        }
    }

    fn spawn_lane(&self, tenant: TenantId, conversation: ConversationId) {
        let engine = self.clone();
        self.0.tasks.spawn(async move { engine.run_lane(&tenant, conversation).await });
    }
}
