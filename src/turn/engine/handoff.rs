//! Taking conversations over, and giving them back.
//!
//! No desk speaks after a person has taken a conversation: the new status is stored first, then the turn that runs is
//! stopped, and only when it has ended is anybody told. A turn asks for the status after it can be stopped
//! (`Engine::run_turn`), so it either sees the new one or is stopped.

use chrono::Utc;

use super::Engine;
use crate::domain::{ConsoleAct, Conversation, ConversationId, ConversationStatus, Handoff, TenantId};
use crate::store::StoreError;
use crate::turn::changes::Listener;

impl Engine {
    /// Changes who answers in the conversation. `None`: there is no such conversation. `act`: who does it, for the console's
    /// audit log.
    pub async fn hand_over(
        &self,
        tenant: &TenantId,
        conversation: ConversationId,
        handoff: Handoff,
        act: Option<ConsoleAct>,
    ) -> Result<Option<Conversation>, StoreError> {
        let (engine, tenant) = (self.clone(), tenant.clone());
        self.to_its_end(async move { engine.hand_over_now(&tenant, conversation, &handoff, act.as_ref()).await }).await
    }

    async fn hand_over_now(
        &self,
        tenant: &TenantId,
        conversation: ConversationId,
        handoff: &Handoff,
        act: Option<&ConsoleAct>,
    ) -> Result<Option<Conversation>, StoreError> {
        let changed = self.0.store.tenant(tenant).noting(act).hand_over(conversation, handoff, Utc::now()).await?;
        let Some(changed) = changed else { return Ok(None) };
        if handoff.status() == ConversationStatus::Taken {
            self.0.lanes.interrupt(conversation).await;
        }
        self.0.journal.changes().tell(tenant, conversation);
        Ok(Some(changed))
    }

    /// Tells the shop's own people that something about the conversation changed which no turn says, such as a return of it.
    pub fn tell_of(&self, tenant: &TenantId, conversation: ConversationId) {
        self.0.journal.changes().tell(tenant, conversation);
    }

    /// Hears of every conversation of the shop in which something is said, a turn ends, or another one answers, from now on.
    pub fn listen(&self, tenant: &TenantId) -> Listener {
        self.0.journal.changes().listen(tenant.clone(), self.0.closing.clone())
    }
}
