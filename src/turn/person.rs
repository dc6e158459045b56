//! Turns without a desk, because a person has taken the conversation.

use std::sync::Arc;

use tracing::info;

use super::run::report;
use crate::desks::{SinkClosed, Turn};
use crate::domain::{Event, Kind, Message, Sender, TurnStatus};
use crate::jobs::JobRunner;

/// Runs the turn of a person's answer, or of a customer's message that a person will answer. It has no events but the
/// answer.
///
/// # Errors
/// The journal could not store the turn: recovery must end it.
pub(super) async fn run(turn: &mut Turn, status: TurnStatus, jobs: &Arc<JobRunner>) -> Result<(), SinkClosed> {
    turn.start().await?;
    for event in answer(&turn.message) {
        turn.emit(event).await?;
    }
    jobs.embed_messages_of(turn.conversation.id).await;
    let total = turn.age();
    turn.note_time("total", total);
    turn.end(status).await?;
    info!(status = status.as_str(), sender = turn.message.sender.as_str(), "Turn ended without a desk");
    report(turn, status, total);
    Ok(())
}

/// Returns the events between the start and the end of the turn: those of a person's answer, which is stored already.
pub(super) fn answer(message: &Message) -> Vec<Event> {
    if message.sender != Sender::Agent {
        return Vec::new();
    }
    let (message_id, kind) = (message.id, Kind::Agent);
    vec![
        Event::MessageStart { message_id, kind },
        Event::Delta { message_id, text: message.text.clone() },
        Event::MessageEnd { message_id, kind, metadata: message.metadata.clone() },
    ]
}
