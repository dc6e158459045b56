//! Makes an evaluation case of a turn.

use std::io;

use serde::Deserialize;
use serde_json::Value;
use tracing::info;

use super::case::{Answer, AnswerMessage, Case, CaseMessage, FOLDER};
use crate::app::{App, atomic_file};
use crate::domain::{
    Conversation, ConversationId, ConversationStatus, ErrorCode, Event, EventId, Language, LanguageSource, Message,
    Sender, TenantId,
};
use crate::store::{StoreError, TenantStore};

/// Messages before the question that a case stores, as many as a turn reads.
const HISTORY_MESSAGES: u64 = 80;
/// Events read at the start and at the end of a turn, where intents and errors are.
const EVENTS: u64 = 50;

/// What the shop says about an answer.
#[derive(Clone, Debug, Default)]
pub struct Remark {
    pub note: Option<String>,
    /// Words that a good answer contains.
    pub expected: Option<String>,
}

/// Why a case was not stored.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The turn does not exist, or has no message of a customer.
    #[error("no such turn of a customer")]
    NotFound,
    #[error("the turn has not ended yet")]
    NotEnded,
    #[error("cannot write the case: {0}")]
    NotWritable(io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// Stores the turn as a case below `EVALS_PATH`, replacing an earlier case of the same turn. Returns the file name.
    pub async fn keep_case(
        &self,
        tenant: &TenantId,
        conversation: ConversationId,
        turn: u32,
        remark: Remark,
    ) -> Result<String, CaseError> {
        let mut case = read_case(&self.store.tenant(tenant), tenant, conversation, turn, remark).await?;
        let shop = self.shops.get(tenant);
        let desk = shop.prompts().find_persona(&case.persona).and_then(|persona| shop.registry().find(&persona.desk));
        if let Some(fixture) = desk.and_then(|desk| desk.replay_fixture()) {
            case.rows = fixture.copy(&self.store, &case.asked_turn(tenant)).await?;
        }
        let (name, folder) = (case.file_name(), self.config.evals.folder.join(FOLDER));
        let file = folder.join(&name);
        let writing = tokio::task::spawn_blocking(move || {
            let mut json = serde_json::to_vec_pretty(&case)?;
            json.push(b'\n');
            std::fs::create_dir_all(&folder)?;
            atomic_file::write(&file, &json)
        });
        let written = writing.await.unwrap_or_else(|died| Err(io::Error::other(died)));
        written.map_err(CaseError::NotWritable)?;
        // A deletion that ended before the case was written did not find it.
        if self.store.tenant(tenant).find_conversation(conversation).await?.is_none() {
            self.remove_cases(tenant, conversation).await.map_err(CaseError::NotWritable)?;
            return Err(CaseError::NotFound);
        }
        info!(conversation.id = %conversation, turn, "Stored an answer as an evaluation case");
        Ok(name)
    }
}

async fn read_case(
    store: &TenantStore<'_>,
    tenant: &TenantId,
    id: ConversationId,
    turn: u32,
    remark: Remark,
) -> Result<Case, CaseError> {
    let conversation = store.find_conversation(id).await?.ok_or(CaseError::NotFound)?;
    let record = store.find_turn(id, turn).await?.ok_or(CaseError::NotFound)?;
    if !record.status.has_ended() {
        return Err(CaseError::NotEnded);
    }
    let mut of_turn = store.list_messages_of_turn(id, turn).await?;
    let asked = of_turn.iter().position(|message| message.sender == Sender::User).ok_or(CaseError::NotFound)?;
    let question = of_turn.remove(asked);
    let outcome = outcome(store, id, turn).await?;
    let Start { language, language_source, status, state } = start_of_turn(&conversation, &of_turn);
    let asked_at = question.created_at;
    let mut messages = store.list_messages_before(id, turn, HISTORY_MESSAGES).await?;
    messages.push(question);
    Ok(Case {
        conversation: id,
        turn,
        tenant: tenant.to_string(),
        asked_at,
        user_id: conversation.user_id,
        persona: conversation.persona,
        language,
        language_source,
        status,
        state,
        messages: messages.into_iter().map(CaseMessage::of).collect(),
        answered: answer(of_turn, outcome),
        note: remark.note,
        expected: remark.expected,
        rows: None,
    })
}

/// Returns the intent and the error of the turn, if its events are still stored.
async fn outcome(
    store: &TenantStore<'_>,
    id: ConversationId,
    turn: u32,
) -> Result<(Option<String>, Option<ErrorCode>), StoreError> {
    let last = store.last_event(id, turn).await?;
    let from_the_end = EventId::new(turn, last.saturating_sub(u32::try_from(EVENTS).unwrap_or(last)));
    let mut events = store.list_events(id, EventId::new(turn, 0), Some(turn), EVENTS).await?;
    events.extend(store.list_events(id, from_the_end, Some(turn), EVENTS).await?);
    let (mut intent, mut error) = (None, None);
    for event in events {
        match serde_json::from_str(&event.body) {
            Ok(Event::Intent { intent: understood, .. }) => intent = Some(understood),
            Ok(Event::Error { code, .. }) => error = Some(code),
            _ => {}
        }
    }
    Ok((intent, error))
}

fn answer(messages: Vec<Message>, (intent, error): (Option<String>, Option<ErrorCode>)) -> Answer {
    let noted = messages.iter().find_map(|message| {
        let intent = message.receipt.as_ref()?.pointer("/intent/intent")?;
        Some(intent.as_str()?.to_owned())
    });
    let said = messages.into_iter().filter_map(|message| AnswerMessage::of(message.text, &message.metadata));
    Answer { intent: intent.or(noted), messages: said.collect(), error }
}

/// The conversation at the start of a turn.
struct Start {
    language: Language,
    language_source: String,
    status: ConversationStatus,
    /// The desk's state.
    state: Value,
}

/// Reads the start of the turn from the receipts of its messages, with the conversation's current values as a fallback.
fn start_of_turn(conversation: &Conversation, messages: &[Message]) -> Start {
    let before = messages.iter().find_map(|message| message.receipt.as_ref()?.get("before"));
    let text = |name: &str| before?.get(name)?.as_str();
    let language = text("language").and_then(|code| code.parse().ok()).unwrap_or(conversation.language);
    let language_source = text("language_source").unwrap_or(LanguageSource::Detected.as_str()).to_owned();
    let status = before.and_then(|before| ConversationStatus::deserialize(before.get("status")?).ok());
    let state = before.and_then(|before| before.get("state")).cloned().unwrap_or_default();
    Start { language, language_source, status: status.unwrap_or(ConversationStatus::Bot), state }
}
