//! Running each conversation's turns in order. Messages are taken in by [`accept`]; [`handoff`] changes who answers
//! them; [`announce`] starts turns of the shop itself.

mod accept;
mod announce;
mod handoff;

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use chrono::Utc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::field::Empty;
use tracing::{Instrument, error, info, info_span, warn};

use super::feed::Feeds;
use super::journal::Journal;
use super::lane::Lanes;
use super::outbox::Outbox;
use super::reader::{Reader, Source, Start};
use super::run::{Stops, run};
use super::{person, recover};
use crate::config::TurnConfig;
use crate::desks::{Caller, Desks, Turn};
use crate::domain::{
    ConsoleAct, Conversation, ConversationId, ConversationStatus, Message as StoredMessage, MessageId, Sender,
};
use crate::domain::{TenantId, TurnStatus};
use crate::store::turns::OpenTurn;
use crate::store::{Store, StoreError};

pub use accept::{AcceptError, Accepted, Message};

/// How many messages before its own a turn looks back at.
const HISTORY_MESSAGES: u64 = 80;
/// How long a lane waits before it asks a store again that did not answer.
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
    desks: Arc<ArcSwap<Desks>>,
    journal: Journal,
    outbox: Arc<Outbox>,
    feeds: Feeds,
    lanes: Lanes,
    /// Turns of all conversations that are accepted and have not begun.
    waiting: AtomicUsize,
    /// Who sent the messages that wait: known to this process only, since an address is nothing to keep.
    callers: Mutex<HashMap<MessageId, Caller>>,
    tasks: TaskTracker,
    draining: CancellationToken,
    stop: CancellationToken,
    closing: CancellationToken,
}

impl Engine {
    /// The engine. Its tasks run on `tasks`.
    pub fn new(
        config: TurnConfig,
        store: Store,
        desks: Arc<ArcSwap<Desks>>,
        journal: Journal,
        outbox: Arc<Outbox>,
        tasks: TaskTracker,
    ) -> Self {
        Self(Arc::new(Inner {
            config,
            store,
            desks,
            journal,
            outbox,
            feeds: Feeds::default(),
            lanes: Lanes::default(),
            waiting: AtomicUsize::new(0),
            callers: Mutex::default(),
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

    /// Reads the conversation's events from `start` on, for ever.
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

    /// Stops a turn, or keeps it from beginning: the wish is stored, then carried out. Such a turn has its place, its
    /// `turn.start` and its `turn.done` all the same.
    pub async fn cancel(&self, tenant: &TenantId, conversation: ConversationId, turn: u32) -> Result<(), CancelError> {
        let (engine, tenant) = (self.clone(), tenant.clone());
        self.to_its_end(async move { engine.cancel_now(&tenant, conversation, turn).await }).await
    }

    async fn cancel_now(&self, tenant: &TenantId, conversation: ConversationId, turn: u32) -> Result<(), CancelError> {
        match self.0.store.tenant(tenant).request_cancel(conversation, turn).await? {
            None => Err(CancelError::NotFound),
            Some(Err(_)) => Err(CancelError::Ended),
            Some(Ok(())) => {
                self.0.lanes.cancel(conversation, turn);
                Ok(())
            }
        }
    }

    /// Stops the conversation's turns, waits for the running one, and removes everything. `false`: there was none.
    /// `act`: who does it, for the console's audit log.
    pub async fn delete(
        &self,
        tenant: &TenantId,
        conversation: ConversationId,
        act: Option<ConsoleAct>,
    ) -> Result<bool, StoreError> {
        let (engine, tenant) = (self.clone(), tenant.clone());
        self.to_its_end(async move { engine.delete_now(&tenant, conversation, act.as_ref()).await }).await
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
        if deleted.is_ok() {
            self.announce_deleted(tenant, conversation);
        }
        self.0.lanes.reopen(conversation);
        deleted
    }

    /// Ends the streams of a deleted conversation, and notifies the console.
    pub(super) fn announce_deleted(&self, tenant: &TenantId, conversation: ConversationId) {
        self.0.feeds.get(conversation).close();
        self.0.journal.changes().tell(tenant, conversation);
    }

    pub(super) fn store(&self) -> &Store {
        &self.0.store
    }

    /// Does the work on a task of its own: a client that leaves drops its request's future wherever it stands, and a
    /// message that is stored and never run, a conversation that stays closed, or a wish that is stored and never carried out
    /// must not come of that.
    async fn to_its_end<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> T {
        match self.0.tasks.spawn(work.in_current_span()).await {
            Ok(value) => value,
            Err(lost) => match lost.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // Only the runtime's own end cancels the task.
                Err(_) => std::future::pending().await,
            },
        }
    }

    /// Goes on with what an earlier process left behind: running turns are ended, queued ones run.
    pub async fn recover(&self) -> Result<(), StoreError> {
        let unfinished = self.0.store.list_unfinished().await?;
        if !unfinished.is_empty() {
            info!(conversations = unfinished.len(), "Going on with turns that an earlier run left");
        }
        for (tenant, conversation, turns) in unfinished {
            let turns = usize::try_from(turns).unwrap_or(usize::MAX);
            self.0.waiting.fetch_add(turns, Ordering::Relaxed);
            self.enqueue(tenant, conversation, turns);
        }
        Ok(())
    }

    /// Takes no more messages from now on.
    pub fn drain(&self) {
        self.0.draining.cancel();
    }

    /// Whether the engine is going down.
    pub fn is_draining(&self) -> bool {
        self.0.draining.is_cancelled()
    }

    /// Ends running turns as interrupted.
    pub fn stop(&self) {
        self.0.draining.cancel();
        self.0.stop.cancel();
    }

    /// Ends the readers, once they have read what is there.
    pub fn close_readers(&self) {
        self.0.closing.cancel();
    }

    fn callers<T>(&self, work: impl FnOnce(&mut HashMap<MessageId, Caller>) -> T) -> T {
        work(&mut self.0.callers.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives turns, which count as waiting already, to their conversation's lane.
    fn enqueue(&self, tenant: TenantId, conversation: ConversationId, turns: usize) {
        if self.0.lanes.add(conversation, turns) {
            let engine = self.clone();
            self.0.tasks.spawn(async move { engine.run_lane(&tenant, conversation).await });
        }
    }

    async fn run_lane(&self, tenant: &TenantId, conversation: ConversationId) {
        while self.0.lanes.next(conversation).is_some() {
            self.0.waiting.fetch_sub(1, Ordering::Relaxed);
            // When the server goes down, what waits stays queued in the store, and the next start runs it; what waits in
            // a conversation that is being deleted goes with it.
            if self.0.draining.is_cancelled() || self.0.lanes.is_closed(conversation) {
                continue;
            }
            match self.claim(tenant, conversation).await {
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
                    self.run_turn(tenant, open).instrument(span).await;
                }
                None => {}
            }
        }
    }

    /// The conversation's first turn that has not ended; asks until the store answers. A turn that cannot be read is ended.
    async fn claim(&self, tenant: &TenantId, conversation: ConversationId) -> Option<OpenTurn> {
        let find = || async move { self.0.store.tenant(tenant).find_open_turn(conversation).await };
        match self.patiently("claim a turn", find).await {
            Some(open) => open,
            None => {
                if !self.0.stop.is_cancelled() {
                    self.end_unreadable(tenant, conversation).await;
                }
                None
            }
        }
    }

    /// Ends the conversation's first turn that has not ended, without reading the rest of its rows.
    async fn end_unreadable(&self, tenant: &TenantId, conversation: ConversationId) {
        let feed = self.0.feeds.get(conversation);
        let (store, feed) = (&self.0.store, feed.as_ref());
        self.patiently("end an unreadable turn", || async move {
            match store.tenant(tenant).first_open_turn(conversation).await? {
                Some(turn) => recover::end_bare(store, tenant, conversation, turn, feed, Utc::now()).await,
                None => Ok(()),
            }
        })
        .await;
        self.0.journal.changes().tell(tenant, conversation);
    }

    /// Ends the turn that this message began.
    async fn end_interrupted(&self, tenant: &TenantId, message: &StoredMessage) {
        let feed = self.0.feeds.get(message.conversation_id);
        let (store, feed) = (&self.0.store, feed.as_ref());
        self.patiently("end an interrupted turn", || async move {
            recover::end_interrupted(store, tenant, message, feed, Utc::now()).await
        })
        .await;
        self.0.journal.changes().tell(tenant, message.conversation_id);
    }

    /// Does the work again until the store answers, or the engine stops. `None`: it was refused, or there is no time.
    async fn patiently<T, F: Future<Output = Result<T, StoreError>>>(
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

    async fn run_turn(&self, tenant: &TenantId, open: OpenTurn) {
        let (conversation, number) = (open.conversation.id, open.record.turn);
        let cancel = self.0.lanes.begin(conversation, number);
        if open.record.cancel_requested {
            cancel.cancel();
        }
        let Some((current, history)) = self.read_before(tenant, conversation, number).await else {
            if !self.0.stop.is_cancelled() {
                self.end_interrupted(tenant, &open.message).await;
            }
            return;
        };
        // Gone: it is being deleted, and the lane is told so.
        let Some(current) = current else { return };
        let desks = self.0.desks.load_full();
        let persona = desks.prompts().find_persona(&current.persona);
        let desk = persona.as_ref().and_then(|persona| desks.find(&persona.desk));
        let persona = persona.unwrap_or_else(|| desks.prompts().default_persona());
        let feed = self.0.feeds.get(conversation);
        let broken = CancellationToken::new();
        let sink = self.0.journal.sink(tenant.clone(), conversation, number, feed, broken.clone());
        let full = sink.full();
        let caller = self.callers(|callers| callers.remove(&open.message.id)).unwrap_or_default();
        let message = open.message.clone();
        let (by_person, taken) = (message.sender == Sender::Agent, current.status == ConversationStatus::Taken);
        let mut turn = Turn::new(current, open.message, history, persona, caller, Box::new(sink));
        turn.note_time("waited", turn.age());
        turn.stores_at_once = self.0.outbox.is_awaited();
        let ended = if by_person || taken {
            // Whoever took the conversation stops what runs, and this is not meant.
            let unwanted = open.record.cancel_requested && !by_person;
            let status = if unwanted { TurnStatus::Cancelled } else { TurnStatus::Completed };
            person::run(&mut turn, status, &self.0.outbox).await
        } else {
            let (shutdown, deadline) = (self.0.stop.clone(), self.0.config.deadline);
            let stops = Stops { cancel, shutdown, broken, full, deadline };
            run(&mut turn, desk, &desks, &stops, &self.0.outbox).await.map(|_| ())
        };
        if ended.is_err() {
            self.end_interrupted(tenant, &message).await;
        }
        self.0.outbox.wake();
    }

    /// The conversation as it is now, and the messages before the turn. `None`: the store gives nothing.
    ///
    /// Read after the turn can be stopped: who takes the conversation over stores that first and stops the turn after.
    async fn read_before(
        &self,
        tenant: &TenantId,
        conversation: ConversationId,
        turn: u32,
    ) -> Option<(Option<Conversation>, Vec<StoredMessage>)> {
        self.patiently("read the conversation", || async move {
            let store = self.0.store.tenant(tenant);
            let current = store.find_conversation(conversation).await?;
            Ok((current, store.list_messages_before(conversation, turn, HISTORY_MESSAGES).await?))
        })
        .await
    }
}
