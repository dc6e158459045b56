//! Reads a conversation's events in order, each exactly once: stored events first, then live ones.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error};

use super::feed::{Feed, Frame, Look};
use crate::domain::{ConversationId, EventId, TenantId};
use crate::store::turns::StoredEvent;
use crate::store::{Store, StoreError, TenantStore};

/// How many stored events a reader fetches at once.
const PAGE: u64 = 256;
/// How long a reader waits before it retries an unavailable store.
const STORE_RETRY: Duration = Duration::from_millis(500);

/// What a reader returns.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// The next event.
    Event(Frame),
    /// The reader's position is too old or unknown. The client must read the history again; the reader resumes after this
    /// event.
    Reset(EventId),
}

/// Where a reader starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the next turn that starts.
    NextTurn,
    /// After this event, which the client names. [`EventId::ZERO`] is the beginning.
    After(EventId),
    /// The client named no valid event.
    Unknown,
}

/// Reads one conversation, or one turn of it.
pub struct Reader {
    source: Source,
    tip: watch::Receiver<EventId>,
    cursor: Cursor,
    only: Option<u32>,
    /// The start that is not resolved yet.
    start: Option<Start>,
    ahead: VecDeque<Item>,
    ended: bool,
}

/// What a reader needs.
pub struct Source {
    pub store: Store,
    pub feed: Arc<Feed>,
    pub tenant: TenantId,
    pub conversation: ConversationId,
    /// The server is shutting down: the reader ends after the stored events.
    pub closing: CancellationToken,
}

/// The position of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    pub at: EventId,
    /// Whether `at` is the last event of its turn. Only then may another turn follow.
    pub ends_turn: bool,
}

/// The state of the one turn that a reader reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TurnToRead {
    Running,
    /// It has ended, or was deleted.
    Over,
    /// It has ended, and the reader's next events were deleted after their retention period.
    Forgotten,
}

impl Cursor {
    /// Before everything.
    const START: Self = Self { at: EventId::ZERO, ends_turn: true };

    /// Whether `id` is the next event without a gap.
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

    /// Reads the conversation from `start` on. Does not read the store yet.
    pub fn of_conversation(source: Source, start: Start) -> Self {
        Self { start: Some(start), ..Self::new(source, Cursor::START, None) }
    }

    fn new(source: Source, cursor: Cursor, only: Option<u32>) -> Self {
        // Subscribed before anything is read, so that an event in between wakes the first wait.
        let tip = source.feed.subscribe();
        Self { source, tip, cursor, only, start: None, ahead: VecDeque::new(), ended: false }
    }

    fn store(&self) -> TenantStore<'_> {
        self.source.store.tenant(&self.source.tenant)
    }

    /// Resolves the start now, so that all later events are read. If the store is unavailable, [`Reader::next`] retries.
    pub async fn resolve_start(&mut self) {
        if let Some(start) = self.start
            && self.begin(start).await.is_ok()
        {
            self.start = None;
        }
    }

    /// Waits for the next event or reset, and for the store if it is unavailable. `None`: the turn, the conversation or the
    /// server has ended.
    pub async fn next(&mut self) -> Option<Item> {
        loop {
            match self.try_next().await {
                Ok(item) => return item,
                Err(cause) if cause.is_unavailable() => {
                    debug!(error = %cause, "A reader is waiting for the store");
                    tokio::select! {
                        () = tokio::time::sleep(STORE_RETRY) => {}
                        () = self.source.closing.cancelled() => return None,
                    }
                }
                Err(cause) => {
                    error!(error = %cause, "A reader could not read the store");
                    return None;
                }
            }
        }
    }

    /// Like [`Reader::next`] without retries. After an error, the call may be repeated: events that were read before have no
    /// gap.
    async fn try_next(&mut self) -> Result<Option<Item>, StoreError> {
        // The store's futures are large. Boxed, they take no memory while the reader waits, which is most of the time.
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
            // Mark the tip as seen before looking, so that an event in between wakes the wait below. Check for the end
            // before looking as well, so that the last events are found.
            self.tip.borrow_and_update();
            let over = self.source.closing.is_cancelled() || self.source.feed.is_closed();
            match self.source.feed.look(self.cursor, self.only) {
                Look::Here(frames) if !frames.is_empty() => self.ahead = frames.into_iter().map(Item::Event).collect(),
                Look::Here(_) if over => self.ended = true,
                Look::Here(_) => self.wait().await,
                Look::Store => {
                    if !Box::pin(self.look_in_store(over)).await? {
                        self.wait().await;
                    }
                }
            }
        }
    }

    /// Reads the events after the cursor from the store. `over`: no more events will come. Returns `false` if the reader has to wait for
    /// more.
    async fn look_in_store(&mut self, over: bool) -> Result<bool, StoreError> {
        let read = self.turn_to_read().await?;
        let over = over || read == Some(TurnToRead::Over);
        let events = self.stored().await?;
        match events.first() {
            Some(first) if self.cursor.is_followed_by(first.id) => self.queue_events(events),
            // The events in between were deleted after their retention period.
            Some(_) => self.reset().await?,
            None if read == Some(TurnToRead::Forgotten) => self.reset().await?,
            None if over => self.ended = true,
            None if self.has_lost_events().await? => self.reset().await?,
            None if self.is_cut_off().await? => {
                self.cursor.ends_turn = true;
                self.ahead = [Item::Reset(self.cursor.at)].into();
            }
            None => return Ok(false),
        }
        Ok(true)
    }

    /// Sets the cursor to the start.
    async fn begin(&mut self, start: Start) -> Result<(), StoreError> {
        match start {
            Start::NextTurn => self.cursor = self.before_next_turn().await?,
            Start::After(id) => match self.find_position(id).await? {
                Some(cursor) => self.cursor = cursor,
                None => self.reset().await?,
            },
            Start::Unknown => self.reset().await?,
        }
        Ok(())
    }

    /// Queues stored events up to the first gap. The next call handles the gap.
    fn queue_events(&mut self, events: Vec<StoredEvent>) {
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
        self.store().list_events(self.source.conversation, self.cursor.at, self.only, PAGE).await
    }

    async fn wait(&mut self) {
        tokio::select! {
            // The feed holds the sender, so this cannot fail.
            _ = self.tip.changed() => {}
            () = self.source.feed.closed() => {}
            () = self.source.closing.cancelled() => {}
        }
    }

    /// Returns the state of the one turn to read.
    async fn turn_to_read(&self) -> Result<Option<TurnToRead>, StoreError> {
        let Some(turn) = self.only else { return Ok(None) };
        let record = self.store().find_turn(self.source.conversation, turn).await?;
        Ok(Some(match record {
            Some(record) if !record.status.has_ended() => TurnToRead::Running,
            Some(record) if record.events > self.cursor.at.n && !record.events_kept => TurnToRead::Forgotten,
            _ => TurnToRead::Over,
        }))
    }

    /// Whether turns after the cursor have ended and all of their events were deleted.
    async fn has_lost_events(&self) -> Result<bool, StoreError> {
        if self.only.is_some() {
            return Ok(false);
        }
        let conversation = self.store().find_conversation(self.source.conversation).await?;
        // Look again: events may have been stored since.
        Ok(conversation.is_some_and(|conversation| conversation.last_event_id > self.cursor.at)
            && self.stored().await?.is_empty())
    }

    /// Whether the turn that is being read ended without a `turn.done`, because the database refused it.
    async fn is_cut_off(&self) -> Result<bool, StoreError> {
        if self.only.is_some() || self.cursor.ends_turn {
            return Ok(false);
        }
        let turn = self.store().find_turn(self.source.conversation, self.cursor.at.turn).await?;
        // Look again: events may have been stored since.
        Ok(turn.is_some_and(|turn| turn.status.has_ended()) && self.stored().await?.is_empty())
    }

    /// Resumes after the last ended turn.
    async fn reset(&mut self) -> Result<(), StoreError> {
        let conversation = self.store().find_conversation(self.source.conversation).await?;
        let Some(conversation) = conversation else {
            self.ended = true;
            return Ok(());
        };
        self.cursor = Cursor { at: conversation.last_event_id, ends_turn: true };
        self.ahead = [Item::Reset(self.cursor.at)].into();
        // A reader of one turn does not continue with others.
        self.ended = self.only.is_some();
        Ok(())
    }

    /// Returns the position after every turn that has started.
    async fn before_next_turn(&self) -> Result<Cursor, StoreError> {
        let store = self.store();
        let begun = store.last_begun_turn(self.source.conversation).await?;
        Ok(Cursor { at: EventId::new(begun, EventId::AFTER_ALL), ends_turn: true })
    }

    /// Returns the position of the event that a client names, if all later events are still stored.
    async fn find_position(&self, id: EventId) -> Result<Option<Cursor>, StoreError> {
        let store = self.store();
        let cursor = if id == EventId::ZERO {
            Cursor::START
        } else {
            let Some(turn) = store.find_turn(self.source.conversation, id.turn).await? else { return Ok(None) };
            let known = if turn.status.has_ended() {
                turn.events
            } else {
                store.last_event(self.source.conversation, id.turn).await?
            };
            // A turn that the database refused may have no events.
            if id.n > known || (id.n == 0 && (known > 0 || !turn.status.has_ended())) {
                return Ok(None);
            }
            Cursor { at: id, ends_turn: turn.status.has_ended() && id.n == known }
        };
        // The first read detects deleted events that are followed by stored ones. If none follow, it would wait for new
        // events instead, so check that case here.
        let next = if cursor.ends_turn { EventId::new(id.turn + 1, 0) } else { id };
        match store.find_turn(self.source.conversation, next.turn).await? {
            Some(turn) if turn.status.has_ended() && turn.events > next.n && !turn.events_kept => Ok(None),
            _ => Ok(Some(cursor)),
        }
    }
}
