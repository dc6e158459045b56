//! What a turn is given that is played again, and what is kept of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::ready;

use crate::app::evals::case::{Answer, AnswerMessage, Case, CaseMessage};
use crate::desks::{Sink, SinkClosed, Stored};
use crate::domain::{Conversation, Event, EventId, LanguageSource, Message, MessageId, TenantId};
use crate::store::journal::Change;

/// The conversation as it was when the turn began, as far as the case tells.
pub(super) fn conversation(case: &Case, tenant: TenantId) -> Conversation {
    Conversation {
        id: case.conversation,
        tenant,
        user_id: case.user_id.clone(),
        persona: case.persona.clone(),
        language: case.language,
        language_source: LanguageSource::parse(&case.language_source),
        status: case.status,
        agent: None,
        waiting_since: None,
        created_at: case.asked_at,
        last_activity_at: case.asked_at,
        metadata: serde_json::Map::new(),
        last_turn: case.turn,
        last_event_id: EventId::ZERO,
        state: case.state.clone(),
    }
}

/// In their places: the first of each turn is what was asked. Days are counted from when the customer wrote, which is that of the
/// last one; of the others no desk looks at the time.
pub(super) fn messages(case: &Case) -> Vec<Message> {
    let mut places: HashMap<u32, u32> = HashMap::new();
    let message = |said: &CaseMessage| {
        let next = places.entry(said.turn).or_default();
        let position = *next;
        *next += 1;
        Message {
            id: MessageId::now(),
            conversation_id: case.conversation,
            turn: said.turn,
            position,
            sender: said.sender,
            text: said.text.clone(),
            created_at: case.asked_at,
            metadata: said.metadata.clone(),
            receipt: None,
        }
    };
    case.messages.iter().map(message).collect()
}

/// What a turn tells, kept instead of sent.
#[derive(Clone, Default)]
pub(super) struct Told(Arc<Mutex<Vec<Event>>>);

#[async_trait]
impl Sink for Told {
    async fn emit(&mut self, event: Event, _: Vec<Change>) -> Result<(), SinkClosed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        Ok(())
    }

    async fn emit_tracked(&mut self, event: Event, changes: Vec<Change>) -> Result<Stored, SinkClosed> {
        self.emit(event, changes).await?;
        Ok(ready(Ok(())).boxed())
    }
}

impl Told {
    pub fn answer(&self) -> Answer {
        let mut answer = Answer::default();
        let mut texts: HashMap<MessageId, String> = HashMap::new();
        for event in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            match event {
                Event::Intent { intent, .. } => answer.intent = Some(intent.clone()),
                Event::Delta { message_id, text } => texts.entry(*message_id).or_default().push_str(text),
                Event::MessageEnd { message_id, metadata, .. } => {
                    let text = texts.remove(message_id).unwrap_or_default();
                    answer.messages.extend(AnswerMessage::of(text, metadata));
                }
                Event::Error { code, .. } => answer.error = Some(*code),
                _ => {}
            }
        }
        answer
    }
}
