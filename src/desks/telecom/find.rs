//! Finds what answers a message.

use super::Telecom;
use super::memory::Memory;
use crate::dialogue::{Turn, retrieve};
use crate::nlu::long_text::read_text;
use crate::retrieval::Subject;
use crate::retrieval::search::Found;

/// How probably a page answers a message that resembles what no page answers.
const PROBABLE: f64 = 0.85;
/// The lowest score of a page that answers a message without a question.
const SURELY_MEANT: f64 = 0.4;

/// Whether passages answer a message that names nothing of theirs for sure.
pub(super) fn is_meant(found: &Found, is_question: bool) -> bool {
    let least = if is_question { 0.0 } else { SURELY_MEANT };
    found.passages.first().is_some_and(|best| best.score >= least)
}

impl Telecom {
    /// Finds what answers a message in this conversation. Returns the question that it answers as well.
    pub(super) async fn find(
        &self,
        turn: &Turn,
        earlier: Option<String>,
        text: &str,
        memory: &Memory,
    ) -> (String, Found) {
        // A specialist gets only what is about the shop.
        let shop = memory.last_agent.is_some().then(Subject::shop);
        let subject = memory.subject.as_ref().or(shop.as_ref());
        retrieve::find_in_conversation(&self.services.knowledge, turn, earlier, text, subject).await
    }

    /// Whether the pages probably answer a message.
    pub(super) fn is_on_pages(&self, turn: &Turn, text: &str, memory: &Memory) -> bool {
        let (pages, query) = (self.services.pages(turn), retrieve::query(turn, text));
        let likely = read_text(text.len(), || pages.likely_sections(&query, memory.subject.as_ref()));
        likely.first().is_some_and(|best| best.score >= PROBABLE)
    }

    /// Remembers what a message is about that a person answers. Later questions are about it, too.
    pub(super) async fn note_subject(&self, turn: &Turn, text: &str, memory: &mut Memory) {
        let (question, found) = self.find(turn, None, text, memory).await;
        if is_meant(&found, false) {
            memory.subject = self.subject_of(turn, &question, &found.passages, memory);
        }
    }

    /// Counts the meaningful words of a message.
    pub(super) fn strong_words(&self, turn: &Turn, text: &str) -> usize {
        let (pages, query) = (self.services.pages(turn), retrieve::query(turn, text));
        read_text(text.len(), || pages.strong_words(&query))
    }

    /// Whether a text has an amount, a duration, or the word "free".
    pub(super) fn names_quantity(&self, text: &str) -> bool {
        text.contains(|c: char| c.is_ascii_digit()) || self.rules.names_price(text)
    }
}
