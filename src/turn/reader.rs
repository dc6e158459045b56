//! Reading a conversation's events in order, each once: first what is stored, then what comes.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error};

use super::feed::{Feed, Frame, Look};
use crate::domain::{ConversationId, EventId, TenantId};
use crate::store::turns::StoredEvent;
use crate::store::{Store, StoreError};

/// How many stored events a reader fetches at once.
const PAGE: u64 = 256;
/// How long a reader waits before it asks a store again that did not answer.
const STORE_RETRY: Duration = Duration::from_millis(500);

/// What a reader comes upon.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// The next event.
    Event(Frame),
    /// What the reader has is too old, or never was: it must read the history again, and goes on behind this event.
    Reset(EventId),
}

/// Where a reader begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the next turn that begins.
    NextTurn,
    /// Behind this event, as the client says; [`EventId::ZERO`] is the beginning.
    After(EventId),
    /// The client's words name no event.
    Unknown,
}

/// Reads one conversation, or one turn of it.
pub struct Reader {
    store: Store,
    tenant: TenantId,
    conversation: ConversationId,
    feed: Arc<Feed>,
    tip: watch::Receiver<EventId>,
    cursor: Cursor,
    only: Option<u32>,
    /// Where to begin, until that is found.
    start: Option<Start>,
    ahead: VecDeque<Item>,
    ended: bool,
    /// The server goes down: what is there is read, and nothing is waited for any more.
    closing: CancellationToken,
}

/// What every reader stands on.
pub struct Source {
    pub store: Store,
    pub feed: Arc<Feed>,
    pub tenant: TenantId,
    pub conversation: ConversationId,
    pub closing: CancellationToken,
}

/// Where a reader stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    pub at: EventId,
    /// Whether `at` is its turn's last event: only then may another turn follow.
    pub ends_turn: bool,
}

/// What a look into the store came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    /// There is something to give, or the reader has ended.
    Read,
    NothingYet,
}

impl Cursor {
    /// Before everything.
    const START: Self = Self { at: EventId::ZERO, ends_turn: true };

    /// Whether `id` is the very next event.
    pub fn is_followed_by(self, id: EventId) -> bool {
        let same_turn = id.turn == self.at.turn && id.n == self.at.n + 1;
        let next_turn = self.ends_turn && id.turn == self.at.turn + 1 && id.n == 1;
        same_turn || next_turn
    }
}

impl Reader {
    /// Reads one turn from its first event to its `turn.done`.
    pub fn of_turn(source: Source, turn: u32) -> Self {
        Self::new(source, Cursor { at: EventId::new(turn, 0), ends_turn: false }, Some(turn))
    }

    /// Reads the conversation from `start` on, for ever. Asks the store nothing yet.
    pub fn of_conversation(source: Source, start: Start) -> Self {
        Self { start: Some(start), ..Self::new(source, Cursor::START, None) }
    }

    fn new(source: Source, cursor: Cursor, only: Option<u32>) -> Self {
        let Source { store, feed, tenant, conversation, closing } = source;
        // Subscribed before anything is read: what comes in between wakes the first wait.
        let tip = feed.subscribe();
        Self {
            store,
            tenant,
            conversation,
            feed,
            tip,
            cursor,
            only,
            start: None,
            ahead: VecDeque::new(),
            ended: false,
            closing,
        }
    }

    /// Finds the place to begin at, now and not with the first event: what is said afterwards will be read. A store that
    /// does not answer is asked again by [`Reader::next`].
    pub async fn settle(&mut self) {
        if let Some(start) = self.start
            && self.begin(start).await.is_ok()
        {
            self.start = None;
        }
    }

    /// The next event, or a reset; waits for it, and for a store that does not answer. `None`: the turn to be read, the
    /// conversation or the server has ended.
    pub async fn next(&mut self) -> Option<Item> {
        loop {
            match self.try_next().await {
                Ok(item) => return item,
                Err(cause) if cause.is_unavailable() => {
                    debug!(error = %cause, "A reader waits for the store");
                    tokio::select! {
                        () = tokio::time::sleep(STORE_RETRY) => {}
                        () = self.closing.cancelled() => return None,
                    }
                }
                Err(cause) => {
                    error!(error = %cause, "A reader could not read the store");
                    return None;
                }
            }
        }
    }

    /// As [`Reader::next`], for one try. After an error what was read so far is a beginning without gaps, and the call
    /// may be repeated.
    async fn try_next(&mut self) -> Result<Option<Item>, StoreError> {
        // The store's futures are large, and boxed: a reader waits nearly all its life, and would keep room for them.
        if let Some(start) = self.start {
            Box::pin(self.begin(start)).await?;
            self.start = None;
        }
        loop {
            if let Some(item) = self.ahead.pop_front() {
                if let Item::Event(frame) = &item {
                    self.cursor = Cursor { at: frame.id, ends_turn: frame.ends_turn() };
                    self.ended |= self.only.is_some() && frame.ends_turn();
                }
                return Ok(Some(item));
            }
            if self.ended {
                return Ok(None);
            }
            // Marked as seen *before* looking: an event that comes in between wakes the wait below. Likewise what says that
            // nothing more will come is asked first: what came before it is then found.
            self.tip.borrow_and_update();
            let over = self.closing.is_cancelled() || self.feed.is_closed();
            match self.feed.look(self.cursor, self.only) {
                Look::Here(frames) if !frames.is_empty() => self.ahead = frames.into_iter().map(Item::Event).collect(),
                Look::Here(_) if over => self.ended = true,
                Look::Here(_) => self.wait().await,
                Look::Store => {
                    if Box::pin(self.look_in_store(over)).await? == Stored::NothingYet {
                        self.wait().await;
                    }
                }
            }
        }
    }

    /// Reads what stands behind the cursor from the store. `over`: nothing more will come.
    async fn look_in_store(&mut self, over: bool) -> Result<Stored, StoreError> {
        let over = over || self.turn_is_over().await?;
        let events = self.stored().await?;
        match events.first() {
            Some(first) if self.cursor.is_followed_by(first.id) => self.take_in(events),
            // Events that should stand in between are past their keeping.
            Some(_) => self.reset().await?,
            None if over => self.ended = true,
            None if self.is_left_behind().await? => self.reset().await?,
            None if self.is_cut_off().await? => {
                self.cursor.ends_turn = true;
                self.ahead = [Item::Reset(self.cursor.at)].into();
            }
            None => return Ok(Stored::NothingYet),
        }
        Ok(Stored::Read)
    }

    /// Finds the place to begin at.
    async fn begin(&mut self, start: Start) -> Result<(), StoreError> {
        match start {
            Start::NextTurn => self.cursor = self.before_next_turn().await?,
            Start::After(id) => match self.place(id).await? {
                Some(cursor) => self.cursor = cursor,
                None => self.reset().await?,
            },
            Start::Unknown => self.reset().await?,
        }
        Ok(())
    }

    /// Queues a page of stored events as far as it has no gap; what is behind a gap is read, and judged, next time.
    fn take_in(&mut self, events: Vec<StoredEvent>) {
        let mut cursor = self.cursor;
        for frame in events.into_iter().map(Frame::from) {
            if !cursor.is_followed_by(frame.id) {
                break;
            }
            cursor = Cursor { at: frame.id, ends_turn: frame.ends_turn() };
            self.ahead.push_back(Item::Event(frame));
        }
    }

    async fn stored(&self) -> Result<Vec<StoredEvent>, StoreError> {
        self.store.tenant(&self.tenant).list_events(self.conversation, self.cursor.at, self.only, PAGE).await
    }

    async fn wait(&mut self) {
        tokio::select! {
            // The sender lives in the feed that we hold, so this cannot fail.
            _ = self.tip.changed() => {}
            () = self.feed.closed() => {}
            () = self.closing.cancelled() => {}
        }
    }

    /// Whether the one turn to be read has ended; its events may be past their keeping.
    async fn turn_is_over(&self) -> Result<bool, StoreError> {
        let Some(turn) = self.only else { return Ok(false) };
        let record = self.store.tenant(&self.tenant).find_turn(self.conversation, turn).await?;
        Ok(record.is_none_or(|record| record.status.has_ended()))
    }

    /// Whether turns have ended behind the cursor and nothing is stored of them any more.
    async fn is_left_behind(&self) -> Result<bool, StoreError> {
        if self.only.is_some() {
            return Ok(false);
        }
        let conversation = self.store.tenant(&self.tenant).find_conversation(self.conversation).await?;
        // Looked for once more: they may have come since nothing was found.
        Ok(conversation.is_some_and(|conversation| conversation.last_event_id > self.cursor.at)
            && self.stored().await?.is_empty())
    }

    /// Whether the turn that is being read ended without a `turn.done`, because the database refused it.
    async fn is_cut_off(&self) -> Result<bool, StoreError> {
        if self.only.is_some() || self.cursor.ends_turn {
            return Ok(false);
        }
        let turn = self.store.tenant(&self.tenant).find_turn(self.conversation, self.cursor.at.turn).await?;
        // Looked for once more: the rest may have come since nothing was found.
        Ok(turn.is_some_and(|turn| turn.status.has_ended()) && self.stored().await?.is_empty())
    }

    /// Goes on behind the last ended turn.
    async fn reset(&mut self) -> Result<(), StoreError> {
        let conversation = self.store.tenant(&self.tenant).find_conversation(self.conversation).await?;
        let Some(conversation) = conversation else {
            self.ended = true;
            return Ok(());
        };
        self.cursor = Cursor { at: conversation.last_event_id, ends_turn: true };
        self.ahead = [Item::Reset(self.cursor.at)].into();
        // Who wanted one turn has no use for the others.
        self.ended = self.only.is_some();
        Ok(())
    }

    /// Behind everything that has begun.
    async fn before_next_turn(&self) -> Result<Cursor, StoreError> {
        let store = self.store.tenant(&self.tenant);
        let begun = store.last_begun_turn(self.conversation).await?;
        Ok(Cursor { at: EventId::new(begun, EventId::BEHIND_ALL), ends_turn: true })
    }

    /// The place that a client names, if what follows it can still be read from there without a gap.
    async fn place(&self, id: EventId) -> Result<Option<Cursor>, StoreError> {
        let store = self.store.tenant(&self.tenant);
        let cursor = if id == EventId::ZERO {
            Cursor::START
        } else {
            let Some(turn) = store.find_turn(self.conversation, id.turn).await? else { return Ok(None) };
            let known = if turn.status.has_ended() {
                turn.events
            } else {
                store.last_event(self.conversation, id.turn).await?
            };
            if id.n == 0 || id.n > known {
                return Ok(None);
            }
            Cursor { at: id, ends_turn: turn.status.has_ended() && id.n == known }
        };
        // A gap right behind the place (events past their keeping) is seen by the first read; one that leaves nothing
        // behind it would look like having nothing to read yet.
        let next = if cursor.ends_turn { EventId::new(id.turn + 1, 0) } else { id };
        match store.find_turn(self.conversation, next.turn).await? {
            Some(turn) if turn.status.has_ended() && turn.events > next.n && !turn.events_kept => Ok(None),
            _ => Ok(Some(cursor)),
        }
    }
}
