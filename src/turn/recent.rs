//! The last messages of active conversations, so that the next turn need not read them.
//!
//! A history is kept only for the turn right after it, and only if nothing was deleted since it was read. In doubt it is
//! dropped, and the turn reads the store.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::domain::{ConversationId, Message};

/// The most bytes of histories, estimated.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// The estimated size of a message without its text.
const MESSAGE_BYTES: usize = 512;

/// The histories of active conversations. Two generations approximate least recently used.
#[derive(Debug, Default)]
pub(super) struct HistoryCache(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    /// Counts how often everything was dropped.
    generation: u64,
    newer: HashMap<ConversationId, History>,
    newer_bytes: usize,
    /// Filled before `newer`. Dropped when `newer` reaches half of [`MAX_BYTES`] again.
    older: HashMap<ConversationId, History>,
}

#[derive(Debug)]
struct History {
    /// The turn that follows it.
    next: u32,
    messages: Vec<Message>,
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
        let kept = self.with(|table| {
            let newer = table.newer.remove(&conversation);
            newer.inspect(|kept| table.newer_bytes -= kept.bytes()).or_else(|| table.older.remove(&conversation))
        });
        kept.filter(|kept| kept.next == turn).map(|kept| kept.messages)
    }

    /// Keeps the messages before the turn `next`, unless something was dropped since `generation`.
    pub fn keep(&self, conversation: ConversationId, next: u32, generation: u64, messages: Vec<Message>) {
        let kept = History { next, messages };
        self.with(|table| {
            if table.generation != generation {
                return;
            }
            if table.newer_bytes > MAX_BYTES / 2 {
                table.older = std::mem::take(&mut table.newer);
                table.newer_bytes = 0;
            }
            table.newer_bytes += kept.bytes();
            table.older.remove(&conversation);
            if let Some(earlier) = table.newer.insert(conversation, kept) {
                table.newer_bytes -= earlier.bytes();
            }
        });
    }

    /// Drops everything, also what running turns have read.
    pub fn clear(&self) {
        self.with(|table| *table = Table { generation: table.generation + 1, ..Table::default() });
    }
}

impl History {
    fn bytes(&self) -> usize {
        self.messages.iter().map(|message| message.text.len() + MESSAGE_BYTES).sum()
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
        assert!((32..=66).contains(&kept), "{kept}");
        assert_eq!(cache.with(|table| table.newer_bytes), 0);
    }
}
