//! Lanes: the turns of one conversation run one after another, in the order of acceptance.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::feed::Feed;
use crate::domain::ConversationId;
use crate::store::turns::OpenTurn;

/// A turn as it was accepted, when no other one of its conversation waited or ran.
#[derive(Debug)]
pub(super) struct Handed {
    pub open: OpenTurn,
    /// The engine's count of edits before the message was stored.
    pub as_of: u64,
    /// Keeps the feed until the turn has started, because it knows that the turn comes.
    pub feed: Arc<Feed>,
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
}

#[derive(Debug)]
struct Lane {
    /// Accepted turns that have not started.
    waiting: usize,
    /// The first of them. `None`: it is in the store.
    handed: Option<Box<Handed>>,
    running: Option<Running>,
    /// Turns that were cancelled before they started.
    cancelled: HashSet<u32>,
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

    /// Adds turns to the conversation's lane. Returns `true` if the lane is new: the caller must then run it. A turn is
    /// handed only to a new lane, where it is the first.
    pub fn add(&self, conversation: ConversationId, turns: usize, handed: Option<Box<Handed>>) -> bool {
        self.with(|table| match table.lanes.get_mut(&conversation) {
            Some(lane) => {
                lane.waiting += turns;
                false
            }
            None => {
                let (cancelled, ended) = (HashSet::new(), watch::Sender::new(()));
                let lane = Lane { waiting: turns, handed, running: None, cancelled, ended };
                table.lanes.insert(conversation, lane);
                true
            }
        })
    }

    /// Whether the conversation is being deleted.
    pub fn is_closed(&self, conversation: ConversationId) -> bool {
        self.with(|table| table.closed.contains(&conversation))
    }

    /// Takes the next turn to run, which is in the store if it was not handed over. `None`: there is none, and the lane is
    /// removed.
    pub fn next(&self, conversation: ConversationId) -> Option<Option<Box<Handed>>> {
        self.with(|table| {
            let lane = table.lanes.get_mut(&conversation)?;
            lane.running = None;
            if lane.waiting == 0 {
                table.lanes.remove(&conversation);
                return None;
            }
            lane.waiting -= 1;
            Some(lane.handed.take())
        })
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
                if lane.cancelled.remove(&turn) {
                    token.cancel();
                }
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
