//! The journal: one writer stores the events of all turns, and publishes each event after its commit.
//!
//! All events that wait when a commit ends go into the next one. Under load, hundreds share one. The events of a turn before its
//! text wait a moment for it, so that a desk that answers from the database needs one commit, and a quick model's first text does
//! not wait for the commit of its sources.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::FutureExt;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use super::changes::Changes;
use super::feed::{Feed, Frame};
use crate::desks::{Sink, SinkClosed, Stored};
use crate::domain::{ConversationId, Event, EventId, TenantId};
use crate::store::journal::{Change, Entry};
use crate::store::turns::StoredEvent;
use crate::store::{Store, StoreError};

/// How many events of all turns may wait for the writer.
const INBOX: usize = 4096;
/// The most events in one commit.
const MAX_BATCH: usize = 512;
/// How long the writer waits before it retries an unavailable store.
const RETRY_EVERY: Duration = Duration::from_millis(250);

/// The most events of one turn, and the most bytes in them. A usual turn has a few thousand events at most; these limits
/// stop a desk that never ends.
const MAX_EVENTS: u32 = 100_000;
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Accepts events for the writer. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Journal {
    inbox: mpsc::Sender<Pending>,
    changes: Changes,
}

/// An event for the writer.
#[derive(Debug)]
struct Pending {
    entry: Entry,
    publish: Publish,
    /// It may wait for the turn's text.
    may_wait: bool,
}

/// Whether the turn's text may follow at once, so that storing the event alone gains nothing. Stored alone, the event would delay a
/// text that comes meanwhile: there is one writer, and the text would wait for this commit and then for its own. A text never waits,
/// and takes along what waits for it. Without a text, the hold ends the wait.
fn may_wait(event: &Event) -> bool {
    use Event::{Intent, MessageStart, Sources, TurnStart};
    matches!(event, TurnStart { .. } | Intent { .. } | Sources { .. } | MessageStart { .. })
}

/// What happens after the event's commit.
#[derive(Debug)]
struct Publish {
    feed: Arc<Feed>,
    /// Cancelled when an event of the turn could not be stored: later ones must not be stored either.
    broken: CancellationToken,
    stored: Option<oneshot::Sender<()>>,
}

impl Journal {
    /// Returns the journal and its writer. The writer ends when every clone of the journal and every sink is dropped. It
    /// retries an unavailable store for at most `timeout`, and holds the starts of turns for at most `hold`.
    pub fn new(store: Store, timeout: Duration, hold: Duration) -> (Self, impl Future<Output = ()>) {
        let ((inbox, pending), changes) = (mpsc::channel(INBOX), Changes::new());
        (Self { inbox, changes: changes.clone() }, write(pending, store, changes, timeout, hold))
    }

    /// Notifies the console of changes.
    pub(super) fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Returns a sink for the events of one turn.
    pub fn sink(
        &self,
        tenant: TenantId,
        conversation: ConversationId,
        turn: u32,
        feed: Arc<Feed>,
        broken: CancellationToken,
    ) -> TurnSink {
        TurnSink {
            inbox: self.inbox.clone(),
            tenant,
            conversation,
            last: EventId::new(turn, 0),
            bytes: 0,
            full: CancellationToken::new(),
            feed,
            broken,
        }
    }
}

/// Numbers a turn's events and sends them to the writer.
#[derive(Clone, Debug)]
pub struct TurnSink {
    inbox: mpsc::Sender<Pending>,
    tenant: TenantId,
    conversation: ConversationId,
    last: EventId,
    /// The size of the events so far.
    bytes: usize,
    full: CancellationToken,
    feed: Arc<Feed>,
    broken: CancellationToken,
}

impl TurnSink {
    /// Cancelled by the first event beyond the limits of a turn. Sending that event never returns, so the desk waits
    /// until it is stopped. Later events, which end the turn, are accepted.
    pub fn full(&self) -> CancellationToken {
        self.full.clone()
    }

    async fn send(
        &mut self,
        event: &Event,
        changes: Vec<Change>,
        stored: Option<oneshot::Sender<()>>,
    ) -> Result<(), SinkClosed> {
        // Everything that may wait or fail comes before the number is taken, so that a dropped call leaves no gap.
        let body = serde_json::to_string(event).map_err(|_| SinkClosed)?;
        let permit = self.inbox.reserve().await.map_err(|_| SinkClosed)?;
        if self.broken.is_cancelled() {
            return Err(SinkClosed);
        }
        let is_full = self.last.n >= MAX_EVENTS || self.bytes + body.len() > MAX_BYTES;
        if is_full && !self.full.is_cancelled() {
            self.full.cancel();
            return std::future::pending().await;
        }
        self.bytes += body.len();
        self.last.n += 1;
        permit.send(Pending {
            may_wait: stored.is_none() && may_wait(event),
            entry: Entry {
                tenant: self.tenant.clone(),
                conversation: self.conversation,
                event: StoredEvent { id: self.last, body },
                at: chrono::Utc::now(),
                changes,
            },
            publish: Publish { feed: self.feed.clone(), broken: self.broken.clone(), stored },
        });
        Ok(())
    }
}

#[async_trait]
impl Sink for TurnSink {
    async fn emit(&mut self, event: Event, changes: Vec<Change>) -> Result<(), SinkClosed> {
        self.send(&event, changes, None).await
    }

    async fn emit_tracked(&mut self, event: Event, changes: Vec<Change>) -> Result<Stored, SinkClosed> {
        let (stored, wait) = oneshot::channel();
        self.send(&event, changes, Some(stored)).await?;
        Ok(wait.map(|stored| stored.map_err(|_| SinkClosed)).boxed())
    }
}

/// Waits for the events of the next commit. Returns `false` when no more will come.
async fn receive(inbox: &mut mpsc::Receiver<Pending>, pending: &mut Vec<Pending>, hold: Duration) -> bool {
    if inbox.recv_many(pending, MAX_BATCH).await == 0 {
        return false;
    }
    let mut seen = 0;
    let quiet = async {
        while pending.len() < MAX_BATCH && pending[seen..].iter().all(|event| event.may_wait) {
            seen = pending.len();
            if inbox.recv_many(pending, MAX_BATCH - seen).await == 0 {
                break;
            }
        }
    };
    // Whatever has arrived by then is stored.
    let _ = tokio::time::timeout(hold, quiet).await;
    // A desk that has just sent something may send the rest at once.
    tokio::task::yield_now().await;
    while pending.len() < MAX_BATCH
        && let Ok(next) = inbox.try_recv()
    {
        pending.push(next);
    }
    true
}

async fn write(mut inbox: mpsc::Receiver<Pending>, store: Store, changes: Changes, timeout: Duration, hold: Duration) {
    let mut pending = Vec::with_capacity(MAX_BATCH);
    while receive(&mut inbox, &mut pending, hold).await {
        let (entries, targets): (Vec<Entry>, Vec<Publish>) = pending
            .drain(..)
            .filter(|pending| !pending.publish.broken.is_cancelled())
            .map(|pending| (pending.entry, pending.publish))
            .unzip();
        metrics::histogram!("frontdesk_journal_batch_events").record(entries.len() as f64);
        let started = Instant::now();
        let stored = append_with_retry(&store, &entries, timeout).await;
        metrics::histogram!("frontdesk_journal_commit_seconds").record(started.elapsed());
        match stored {
            Ok(()) => entries.into_iter().zip(targets).for_each(|stored| publish(&changes, stored)),
            Err(cause) if cause.is_outage() => {
                error!(error = %cause, events = entries.len(), "Could not store a batch of events");
                targets.iter().for_each(|target| target.broken.cancel());
            }
            // Store each event alone, so that a refused one, or a locked conversation, fails only its turn.
            Err(_) => {
                for pair in entries.into_iter().zip(targets) {
                    append_alone(&store, &changes, pair, timeout).await;
                }
            }
        }
    }
}

async fn append_alone(store: &Store, changes: &Changes, (entry, target): (Entry, Publish), timeout: Duration) {
    if target.broken.is_cancelled() {
        return;
    }
    match append_with_retry(store, std::slice::from_ref(&entry), timeout).await {
        Ok(()) => publish(changes, (entry, target)),
        Err(cause) => {
            error!(error = %cause, conversation.id = %entry.conversation, event.id = %entry.event.id, "The store refused an event: ending its turn");
            target.broken.cancel();
        }
    }
}

/// Stores the entries. Retries for at most `timeout` while the store is unavailable.
async fn append_with_retry(store: &Store, entries: &[Entry], timeout: Duration) -> Result<(), StoreError> {
    let deadline = tokio::time::Instant::now() + timeout;
    loop {
        match store.append(entries).await {
            Err(cause) if cause.is_unavailable() && tokio::time::Instant::now() < deadline => {
                warn!(error = %cause, "The journal is waiting for the store");
                tokio::time::sleep(RETRY_EVERY).await;
            }
            result => return result,
        }
    }
}

fn publish(changes: &Changes, (entry, target): (Entry, Publish)) {
    let concerns_console = |change: &Change| !matches!(change, Change::TurnStarted | Change::Language(..));
    if entry.changes.iter().any(concerns_console) {
        changes.notify(&entry.tenant, entry.conversation);
    }
    target.feed.publish(Frame::from(entry.event));
    if let Some(stored) = target.stored {
        // The receiver may have been dropped.
        let _ = stored.send(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Kind, MessageId};

    #[test]
    fn sources_wait_for_text_which_never_waits() {
        let message_id = MessageId::now();
        assert!(may_wait(&Event::Sources { items: Vec::new() }));
        assert!(may_wait(&Event::MessageStart { message_id, kind: Kind::Reply }));
        assert!(!may_wait(&Event::Delta { message_id, text: "a".to_owned() }));
    }
}
