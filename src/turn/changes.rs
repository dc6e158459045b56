//! Notifies the console that something in a conversation has changed.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use crate::domain::{ConversationId, TenantId};

/// How many changes a listener may lag.
const MAX_LAG: usize = 1024;

/// Sends changes to listeners. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Changes(broadcast::Sender<(TenantId, ConversationId)>);

/// Receives the changes of one shop.
#[derive(Debug)]
pub struct Listener {
    changes: broadcast::Receiver<(TenantId, ConversationId)>,
    tenant: TenantId,
    closing: CancellationToken,
}

impl Changes {
    pub fn new() -> Self {
        Self(broadcast::Sender::new(MAX_LAG))
    }

    pub fn notify(&self, tenant: &TenantId, conversation: ConversationId) {
        // An error means that there are no listeners.
        let _ = self.0.send((tenant.clone(), conversation));
    }

    /// Receives changes from now on, until `closing`.
    pub fn listen(&self, tenant: TenantId, closing: CancellationToken) -> Listener {
        Listener { changes: self.0.subscribe(), tenant, closing }
    }
}

impl Listener {
    /// Returns the next conversation that has changed. `None`: the server is shutting down, or the listener has missed
    /// changes and must load everything again.
    pub async fn next(&mut self) -> Option<ConversationId> {
        loop {
            let change = tokio::select! {
                change = self.changes.recv() => change,
                () = self.closing.cancelled() => return None,
            };
            match change {
                Ok((tenant, conversation)) if tenant == self.tenant => return Some(conversation),
                Ok(_) => {}
                Err(RecvError::Lagged(_) | RecvError::Closed) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lagging_listener_ends() {
        let changes = Changes::new();
        let mut listener = changes.listen("acme".parse().unwrap(), CancellationToken::new());
        for _ in 0..=MAX_LAG {
            changes.notify(&TenantId::default(), ConversationId::now());
        }
        assert_eq!(listener.next().await, None);
    }
}
