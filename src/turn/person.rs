//! Turns without their desk, because a person has taken the conversation or one fixed sentence answers the message.

use std::sync::Arc;

use async_trait::async_trait;
use tracing::info;

use super::run::end;
use crate::desks::{Desk, DeskError, Shop, SinkClosed, Turn};
use crate::domain::{Event, Kind, Message, Notice, Sender, TurnStatus};
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
    end(turn, status, jobs).await?;
    info!(status = status.as_str(), sender = turn.message.sender.as_str(), "Turn ended without a desk");
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

/// Says the sentence of a notice.
pub(super) struct NoticeDesk {
    pub shop: Arc<Shop>,
    pub notice: Notice,
}

#[async_trait]
impl Desk for NoticeDesk {
    async fn play(&self, turn: &mut Turn) -> Result<(), DeskError> {
        let common = self.shop.common(turn.language());
        match self.notice {
            Notice::OverLimit if was_over_limit(turn) => Ok(()),
            Notice::OverLimit => Ok(turn.say(Kind::Reply, &common.over_limit()).await?),
            Notice::OnlyText => Ok(turn.say(Kind::Clarify, &common.only_text()).await?),
        }
    }
}

/// Whether the customer's message before this one was over the limit as well, so that its answer is known.
fn was_over_limit(turn: &Turn) -> bool {
    let earlier = turn.history.iter().rev().find(|message| message.sender == Sender::User);
    earlier.is_some_and(|message| message.metadata.notice() == Some(Notice::OverLimit))
}
