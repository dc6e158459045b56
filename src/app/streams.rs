//! Limits of open event streams.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::domain::{ConversationId, TenantId};

/// The open streams. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Streams {
    per_conversation: usize,
    per_key: usize,
    table: Arc<Mutex<Table>>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    conversations: HashMap<ConversationId, VecDeque<(u64, CancellationToken)>>,
    keys: HashMap<TenantId, usize>,
}

/// The shop has reached its limit of open streams.
#[derive(Debug, PartialEq, Eq)]
pub struct TooManyStreams {
    pub limit: usize,
}

/// The slot of an open stream. Dropping it frees the slot.
#[derive(Debug)]
pub struct StreamPlace {
    streams: Streams,
    id: u64,
    /// The conversation, for a stream that counts against its limit.
    conversation: Option<ConversationId>,
    key: Option<TenantId>,
    /// Cancelled when a newer stream of the conversation takes the slot.
    pub evicted: CancellationToken,
}

impl Streams {
    pub fn new(per_conversation: usize, per_key: usize) -> Self {
        Self { per_conversation: per_conversation.max(1), per_key, table: Arc::default() }
    }

    /// Takes a slot for a stream, and closes the conversation's oldest one above the limit. `conversation` is `None` for a stream of one
    /// turn or of the console's news, which does not count against the limit of a conversation. `key` is the shop whose key opened it;
    /// `None` for browsers, which have no limit per shop.
    pub fn open(
        &self,
        conversation: Option<ConversationId>,
        key: Option<TenantId>,
    ) -> Result<StreamPlace, TooManyStreams> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = &key {
            let open = table.keys.entry(key.clone()).or_default();
            if *open >= self.per_key {
                return Err(TooManyStreams { limit: self.per_key });
            }
            *open += 1;
        }
        table.next += 1;
        let (id, evicted) = (table.next, CancellationToken::new());
        if let Some(conversation) = conversation {
            let open = table.conversations.entry(conversation).or_default();
            open.push_back((id, evicted.clone()));
            while open.len() > self.per_conversation {
                if let Some((_, oldest)) = open.pop_front() {
                    oldest.cancel();
                }
            }
        }
        metrics::gauge!("frontdesk_open_streams").increment(1.0);
        Ok(StreamPlace { streams: self.clone(), id, conversation, key, evicted })
    }
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        metrics::gauge!("frontdesk_open_streams").decrement(1.0);
        let mut table = self.streams.table.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(conversation) = &self.conversation
            && let Some(open) = table.conversations.get_mut(conversation)
        {
            open.retain(|(id, _)| *id != self.id);
            if open.is_empty() {
                table.conversations.remove(conversation);
            }
        }
        if let Some(key) = &self.key
            && let Some(open) = table.keys.get_mut(key)
        {
            *open -= 1;
            if *open == 0 {
                table.keys.remove(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_above_limit_closes_the_oldest() {
        let streams = Streams::new(8, 10);
        let id = ConversationId::now();
        let mut open: Vec<StreamPlace> = (0..9).map(|_| streams.open(Some(id), None).unwrap()).collect();
        let evicted: Vec<bool> = open.iter().map(|place| place.evicted.is_cancelled()).collect();
        assert_eq!(evicted, [true, false, false, false, false, false, false, false, false]);
        drop(open.pop());
        open.push(streams.open(Some(id), None).unwrap());
        assert_eq!(
            open.iter().filter(|place| place.evicted.is_cancelled()).count(),
            1,
            "a closed stream freed its slot"
        );
        drop(open);
        assert!(streams.table.lock().unwrap().conversations.is_empty());
    }

    #[test]
    fn only_keys_have_a_stream_limit() {
        let streams = Streams::new(8, 2);
        let key = TenantId::default();
        let open = |key| streams.open(Some(ConversationId::now()), key);
        let first = open(Some(key.clone())).unwrap();
        let _second = open(Some(key.clone())).unwrap();
        assert_eq!(open(Some(key.clone())).err(), Some(TooManyStreams { limit: 2 }));
        assert!(open(None).is_ok());
        drop(first);
        assert!(open(Some(key)).is_ok());
    }
}
