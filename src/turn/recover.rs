//! Ending a turn that a dead process, or a journal that gave up, left behind.

use chrono::{DateTime, Utc};
use tracing::{error, warn};

use super::feed::{Feed, Frame};
use super::person;
use crate::domain::text::clean;
use crate::domain::{
    ConversationId, Event, EventId, Kind, Message, MessageId, Metadata, Sender, TenantId, Timings, TurnFigures,
    TurnStatus,
};
use crate::store::journal::{Change, Entry};
use crate::store::turns::StoredEvent;
use crate::store::{Store, StoreError};

/// How many events of a turn are read back at most: far more than a turn has.
const ALL: u64 = 1_000_000;

/// What is missing of a turn, so that it has its end.
#[derive(Debug, Default, PartialEq)]
struct Missing {
    /// The message that was being written: its text so far, and its place in the turn.
    message: Option<(MessageId, Kind, String, u32)>,
}

/// Reads from a turn's events what has no end yet.
fn missing<'a>(events: impl IntoIterator<Item = &'a Event>) -> Missing {
    let mut missing = Missing::default();
    let mut position = 0;
    for event in events {
        match event {
            Event::MessageStart { message_id, kind } => {
                position += 1;
                missing.message = Some((*message_id, *kind, String::new(), position));
            }
            Event::Delta { text, .. } => {
                if let Some((_, _, written, _)) = &mut missing.message {
                    written.push_str(text);
                }
            }
            Event::MessageEnd { .. } => missing.message = None,
            _ => {}
        }
    }
    missing
}

/// What is still to be told of a person's answer, of which so many events are stored: nothing of it is lost, since the message
/// is.
fn rest_of_answer(begun_by: &Message, stored: usize) -> Vec<Event> {
    let start = Event::TurnStart {
        turn: begun_by.turn,
        message_id: begun_by.id,
        sender: begun_by.sender,
        text: begun_by.text.clone(),
    };
    std::iter::once(start).chain(person::answer(begun_by)).skip(stored).collect()
}

/// Ends the running turn that this message began, shown to its readers: the missing `message.end` (its text so far is the
/// message), and `turn.done` as `interrupted`, in one transaction. The rest of a person's answer is sent. Where the
/// database refuses that, the turn ends with less: see [`end_bare`].
///
/// # Errors
/// The store does not answer, or another server has taken the database.
pub async fn end_interrupted(
    store: &Store,
    tenant: &TenantId,
    begun_by: &Message,
    feed: &Feed,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let (conversation, turn) = (begun_by.conversation_id, begun_by.turn);
    match end_whole(store, tenant, begun_by, feed, now).await {
        Err(cause) if is_refusal(&cause) => {
            error!(error = %cause, conversation.id = %conversation, turn, "The end of a turn was refused; it ends with less");
            end_bare(store, tenant, conversation, turn, feed, now).await
        }
        ended => ended,
    }
}

async fn end_whole(
    store: &Store,
    tenant: &TenantId,
    begun_by: &Message,
    feed: &Feed,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let (conversation, turn) = (begun_by.conversation_id, begun_by.turn);
    let stored = store.tenant(tenant).list_events(conversation, EventId::new(turn, 0), Some(turn), ALL).await?;
    let events: Vec<Event> = stored.iter().filter_map(|event| serde_json::from_str(&event.body).ok()).collect();
    let is_answer = begun_by.sender == Sender::Agent;
    let mut missing_events = Vec::new();
    if is_answer {
        missing_events.extend(rest_of_answer(begun_by, events.len()).into_iter().map(|event| (event, Vec::new())));
    } else if let Some((id, kind, text, position)) = missing(&events).message {
        let metadata = Metadata::of(kind).cut(TurnStatus::Interrupted);
        let message = Message {
            id,
            conversation_id: conversation,
            turn,
            position,
            sender: Sender::Assistant,
            text: clean(&text).into_owned(),
            created_at: now,
            metadata: metadata.clone(),
            receipt: None,
        };
        missing_events.push((Event::MessageEnd { message_id: id, kind, metadata }, vec![Change::Message(message)]));
    }
    let status = if is_answer { TurnStatus::Completed } else { TurnStatus::Interrupted };
    missing_events.push(done(turn, status));
    let last = stored.last().map_or(0, |event| event.id.n);
    let mut entries = Vec::new();
    for (n, (event, changes)) in (last + 1..).zip(missing_events) {
        entries.push(entry(tenant, conversation, EventId::new(turn, n), &event, changes, now)?);
    }
    match store.append(&entries).await {
        // The message cannot be stored; the stream still gets its end.
        Err(cause) if is_refusal(&cause) && entries.len() > 1 => {
            for entry in &mut entries {
                entry.changes.retain(|change| !matches!(change, Change::Message(_)));
            }
            store.append(&entries).await?;
        }
        appended => appended?,
    }
    publish(feed, entries);
    warn!(conversation.id = %conversation, turn, status = status.as_str(), "A turn was interrupted and has been ended");
    Ok(())
}

/// Ends a turn whose rows cannot be read or completed: stores `turn.done` after the last event there is, or, if the
/// database refuses even that, the turn's status alone. So every turn ends. Readers receive only what is stored: without a
/// stored `turn.done`, the turn's stream ends without one and the conversation's streams send a reset.
///
/// # Errors
/// As [`end_interrupted`].
pub async fn end_bare(
    store: &Store,
    tenant: &TenantId,
    conversation: ConversationId,
    turn: u32,
    feed: &Feed,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let last = store.last_event_of_any(conversation, turn).await?;
    let (event, changes) = done(turn, TurnStatus::Interrupted);
    let end = entry(tenant, conversation, EventId::new(turn, last + 1), &event, changes, now)?;
    match store.append(std::slice::from_ref(&end)).await {
        Err(cause) if is_refusal(&cause) => {
            error!(error = %cause, conversation.id = %conversation, turn, "The end of a turn was refused; its status alone is stored");
            store.close_turn(conversation, turn, now).await?;
            feed.forget_live();
        }
        appended => {
            appended?;
            publish(feed, vec![end]);
        }
    }
    warn!(conversation.id = %conversation, turn, "A turn was ended without its last message");
    Ok(())
}

/// Whether trying again changes nothing.
fn is_refusal(cause: &StoreError) -> bool {
    !cause.is_unavailable() && !matches!(cause, StoreError::Fenced)
}

fn done(turn: u32, status: TurnStatus) -> (Event, Vec<Change>) {
    let timings = Timings::new();
    let event = Event::TurnDone { turn, status, timings_ms: timings.clone() };
    (event, vec![Change::TurnEnded { status, timings, state: None, figures: TurnFigures::default() }])
}

fn entry(
    tenant: &TenantId,
    conversation: ConversationId,
    id: EventId,
    event: &Event,
    changes: Vec<Change>,
    at: DateTime<Utc>,
) -> Result<Entry, StoreError> {
    let body = serde_json::to_string(event)
        .map_err(|error| StoreError::Unreadable { table: "events", reason: error.to_string() })?;
    Ok(Entry { tenant: tenant.clone(), conversation, event: StoredEvent { id, body }, at, changes })
}

fn publish(feed: &Feed, entries: Vec<Entry>) {
    for entry in entries {
        feed.publish(Frame::from(entry.event));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_message_without_an_end_is_missing_one() {
        let (a, b) = (MessageId::now(), MessageId::now());
        let start = |id| Event::MessageStart { message_id: id, kind: Kind::Reply };
        let delta = |id, text: &str| Event::Delta { message_id: id, text: text.to_owned() };
        let end = |id| Event::MessageEnd { message_id: id, kind: Kind::Reply, metadata: Metadata::default() };
        let whole = [start(a), delta(a, "x"), end(a)];
        assert_eq!(missing(&whole), Missing::default());
        let broken = [start(a), delta(a, "x"), end(a), start(b), delta(b, "một "), delta(b, "hai")];
        assert_eq!(missing(&broken).message, Some((b, Kind::Reply, "một hai".to_owned(), 2)));
        assert_eq!(missing(&broken[..4]).message, Some((b, Kind::Reply, String::new(), 2)));
    }
    #[test]
    fn an_answer_is_told_from_where_it_broke_off() {
        let message = Message {
            id: MessageId::now(),
            conversation_id: ConversationId::now(),
            turn: 3,
            position: 0,
            sender: Sender::Agent,
            text: "Dạ có ạ".to_owned(),
            created_at: DateTime::UNIX_EPOCH,
            metadata: Metadata::of(Kind::Agent).with("name", "Lan"),
            receipt: None,
        };
        let (message_id, kind) = (message.id, Kind::Agent);
        let all = [
            Event::TurnStart { turn: 3, message_id, sender: Sender::Agent, text: message.text.clone() },
            Event::MessageStart { message_id, kind },
            Event::Delta { message_id, text: message.text.clone() },
            Event::MessageEnd { message_id, kind, metadata: message.metadata.clone() },
        ];
        for stored in 0..=all.len() {
            assert_eq!(rest_of_answer(&message, stored), all[stored..]);
        }
        assert_eq!(person::answer(&Message { sender: Sender::User, ..message }), []);
    }
}
