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

/// The histories of active conversations.
#[derive(Debug, Default)]
pub(super) struct Recent(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    /// Counts how often everything was dropped.
    generation: u64,
    young: HashMap<ConversationId, History>,
    young_bytes: usize,
    /// The histories before the last half of [`MAX_BYTES`] was kept.
    old: HashMap<ConversationId, History>,
}

#[derive(Debug)]
struct History {
    /// The turn that follows it.
    next: u32,
    messages: Vec<Message>,
}

impl Recent {
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
            let young = table.young.remove(&conversation);
            young.inspect(|kept| table.young_bytes -= kept.bytes()).or_else(|| table.old.remove(&conversation))
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
            if table.young_bytes > MAX_BYTES / 2 {
                table.old = std::mem::take(&mut table.young);
                table.young_bytes = 0;
            }
            table.young_bytes += kept.bytes();
            table.old.remove(&conversation);
            if let Some(earlier) = table.young.insert(conversation, kept) {
                table.young_bytes -= earlier.bytes();
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
        let (recent, id) = (Recent::default(), ConversationId::now());
        let messages = history(id, "a");
        recent.keep(id, 2, 0, messages.clone());
        assert_eq!(recent.take(id, 2), Some(messages.clone()));
        assert_eq!(recent.take(id, 2), None, "taken");
        recent.keep(id, 2, 0, messages.clone());
        assert_eq!(recent.take(id, 3), None, "of another turn");
        recent.keep(id, 2, 0, messages.clone());
        recent.clear();
        assert_eq!(recent.take(id, 2), None, "dropped");
        recent.keep(id, 2, 0, messages);
        assert_eq!(recent.take(id, 2), None, "read before the drop");
    }

    #[test]
    fn memory_of_histories_is_bounded() {
        let (recent, long) = (Recent::default(), "a".repeat(MAX_BYTES / 64));
        let ids: Vec<ConversationId> = (0..200).map(|_| ConversationId::now()).collect();
        for id in &ids {
            recent.keep(*id, 2, 0, history(*id, &long));
        }
        let kept = ids.iter().filter(|id| recent.take(**id, 2).is_some()).count();
        assert!((32..=66).contains(&kept), "{kept}");
        assert_eq!(recent.with(|table| table.young_bytes), 0);
    }
}
