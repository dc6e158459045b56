//! Runs the turns of each conversation in order. [`accept`] accepts messages, also of the shop itself, and [`handoff`] changes
//! who answers them.

mod accept;
mod handoff;

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::Utc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::field::Empty;
use tracing::{Instrument, error, info, info_span, warn};

use super::feed::{Feed, Feeds};
use super::journal::Journal;
use super::lane::{AcceptedTurn, Lanes, NextTurn};
use super::reader::{Reader, Source, Start};
use super::recent::HistoryCache;
use super::run::{Stops, run};
use super::{person, recover};
use crate::config::TurnConfig;
use crate::desks::{Shops, SinkClosed, Turn};
use crate::domain::{ConsoleAct, Conversation, ConversationId, ConversationStatus, Message as StoredMessage, Sender};
use crate::domain::{TenantId, TurnStatus};
use crate::jobs::JobRunner;
use crate::store::acceptance::Acceptor;
use crate::store::turns::OpenTurn;
use crate::store::{Store, StoreError};

use accept::Proposal;
pub use accept::{AcceptError, Accepted, Message};

/// How many earlier messages a turn receives.
const HISTORY_MESSAGES: usize = 80;
/// How long a lane waits before it retries an unavailable store.
const STORE_RETRY: Duration = Duration::from_millis(500);

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
            tasks,
            draining: CancellationToken::new(),
            stop: CancellationToken::new(),
            closing: CancellationToken::new(),
        }))
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
        self.run_detached(async move { engine.delete_now(&tenant, conversation, act.as_ref()).await }).await
    }

    async fn delete_now(
        &self,
        tenant: &TenantId,
        conversation: ConversationId,
        act: Option<&ConsoleAct>,
    ) -> Result<bool, StoreError> {
        let store = self.0.store.tenant(tenant).noting(act);
        if store.find_conversation(conversation).await?.is_none() {
            return Ok(false);
        }
        self.0.lanes.close(conversation).await;
        let deleted = store.delete_conversation(conversation).await;
        self.note_edit();
        // Whatever the result: a lost connection can hide a successful commit.
        self.forget_histories();
        if deleted.is_ok() {
            self.announce_deleted(tenant, conversation);
            self.0.lanes.reopen(conversation);
        } else {
            // Its lane has skipped the turns that waited.
            let acceptor = self.0.store.acceptor().await;
            self.0.lanes.reopen(conversation);
            self.look_for_turns(&acceptor, tenant, conversation);
        }
        deleted
    }

    /// Ends the streams of a deleted conversation, and notifies the console.
    pub(super) fn announce_deleted(&self, tenant: &TenantId, conversation: ConversationId) {
        self.forget_histories();
        // Readers would wait for events that never come.
        self.0.feeds.get(conversation).close();
        self.0.journal.changes().notify(tenant, conversation);
    }

    /// Drops what the engine remembers of messages, because some were deleted.
    pub(super) fn forget_histories(&self) {
        self.0.histories.clear();
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

    /// Accepts no more messages from now on.
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

    /// Runs the turns of the conversation that are in the store although nobody knows that they were accepted. No message is
    /// accepted at the same time, since its turn could run twice.
    fn look_for_turns(&self, _: &Acceptor<'_>, tenant: &TenantId, conversation: ConversationId) {
        if self.0.lanes.add_unconfirmed(conversation) {
            self.spawn_lane(tenant.clone(), conversation);
        }
    }

    fn spawn_lane(&self, tenant: TenantId, conversation: ConversationId) {
        let engine = self.clone();
        self.0.tasks.spawn(async move { engine.run_lane(&tenant, conversation).await });
    }

    async fn run_lane(&self, tenant: &TenantId, conversation: ConversationId) {
        while let Some(next) = self.0.lanes.next(conversation) {
            if !matches!(next, NextTurn::Unconfirmed) {
                self.0.waiting.fetch_sub(1, Ordering::Relaxed);
            }
            // During a shutdown, waiting turns stay queued in the store for the next start. Those of a conversation that
            // is being deleted are deleted with it.
            if self.0.draining.is_cancelled() || self.0.lanes.is_closed(conversation) {
                continue;
            }
            let (open, in_memory) = match next {
                NextTurn::Accepted(accepted) => {
                    let AcceptedTurn { open, edits_before, feed } = *accepted;
                    (Some(open), Some((edits_before, feed)))
                }
                NextTurn::Stored | NextTurn::Unconfirmed => (self.claim(tenant, conversation).await, None),
            };
            if open.as_ref().is_some_and(|open| open.conversation.last_turn > open.record.turn) {
                self.0.lanes.note_later(conversation);
            }
            match open {
                Some(open) if open.record.status == TurnStatus::Running => {
                    self.end_interrupted(tenant, &open.message).await;
                }
                Some(open) => {
                    let span = info_span!(
                        "turn",
                        conversation.id = %conversation,
                        turn = open.record.turn,
                        desk = Empty,
                        kind = Empty,
                        status = Empty,
                        otel.status_code = Empty,
                    );
                    self.run_turn(tenant, open, in_memory).instrument(span).await;
                }
                None => {}
            }
        }
    }

    /// Returns the conversation's first unfinished turn. Ends the turn if its rows cannot be read.
    async fn claim(&self, tenant: &TenantId, conversation: ConversationId) -> Option<OpenTurn> {
        let find = || async move { self.0.store.tenant(tenant).find_open_turn(conversation).await };
        match self.retry_until_available("claim a turn", find).await {
            Some(open) => open,
            None => {
                if !self.0.stop.is_cancelled() {
                    self.end_unreadable(tenant, conversation).await;
                }
                None
            }
        }
    }

    /// Ends the conversation's first unfinished turn without reading its other rows.
    async fn end_unreadable(&self, tenant: &TenantId, conversation: ConversationId) {
        let feed = self.0.feeds.get(conversation);
        let (store, feed) = (&self.0.store, feed.as_ref());
        self.retry_until_available("end an unreadable turn", || async move {
            match store.tenant(tenant).first_open_turn(conversation).await? {
                Some(turn) => recover::end_bare(store, tenant, conversation, turn, feed, Utc::now()).await,
                None => Ok(()),
            }
        })
        .await;
        self.0.journal.changes().notify(tenant, conversation);
    }

    /// Ends the turn that this message started.
    async fn end_interrupted(&self, tenant: &TenantId, message: &StoredMessage) {
        let feed = self.0.feeds.get(message.conversation_id);
        let (store, feed) = (&self.0.store, feed.as_ref());
        self.retry_until_available("end an interrupted turn", || async move {
            recover::end_interrupted(store, tenant, message, feed, Utc::now()).await
        })
        .await;
        self.0.journal.changes().notify(tenant, message.conversation_id);
    }

    /// Retries `work` while the store is unavailable. `None`: the store refused it, or the engine has stopped.
    async fn retry_until_available<T, F: Future<Output = Result<T, StoreError>>>(
        &self,
        what: &str,
        work: impl Fn() -> F,
    ) -> Option<T> {
        loop {
            match work().await {
                Ok(value) => return Some(value),
                Err(cause) if cause.is_unavailable() && !self.0.stop.is_cancelled() => {
                    warn!(error = %cause, "Waiting for the store to {what}");
                    tokio::time::sleep(STORE_RETRY).await;
                }
                Err(cause) => {
                    error!(error = %cause, "Could not {what}");
                    return None;
                }
            }
        }
    }

    /// Runs the turn. `in_memory`: the turn was not read from the store; the count of edits before it was accepted, and its
    /// feed.
    async fn run_turn(&self, tenant: &TenantId, mut open: OpenTurn, in_memory: Option<(u64, Arc<Feed>)>) {
        let (conversation, number) = (open.conversation.id, open.record.turn);
        let (jobs, generation) = (self.0.jobs.count_stored(), self.0.histories.generation());
        let cancel = self.0.lanes.begin(conversation, number);
        // After the turn can be stopped: an edit is counted first and stops the turn afterwards.
        let is_current = in_memory.as_ref().is_some_and(|(edits_before, _)| *edits_before == self.edits());
        if in_memory.is_some() && !is_current {
            match self.claim(tenant, conversation).await {
                Some(claimed) if claimed.record.turn == number => open = claimed,
                // It was deleted.
                _ => return,
            }
        }
        if open.record.cancel_requested {
            cancel.cancel();
        }
        let remembered = self.0.histories.take(conversation, number);
        let before = match remembered.filter(|_| is_current) {
            Some(history) => Some((Some(open.conversation), history)),
            None => self.read_before(tenant, is_current.then_some(open.conversation), conversation, number).await,
        };
        let Some((current, history)) = before else {
            if !self.0.stop.is_cancelled() {
                self.end_interrupted(tenant, &open.message).await;
            }
            return;
        };
        // The conversation is being deleted.
        let Some(current) = current else { return };
        let shop = self.0.shops.get(tenant);
        let persona = shop.prompts().find_persona(&current.persona);
        let desk = persona.as_ref().and_then(|persona| shop.find_desk(&persona.desk));
        let persona = persona.unwrap_or_else(|| shop.prompts().default_persona());
        let feed = self.0.feeds.get(conversation);
        drop(in_memory);
        let broken = CancellationToken::new();
        let sink = self.0.journal.sink(tenant.clone(), conversation, number, feed, broken.clone());
        let full = sink.full();
        let caller = self.0.lanes.take_caller(conversation, open.message.id);
        let message = open.message.clone();
        let (by_person, taken) = (message.sender == Sender::Agent, current.status == ConversationStatus::Taken);
        let mut turn = Turn::new(current, open.message, history, persona, caller, Box::new(sink));
        turn.note_time("waited", turn.age());
        turn.stores_at_once = self.0.jobs.embeds_in_turns();
        let ended = if by_person || taken {
            // Taking the conversation also cancelled this turn's token; only a client's request makes it cancelled.
            let is_cancelled = open.record.cancel_requested && !by_person;
            let status = if is_cancelled { TurnStatus::Cancelled } else { TurnStatus::Completed };
            person::run(&mut turn, status, &self.0.jobs).await
        } else {
            let (shutdown, deadline) = (self.0.stop.clone(), self.0.config.deadline);
            let stops = Stops { cancel, shutdown, broken, full, deadline };
            run(&mut turn, desk, &shop, &stops, &self.0.jobs).await.map(|_| ())
        };
        match ended {
            Ok(()) => self.0.histories.keep(conversation, number + 1, generation, turn.into_history(HISTORY_MESSAGES)),
            Err(SinkClosed) => self.end_interrupted(tenant, &message).await,
        }
        self.0.jobs.wake_if_stored_since(jobs);
    }

    /// Returns the current conversation, if it is not `known`, and the messages before the turn. `None`: the store cannot be
    /// read.
    ///
    /// This must run after the turn can be stopped: a handoff stores the new status first and stops the turn afterwards.
    async fn read_before(
        &self,
        tenant: &TenantId,
        known: Option<Conversation>,
        conversation: ConversationId,
        turn: u32,
    ) -> Option<(Option<Conversation>, Vec<StoredMessage>)> {
        let known = known.as_ref();
        self.retry_until_available("read the conversation", || async move {
            let store = self.0.store.tenant(tenant);
            let current = match known {
                Some(known) => Some(known.clone()),
                None => store.find_conversation(conversation).await?,
            };
            Ok((current, store.list_messages_before(conversation, turn, HISTORY_MESSAGES as u64).await?))
        })
        .await
    }
}
