//! Answers a question from documents: cites them, and streams a model's reply or quotes them.

use futures_util::StreamExt;
use serde_json::json;
use tracing::warn;

use super::model::wait_in_queue;
use super::{DeskError, Turn};
use crate::domain::{Event, GuardReason, Kind, Metadata, SourceItem, TurnStatus};
use crate::grounding::Grounded;
use crate::persona::texts::CommonTexts;
use crate::providers::llm::{ChatRequest, Deltas, LlmError, Ticket};
use crate::retrieval::Passage;
use crate::retrieval::search::Found;

/// Notes what was found and emits `sources`. Returns the reply's metadata, or `None` if there are no passages.
pub async fn cite(turn: &mut Turn, found: &Found, passages: &[Passage]) -> Result<Option<Metadata>, DeskError> {
    let sources: Vec<SourceItem> = passages.iter().map(SourceItem::from).collect();
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

/// Returns an introduction and quotations, one on each line.
pub fn quotation(intro: String, quotes: impl Iterator<Item = String>) -> String {
    std::iter::once(intro).chain(quotes).collect::<Vec<_>>().join("\n")
}

/// Waits in the model's queue and for the first words. The inner error means that the model said nothing.
pub async fn begin(
    turn: &mut Turn,
    mut ticket: Ticket,
    request: ChatRequest,
) -> Result<Result<Deltas, LlmError>, DeskError> {
    turn.step("model_queue").take(wait_in_queue(turn, &mut ticket)).await?;
    Ok(turn.step("first_token").take(ticket.stream(request)).await)
}

/// Streams the model's reply through the guards and ends the message. Where the guards stop it, or nothing of it is left,
/// `quotation` is said. If the model fails midway, the message ends incomplete and the customer gets an error.
pub async fn stream(
    turn: &mut Turn,
    mut deltas: Deltas,
    mut guarded: Grounded<'_>,
    quotation: &str,
    common: &CommonTexts,
    metadata: Metadata,
) -> Result<(), DeskError> {
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
        turn.end_message(metadata.cut(TurnStatus::Failed)).await?;
        return Ok(turn.fail(error.code(), &common.error(error.code())).await?);
    }
    if !turn.is_writing() {
        // The guards removed the whole reply.
        return Ok(turn.say_with(Kind::Reply, quotation, metadata).await?);
    }
    if guarded.stopped() == Some(GuardReason::UnsupportedFact) {
        // The model invented too many figures; the documents have the right ones.
        turn.write(Kind::Reply, &format!("\n\n{quotation}")).await?;
    }
    Ok(turn.end_message(metadata).await?)
}
