//! Answers a question from documents: cites them, and streams a model's reply or quotes them.

use futures_util::StreamExt;
use serde_json::json;
use tracing::warn;

use super::model::wait_in_queue;
use super::opening::Wanted;
use super::{DeskError, Turn};
use crate::domain::{Event, GuardReason, Kind, Language, Message, Metadata, SourceItem, TurnStatus};
use crate::grounding::Grounded;
use crate::nlu::language::LanguageRules;
use crate::persona::texts::CommonTexts;
use crate::providers::llm::{ChatRequest, Deltas, LlmError, Ticket};
use crate::replies::MissingValue;
use crate::retrieval::search::{Found, Pages};
use crate::retrieval::{Passage, Query, Subject};

/// The score from which a question without a meaningful word is one that a page lists.
const LISTED: f64 = 0.85;
/// The same for a statement in a conversation about a document.
const CONTINUES: f64 = 0.6;
/// Passages that are quoted together, and the share of the best one's score that the next one needs. Of 700 questions of retail dialogues,
/// 104 had such a next section: the best one answers 42 of them, the next one 30.
const QUOTES: usize = 2;
const CLOSE: f64 = 0.5;

/// Returns whether the documents answer a message. One that names nothing ("what about this?"), or that does not ask, is answered
/// only if a page lists it nearly word for word. The subject of the conversation gives a question that names nothing its meaning.
pub fn is_answered(pages: &Pages, query: &Query, subject: Option<&Subject>, is_question: bool) -> bool {
    let is_clear = subject.is_some() || !pages.names_nothing(query);
    let least = match (is_question && is_clear, subject) {
        (true, _) => 0.0,
        // "It was a gift", after an answer.
        (false, Some(_)) => CONTINUES,
        (false, None) => LISTED,
    };
    let subject = subject.filter(|_| is_question);
    pages.find_by_words_about(query, subject).passages.first().is_some_and(|best| best.score >= least)
}

/// Notes what was found and emits `sources`. Returns the reply's metadata, or `None` if there are no passages.
pub async fn cite(turn: &mut Turn, found: &Found, passages: &[Passage]) -> Result<Option<Metadata>, DeskError> {
    let mut sources: Vec<SourceItem> = Vec::new();
    for passage in passages {
        // A section may have several passages.
        let is_its = |known: &SourceItem| (&known.file, &known.section) == (&passage.file, &passage.section);
        if !sources.iter().any(|known| is_its(known) && known.title == passage.title) {
            sources.push(SourceItem::from(passage));
        }
    }
    turn.note("retrieval", json!({ "by": found.by, "similarity": found.similarity, "passages": &sources }));
    if sources.is_empty() {
        return Ok(None);
    }
    let metadata = Metadata::of(Kind::Reply).with("sources", &sources);
    turn.emit(Event::Sources { items: sources }).await?;
    Ok(Some(metadata))
}

/// Says that the documents have no answer. The model is not asked: it would guess.
pub async fn say_unknown(turn: &mut Turn, text: &str) -> Result<(), DeskError> {
    Ok(turn.say_with(Kind::Reply, text, Metadata::of(Kind::Reply).with("no_context", true)).await?)
}

/// Returns the language in which passages are quoted, with their introduction: that of a page that exists in no other one, else the
/// customer's.
pub fn language_of(turn: &Turn, passages: &[Passage]) -> Language {
    passages.first().and_then(|passage| passage.language).unwrap_or(turn.language())
}

/// Returns the passages that are quoted if no model words a reply: the best one, and the next one if it is about as likely to answer and
/// the best one does not have most of the question.
pub fn worth_quoting<'a>(pages: &Pages, query: &Query, passages: &'a [Passage]) -> &'a [Passage] {
    let Some(best) = passages.first() else { return passages };
    if pages.has_most_of(&query.text, best, query.language) {
        return &passages[..1];
    }
    let close = passages.iter().take(QUOTES).take_while(|passage| passage.score >= CLOSE * best.score);
    &passages[..close.count()]
}

/// Returns an introduction and quotations, one on each line.
pub fn quotation(intro: String, quotes: impl Iterator<Item = String>) -> String {
    std::iter::once(intro).chain(quotes).collect::<Vec<_>>().join("\n")
}

/// Returns whether a message quotes a text, whatever part of it is in bold.
pub fn has_quoted(message: &Message, text: &str) -> bool {
    message.text.replace("**", "").contains(&text.replace("**", ""))
}

/// Waits in the model's queue and for the first words, and checks their language. The inner error means that the model said nothing
/// that can be shown.
pub async fn begin(
    turn: &mut Turn,
    rules: &LanguageRules,
    mut ticket: Ticket,
    request: ChatRequest,
) -> Result<Result<Deltas, LlmError>, DeskError> {
    turn.step("model_queue").take(wait_in_queue(turn, &mut ticket)).await?;
    let wanted = Wanted::of(turn, rules);
    Ok(turn.step("first_token").take(wanted.stream(ticket, request)).await)
}

/// What the desk itself says around a model's reply.
#[derive(Clone, Copy)]
pub struct Written<'a> {
    /// Returns the text that replaces a reply which the guards stop, or of which nothing is left. Most replies do not need it.
    pub quotation: &'a (dyn Fn(&Turn) -> Result<String, MissingValue> + Sync),
    /// Added to the end of every complete reply. May be empty.
    pub ending: &'a str,
    pub common: &'a CommonTexts,
}

/// Streams the model's reply through the guards and ends the message. If the model fails midway, the message ends incomplete and
/// the customer gets an error.
pub async fn stream(
    turn: &mut Turn,
    mut deltas: Deltas,
    mut guarded: Grounded<'_>,
    written: &Written<'_>,
    metadata: Metadata,
) -> Result<(), DeskError> {
    let Written { quotation, ending, common } = written;
    let generate = turn.step("generate");
    let failure = generate.take(async {
        while let Some(delta) = deltas.next().await {
            match delta {
                Ok(text) => turn.show(Kind::Reply, guarded.push(&text)).await?,
                Err(error) => return Ok(Some(error)),
            }
            if guarded.is_closed() {
                break;
            }
        }
        Ok::<Option<LlmError>, DeskError>(None)
    });
    let failure = failure.await?;
    turn.show(Kind::Reply, guarded.finish()).await?;
    if let Some(error) = failure {
        warn!(%error, "The language model failed midway");
        turn.note_model_error(&error);
        turn.end_message(metadata.worded_by_model().cut(TurnStatus::Failed)).await?;
        return Ok(turn.fail(error.code(), &common.error(error.code())).await?);
    }
    if !turn.is_writing() {
        // The guards removed the whole reply.
        let said = quotation(turn)? + ending;
        return Ok(turn.say_with(Kind::Reply, &said, metadata).await?);
    }
    if guarded.stopped() == Some(GuardReason::UnsupportedFact) {
        // The model invented too many figures; the documents have the right ones.
        let said = format!("\n\n{}", quotation(turn)?);
        turn.write(Kind::Reply, &said).await?;
    }
    turn.write(Kind::Reply, ending).await?;
    Ok(turn.end_message(metadata.worded_by_model()).await?)
}
