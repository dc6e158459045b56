//! The input of a replayed turn, and a recording of its events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::ready;

use crate::app::evals::case::{Answer, AnswerMessage, Case, CaseMessage};
use crate::desks::{Sink, SinkClosed, Stored};
use crate::domain::{Conversation, Event, EventId, LanguageSource, Message, MessageId, TenantId};
use crate::store::journal::Change;

/// Builds the conversation as of the start of the turn.
pub(super) fn conversation(case: &Case, tenant: TenantId) -> Conversation {
    Conversation {
        id: case.conversation,
        tenant,
        user_id: case.user_id.clone(),
        channel: None,
        persona: case.persona.clone(),
        language: case.language,
        language_source: LanguageSource::parse(&case.language_source).unwrap_or(LanguageSource::Persona),
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

/// Builds the messages. Only the time of the last one matters: desks count days from the question.
pub(super) fn messages(case: &Case) -> Vec<Message> {
    let mut places: HashMap<u32, u32> = HashMap::new();
    let message = |message: &CaseMessage| {
        let next = places.entry(message.turn).or_default();
        let position = *next;
        *next += 1;
        Message {
            id: MessageId::now(),
            conversation_id: case.conversation,
            turn: message.turn,
            position,
            sender: message.sender,
            text: message.text.clone(),
            created_at: case.asked_at,
            metadata: message.metadata.clone(),
            receipt: None,
        }
    };
    case.messages.iter().map(message).collect()
}

/// Records the events of a turn instead of sending them.
#[derive(Clone, Default)]
pub(super) struct Recording(Arc<Mutex<Vec<Event>>>);

#[async_trait]
impl Sink for Recording {
    async fn emit(&mut self, event: Event, _: Vec<Change>) -> Result<(), SinkClosed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        Ok(())
    }

    async fn emit_tracked(&mut self, event: Event, changes: Vec<Change>) -> Result<Stored, SinkClosed> {
        self.emit(event, changes).await?;
        Ok(ready(Ok(())).boxed())
    }
}

impl Recording {
    /// Returns the answer that the events make.
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
