//! Showing a conversation's events to its readers.
//!
//! The running turn is an append-only list in memory; each reader keeps a cursor of its own and is woken by a watch
//! channel. A reader that is behind the running turn reads the store, where everything already stands. So a slow reader
//! costs nothing, blocks nobody and loses nothing.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use tokio::sync::watch;

use crate::domain::{ConversationId, EventId, TenantId};
use crate::store::turns::StoredEvent;
use crate::store::{Store, StoreError};

/// How many stored events a reader fetches at once.
const PAGE: u64 = 256;

/// An event as a reader gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub id: EventId,
    /// The event's JSON.
    pub body: Arc<str>,
}

impl Frame {
    /// Whether this is its turn's last event.
    pub fn ends_turn(&self) -> bool {
        // The tag is always written first.
        self.body.starts_with(r#"{"type":"turn.done""#)
    }
}

impl From<StoredEvent> for Frame {
    fn from(event: StoredEvent) -> Self {
        Self { id: event.id, body: event.body.into() }
    }
}

/// One conversation's live end.
#[derive(Debug)]
pub struct Feed {
    live: RwLock<VecDeque<Frame>>,
    /// The last event that was shown.
    tip: watch::Sender<EventId>,
    /// Nothing will be shown any more.
    over: AtomicBool,
}

/// What the live list can say to a reader.
#[derive(Debug, PartialEq)]
enum Look {
    /// The events behind the reader's cursor; none: wait.
    Here(Vec<Frame>),
    /// The list begins too late (or is empty): read the store.
    Store,
}

impl Feed {
    fn new() -> Self {
        Self {
            live: RwLock::new(VecDeque::new()),
            tip: watch::Sender::new(EventId::ZERO),
            over: AtomicBool::new(false),
        }
    }

    /// Shows an event that is stored. A new turn's first event takes the place of the turn before; so does an event
    /// behind others that are stored and were never shown, since the list has no gaps.
    pub fn publish(&self, frame: Frame) {
        let id = frame.id;
        {
            let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
            if live.back().is_some_and(|last| (last.id.turn, last.id.n + 1) != (id.turn, id.n)) {
                live.clear();
            }
            live.push_back(frame);
        }
        self.tip.send_replace(id);
    }

    /// Nothing will be shown any more: readers end with what there is.
    pub fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
        self.tip.send_modify(|_| {});
    }

    /// What stands behind `cursor`; `only` that turn, where it is given.
    fn look(&self, cursor: EventId, only: Option<u32>) -> Look {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        let Some(first) = live.front().map(|frame| frame.id) else { return Look::Store };
        if only.is_some_and(|turn| first.turn < turn) {
            // The wanted turn comes after the one that runs.
            return Look::Here(Vec::new());
        }
        if cursor.turn != first.turn || cursor.n + 1 < first.n {
            return Look::Store;
        }
        let skip = usize::try_from(cursor.n + 1 - first.n).unwrap_or(usize::MAX);
        Look::Here(live.iter().skip(skip).cloned().collect())
    }
}

/// The feeds that somebody writes to or reads from.
#[derive(Debug, Default)]
pub struct Feeds {
    feeds: Mutex<HashMap<ConversationId, Weak<Feed>>>,
}

impl Feeds {
    /// The conversation's feed, made if there is none. It lives as long as somebody holds it.
    pub fn get(&self, conversation: ConversationId) -> Arc<Feed> {
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(feed) = feeds.get(&conversation).and_then(Weak::upgrade) {
            return feed;
        }
        // Entries of feeds that are gone are swept when the table has doubled, so the sweep costs nothing on average.
        if feeds.len() == feeds.capacity() {
            feeds.retain(|_, feed| feed.strong_count() > 0);
        }
        let feed = Arc::new(Feed::new());
        feeds.insert(conversation, Arc::downgrade(&feed));
        feed
    }

    /// Ends every feed that somebody reads.
    pub fn end_all(&self) {
        let feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        feeds.values().filter_map(Weak::upgrade).for_each(|feed| feed.end());
    }
}

/// Reads a conversation's events in order, each once: first what is stored, then what comes.
pub struct Reader {
    store: Store,
    tenant: TenantId,
    conversation: ConversationId,
    feed: Arc<Feed>,
    tip: watch::Receiver<EventId>,
    cursor: EventId,
    only: Option<u32>,
    ahead: VecDeque<Frame>,
    ended: bool,
}

impl Reader {
    /// Reads one turn from its first event to its `turn.done`.
    pub fn of_turn(store: Store, feed: Arc<Feed>, tenant: TenantId, conversation: ConversationId, turn: u32) -> Self {
        let tip = feed.tip.subscribe();
        let cursor = EventId::new(turn, 0);
        Self { store, tenant, conversation, feed, tip, cursor, only: Some(turn), ahead: VecDeque::new(), ended: false }
    }

    /// The next event; waits for it. `None`: the turn has ended.
    ///
    /// # Errors
    /// The store does not answer; what was read so far is a beginning without gaps.
    pub async fn next(&mut self) -> Result<Option<Frame>, StoreError> {
        loop {
            if self.ended {
                return Ok(None);
            }
            if let Some(frame) = self.ahead.pop_front() {
                self.cursor = frame.id;
                self.ended = self.only.is_some() && frame.ends_turn();
                return Ok(Some(frame));
            }
            // Marked as seen *before* looking: an event that comes in between wakes the wait below.
            self.tip.borrow_and_update();
            let over = self.feed.over.load(Ordering::SeqCst);
            match self.feed.look(self.cursor, self.only) {
                Look::Here(frames) if !frames.is_empty() => self.ahead = frames.into(),
                Look::Here(_) if over => self.ended = true,
                Look::Here(_) => self.wait().await,
                Look::Store => {
                    if self.read_on().await? {
                        continue;
                    }
                    // Looked for once more where the turn has ended: it may have done all its work between the two
                    // questions to the store.
                    if !over && !self.turn_is_over().await? {
                        self.wait().await;
                    } else if !self.read_on().await? {
                        self.ended = true;
                    }
                }
            }
        }
    }

    /// Reads the next events from the store. `false`: there are none.
    async fn read_on(&mut self) -> Result<bool, StoreError> {
        let tenant = self.store.tenant(&self.tenant);
        let events = tenant.list_events(self.conversation, self.cursor, self.only, PAGE).await?;
        self.ahead = events.into_iter().map(Frame::from).collect();
        Ok(!self.ahead.is_empty())
    }

    async fn wait(&mut self) {
        // The sender lives in the feed that we hold, so this cannot fail.
        let _ = self.tip.changed().await;
    }

    /// Whether the turn to be read has ended and left nothing more to read (its events may be past their keeping).
    async fn turn_is_over(&self) -> Result<bool, StoreError> {
        let Some(turn) = self.only else { return Ok(false) };
        let record = self.store.tenant(&self.tenant).find_turn(self.conversation, turn).await?;
        Ok(record.is_none_or(|record| record.status.has_ended()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(turn: u32, n: u32) -> Frame {
        Frame { id: EventId::new(turn, n), body: format!("{turn}.{n}").into() }
    }

    #[test]
    fn a_reader_is_sent_to_the_store_for_what_the_live_list_lacks() {
        let feed = Feed::new();
        assert_eq!(feed.look(EventId::new(3, 0), Some(3)), Look::Store);
        feed.publish(frame(3, 1));
        feed.publish(frame(3, 2));
        assert_eq!(feed.look(EventId::new(3, 0), Some(3)), Look::Here(vec![frame(3, 1), frame(3, 2)]));
        assert_eq!(feed.look(EventId::new(3, 1), None), Look::Here(vec![frame(3, 2)]));
        assert_eq!(feed.look(EventId::new(3, 2), None), Look::Here(vec![]));
        assert_eq!(feed.look(EventId::new(2, 9), None), Look::Store);
        assert_eq!(feed.look(EventId::new(4, 0), Some(4)), Look::Here(vec![]), "a later turn is waited for");
        feed.publish(frame(4, 1));
        assert_eq!(feed.look(EventId::new(3, 2), Some(3)), Look::Store, "an earlier turn is in the store");
        // A turn that was begun by a process that died is shown from its middle on.
        let resumed = Feed::new();
        resumed.publish(frame(5, 7));
        assert_eq!(resumed.look(EventId::new(5, 3), None), Look::Store);
        assert_eq!(resumed.look(EventId::new(5, 6), None), Look::Here(vec![frame(5, 7)]));
        // A commit that happened although it seemed lost: 8 and 9 are stored and were never shown.
        resumed.publish(frame(5, 10));
        assert_eq!(resumed.look(EventId::new(5, 7), None), Look::Store);
        assert_eq!(resumed.look(EventId::new(5, 9), None), Look::Here(vec![frame(5, 10)]));
    }

    #[test]
    fn a_feed_is_shared_while_somebody_holds_it_and_forgotten_after() {
        let feeds = Feeds::default();
        let id = ConversationId::now();
        let first = feeds.get(id);
        assert!(Arc::ptr_eq(&first, &feeds.get(id)));
        drop(first);
        for _ in 0..1000 {
            feeds.get(ConversationId::now());
        }
        assert!(feeds.feeds.lock().unwrap().len() < 100);
    }
}
