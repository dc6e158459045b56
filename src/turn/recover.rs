//! Ends turns that a killed process, or a failed journal, left unfinished.

use chrono::{DateTime, Utc};
use tracing::{error, warn};

use super::feed::{Feed, Frame};
use super::person;
use crate::desks::Shop;
use crate::domain::text::clean;
use crate::domain::{
    Conversation, ConversationId, ConversationStatus, Event, EventId, Kind, Language, Message, MessageId, Metadata,
    Sender, TenantId, Timings, TurnFigures, TurnStatus,
};
use crate::store::journal::{Change, Entry};
use crate::store::turns::StoredEvent;
use crate::store::{Store, StoreError};

/// More events than a turn can have.
const ALL: u64 = 1_000_000;

/// Finds the unfinished message among a turn's events, with its text so far and its position in the turn.
fn unfinished<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<(MessageId, Kind, String, u32)> {
    let mut unfinished = None;
    let mut position = 0;
    for event in events {
        match event {
            Event::MessageStart { message_id, kind } => {
                position += 1;
                unfinished = Some((*message_id, *kind, String::new(), position));
            }
            Event::Delta { text, .. } => {
                if let Some((_, _, written, _)) = &mut unfinished {
                    written.push_str(text);
                }
            }
            Event::MessageEnd { .. } => unfinished = None,
            _ => {}
        }
    }
    unfinished
}

/// Whether a message of the turn is a complete answer. Incomplete ones are not delivered over a channel.
fn has_said(events: &[Event]) -> bool {
    events.iter().any(|event| match event {
        Event::MessageEnd { kind, metadata, .. } => !metadata.is_cut() && !kind.is_aside(),
        _ => false,
    })
}

/// Returns the language of a notice to the customer of a channel. A person who has taken the conversation sees what is unanswered.
async fn language_of_notice(
    store: &Store,
    tenant: &TenantId,
    conversation: ConversationId,
) -> Result<Option<Language>, StoreError> {
    let found = store.tenant(tenant).find_conversation(conversation).await?;
    let is_notified = |of: &Conversation| of.channel.is_some() && of.status != ConversationStatus::Taken;
    Ok(found.filter(is_notified).map(|conversation| conversation.language))
}

/// Returns the event that starts the turn of this message.
fn start(started_by: &Message) -> Event {
    Event::TurnStart {
        turn: started_by.turn,
        message_id: started_by.id,
        sender: started_by.sender,
        text: started_by.text.clone(),
    }
}

/// Returns the events of a person's answer that follow the first `stored` ones. The message itself is stored already.
fn rest_of_answer(started_by: &Message, stored: usize) -> Vec<Event> {
    std::iter::once(start(started_by)).chain(person::answer(started_by)).skip(stored).collect()
}

/// Returns the events that tell a customer that a message was not answered, with the rows of the last one. `position` is that of
/// the notice in its turn.
fn notice(started_by: &Message, text: &str, position: u32, now: DateTime<Utc>) -> [(Event, Vec<Change>); 3] {
    let (kind, message_id) = (Kind::ErrorNotice, MessageId::now());
    let message = reply(started_by, message_id, position, text, Metadata::of(kind), now);
    let end = Event::MessageEnd { message_id, kind, metadata: Metadata::of(kind) };
    [
        (Event::MessageStart { message_id, kind }, Vec::new()),
        (Event::Delta { message_id, text: text.to_owned() }, Vec::new()),
        (end, vec![Change::Message(message), Change::Deliver { message: message_id, position }]),
    ]
}

/// Returns an assistant message of the turn.
fn reply(
    started_by: &Message,
    id: MessageId,
    position: u32,
    text: &str,
    metadata: Metadata,
    created_at: DateTime<Utc>,
) -> Message {
    Message {
        id,
        conversation_id: started_by.conversation_id,
        turn: started_by.turn,
        position,
        sender: Sender::Assistant,
        text: clean(text).into_owned(),
        created_at,
        metadata,
        receipt: None,
    }
}

/// Ends the running turn that this message started, and publishes the events. One transaction stores the missing
/// `message.end`, with the text up to here, and `turn.done` with the status `interrupted`. A person's answer is
/// completed instead. A customer of a channel, who does not see that the turn was interrupted, gets a notice if it said nothing.
/// If the database refuses that, [`end_bare`] ends the turn.
///
/// # Errors
/// The store is unavailable, or another server has taken the database.
pub async fn end_interrupted(
    store: &Store,
    shop: &Shop,
    tenant: &TenantId,
    started_by: &Message,
    feed: &Feed,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let (conversation, turn) = (started_by.conversation_id, started_by.turn);
    match end_whole(store, shop, tenant, started_by, feed, now).await {
        Err(cause) if is_refusal(&cause) => {
            error!(error = %cause, conversation.id = %conversation, turn, "The store refused the end of a turn: ending it without its last message");
            end_bare(store, tenant, conversation, turn, feed, now).await
        }
        ended => ended,
    }
}

async fn end_whole(
    store: &Store,
    shop: &Shop,
    tenant: &TenantId,
    started_by: &Message,
    feed: &Feed,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let (conversation, turn) = (started_by.conversation_id, started_by.turn);
    let stored = store.tenant(tenant).list_events(conversation, EventId::new(turn, 0), Some(turn), ALL).await?;
    if has_end(&stored, feed) {
        return Ok(());
    }
    let events: Vec<Event> = stored.iter().filter_map(|event| serde_json::from_str(&event.body).ok()).collect();
    let is_answer = started_by.sender == Sender::Agent;
    let mut missing_events = Vec::new();
    if stored.is_empty() && !is_answer {
        missing_events.push((start(started_by), vec![Change::TurnStarted]));
    }
    if is_answer {
        missing_events.extend(rest_of_answer(started_by, events.len()).into_iter().map(|event| (event, Vec::new())));
    } else if let Some((id, kind, text, position)) = unfinished(&events) {
        let metadata = Metadata::of(kind).cut(TurnStatus::Interrupted);
        let message = reply(started_by, id, position, &text, metadata.clone(), now);
        missing_events.push((Event::MessageEnd { message_id: id, kind, metadata }, vec![Change::Message(message)]));
    }
    if !is_answer
        && !has_said(&events)
        && let Some(language) = language_of_notice(store, tenant, conversation).await?
    {
        let text = shop.common(language).error_notice();
        let begun = events.iter().filter(|event| matches!(event, Event::MessageStart { .. })).count();
        let position = u32::try_from(begun).unwrap_or(u32::MAX).saturating_add(1);
        missing_events.extend(notice(started_by, &text, position, now));
    }
    let status = if is_answer { TurnStatus::Completed } else { TurnStatus::Interrupted };
    missing_events.push(done(turn, status));
    let last = stored.last().map_or(0, |event| event.id.n);
    let mut entries = Vec::new();
    for (n, (event, changes)) in (last + 1..).zip(missing_events) {
        entries.push(entry(tenant, conversation, EventId::new(turn, n), &event, changes, now)?);
    }
    match store.append(&entries).await {
        // The message cannot be stored, but the event stream still needs its end.
        Err(cause) if is_refusal(&cause) && entries.len() > 1 => {
            for entry in &mut entries {
                entry.changes.retain(|change| !matches!(change, Change::Message(_) | Change::Deliver { .. }));
            }
            store.append(&entries).await?;
        }
        appended => appended?,
    }
    publish(feed, entries);
    warn!(conversation.id = %conversation, turn, status = status.as_str(), "Ended an interrupted turn");
    Ok(())
}

/// Ends a turn whose rows cannot be read or completed. Stores `turn.done` after the last event or, if the database
/// refuses that, only the turn's status. This way every turn ends. Readers receive only stored events: without a stored
/// `turn.done`, the turn's stream ends without one and the conversation's streams send a reset.
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
    let last = store.tenant(tenant).last_event(conversation, turn).await?;
    let before_last = EventId::new(turn, last.saturating_sub(1));
    // An event that cannot be read does not keep the turn from its end.
    let stored = store.tenant(tenant).list_events(conversation, before_last, Some(turn), 1).await.unwrap_or_default();
    if has_end(&stored, feed) {
        return Ok(());
    }
    let (event, changes) = done(turn, TurnStatus::Interrupted);
    let end = entry(tenant, conversation, EventId::new(turn, last + 1), &event, changes, now)?;
    match store.append(std::slice::from_ref(&end)).await {
        Err(cause) if is_refusal(&cause) => {
            error!(error = %cause, conversation.id = %conversation, turn, "The store refused the end of a turn: storing its status only");
            store.close_turn(conversation, EventId::new(turn, last), now).await?;
            feed.forget_live();
        }
        appended => {
            appended?;
            publish(feed, vec![end]);
        }
    }
    warn!(conversation.id = %conversation, turn, "Ended a turn without its last message");
    Ok(())
}

/// Whether the last of these events ends the turn: it was stored, but its confirmation was lost. Sends the readers to the store.
fn has_end(stored: &[StoredEvent], feed: &Feed) -> bool {
    let has_end = stored.last().is_some_and(|event| Frame::from(event.clone()).ends_turn());
    if has_end {
        feed.forget_live();
    }
    has_end
}

/// Whether a retry cannot succeed.
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
    fn only_the_unfinished_message_is_missing() {
        let (a, b) = (MessageId::now(), MessageId::now());
        let start = |id| Event::MessageStart { message_id: id, kind: Kind::Reply };
        let delta = |id, text: &str| Event::Delta { message_id: id, text: text.to_owned() };
        let end = |id| Event::MessageEnd { message_id: id, kind: Kind::Reply, metadata: Metadata::default() };
        let whole = [start(a), delta(a, "x"), end(a)];
        assert_eq!(unfinished(&whole), None);
        let broken = [start(a), delta(a, "x"), end(a), start(b), delta(b, "một "), delta(b, "hai")];
        assert_eq!(unfinished(&broken), Some((b, Kind::Reply, "một hai".to_owned(), 2)));
        assert_eq!(unfinished(&broken[..4]), Some((b, Kind::Reply, String::new(), 2)));
    }
}
