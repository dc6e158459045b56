//! The questions that billing asks, and when they lead to a person.

use crate::config::AccountVerification;
use crate::desks::telecom::memory::{Asked, Memory, PUT_AT_MOST};
use crate::desks::telecom::texts::Text;
use crate::desks::telecom::{Telecom, kind};
use crate::dialogue::{DeskError, Turn};
use crate::domain::{ConversationStatus, Sender};

impl Telecom {
    /// Whether the replies to the customer's last message include this text.
    pub(super) fn has_just_said(turn: &Turn, text: &str) -> bool {
        let mut replies = turn.history.iter().rev().take_while(|message| message.sender != Sender::User);
        replies.any(|message| message.text == text)
    }

    /// Returns the first of two texts that the desk has not just said. `None`: it has said the second one.
    pub(in crate::desks::telecom) fn in_other_words(turn: &Turn, [first, second]: [String; 2]) -> Option<String> {
        let is_last = Self::has_just_said(turn, &second);
        if Self::has_just_said(turn, &first) { Some(second) } else { Some(first).filter(|_| !is_last) }
    }

    /// Repeats an open question about an account, in other words each time, until the customer knows it. A summary, which needs a yes,
    /// comes again after each reply.
    pub(in crate::desks::telecom) async fn ask_again(
        &self,
        turn: &mut Turn,
        asked: Option<Asked>,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let Some(asked) = asked.filter(|asked| asked.is_of_account()) else { return Ok(()) };
        memory.asked = Some(asked);
        if asked == Asked::Confirm {
            // The customer has missed nothing.
            let repeated = memory.repeated.take();
            self.ask(turn, asked, "", memory).await?;
            memory.repeated = repeated;
            return Ok(());
        }
        match memory.times_asked(asked) {
            0 | 1 => memory.repeated = Some((asked, 1)),
            2 if turn.conversation.status != ConversationStatus::Waiting => {}
            _ => {
                // This reply offers no person, so a yes to it calls none.
                memory.repeated = Some((asked, PUT_AT_MOST - 1));
                return Ok(());
            }
        }
        self.ask(turn, asked, "", memory).await
    }

    /// Asks for something, after what was noted: in other words the second time, with the offer of a person the third time.
    pub(super) async fn ask(
        &self,
        turn: &mut Turn,
        asked: Asked,
        noted: &str,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        if !noted.is_empty() {
            // The customer gives details, so no question was missed.
            memory.repeated = memory.repeated.map(|(before, times)| (before, times.min(1)));
        }
        let times = memory.count_question(asked);
        if self.gives_up(turn, asked, memory).await? {
            return Ok(());
        }
        if let (Asked::Confirm, Some(draft)) = (asked, &memory.refund) {
            let mut text = self.summary(turn, Text::Confirm, draft)?;
            if Self::has_just_said(turn, &text) {
                text = self.summary(turn, Text::ConfirmAgain, draft)?;
            }
            return Ok(turn.say(kind::PROMPT, &text).await?);
        }
        let needs_proof = self.services.config.telecom.verification == AccountVerification::Invoice;
        let (full, what) = match asked {
            // The customer ID is known until a proof was wrong.
            Asked::Proof if memory.account.user_id.is_some() && memory.account.invoice.is_none() => {
                (Text::AskProof, Text::NeedInvoice)
            }
            Asked::Proof => (Text::AskProof, Text::NeedProof),
            Asked::Invoice => (Text::AskInvoice, Text::NeedInvoice),
            Asked::Amount => (Text::AskAmount, Text::NeedAmount),
            Asked::Reason => (Text::AskReason, Text::NeedReason),
            Asked::UserId if needs_proof && memory.account.invoice.is_none() => (Text::AskAccount, Text::NeedUserId),
            Asked::UserId | Asked::Details | Asked::Person | Asked::Confirm => (Text::AskUserId, Text::NeedUserId),
        };
        let again = if memory.offered_person_with(asked) { Text::NeedOrPerson } else { Text::StillNeed };
        let question = match times {
            1 => self.text(turn, full, &[])?,
            _ => self.text(turn, again, &[("what", &self.text(turn, what, &[])?)])?,
        };
        let text = match noted {
            "" => question,
            noted => self.text(turn, Text::Noted, &[("noted", noted), ("question", &question)])?,
        };
        Ok(turn.say(kind::PROMPT, &text).await?)
    }

    /// Says why it cannot take an answer, and waits for another one. The second time it offers a person, and then it calls one.
    pub(super) async fn refuse(
        &self,
        turn: &mut Turn,
        text: &str,
        asked: Asked,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        memory.repeated = Some((asked, memory.count_question(asked).max(2)));
        if self.gives_up(turn, asked, memory).await? {
            return Ok(());
        }
        let text = match memory.offered_person_with(asked) {
            true => format!("{text}\n\n{}", self.text(turn, Text::OfferMore, &[])?),
            false => text.to_owned(),
        };
        Ok(turn.say(kind::PROMPT, &text).await?)
    }

    /// Calls a person instead of putting a question too often, and returns whether it did. Next to a summary, or to one who waits for a
    /// person, none is offered. A later answer still counts, but a yes opens no case.
    async fn gives_up(&self, turn: &mut Turn, asked: Asked, memory: &mut Memory) -> Result<bool, DeskError> {
        let has_no_offer = asked == Asked::Confirm || turn.conversation.status == ConversationStatus::Waiting;
        let most = if has_no_offer { PUT_AT_MOST - 1 } else { PUT_AT_MOST };
        let is_too_often = memory.times_asked(asked) > most;
        if is_too_often {
            (memory.asked, memory.repeated) = (Some(asked).filter(|asked| asked.outlasts_replies()), None);
            self.call_person(turn).await?;
        }
        Ok(is_too_often)
    }
}
