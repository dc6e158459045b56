//! Lanes: the turns of one conversation run one after another, in the order of acceptance.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::feed::Feed;
use crate::desks::Caller;
use crate::domain::{ConversationId, MessageId};
use crate::store::turns::OpenTurn;

/// An accepted turn that is the next one of its conversation.
#[derive(Debug)]
pub(super) struct AcceptedTurn {
    pub open: OpenTurn,
    /// The engine's count of edits before the message was stored.
    pub edits_before: u64,
    /// Keeps the feed until the turn has started, because it knows that the turn comes.
    pub feed: Arc<Feed>,
}

/// The next turn of a lane.
#[derive(Debug)]
pub(super) enum NextTurn {
    Accepted(Box<AcceptedTurn>),
    /// It is in the store.
    Stored,
    /// It is in the store, if there is one: its acceptance was never confirmed.
    Unconfirmed,
}

/// The lanes that have turns to run.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    lanes: HashMap<ConversationId, Lane>,
    /// Conversations that are being deleted: no turn starts in them.
    closed: HashSet<ConversationId>,
    /// Conversations of messages that are being stored. Their lanes have not looked into the store since, where they would find them.
    expected: HashSet<ConversationId>,
}

impl Table {
    /// Returns the conversation's lane, and whether it is new.
    fn lane(&mut self, conversation: ConversationId) -> (&mut Lane, bool) {
        match self.lanes.entry(conversation) {
            Entry::Occupied(lane) => (lane.into_mut(), false),
            Entry::Vacant(place) => (place.insert(Lane::default()), true),
        }
    }
}

#[derive(Debug, Default)]
struct Lane {
    /// Accepted turns that have not started.
    waiting: usize,
    /// The first of them. `None`: it is in the store.
    accepted: Option<Box<AcceptedTurn>>,
    /// Whether the store may hold more turns than those that wait.
    is_unconfirmed: bool,
    /// Whether it looks into the store for its next turn.
    is_looking: bool,
    /// The senders of waiting messages. They are kept in memory only, since a browser's address must not be stored.
    callers: HashMap<MessageId, Caller>,
    running: Option<Running>,
    /// Turns that were cancelled before they started.
    cancelled: HashSet<u32>,
    /// Cancelled when the conversation is being deleted.
    closed: CancellationToken,
    /// Dropped with the lane, which wakes those who wait for its end.
    ended: watch::Sender<()>,
}

/// The running turn.
#[derive(Debug)]
struct Running {
    turn: u32,
    /// Stops it.
    cancel: CancellationToken,
    /// Dropped with the turn, which wakes those who wait for its end.
    ended: watch::Sender<()>,
}

impl Lanes {
    fn with<T>(&self, work: impl FnOnce(&mut Table) -> T) -> T {
        work(&mut self.table.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Prepares for turns of these conversations, which are about to be stored, instead of earlier ones.
    pub fn prepare(&self, conversations: impl IntoIterator<Item = ConversationId>) {
        self.with(|table| {
            let is_quiet = |lane: &Lane| lane.waiting == 0 && !lane.is_unconfirmed && !lane.is_looking;
            table.expected = conversations.into_iter().filter(|id| table.lanes.get(id).is_none_or(is_quiet)).collect();
        });
    }

    /// Adds turns to the conversation's lane, and the sender of the message if there is one. Returns `true` if the lane is
    /// new: the caller must then run it. `accepted` is used only if it was [expected](Self::prepare), and the lane cannot have found it in
    /// the store meanwhile.
    pub fn add(
        &self,
        conversation: ConversationId,
        turns: usize,
        caller: Option<(MessageId, Caller)>,
        accepted: Option<Box<AcceptedTurn>>,
    ) -> bool {
        self.with(|table| {
            let is_expected = table.expected.remove(&conversation);
            let (lane, is_new) = table.lane(conversation);
            if is_expected
                && lane.waiting == 0
                && let Some(accepted) = accepted
            {
                // Only now: readers of a turn that has ended already would wait for it.
                accepted.feed.announce_turn(accepted.open.record.turn);
                lane.accepted = Some(accepted);
            }
            lane.waiting += turns;
            lane.callers.extend(caller);
            is_new
        })
    }

    /// Looks for one more turn in the store after the waiting ones. Returns `true` if the lane is new: the caller must
    /// then run it.
    pub fn add_unconfirmed(&self, conversation: ConversationId) -> bool {
        self.with(|table| {
            let (lane, is_new) = table.lane(conversation);
            lane.is_unconfirmed = true;
            is_new
        })
    }

    /// Takes the sender of a waiting message.
    pub fn take_caller(&self, conversation: ConversationId, message: MessageId) -> Caller {
        let caller = self.with(|table| table.lanes.get_mut(&conversation)?.callers.remove(&message));
        caller.unwrap_or_default()
    }

    /// Whether the conversation is being deleted.
    pub fn is_closed(&self, conversation: ConversationId) -> bool {
        self.with(|table| table.closed.contains(&conversation))
    }

    /// Waits until the conversation is being deleted. Never returns if it has no lane.
    pub async fn closed(&self, conversation: ConversationId) {
        match self.with(|table| table.lanes.get(&conversation).map(|lane| lane.closed.clone())) {
            Some(closed) => closed.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Takes the next turn to run. `None`: there is none, and the lane is removed.
    pub fn next(&self, conversation: ConversationId) -> Option<NextTurn> {
        self.with(|table| {
            let lane = table.lanes.get_mut(&conversation)?;
            lane.running = None;
            let next = if lane.waiting > 0 {
                lane.waiting -= 1;
                lane.accepted.take().map_or(NextTurn::Stored, NextTurn::Accepted)
            } else if std::mem::take(&mut lane.is_unconfirmed) {
                NextTurn::Unconfirmed
            } else {
                table.lanes.remove(&conversation);
                return None;
            };
            lane.is_looking = !matches!(next, NextTurn::Accepted(_));
            if lane.is_looking {
                table.expected.remove(&conversation);
            }
            Some(next)
        })
    }

    /// Notes that the conversation has a later turn in the store. If no turn waits, it is not confirmed.
    pub fn note_later(&self, conversation: ConversationId) {
        self.with(|table| {
            if let Some(lane) = table.lanes.get_mut(&conversation) {
                lane.is_unconfirmed |= lane.waiting == 0;
            }
        });
    }

    /// Stops the turn, or keeps it from starting.
    pub fn cancel(&self, conversation: ConversationId, turn: u32) {
        self.with(|table| {
            let Some(lane) = table.lanes.get_mut(&conversation) else { return };
            match &lane.running {
                Some(running) if running.turn == turn => running.cancel.cancel(),
                _ => {
                    lane.cancelled.insert(turn);
                }
            }
        });
    }

    /// Marks the turn as running. The returned token stops it, and is cancelled already if the turn is.
    pub fn begin(&self, conversation: ConversationId, turn: u32) -> CancellationToken {
        let token = CancellationToken::new();
        self.with(|table| {
            if let Some(lane) = table.lanes.get_mut(&conversation) {
                if lane.cancelled.remove(&turn) || table.closed.contains(&conversation) {
                    token.cancel();
                }
                lane.is_looking = false;
                lane.running = Some(Running { turn, cancel: token.clone(), ended: watch::Sender::new(()) });
            }
        });
        token
    }

    /// Starts no turn of the conversation until [`Lanes::reopen`], stops the running one and waits for its end.
    pub async fn close(&self, conversation: ConversationId) {
        let ended = self.with(|table| {
            table.closed.insert(conversation);
            let lane = table.lanes.get(&conversation)?;
            lane.closed.cancel();
            if let Some(running) = &lane.running {
                running.cancel.cancel();
            }
            Some(lane.ended.subscribe())
        });
        wait_for_end(ended).await;
    }

    /// Stops the conversation's running turn and waits for its end. Waiting turns are not affected.
    pub async fn interrupt(&self, conversation: ConversationId) {
        let ended = self.with(|table| {
            let running = table.lanes.get(&conversation)?.running.as_ref()?;
            running.cancel.cancel();
            Some(running.ended.subscribe())
        });
        wait_for_end(ended).await;
    }

    pub fn reopen(&self, conversation: ConversationId) {
        self.with(|table| table.closed.remove(&conversation));
    }
}

async fn wait_for_end(of: Option<watch::Receiver<()>>) {
    if let Some(mut ended) = of {
        // Nothing is ever sent: the channel closes when the lane or turn is dropped.
        let _ = ended.changed().await;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn closed_conversation_cancels_the_beginning_turn() {
        let (lanes, id) = (Lanes::default(), ConversationId::now());
        assert!(lanes.add(id, 1, None, None));
        assert!(matches!(lanes.next(id), Some(NextTurn::Stored)));
        assert_eq!(lanes.close(id).now_or_never(), None, "the lane has not ended");
        assert!(lanes.begin(id, 1).is_cancelled());
        assert!(lanes.next(id).is_none());
        lanes.reopen(id);
        assert!(lanes.add(id, 1, None, None));
        assert!(!lanes.begin(id, 2).is_cancelled());
    }

    #[test]
    fn unconfirmed_turn_comes_last_and_once() {
        let (lanes, id) = (Lanes::default(), ConversationId::now());
        assert!(lanes.add_unconfirmed(id));
        assert!(!lanes.add(id, 1, None, None));
        assert!(matches!(lanes.next(id), Some(NextTurn::Stored)));
        assert!(matches!(lanes.next(id), Some(NextTurn::Unconfirmed)));
        lanes.note_later(id);
        assert!(matches!(lanes.next(id), Some(NextTurn::Unconfirmed)), "the store holds a later turn");
        assert!(lanes.add(ConversationId::now(), 1, None, None), "each conversation has a lane");
        assert!(lanes.next(id).is_none(), "the lane has ended");
    }

    #[test]
    fn lane_that_looked_gets_no_turn_in_memory() {
        let (lanes, id) = (Lanes::default(), ConversationId::now());
        let is_expected = || lanes.with(|table| table.expected.contains(&id));
        let expect = || {
            lanes.prepare([id]);
            is_expected()
        };
        assert!(expect(), "without a lane");
        lanes.add(id, 1, None, None);
        assert!(!is_expected(), "one turn is expected");
        assert!(!expect(), "another turn waits");
        assert!(lanes.next(id).is_some());
        assert!(!expect(), "the lane looks for its turn");
        lanes.begin(id, 1);
        assert!(expect(), "the turn may be ending");
        lanes.note_later(id);
        assert!(lanes.next(id).is_some());
        assert!(!is_expected(), "the lane may find it");
        lanes.begin(id, 2);
        assert!(expect() && lanes.next(id).is_none() && is_expected(), "the lane has ended");
    }

    #[test]
    fn lane_forgets_callers_of_skipped_turns() {
        let (lanes, id, message) = (Lanes::default(), ConversationId::now(), MessageId::now());
        let caller = Caller { address: Some([192, 0, 2, 1].into()) };
        for is_taken in [true, false] {
            lanes.add(id, 1, Some((message, caller.clone())), None);
            assert!(lanes.next(id).is_some());
            if is_taken {
                assert_eq!(lanes.take_caller(id, message), caller);
            }
            assert!(lanes.next(id).is_none());
            lanes.add(id, 1, None, None);
            assert_eq!(lanes.take_caller(id, message), Caller::default());
            assert!(lanes.next(id).is_some() && lanes.next(id).is_none());
        }
    }
}
