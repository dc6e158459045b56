//! Finds passages and earlier messages that belong to a question.

use std::collections::HashSet;

use tracing::warn;

use super::Retail;
use crate::desks::Turn;
use crate::dialogue::answer;
use crate::dialogue::retrieve::{self, PASSAGES};
use crate::domain::{Message, MessageId};
use crate::nlu::long_text::read_text;
use crate::retrieval::rows::Row;
use crate::retrieval::search::Found;
use crate::retrieval::{Passage, Query, Subject, in_one_language};

/// Clauses of a message that are searched by themselves.
const CLAUSES: usize = 3;
/// Products that are quoted together.
const PRODUCTS: usize = 3;
/// A product with less than this share of the best score is not worth quoting.
pub(super) const WORTH_QUOTING: f64 = 0.6;

/// What was found for a question.
pub(super) struct Retrieved {
    pub found: Found,
    /// The first passages, which answer without a model.
    pub quoted: Vec<Passage>,
}

impl Retail {
    /// Finds passages. A message with several questions is searched for each of them. One that names hardly anything ("còn loại nào
    /// rẻ hơn?") is searched again together with the last question that named something: not with "còn loại nào nhẹ hơn?", and not
    /// with itself if it is repeated.
    pub(super) async fn retrieve(
        &self,
        turn: &Turn,
        question: &str,
        pages_only: bool,
        subject: Option<&Subject>,
    ) -> Retrieved {
        let (knowledge, folders) = (&self.services.knowledge, &turn.persona.knowledge);
        let query = |text: &str| self.search(turn, text, pages_only);
        let (asked, hits) = read_text(question.len(), || {
            let asked = query(question);
            let hits = knowledge.search_words_about(folders, &asked, subject);
            (asked, hits)
        });
        let mut found = knowledge.find_with(folders, &asked, hits).await;
        self.leave_out_of_place(turn, question, &mut found.passages);
        let mut quoted = read_text(question.len(), || self.quotable_of_clauses(turn, &asked, &found.passages, subject));
        in_one_language(&mut quoted, asked.language);
        if !quoted.is_empty() {
            let others = found.passages.iter().filter(|passage| !quoted.contains(passage));
            let mut passages = quoted.iter().chain(others).take(PASSAGES).cloned().collect();
            in_one_language(&mut passages, asked.language);
            return Retrieved { found: Found { passages, ..found }, quoted };
        }
        match retrieve::again(knowledge, turn, &asked, &found, query).await {
            Some((both, mut again)) => {
                self.leave_out_of_place(turn, &both.text, &mut again.passages);
                let quoted = self.quotable_of_all(turn, &both, &again.passages);
                Retrieved { found: again, quoted }
            }
            None => Retrieved { found, quoted },
        }
    }

    /// Removes the sections that answer only a conversation about another topic, if others are left.
    fn leave_out_of_place(&self, turn: &Turn, question: &str, passages: &mut Vec<Passage>) {
        let is_in_place = self.in_place(turn, question);
        if passages.iter().any(&is_in_place) {
            passages.retain(&is_in_place);
        }
    }

    /// Returns the passages to quote: those of the whole message, or of its clauses where they ask for different things.
    fn quotable_of_clauses(
        &self,
        turn: &Turn,
        asked: &Query,
        passages: &[Passage],
        subject: Option<&Subject>,
    ) -> Vec<Passage> {
        let pages = self.services.pages(turn);
        let whole = self.quotable_of_all(turn, asked, passages);
        let clauses = pages.clauses(asked);
        let answers = |best: &Passage| pages.has_most_of(&asked.text, best, asked.language);
        if clauses.is_empty() || whole.first().is_some_and(answers) {
            return whole;
        }
        // The questions of a message are answered each. Of the clauses of one question the last that is answered counts: it asks.
        let mut quoted: Vec<Passage> = Vec::new();
        for question in clauses.into_iter().rev().take(CLAUSES) {
            let mut answers = question.into_iter().rev().take(CLAUSES).map(|clause| {
                let query = Query { text: clause, ..asked.clone() };
                let mut found = pages.find_by_words_about(&query, subject);
                self.leave_out_of_place(turn, &asked.text, &mut found.passages);
                self.quotable(turn, &query, &found.passages)
            });
            let Some(answer) = answers.find(|answer| !answer.is_empty()) else { continue };
            let is_new = answer.iter().all(|new| !quoted.iter().any(|old| old.text == new.text));
            if is_new {
                quoted = answer.into_iter().chain(quoted).collect();
            }
        }
        if quoted.is_empty() {
            return whole;
        }
        quoted.truncate(PRODUCTS);
        quoted
    }

    /// Returns the passages that are worth quoting for a whole message: with a section, the next one may be as likely.
    fn quotable_of_all(&self, turn: &Turn, asked: &Query, passages: &[Passage]) -> Vec<Passage> {
        let quoted = self.quotable(turn, asked, passages);
        match quoted.as_slice() {
            [only] if !self.has_rows(turn, &quoted) && passages.first() == Some(only) => {
                let close = answer::worth_quoting(&self.services.pages(turn), asked, passages).iter();
                close.take_while(|page| !self.has_rows(turn, std::slice::from_ref(page))).cloned().collect()
            }
            _ => quoted,
        }
    }

    /// Returns the passages that are worth quoting: one part of a document, or products within the budget.
    fn quotable(&self, turn: &Turn, asked: &Query, passages: &[Passage]) -> Vec<Passage> {
        let pages = self.services.pages(turn);
        let Some(best) = passages.first() else { return Vec::new() };
        let products = pages.rows_of(passages, asked.language);
        if !products.iter().any(|row| row.passage.title == best.title && row.passage.file == best.file) {
            return vec![best.clone()];
        }
        let budget = pages.budget(&asked.text);
        let (within, beyond): (Vec<_>, Vec<_>) = products.into_iter().partition(|row| budget.allows(row.price));
        let rows = if within.is_empty() { beyond } else { within };
        let category = rows.first().map(|row| row.passage.section.clone());
        // The best row within the budget, which may score less than one beyond it.
        let most = rows.first().map_or(0.0, |row| row.passage.score);
        let is_worth =
            |row: &Row| row.passage.score >= WORTH_QUOTING * most && Some(&row.passage.section) == category.as_ref();
        rows.into_iter().filter(is_worth).take(PRODUCTS).map(|row| row.passage).collect()
    }

    /// Returns the search for a question.
    pub(super) fn search(&self, turn: &Turn, question: &str, pages_only: bool) -> Query {
        let text = self.rules.search_text(question, &self.vocabulary(turn));
        let language = turn.language();
        let text = if pages_only { self.services.pages(turn).without_products(&text, language) } else { text };
        Query { text, language, limit: PASSAGES, pages_only }
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
