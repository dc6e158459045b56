//! Answers a message with one fixed sentence instead of its desk.

use std::sync::Arc;

use async_trait::async_trait;

use crate::desks::{Desk, DeskError, Shop, Turn};
use crate::domain::{Kind, Notice, Sender};

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
