//! Turns that no desk plays, since a person has taken the conversation.

use tracing::info;

use super::run::tell;
use crate::desks::{SinkClosed, Turn};
use crate::domain::{Event, Kind, Message, Sender, TurnStatus};
use crate::jobs::JobRunner;

/// Runs a turn that is a person's own, or one that waits for a person's answer: nothing but its message is told.
///
/// # Errors
/// The journal gave the turn up: its end must be written by recovery.
pub(super) async fn run(turn: &mut Turn, status: TurnStatus, jobs: &JobRunner) -> Result<(), SinkClosed> {
    turn.start().await?;
    for event in answer(&turn.message) {
        turn.emit(event).await?;
    }
    jobs.embed_messages_of(turn.conversation.id).await;
    let total = turn.age();
    turn.note_time("total", total);
    turn.end(status).await?;
    info!(status = status.as_str(), sender = turn.message.sender.as_str(), "Turn ended without a desk");
    tell(turn, status, total);
    Ok(())
}

/// What a turn that this message began tells between its start and its end: a person's answer, which is stored already.
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
