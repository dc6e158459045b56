//! Asks the language model inside a turn.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::{SinkClosed, Turn};
use crate::domain::Event;
use crate::providers::llm::{ChatRequest, LlmError, Phase, Reply, Ticket, ToolSpec};

/// Waits until it is the ticket's turn. Emits `queued` with each new position in the model's queue.
pub async fn wait_in_queue(turn: &mut Turn, ticket: &mut Ticket) -> Result<(), SinkClosed> {
    while let Some(position) = ticket.waiting().await {
        turn.emit(Event::Queued { position }).await?;
    }
    Ok(())
}

/// Asks for the model's next reply with tools, before `deadline` and within `call_timeout` after the wait in the queue. The
/// inner error means that the model did not reply.
pub async fn call_with_tools(
    turn: &mut Turn,
    mut ticket: Ticket,
    request: ChatRequest,
    tools: &[ToolSpec],
    call_timeout: Duration,
    deadline: Instant,
) -> Result<Result<Reply, LlmError>, SinkClosed> {
    let left = || deadline.saturating_duration_since(Instant::now());
    match timeout(left(), wait_in_queue(turn, &mut ticket)).await {
        Ok(waited) => waited?,
        Err(_) => return Ok(Err(LlmError::Timeout(Phase::Answer))),
    }
    Ok(ticket.call(request, tools, call_timeout.min(left())).await)
}
