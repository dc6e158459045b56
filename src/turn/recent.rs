//! The last messages of active conversations, so that the next turn need not read them.
//!
//! A history is kept only for the turn right after it, and only if nothing was deleted since it was read. In doubt it is
//! dropped, and the turn reads the store.

use std::sync::{Mutex, PoisonError};

use hashlink::LruCache;
use serde_json::Value;

use crate::domain::{ConversationId, Message};

/// The most bytes of histories, estimated.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// The estimated size of a message without its text and metadata.
const MESSAGE_BYTES: usize = 256;

/// The histories of the conversations that were active last.
#[derive(Debug, Default)]
pub(super) struct HistoryCache(Mutex<Table>);

#[derive(Debug)]
struct Table {
    /// Counts how often everything was dropped.
    generation: u64,
    histories: LruCache<ConversationId, History>,
    bytes: usize,
}

impl Default for Table {
    fn default() -> Self {
        Self { generation: 0, histories: LruCache::new_unbounded(), bytes: 0 }
    }
}

#[derive(Debug)]
struct History {
    /// The turn that follows it.
    next: u32,
    messages: Vec<Message>,
    bytes: usize,
}

impl HistoryCache {
    fn with<T>(&self, work: impl FnOnce(&mut Table) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns a number that changes when everything is dropped. To be called before a history is read.
    pub fn generation(&self) -> u64 {
        self.with(|table| table.generation)
    }

    /// Takes the messages before the turn, oldest first.
    pub fn take(&self, conversation: ConversationId, turn: u32) -> Option<Vec<Message>> {
        let kept = self.with(|table| table.remove(conversation));
        kept.filter(|kept| kept.next == turn).map(|kept| kept.messages)
    }

    /// Keeps the messages before the turn `next`, unless something was dropped since `generation`.
    pub fn keep(&self, conversation: ConversationId, next: u32, generation: u64, messages: Vec<Message>) {
        let kept = History { next, bytes: messages.iter().map(size).sum(), messages };
        self.with(|table| {
            if table.generation != generation {
                return;
            }
            table.remove(conversation);
            table.bytes += kept.bytes;
            table.histories.insert(conversation, kept);
            while table.bytes > MAX_BYTES
                && let Some((_, oldest)) = table.histories.remove_lru()
            {
                table.bytes -= oldest.bytes;
            }
        });
    }

    /// Drops everything, also what running turns have read.
    pub fn clear(&self) {
        self.with(|table| *table = Table { generation: table.generation + 1, ..Table::default() });
    }
}

impl Table {
    fn remove(&mut self, conversation: ConversationId) -> Option<History> {
        let removed = self.histories.remove(&conversation)?;
        self.bytes -= removed.bytes;
        Some(removed)
    }
}

/// Estimates the size of a message.
fn size(message: &Message) -> usize {
    MESSAGE_BYTES
        + message.text.len()
        + message.metadata.0.iter().map(|(key, value)| key.len() + size_of_json(value)).sum::<usize>()
}

/// Estimates the size of a JSON value.
fn size_of_json(value: &Value) -> usize {
    std::mem::size_of::<Value>()
        + match value {
            Value::String(text) => text.len(),
            Value::Array(values) => values.iter().map(size_of_json).sum(),
            Value::Object(fields) => fields.iter().map(|(key, value)| key.len() + size_of_json(value)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::domain::{MessageId, Metadata, Sender};

    fn history(conversation: ConversationId, text: &str) -> Vec<Message> {
        let message = Message {
            id: MessageId::now(),
            conversation_id: conversation,
            turn: 1,
            position: 0,
            sender: Sender::User,
            text: text.to_owned(),
            created_at: DateTime::UNIX_EPOCH,
            metadata: Metadata::default(),
            receipt: None,
        };
        vec![message]
    }

    #[test]
    fn history_is_kept_for_the_next_turn_only() {
        let (cache, id) = (HistoryCache::default(), ConversationId::now());
        let messages = history(id, "a");
        cache.keep(id, 2, 0, messages.clone());
        assert_eq!(cache.take(id, 2), Some(messages.clone()));
        assert_eq!(cache.take(id, 2), None, "taken");
        cache.keep(id, 2, 0, messages.clone());
        assert_eq!(cache.take(id, 3), None, "of another turn");
        cache.keep(id, 2, 0, messages.clone());
        cache.clear();
        assert_eq!(cache.take(id, 2), None, "dropped");
        cache.keep(id, 2, 0, messages);
        assert_eq!(cache.take(id, 2), None, "read before the drop");
    }

    #[test]
    fn memory_of_histories_is_bounded() {
        let (cache, long) = (HistoryCache::default(), "a".repeat(MAX_BYTES / 64));
        let ids: Vec<ConversationId> = (0..200).map(|_| ConversationId::now()).collect();
        for id in &ids {
            cache.keep(*id, 2, 0, history(*id, &long));
        }
        let kept = ids.iter().filter(|id| cache.take(**id, 2).is_some()).count();
        assert_eq!(kept, 63, "one byte more than half a mebibyte each");
        assert!(cache.take(ids[199], 2).is_none() && cache.with(|table| table.bytes) == 0);
    }
}
