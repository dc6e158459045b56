//! Finds what answers a message, and keeps the subject of a question that says little.

use super::Telecom;
use super::memory::Memory;
use super::rules::Topic;
use crate::dialogue::{Turn, retrieve};
use crate::nlu::long_text::read_text;
use crate::retrieval::search::Found;
use crate::retrieval::{Passage, Subject};

/// Meaningful words of a question that may point at the last answer, and of a short one.
const LITTLE: usize = 2;
const FEW: usize = 4;
/// How much more weight a section's words of the question need to come before the best one of its page.
const RICHER: f64 = 1.5;

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
        let is_alone = earlier.is_none();
        let subject = memory.subject.as_ref();
        let (question, mut found) =
            retrieve::find_in_conversation(&self.services.knowledge, turn, earlier, text, subject).await;
        if is_alone {
            self.keep_subject(turn, text, memory, &mut found.passages);
            self.prefer_named_words(turn, text, &mut found.passages);
        }
        (question, found)
    }

    /// Answers a question that only points at the last answer from its section ("how much is that?"), or at least from its page.
    fn keep_subject(&self, turn: &Turn, text: &str, memory: &Memory, passages: &mut Vec<Passage>) {
        let (pages, query) = (self.services.pages(turn), retrieve::query(turn, text));
        let Some(subject) = memory.subject.as_ref().filter(|subject| !subject.file.is_empty()) else { return };
        let Some(last) = pages.section(&subject.file, &subject.section, query.language) else { return };
        let asked = self.rules.parse(text).utterance;
        let strong = pages.strong_words(&query);
        let points = asked.asks(Topic::Pointing);
        if strong > LITTLE || strong > 0 && !points {
            return;
        }
        let best = passages.first().map_or(1.0, |best| best.score);
        let is_last = |passage: &Passage| (&passage.file, &passage.section) == (&last.file, &last.section);
        let met = |passage: &Passage| pages.met_by(&query, passage).0;
        let names_nothing_else = strong == 0 || strong == 1 && (met(&last) > 0 || pages.names_unknown(&query));
        let answers_quantity = if self.rules.names_price(text) {
            self.rules.names_price(&last.text)
        } else {
            self.names_quantity(&last.text)
        };
        if names_nothing_else && asked.asks(Topic::Quantity) && answers_quantity {
            *passages = vec![Passage { score: best, ..last }];
            return;
        }
        let Some(first) = passages.first() else {
            // Only a question without other words is about what was read.
            passages.extend((strong == 0).then_some(last));
            return;
        };
        let names_heading = pages.words_met(text, &first.section, query.language) > 0;
        if first.file == last.file || names_heading {
            return;
        }
        // A word that both pages have belongs to the one that the customer has just read.
        let mut own = pages.find_in_document(&query, subject);
        if strong == 0 {
            own.retain(|passage| !is_last(passage));
            own.insert(0, Passage { score: best, ..last });
        }
        own.sort_by_key(|passage| std::cmp::Reverse(met(passage)));
        if own.first().is_some_and(|own| met(own) >= met(first)) {
            *passages = own;
        }
    }

    /// Puts the section of the best page first that has much more of a short question's words: "and on a plane?"
    fn prefer_named_words(&self, turn: &Turn, text: &str, passages: &mut Vec<Passage>) {
        let (pages, query) = (self.services.pages(turn), retrieve::query(turn, text));
        let Some(first) = passages.first() else { return };
        if pages.strong_words(&query) > FEW {
            return;
        }
        let weight = |passage: &Passage| pages.weight_met_by(&query, passage);
        let page = Subject { file: first.file.clone(), ..Subject::default() };
        let sections = pages.find_in_document(&query, &page).into_iter();
        let richest = sections.map(|section| (weight(&section), section)).max_by(|(a, _), (b, _)| a.total_cmp(b));
        if let Some((_, richest)) = richest.filter(|(most, _)| *most > RICHER * weight(first)) {
            let score = first.score;
            passages.retain(|passage| passage.section != richest.section || passage.file != richest.file);
            passages.insert(0, Passage { score, ..richest });
        }
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
