//! Where a turn's events go.

use async_trait::async_trait;
use futures_util::future::BoxFuture;

use crate::domain::Event;
use crate::store::journal::Change;

/// Receives a turn's events. An event is stored, together with its rows, before any reader sees it.
#[async_trait]
pub trait Sink: Send + Sync {
    /// Queues the event. Waits for room in the queue, not for the commit. Dropping the future while it waits loses nothing.
    async fn emit(&mut self, event: Event, changes: Vec<Change>) -> Result<(), SinkClosed>;

    /// Like [`emit`](Sink::emit). The returned future waits for the commit and may be dropped.
    async fn emit_tracked(&mut self, event: Event, changes: Vec<Change>) -> Result<Stored, SinkClosed>;

    /// Queues the turn's last event and waits until it is stored.
    async fn emit_last(&mut self, event: Event, changes: Vec<Change>) -> Result<(), SinkClosed> {
        self.emit_tracked(event, changes).await?.await
    }
}

/// Completes when an event is stored, or can no longer be.
pub type Stored = BoxFuture<'static, Result<(), SinkClosed>>;

/// The journal accepts no more events of this turn.
#[derive(Debug, thiserror::Error)]
#[error("the journal accepts no more events of this turn")]
pub struct SinkClosed;
