//! One lane a conversation: its turns run one after another, in the order of acceptance.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::domain::ConversationId;

/// The lanes that have something to do.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    lanes: HashMap<ConversationId, Lane>,
    /// Conversations that are being deleted: nothing begins in them any more.
    closed: HashSet<ConversationId>,
}

#[derive(Debug)]
struct Lane {
    /// Turns that are accepted and have not begun.
    waiting: usize,
    running: Option<Running>,
    /// Turns that somebody wants stopped before they have begun.
    unwanted: HashSet<u32>,
    /// Dropped with the lane, which tells whoever waits for its end.
    ended: watch::Sender<()>,
}

/// The turn that runs.
#[derive(Debug)]
struct Running {
    turn: u32,
    /// Stops it.
    cancel: CancellationToken,
    /// Dropped with it, which tells whoever waits for its end.
    ended: watch::Sender<()>,
}

impl Lanes {
    fn with<T>(&self, work: impl FnOnce(&mut Table) -> T) -> T {
        work(&mut self.table.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds turns to the conversation's lane. `true`: the lane is new, and the caller must run it.
    pub fn add(&self, conversation: ConversationId, turns: usize) -> bool {
        self.with(|table| match table.lanes.get_mut(&conversation) {
            Some(lane) => {
                lane.waiting += turns;
                false
            }
            None => {
                let lane =
                    Lane { waiting: turns, running: None, unwanted: HashSet::new(), ended: watch::Sender::new(()) };
                table.lanes.insert(conversation, lane);
                true
            }
        })
    }

    /// Whether the conversation is being deleted.
    pub fn is_closed(&self, conversation: ConversationId) -> bool {
        self.with(|table| table.closed.contains(&conversation))
    }

    /// Asks for the next turn to run. `None`: there is none, and the lane is gone.
    pub fn next(&self, conversation: ConversationId) -> Option<()> {
        self.with(|table| {
            let lane = table.lanes.get_mut(&conversation)?;
            lane.running = None;
            if lane.waiting == 0 {
                table.lanes.remove(&conversation);
                return None;
            }
            lane.waiting -= 1;
            Some(())
        })
    }

    /// Stops the turn, or keeps it from beginning.
    pub fn cancel(&self, conversation: ConversationId, turn: u32) {
        self.with(|table| {
            let Some(lane) = table.lanes.get_mut(&conversation) else { return };
            match &lane.running {
                Some(running) if running.turn == turn => running.cancel.cancel(),
                _ => {
                    lane.unwanted.insert(turn);
                }
            }
        });
    }

    /// The turn begins; the token stops it, and has done so already if the turn is not wanted any more.
    pub fn begin(&self, conversation: ConversationId, turn: u32) -> CancellationToken {
        let token = CancellationToken::new();
        self.with(|table| {
            if let Some(lane) = table.lanes.get_mut(&conversation) {
                if lane.unwanted.remove(&turn) {
                    token.cancel();
                }
                lane.running = Some(Running { turn, cancel: token.clone(), ended: watch::Sender::new(()) });
            }
        });
        token
    }

    /// Lets nothing begin in the conversation until [`Lanes::reopen`], stops its running turn and waits for its end.
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

    /// Stops the conversation's running turn, if one runs, and waits for its end. What waits behind it is left alone.
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
        // The only thing that ever happens to the sender is that it is dropped, with what it belongs to.
        let _ = ended.changed().await;
    }
}
