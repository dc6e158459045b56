//! Telling a shop's own people that something happened in one of its conversations.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use crate::domain::{ConversationId, TenantId};

/// How many changes a listener may be behind.
const BEHIND_AT_MOST: usize = 1024;

/// Where changes are told. Cheap to clone; without listeners it costs nothing.
#[derive(Clone, Debug)]
pub(super) struct Changes(broadcast::Sender<(TenantId, ConversationId)>);

/// Hears of one shop's changes.
#[derive(Debug)]
pub struct Listener {
    changes: broadcast::Receiver<(TenantId, ConversationId)>,
    tenant: TenantId,
    closing: CancellationToken,
}

impl Changes {
    pub fn new() -> Self {
        Self(broadcast::Sender::new(BEHIND_AT_MOST))
    }

    pub fn tell(&self, tenant: &TenantId, conversation: ConversationId) {
        // An error says that nobody listens.
        let _ = self.0.send((tenant.clone(), conversation));
    }

    /// Hears what is told from now on, until `closing`.
    pub fn listen(&self, tenant: TenantId, closing: CancellationToken) -> Listener {
        Listener { changes: self.0.subscribe(), tenant, closing }
    }
}

impl Listener {
    /// The next conversation in which something happened. `None`: the server ends, or so much happened that this listener
    /// missed some of it and must look at everything again.
    pub async fn next(&mut self) -> Option<ConversationId> {
        loop {
            let told = tokio::select! {
                told = self.changes.recv() => told,
                () = self.closing.cancelled() => return None,
            };
            match told {
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
    async fn a_listener_hears_its_own_shop_and_one_that_missed_something_ends() {
        let (changes, closing) = (Changes::new(), CancellationToken::new());
        let (acme, other): (TenantId, _) = ("acme".parse().unwrap(), TenantId::default());
        let mut listener = changes.listen(acme.clone(), closing.clone());
        let (first, second) = (ConversationId::now(), ConversationId::now());
        changes.tell(&acme, first);
        changes.tell(&other, ConversationId::now());
        changes.tell(&acme, second);
        assert_eq!(listener.next().await, Some(first));
        assert_eq!(listener.next().await, Some(second));
        for _ in 0..=BEHIND_AT_MOST {
            changes.tell(&other, ConversationId::now());
        }
        assert_eq!(listener.next().await, None);
        let mut listener = changes.listen(acme, closing.clone());
        closing.cancel();
        assert_eq!(listener.next().await, None);
    }
}
