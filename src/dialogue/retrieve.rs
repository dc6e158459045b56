//! Finds passages that answer a question, together with an earlier one where it names hardly anything.

use super::Turn;
use crate::domain::{Message, Sender};
use crate::nlu::long_text::read_text;
use crate::retrieval::search::{Found, Knowledge};
use crate::retrieval::{Query, Subject};

/// Earlier questions that are considered when a question names nothing.
const EARLIER_QUESTIONS: usize = 4;

/// Finds passages. `query` makes the search for a text. A question that names hardly anything ("còn loại nào rẻ hơn?") is searched
/// again together with the last question that named something: not with "còn loại nào nhẹ hơn?", and not with itself if it is
/// repeated.
pub async fn find(
    knowledge: &Knowledge,
    turn: &Turn,
    question: &str,
    query: impl Fn(&str) -> Query + Send + Sync,
) -> Found {
    find_about(knowledge, turn, question, query, None).await
}

/// Finds passages for a question in a conversation about a subject.
pub async fn find_about(
    knowledge: &Knowledge,
    turn: &Turn,
    question: &str,
    query: impl Fn(&str) -> Query + Send + Sync,
    subject: Option<&Subject>,
) -> Found {
    let folders = &turn.persona.knowledge;
    let (asked, hits) = read_text(question.len(), || {
        let asked = query(question);
        let hits = knowledge.search_words_about(folders, &asked, subject);
        (asked, hits)
    });
    let found = knowledge.find_with(folders, &asked, hits).await;
    if !found.passages.is_empty() {
        return found;
    }
    match again(knowledge, turn, &asked, &found, query).await {
        Some((_, again)) => again,
        None => found,
    }
}

/// Searches for a question that names hardly anything together with an earlier one. Returns that search and its result, or `None`
/// if the question says enough, or is the first one.
pub async fn again(
    knowledge: &Knowledge,
    turn: &Turn,
    asked: &Query,
    found: &Found,
    query: impl Fn(&str) -> Query + Send + Sync,
) -> Option<(Query, Found)> {
    let folders = &turn.persona.knowledge;
    if !read_text(asked.text.len(), || knowledge.says_little(folders, asked)) {
        return None;
    }
    let questions = turn.history.iter().rev().filter(|message| message.sender == Sender::User);
    let questions: Vec<&Message> = questions.take(EARLIER_QUESTIONS).collect();
    let is_answered = |message: &&&Message| {
        let find = || knowledge.find_by_words(folders, &query(&message.text));
        !read_text(message.text.len(), find).passages.is_empty()
    };
    let earlier = questions.iter().find(is_answered).or(questions.first())?;
    let both = query(&format!("{} {}", earlier.text, asked.text));
    let again = match found.question {
        Some(_) => {
            let hits = read_text(both.text.len(), || knowledge.search_words(folders, &both));
            knowledge.find_with(folders, &both, hits).await
        }
        // The embedding model did not answer in time, so it is not asked again.
        None => read_text(both.text.len(), || knowledge.find_by_words(folders, &both)),
    };
    // Earlier messages are recalled by the customer's own words.
    Some((both, Found { question: found.question.clone(), ..again }))
}
