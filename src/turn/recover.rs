//! Ending a turn that a dead process, or a journal that gave up, left behind.

use chrono::{DateTime, Utc};
use tracing::warn;

use super::feed::{Feed, Frame};
use crate::domain::{
    ConversationId, Event, EventId, Kind, Message, MessageId, Metadata, Sender, TenantId, Timings, TurnStatus,
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

/// Ends a running turn as `interrupted`: the missing `message.end` (its text so far is the message) and `turn.done`,
/// in one transaction, shown to whoever reads.
pub async fn end_interrupted(
    store: &Store,
    tenant: &TenantId,
    conversation: ConversationId,
    turn: u32,
    feed: &Feed,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let stored = store.tenant(tenant).list_events(conversation, EventId::new(turn, 0), Some(turn), ALL).await?;
    let events: Vec<Event> = stored.iter().filter_map(|event| serde_json::from_str(&event.body).ok()).collect();
    let mut next = EventId::new(turn, stored.last().map_or(0, |event| event.id.n));
    let mut entries = Vec::new();
    let mut push = |event: Event, changes: Vec<Change>| {
        next.n += 1;
        let body = serde_json::to_string(&event)
            .map_err(|error| StoreError::Unreadable { table: "events", reason: error.to_string() })?;
        entries.push(Entry {
            tenant: tenant.clone(),
            conversation,
            event: StoredEvent { id: next, body },
            at: now,
            changes,
        });
        Ok::<(), StoreError>(())
    };
    if let Some((id, kind, text, position)) = missing(&events).message {
        let metadata = Metadata::of(kind).cut();
        let message = Message {
            id,
            conversation_id: conversation,
            turn,
            position,
            sender: Sender::Assistant,
            text,
            created_at: now,
            metadata: metadata.clone(),
            receipt: None,
        };
        push(Event::MessageEnd { message_id: id, kind, metadata }, vec![Change::Message(message)])?;
    }
    let status = TurnStatus::Interrupted;
    push(
        Event::TurnDone { turn, status, timings_ms: Timings::new() },
        vec![Change::TurnEnded { status, timings: Timings::new(), state: None }],
    )?;
    store.append(&entries).await?;
    for entry in entries {
        feed.publish(Frame::from(entry.event));
    }
    warn!(conversation.id = %conversation, turn, "A turn was interrupted and has been ended");
    Ok(())
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
}
