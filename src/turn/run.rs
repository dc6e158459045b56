//! Runs one turn with its desk, and ends it whatever happens.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;
use tracing::{Span, error, info, warn};

use crate::desks::{Desk, DeskError, Shop, SinkClosed, Turn};
use crate::domain::{ErrorCode, Kind, TurnStatus};
use crate::jobs::JobRunner;

/// What can stop a turn before its desk ends it.
pub(super) struct Stops {
    /// A client cancelled the turn, or a person took the conversation.
    pub cancel: CancellationToken,
    /// The server is shutting down and can wait no longer.
    pub shutdown: CancellationToken,
    /// The journal accepts no more events of the turn.
    pub broken: CancellationToken,
    /// The turn has reached the limit of its events.
    pub full: CancellationToken,
    /// How long a turn may take.
    pub deadline: Duration,
}

enum Played {
    Through(Result<(), DeskError>),
    Panicked,
    Cancelled,
    ShutDown,
    TooLong,
    TooMuch,
    Broken,
}

impl Played {
    /// The status of a message that was cut off.
    fn cut_reason(&self) -> TurnStatus {
        match self {
            Self::Cancelled => TurnStatus::Cancelled,
            Self::ShutDown => TurnStatus::Interrupted,
            Self::Through(_) | Self::Panicked | Self::TooLong | Self::TooMuch | Self::Broken => TurnStatus::Failed,
        }
    }
}

/// Runs the turn until its `turn.done`.
///
/// # Errors
/// The journal could not store the turn: recovery must end it.
pub(super) async fn run(
    turn: &mut Turn,
    desk: Option<Arc<dyn Desk>>,
    shop: &Shop,
    stops: &Stops,
    jobs: &Arc<JobRunner>,
) -> Result<(), SinkClosed> {
    turn.start().await?;
    let played = match desk {
        _ if stops.cancel.is_cancelled() => Played::Cancelled,
        Some(desk) => play(turn, desk.as_ref(), stops).await,
        None => {
            error!(persona = turn.conversation.persona, "The conversation's persona no longer exists");
            Played::Panicked
        }
    };
    turn.cut_message(played.cut_reason()).await?;
    let (status, failure) = match played {
        Played::Through(Ok(())) if turn.error().is_some() => (TurnStatus::Failed, None),
        Played::Through(Ok(())) => (TurnStatus::Completed, None),
        Played::Cancelled => (TurnStatus::Cancelled, None),
        Played::ShutDown => (TurnStatus::Interrupted, None),
        Played::TooLong => (TurnStatus::Failed, Some(ErrorCode::Timeout)),
        Played::TooMuch => (TurnStatus::Failed, Some(ErrorCode::Model)),
        Played::Panicked => (TurnStatus::Failed, Some(ErrorCode::Internal)),
        Played::Broken | Played::Through(Err(DeskError::Sink(SinkClosed))) => return Err(SinkClosed),
        Played::Through(Err(cause @ (DeskError::Text(_) | DeskError::Restless))) => {
            error!(error = %cause, "A desk failed");
            (TurnStatus::Failed, Some(ErrorCode::Internal))
        }
        Played::Through(Err(DeskError::Store(cause))) => {
            error!(error = %cause, "A desk could not use the store");
            let code = if cause.is_unavailable() { ErrorCode::Unavailable } else { ErrorCode::Internal };
            (TurnStatus::Failed, Some(code))
        }
    };
    // Read after the desk has run, which may have changed the language.
    let common = shop.common(turn.language());
    if let Some(code) = failure {
        turn.fail(code, &common.error(code)).await?;
    }
    // A page shows that a turn was interrupted; a channel shows nothing.
    let is_unseen = status == TurnStatus::Interrupted && turn.conversation.channel.is_some();
    if (status == TurnStatus::Failed || is_unseen) && !turn.has_spoken() {
        turn.say(Kind::ErrorNotice, &common.error_notice()).await?;
    }
    end(turn, status, jobs).await?;
    info!(status = status.as_str(), timings = ?turn.timings(), "Turn ended");
    Ok(())
}

/// Ends the turn, and records it in metrics and traces.
pub(super) async fn end(turn: &mut Turn, status: TurnStatus, jobs: &Arc<JobRunner>) -> Result<(), SinkClosed> {
    jobs.embed_messages_of(turn.conversation.id).await;
    let total = turn.age();
    turn.note_time("total", total);
    turn.end(status).await?;
    let desk = turn.persona.desk.clone();
    // A turn that was stopped may have said nothing.
    let kind = turn.main_kind().map_or_else(|| "none".to_owned(), |kind| kind.as_str().to_owned());
    let (status_label, turns) = (status.as_str(), "frontdesk_turns_total");
    metrics::counter!(turns, "desk" => desk.clone(), "kind" => kind.clone(), "status" => status_label).increment(1);
    metrics::histogram!("frontdesk_turn_seconds", "desk" => desk.clone(), "status" => status_label).record(total);
    let span = Span::current();
    span.record("desk", desk).record("kind", kind.as_str()).record("status", status_label);
    if status == TurnStatus::Failed {
        span.record("otel.status_code", "ERROR");
    }
    Ok(())
}

async fn play(turn: &mut Turn, desk: &dyn Desk, stops: &Stops) -> Played {
    let playing = AssertUnwindSafe(desk.play(turn)).catch_unwind();
    tokio::select! {
        // A turn that ended just now is not cancelled.
        biased;
        played = playing => match played {
            Ok(result) => Played::Through(result),
            Err(_) => {
                error!("A desk panicked; its panic message is logged above");
                Played::Panicked
            }
        },
        () = stops.broken.cancelled() => Played::Broken,
        () = stops.full.cancelled() => {
            error!("A turn reached the limit of its events");
            Played::TooMuch
        }
        () = stops.cancel.cancelled() => Played::Cancelled,
        () = stops.shutdown.cancelled() => Played::ShutDown,
        () = tokio::time::sleep(stops.deadline) => {
            warn!("A turn reached its deadline");
            Played::TooLong
        }
    }
}
