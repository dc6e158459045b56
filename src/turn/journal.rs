//! One writer for the whole process: whatever waits when a commit ends goes into the next one, so that alone an event
//! costs one commit, and under load hundreds share it. Only what is stored is shown.

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

/// Events that may wait for the writer, of all turns together.
const INBOX: usize = 4096;
/// Events that go into one commit at most.
const MAX_BATCH: usize = 512;
/// How often a batch is offered to a store that does not answer, and how long it waits in between.
const RETRY_EVERY: Duration = Duration::from_millis(250);

/// The most events of one turn, and the most bytes in them. A turn has a few thousand events at most; a desk that does
/// not stop is stopped here.
const MAX_EVENTS: u32 = 100_000;
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The way into the journal. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Journal {
    inbox: mpsc::Sender<Posted>,
    changes: Changes,
}

/// An event on its way to the store, and whom it is shown to then.
#[derive(Debug)]
struct Posted {
    entry: Entry,
    show: Show,
}

#[derive(Debug)]
struct Show {
    feed: Arc<Feed>,
    /// Cancelled when an event of the turn cannot be stored: what comes after it must not be stored either.
    broken: CancellationToken,
    stored: Option<oneshot::Sender<()>>,
    changes: Changes,
}

impl Journal {
    /// The journal, and its writer, which ends when every clone of the journal and every sink is gone.
    pub fn new(store: Store, patience: Duration) -> (Self, impl Future<Output = ()>) {
        let (inbox, outbox) = mpsc::channel(INBOX);
        (Self { inbox, changes: Changes::new() }, write(outbox, store, patience))
    }

    /// Where what is stored of messages and turns is told, and whatever else happens in a conversation.
    pub(super) fn changes(&self) -> &Changes {
        &self.changes
    }

    /// A sink for the events of one turn.
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
            changes: self.changes.clone(),
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

/// Numbers a turn's events and posts them.
#[derive(Clone, Debug)]
pub struct TurnSink {
    inbox: mpsc::Sender<Posted>,
    changes: Changes,
    tenant: TenantId,
    conversation: ConversationId,
    last: EventId,
    /// In the events so far.
    bytes: usize,
    full: CancellationToken,
    feed: Arc<Feed>,
    broken: CancellationToken,
}

impl TurnSink {
    /// Cancelled by the first event beyond the limits of a turn. That event is never taken, so that the desk that
    /// sent it waits until it is stopped; later events, which end the turn, are taken.
    pub fn full(&self) -> CancellationToken {
        self.full.clone()
    }

    async fn post(
        &mut self,
        event: &Event,
        changes: Vec<Change>,
        stored: Option<oneshot::Sender<()>>,
    ) -> Result<(), SinkClosed> {
        // The body first and the place reserved before the number is taken: a wait that is given up leaves no gap.
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
        permit.send(Posted {
            entry: Entry {
                tenant: self.tenant.clone(),
                conversation: self.conversation,
                event: StoredEvent { id: self.last, body },
                at: chrono::Utc::now(),
                changes,
            },
            show: Show { feed: self.feed.clone(), broken: self.broken.clone(), stored, changes: self.changes.clone() },
        });
        Ok(())
    }
}

#[async_trait]
impl Sink for TurnSink {
    async fn emit(&mut self, event: Event, changes: Vec<Change>) -> Result<(), SinkClosed> {
        self.post(&event, changes, None).await
    }

    async fn emit_tracked(&mut self, event: Event, changes: Vec<Change>) -> Result<Stored, SinkClosed> {
        let (stored, wait) = oneshot::channel();
        self.post(&event, changes, Some(stored)).await?;
        Ok(wait.map(|stored| stored.map_err(|_| SinkClosed)).boxed())
    }
}

async fn write(mut outbox: mpsc::Receiver<Posted>, store: Store, patience: Duration) {
    let mut posted = Vec::with_capacity(MAX_BATCH);
    while outbox.recv_many(&mut posted, MAX_BATCH).await > 0 {
        let (entries, shows): (Vec<Entry>, Vec<Show>) = posted
            .drain(..)
            .filter(|posted| !posted.show.broken.is_cancelled())
            .map(|posted| (posted.entry, posted.show))
            .unzip();
        metrics::histogram!("frontdesk_journal_batch_events").record(entries.len() as f64);
        let started = Instant::now();
        let stored = store_patiently(&store, &entries, patience).await;
        metrics::histogram!("frontdesk_journal_commit_seconds").record(started.elapsed());
        match stored {
            Ok(()) => entries.into_iter().zip(shows).for_each(show),
            Err(cause) if cause.is_unavailable() => {
                error!(error = %cause, events = entries.len(), "The journal gave up on a batch");
                shows.iter().for_each(|show| show.broken.cancel());
            }
            // One event that the store refuses must not fail its neighbours.
            Err(_) => {
                for pair in entries.into_iter().zip(shows) {
                    store_alone(&store, pair, patience).await;
                }
            }
        }
    }
}

async fn store_alone(store: &Store, (entry, to): (Entry, Show), patience: Duration) {
    if to.broken.is_cancelled() {
        return;
    }
    match store_patiently(store, std::slice::from_ref(&entry), patience).await {
        Ok(()) => show((entry, to)),
        Err(cause) => {
            error!(error = %cause, conversation.id = %entry.conversation, event.id = %entry.event.id, "An event was refused; its turn ends");
            to.broken.cancel();
        }
    }
}

/// Offers the entries again while the store does not answer, for at most `patience`.
async fn store_patiently(store: &Store, entries: &[Entry], patience: Duration) -> Result<(), StoreError> {
    let deadline = tokio::time::Instant::now() + patience;
    loop {
        match store.append(entries).await {
            Err(cause) if cause.is_unavailable() && tokio::time::Instant::now() < deadline => {
                warn!(error = %cause, "The store does not answer; the journal waits");
                tokio::time::sleep(RETRY_EVERY).await;
            }
            result => return result,
        }
    }
}

fn show((entry, to): (Entry, Show)) {
    let is_news = |change: &Change| !matches!(change, Change::TurnStarted | Change::Language(..));
    if entry.changes.iter().any(is_news) {
        to.changes.tell(&entry.tenant, entry.conversation);
    }
    to.feed.publish(Frame::from(entry.event));
    if let Some(stored) = to.stored {
        // Whoever waited may be gone; the event is stored all the same.
        let _ = stored.send(());
    }
}
