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
    /// The turn that runs, and how to stop it.
    running: Option<(u32, CancellationToken)>,
    /// Dropped with the lane, which tells whoever waits for its end.
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
                let lane = Lane { waiting: turns, running: None, ended: watch::Sender::new(()) };
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

    /// The turn begins; the token stops it.
    pub fn begin(&self, conversation: ConversationId, turn: u32) -> CancellationToken {
        let token = CancellationToken::new();
        self.with(|table| {
            if let Some(lane) = table.lanes.get_mut(&conversation) {
                lane.running = Some((turn, token.clone()));
            }
        });
        token
    }

    /// Lets nothing begin in the conversation until [`Lanes::reopen`], stops its running turn and waits for its end.
    pub async fn close(&self, conversation: ConversationId) {
        let ended = self.with(|table| {
            table.closed.insert(conversation);
            let lane = table.lanes.get(&conversation)?;
            if let Some((_, token)) = &lane.running {
                token.cancel();
            }
            Some(lane.ended.subscribe())
        });
        if let Some(mut ended) = ended {
            // The only thing that ever happens to the sender is that it is dropped, with its lane.
            let _ = ended.changed().await;
        }
    }

    pub fn reopen(&self, conversation: ConversationId) {
        self.with(|table| table.closed.remove(&conversation));
    }
}
