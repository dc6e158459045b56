//! Handoff: a person takes a conversation or gives it back.
//!
//! After a person has taken a conversation, a desk answers only commands such as STOP (`Desk::answers_at_once`). The new status is
//! stored, then the running turn is stopped, and the call returns when that turn has ended. A turn checks for a new status after it can
//! be stopped (`Engine::run_turn`), so it either sees the new status or is stopped.

use chrono::Utc;

use super::Engine;
use crate::domain::{ConsoleAct, Conversation, ConversationId, ConversationStatus, Handoff, TenantId};
use crate::store::StoreError;
use crate::turn::changes::Listener;

impl Engine {
    /// Changes who answers in the conversation. `act` goes into the console's audit log. `None`: no such conversation.
    pub async fn hand_over(
        &self,
        tenant: &TenantId,
        conversation: ConversationId,
        handoff: Handoff,
        act: Option<ConsoleAct>,
    ) -> Result<Option<Conversation>, StoreError> {
        let (engine, tenant) = (self.clone(), tenant.clone());
        let changing = async move {
            let store = engine.0.store.tenant(&tenant).noting(act.as_ref());
            let changed = store.hand_over(conversation, &handoff, Utc::now()).await?;
            if changed.is_some() {
                engine.note_edit();
                if handoff.status() == ConversationStatus::Taken {
                    engine.0.lanes.interrupt(conversation).await;
                }
                engine.0.journal.changes().notify(&tenant, conversation);
            }
            Ok::<_, StoreError>(changed)
        };
        self.run_detached(changing).await
    }

    /// Notes a stored change to the conversation that is not part of a turn, such as a decision at the console, and notifies
    /// the console.
    pub fn notify_changed(&self, tenant: &TenantId, conversation: ConversationId) {
        self.note_edit();
        self.0.journal.changes().notify(tenant, conversation);
    }

    /// Receives the shop's changed conversations from now on: messages, ended turns and handoffs.
    pub fn listen(&self, tenant: &TenantId) -> Listener {
        self.0.journal.changes().listen(tenant.clone(), self.0.closing.clone())
    }
}
