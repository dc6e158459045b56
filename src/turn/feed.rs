//! The live events of a conversation.
//!
//! The running turn is an append-only list in memory. Each reader keeps a cursor and is woken by a watch channel. A
//! reader that is not yet at the running turn reads the store, which already has every event. A slow reader therefore
//! blocks no other and loses nothing.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use bytes::Bytes;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::reader::Cursor;
use crate::domain::{ConversationId, EventId};
use crate::store::turns::StoredEvent;

/// An event for a reader.
#[derive(Clone, Debug)]
pub struct Frame {
    pub id: EventId,
    /// The event's JSON.
    pub body: Arc<str>,
    encoded: Arc<OnceLock<Bytes>>,
}

impl Frame {
    fn new(id: EventId, body: Arc<str>) -> Self {
        Self { id, body, encoded: Arc::default() }
    }

    /// Returns the event as bytes for clients, encoded once.
    pub fn encoded(&self, encode: impl FnOnce(&Self) -> Bytes) -> Bytes {
        self.encoded.get_or_init(|| encode(self)).clone()
    }

    /// Whether this is its turn's last event.
    pub fn ends_turn(&self) -> bool {
        // The tag is always written first.
        self.body.starts_with(r#"{"type":"turn.done""#)
    }
}

impl From<StoredEvent> for Frame {
    fn from(event: StoredEvent) -> Self {
        Self::new(event.id, event.body.into())
    }
}

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        (self.id, &self.body) == (other.id, &other.body)
    }
}

/// The running turn of one conversation.
#[derive(Debug)]
pub struct Feed {
    live: RwLock<Live>,
    /// The last published event.
    tip: watch::Sender<EventId>,
    /// Cancelled when the conversation is deleted.
    closed: CancellationToken,
}

#[derive(Debug, Default)]
struct Live {
    frames: VecDeque<Frame>,
    /// The next turn, of which no event is stored yet.
    coming: Option<u32>,
}

/// The result of looking for events in memory.
#[derive(Debug, PartialEq)]
pub(super) enum Look {
    /// The events after the reader's cursor. Empty: wait for more.
    Here(Vec<Frame>),
    /// The list starts too late or is empty: read the store.
    Store,
}

impl Feed {
    fn new() -> Self {
        Self { live: RwLock::default(), tip: watch::Sender::new(EventId::ZERO), closed: CancellationToken::new() }
    }

    /// Publishes an event that is stored. The first event of a turn replaces the previous turn. So does an event that
    /// follows stored but unpublished ones, because the list must have no gaps.
    pub fn publish(&self, frame: Frame) {
        let id = frame.id;
        {
            let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
            if live.frames.back().is_some_and(|last| (last.id.turn, last.id.n + 1) != (id.turn, id.n)) {
                live.frames.clear();
            }
            live.frames.push_back(frame);
            live.coming = None;
        }
        self.tip.send_replace(id);
    }

    /// Announces a turn that was just accepted and is the next to run, so that its readers need not look into the store.
    pub(super) fn announce_turn(&self, turn: u32) {
        self.live.write().unwrap_or_else(PoisonError::into_inner).coming = Some(turn);
    }

    /// Returns the events after `cursor`, of the turn `only` if it is given.
    pub(super) fn look(&self, cursor: Cursor, only: Option<u32>) -> Look {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        if only.is_some() && only == live.coming {
            return Look::Here(Vec::new());
        }
        let Some(first) = live.frames.front().map(|frame| frame.id) else { return Look::Store };
        if only.is_some_and(|turn| first.turn < turn) {
            // The reader waits for a later turn than the running one.
            return Look::Here(Vec::new());
        }
        // The list is enough if it has the event right after the cursor, or if there are no others.
        let Cursor { at, ends_turn } = cursor;
        let skip = if at.turn == first.turn && at.n + 1 >= first.n {
            at.n + 1 - first.n
        } else if ends_turn && at.turn + 1 == first.turn && first.n == 1 {
            0
        } else {
            return Look::Store;
        };
        Look::Here(live.frames.iter().skip(usize::try_from(skip).unwrap_or(usize::MAX)).cloned().collect())
    }

    /// Returns a channel that changes with each published event.
    pub(super) fn subscribe(&self) -> watch::Receiver<EventId> {
        self.tip.subscribe()
    }

    /// Sends the readers to the store: the running turn ended there without its last event.
    pub fn forget_live(&self) {
        *self.live.write().unwrap_or_else(PoisonError::into_inner) = Live::default();
        self.tip.send_modify(|_| {});
    }

    /// Ends the readers, because the conversation is deleted.
    pub fn close(&self) {
        self.closed.cancel();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    pub(super) async fn closed(&self) {
        self.closed.cancelled().await;
    }
}

/// The feeds that are in use.
#[derive(Debug, Default)]
pub struct Feeds {
    feeds: Mutex<HashMap<ConversationId, Weak<Feed>>>,
}

impl Feeds {
    /// Returns the conversation's feed. A new one is created if there is none; it lives while somebody holds it.
    pub fn get(&self, conversation: ConversationId) -> Arc<Feed> {
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(feed) = feeds.get(&conversation).and_then(Weak::upgrade) {
            return feed;
        }
        // Remove dropped feeds only when the table is full, so that the cost per call stays constant on average.
        if feeds.len() == feeds.capacity() {
            feeds.retain(|_, feed| feed.strong_count() > 0);
        }
        let feed = Arc::new(Feed::new());
        feeds.insert(conversation, Arc::downgrade(&feed));
        feed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(turn: u32, n: u32) -> Frame {
        Frame::new(EventId::new(turn, n), format!("{turn}.{n}").into())
    }

    fn at(turn: u32, n: u32) -> Cursor {
        Cursor { at: EventId::new(turn, n), ends_turn: false }
    }

    fn ended(turn: u32, n: u32) -> Cursor {
        Cursor { ends_turn: true, ..at(turn, n) }
    }

    #[test]
    fn reader_reads_missing_events_from_the_store() {
        let feed = Feed::new();
        assert_eq!(feed.look(at(3, 0), Some(3)), Look::Store);
        feed.publish(frame(3, 1));
        feed.publish(frame(3, 2));
        assert_eq!(feed.look(at(3, 0), Some(3)), Look::Here(vec![frame(3, 1), frame(3, 2)]));
        assert_eq!(feed.look(at(3, 1), None), Look::Here(vec![frame(3, 2)]));
        assert_eq!(feed.look(at(3, 2), None), Look::Here(vec![]));
        assert_eq!(feed.look(ended(3, EventId::AFTER_ALL), None), Look::Here(vec![]), "after all of this turn");
        assert_eq!(feed.look(ended(2, 9), None), Look::Here(vec![frame(3, 1), frame(3, 2)]));
        assert_eq!(feed.look(at(2, 9), None), Look::Store, "the rest of the previous turn comes first");
        assert_eq!(feed.look(ended(1, 9), None), Look::Store);
        assert_eq!(feed.look(at(4, 0), Some(4)), Look::Here(vec![]), "the reader waits for a later turn");
        feed.publish(frame(4, 1));
        assert_eq!(feed.look(at(3, 2), Some(3)), Look::Store, "an earlier turn is in the store");
        feed.announce_turn(5);
        assert_eq!(feed.look(at(5, 0), Some(5)), Look::Here(vec![]), "the turn has no events yet");
        assert_eq!(feed.look(at(4, 0), Some(4)), Look::Here(vec![frame(4, 1)]));
        feed.forget_live();
        assert_eq!(feed.look(at(5, 0), Some(5)), Look::Store, "the turn ended in the store");
        // A turn that a killed process started is published from its middle on.
        let resumed = Feed::new();
        resumed.publish(frame(5, 7));
        assert_eq!(resumed.look(at(5, 3), None), Look::Store);
        assert_eq!(resumed.look(at(5, 6), None), Look::Here(vec![frame(5, 7)]));
        assert_eq!(resumed.look(ended(4, 9), None), Look::Store);
    }

    #[test]
    fn feed_is_shared_while_in_use() {
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
