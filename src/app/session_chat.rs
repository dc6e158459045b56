//! Conversations by the session ids of callers, for `POST /chat`.

use chrono::Utc;

use super::{App, NewConversation, OpenError};
use crate::domain::{Conversation, TenantId};
use crate::store::StoreError;

/// A session of a caller.
#[derive(Debug)]
pub struct ChatSession {
    pub session_id: String,
    /// The first one binds the session.
    pub user_id: Option<String>,
    /// The persona of a new session; the shop's default if `None`.
    pub persona: Option<String>,
    /// Only find an existing session.
    pub repeats_only: bool,
}

/// Why a session has no conversation for the caller.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("the session belongs to another user")]
    OtherUser,
    #[error("the session has another persona")]
    OtherPersona,
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl From<StoreError> for SessionError {
    fn from(cause: StoreError) -> Self {
        Self::Open(cause.into())
    }
}

impl App {
    /// Returns the session's conversation. The first call opens it; of concurrent first calls, one does.
    pub async fn conversation_of_session(
        &self,
        tenant: &TenantId,
        session: &ChatSession,
    ) -> Result<Conversation, SessionError> {
        let store = self.store.tenant(tenant);
        if let Some(conversation) = store.find_session(&session.session_id).await? {
            return self.check_session(conversation, session).await;
        }
        if session.repeats_only {
            return Err(OpenError::NotRepeated.into());
        }
        if self.engine.is_draining() {
            return Err(OpenError::Draining.into());
        }
        let new = NewConversation {
            user_id: session.user_id.clone(),
            persona: session.persona.clone(),
            ..NewConversation::default()
        };
        let (conversation, greeting) = self.begin_conversation(tenant, &new, Utc::now())?;
        let generation = self.engine.history_generation();
        if store.create_session(&conversation, &greeting, &session.session_id).await? {
            self.engine.keep_greeting(generation, &greeting);
            self.jobs.wake();
            return Ok(conversation);
        }
        let opened = store.find_session(&session.session_id).await?;
        // It was deleted again at once.
        let opened = opened.ok_or(OpenError::NotRepeated)?;
        self.check_session(opened, session).await
    }

    /// Checks that the caller may continue the session, and binds it to its first user.
    async fn check_session(
        &self,
        mut conversation: Conversation,
        session: &ChatSession,
    ) -> Result<Conversation, SessionError> {
        if session.persona.as_ref().is_some_and(|persona| *persona != conversation.persona) {
            return Err(SessionError::OtherPersona);
        }
        match (&session.user_id, &conversation.user_id) {
            // A message that was accepted has bound the user already.
            (Some(user_id), None) if !session.repeats_only => {
                let store = self.store.tenant(&conversation.tenant);
                if !store.bind_user(conversation.id, user_id).await? {
                    return Err(SessionError::OtherUser);
                }
                conversation.user_id = Some(user_id.clone());
            }
            (Some(user_id), Some(bound)) if user_id != bound => return Err(SessionError::OtherUser),
            _ => {}
        }
        Ok(conversation)
    }
}
