//! Finds passages and earlier messages that belong to a question.

use std::collections::HashSet;

use tracing::warn;

use super::Retail;
use crate::desks::Turn;
use crate::domain::{Message, MessageId, Sender};
use crate::nlu::long_text::read_text;
use crate::retrieval::Query;
use crate::retrieval::search::Found;

/// Passages in a prompt.
const PASSAGES: usize = 8;
/// Earlier questions that are considered when a question names nothing.
const EARLIER_QUESTIONS: usize = 4;

impl Retail {
    /// Finds passages. A question that names hardly anything ("còn loại nào rẻ hơn?") is searched again together with the last
    /// question that named something: not with "còn loại nào nhẹ hơn?", and not with itself if it is repeated.
    pub(super) async fn retrieve(&self, turn: &Turn, question: &str) -> Found {
        let (knowledge, folders) = (&self.services.knowledge, &turn.persona.knowledge);
        let vocabulary = self.vocabulary(turn);
        let query = |text: &str| {
            let text = self.rules.search_text(text, &vocabulary);
            Query { text, language: turn.language(), limit: PASSAGES }
        };
        let (asked, hits) = read_text(question.len(), || {
            let asked = query(question);
            let hits = knowledge.search_words(folders, &asked);
            (asked, hits)
        });
        let found = knowledge.find_with(folders, &asked, hits).await;
        let says_little = || read_text(asked.text.len(), || knowledge.says_little(folders, &asked));
        if !found.passages.is_empty() || !says_little() {
            return found;
        }
        let questions = turn.history.iter().rev().filter(|message| message.sender == Sender::User);
        let questions: Vec<&Message> = questions.take(EARLIER_QUESTIONS).collect();
        let is_answered = |message: &&&Message| {
            let find = || knowledge.find_by_words(folders, &query(&message.text));
            !read_text(message.text.len(), find).passages.is_empty()
        };
        let Some(earlier) = questions.iter().find(is_answered).or(questions.first()) else {
            return found;
        };
        let both = format!("{} {question}", earlier.text);
        let again = match found.question {
            Some(_) => {
                let (both, hits) = read_text(both.len(), || {
                    let both = query(&both);
                    let hits = knowledge.search_words(folders, &both);
                    (both, hits)
                });
                knowledge.find_with(folders, &both, hits).await
            }
            // The embedding model did not answer in time, so it is not asked again.
            None => read_text(both.len(), || knowledge.find_by_words(folders, &query(&both))),
        };
        // Earlier messages are recalled by the customer's own words.
        Found { question: found.question, ..again }
    }

    /// Returns earlier messages that are similar to the question, oldest first. `shown` is left out: the model sees it anyway.
    pub(super) async fn recall(&self, turn: &Turn, question: Option<&[f32]>, shown: &[Message]) -> Vec<Message> {
        let (limit, Some(question)) = (self.services.config.search.memory_messages, question) else {
            return Vec::new();
        };
        let begins_within = shown.first().is_none_or(|first| (first.turn, first.position) <= (0, 0));
        if limit == 0 || turn.history.is_empty() || (begins_within && !shown.is_empty()) {
            return Vec::new();
        }
        let seen: HashSet<MessageId> =
            shown.iter().map(|message| message.id).chain(std::iter::once(turn.message.id)).collect();
        let wanted = limit + seen.len();
        let within = self.services.config.search.vector_timeout;
        let recalled = self.services.memory.recall(&turn.conversation, question, wanted);
        let near = match tokio::time::timeout(within, recalled).await {
            Ok(Ok(near)) => near,
            Ok(Err(cause)) => {
                warn!(error = %cause, "Nothing is recalled");
                return Vec::new();
            }
            Err(_) => return Vec::new(),
        };
        let ids: Vec<MessageId> =
            near.into_iter().map(|(id, _)| id).filter(|id| !seen.contains(id)).take(limit).collect();
        let store = self.services.store.tenant(&turn.conversation.tenant);
        store.list_messages_by_id(turn.conversation.id, &ids).await.unwrap_or_else(|cause| {
            warn!(error = %cause, "Nothing is recalled");
            Vec::new()
        })
    }
}
