//! Finds passages that answer a question, together with an earlier one where it names hardly anything.

use super::Turn;
use crate::domain::{Message, Sender};
use crate::nlu::long_text::read_text;
use crate::retrieval::search::{Found, Knowledge, Pages};
use crate::retrieval::{Passage, Query, Subject, add_new, in_one_language};

/// Passages of an answer.
pub const PASSAGES: usize = 8;
/// Sections that are added for a model.
const NEAREST: usize = 3;
/// Earlier questions that are considered when a question names nothing.
const EARLIER_QUESTIONS: usize = 4;
/// Earlier messages in which a place or a device is named that a question is still about.
const EARLIER_NAMES: usize = 6;

/// Returns the search for a text, in the language of the turn.
pub fn query(turn: &Turn, text: &str) -> Query {
    Query { text: text.to_owned(), language: turn.language(), limit: PASSAGES, pages_only: false }
}

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
    let pages = knowledge.pages(folders);
    if !read_text(asked.text.len(), || pages.says_little(asked)) {
        return None;
    }
    let questions = turn.history.iter().rev().filter(|message| message.sender == Sender::User);
    let questions: Vec<&Message> = questions.take(EARLIER_QUESTIONS).collect();
    let is_answered = |message: &&&Message| {
        let find = || pages.find_by_words(&query(&message.text));
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
        None => read_text(both.text.len(), || pages.find_by_words(&both)),
    };
    // Earlier messages are recalled by the customer's own words.
    Some((both, Found { question: found.question.clone(), ..again }))
}

/// Finds what answers a message in a conversation about a subject. Returns the question that was answered as well.
///
/// An answer to a question of the desk is searched together with the question that the documents did not answer (`earlier`), else by
/// itself. Of a message that nothing answers, each clause is searched; then it belongs to the questions before. Of two sections that differ
/// in one word, such as a device, the one answers that the customer has named.
pub async fn find_in_conversation(
    knowledge: &Knowledge,
    turn: &Turn,
    earlier: Option<String>,
    text: &str,
    subject: Option<&Subject>,
) -> (String, Found) {
    let (question, mut found) = find_passages(knowledge, turn, earlier, text, subject).await;
    prefer_named(knowledge, turn, text, &mut found.passages);
    (question, found)
}

/// Puts the section first that is about what the customer named, now or before, if it is next to the best one.
fn prefer_named(knowledge: &Knowledge, turn: &Turn, text: &str, passages: &mut Vec<Passage>) {
    let (pages, asked) = (knowledge.pages(&turn.persona.knowledge), query(turn, text));
    let Some(best) = passages.first().filter(|_| pages.says_little(&asked)) else { return };
    let earlier = turn.history.iter().rev().filter(|message| message.sender == Sender::User);
    let earlier = earlier.take(EARLIER_NAMES).map(|message| message.text.as_str());
    let said: Vec<&str> = std::iter::once(text).chain(earlier).collect();
    let find = || pages.named_sibling(best, &said, &asked);
    if let Some(named) = read_text(said.iter().map(|text| text.len()).sum(), find) {
        passages[0] = named;
        let section = (passages[0].file.clone(), passages[0].section.clone());
        let mut is_first = true;
        passages.retain(|passage| {
            std::mem::take(&mut is_first) || (&passage.file, &passage.section) != (&section.0, &section.1)
        });
    }
}

async fn find_passages(
    knowledge: &Knowledge,
    turn: &Turn,
    earlier: Option<String>,
    text: &str,
    subject: Option<&Subject>,
) -> (String, Found) {
    let folders = &turn.persona.knowledge;
    let pages = knowledge.pages(folders);
    let query = |text: &str| query(turn, text);
    if let Some(earlier) = earlier {
        let both = format!("{earlier} {text}");
        let found = find(knowledge, turn, &both, query).await;
        // A device alone is on many pages: the best one is about the question, too.
        let is_about = |best: &Passage| {
            let text = format!("{} {} {}", best.title, best.section, best.text);
            pages.is_covered_by(&earlier, &text, turn.language())
        };
        if found.passages.first().is_some_and(is_about) {
            return (both, found);
        }
        let asked = query(text);
        // It answers a question of the desk, so it is about what the pages are about.
        let hits = read_text(text.len(), || knowledge.search_words_about(folders, &asked, Some(&Subject::shop())));
        let alone = knowledge.find_with(folders, &asked, hits).await;
        let question = if alone.passages.is_empty() { both } else { text.to_owned() };
        return (question, alone);
    }
    let asked = query(text);
    let hits = read_text(text.len(), || knowledge.search_words_about(folders, &asked, subject));
    let mut found = knowledge.find_with(folders, &asked, hits).await;
    if found.passages.is_empty() {
        found.passages = read_text(text.len(), || find_by_clauses(&pages, &asked, subject));
    }
    if !found.passages.is_empty() {
        return (text.to_owned(), found);
    }
    let again = again(knowledge, turn, &asked, &found, query).await;
    (text.to_owned(), again.map_or(found, |(_, again)| again))
}

/// Adds what a message may also mean to what was found for it: the section before, and the sections that are nearest to the message. A model
/// finds an answer among more than rules can choose from.
pub fn with_nearest(pages: &Pages, asked: &Query, found: &[Passage], subject: Option<&Subject>) -> Vec<Passage> {
    let before = subject.and_then(|subject| pages.section(&subject.file, &subject.section, asked.language));
    let nearest = pages.nearest_sections(&Query { limit: NEAREST, ..asked.clone() });
    let mut passages = found.to_vec();
    add_new(&mut passages, before.into_iter().chain(nearest));
    in_one_language(&mut passages, asked.language);
    passages
}

/// Finds what answers the clauses of a message that has no answer as a whole: it tells a story or asks several things. Each clause has
/// its own best passage, so they count the same.
pub fn find_by_clauses(pages: &Pages, asked: &Query, subject: Option<&Subject>) -> Vec<Passage> {
    // The whole message may be about the shop and a clause of it not.
    let subject = subject.filter(|subject| !subject.is_general());
    let mut passages: Vec<Passage> = Vec::new();
    for text in pages.clauses(asked).into_iter().flatten() {
        let clause = Query { text, ..asked.clone() };
        let found = pages.find_by_words_about(&clause, subject);
        let Some(best) = found.passages.into_iter().next() else { continue };
        if !passages.iter().any(|passage| passage.text == best.text) {
            passages.push(best);
        }
    }
    let score = passages.iter().map(|passage| passage.score).fold(0.0, f64::max);
    passages.iter_mut().for_each(|passage| passage.score = score);
    passages
}
