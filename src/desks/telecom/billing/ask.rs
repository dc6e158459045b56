//! The questions that billing asks, and when they lead to a person.

use crate::desks::telecom::memory::{Asked, Memory, PUT_AT_MOST};
use crate::desks::telecom::rules::Parsed;
use crate::desks::telecom::texts::Text;
use crate::desks::telecom::{Telecom, kind};
use crate::dialogue::{DeskError, Turn};
use crate::domain::{ConversationStatus, Sender};

impl Memory {
    /// Whether a message accepts the person that the desk has offered, alone or with a question that it put often.
    pub(in crate::desks::telecom) fn accepts_person(&self, parsed: &Parsed, asked: Option<Asked>) -> bool {
        match asked {
            Some(Asked::Person) => parsed.accepts() || self.gets_customer(&parsed.said),
            Some(asked) if self.offered_person_with(asked) => {
                parsed.accepts() && !parsed.gives(asked, self.refund.is_some())
            }
            _ => false,
        }
    }
}

impl Telecom {
    /// Whether the replies to the customer's last message include this text.
    pub(in crate::desks::telecom) fn has_just_said(turn: &Turn, text: &str) -> bool {
        let mut replies = turn.history.iter().rev().take_while(|message| message.sender != Sender::User);
        replies.any(|message| message.text == text)
    }

    /// Repeats an open question about an account, in other words. The customer knows it after that: only a summary, which needs a yes,
    /// comes again.
    pub(in crate::desks::telecom) async fn ask_again(
        &self,
        turn: &mut Turn,
        asked: Option<Asked>,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        match asked.filter(|asked| asked.is_of_account()) {
            Some(asked) => {
                let times = memory.times_asked(asked);
                if asked != Asked::Confirm && times > 1 {
                    memory.asked = Some(asked);
                    return Ok(());
                }
                memory.repeated = Some((asked, if asked == Asked::Confirm { times % 2 } else { 1 }));
                self.ask(turn, asked, "", memory).await
            }
            None => Ok(()),
        }
    }

    /// Asks for something, after what was noted. The first time with an explanation, then in other words; the third time it offers a
    /// person, and then it calls one.
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
        if Self::is_put_too_often(turn, asked, times) {
            return self.give_up_asking(turn, memory).await;
        }
        if let (Asked::Confirm, Some(draft)) = (asked, &memory.refund) {
            let text = self.summary(turn, if times == 1 { Text::Confirm } else { Text::ConfirmAgain }, draft)?;
            return Ok(turn.say(kind::PROMPT, &text).await?);
        }
        let (full, what) = match asked {
            // The customer ID is known until a proof was wrong.
            Asked::Proof if memory.account.user_id.is_some() && memory.account.invoice.is_none() => {
                (Text::AskProof, Text::NeedInvoice)
            }
            Asked::Proof => (Text::AskProof, Text::NeedProof),
            Asked::Invoice => (Text::AskInvoice, Text::NeedInvoice),
            Asked::Amount => (Text::AskAmount, Text::NeedAmount),
            Asked::Reason => (Text::AskReason, Text::NeedReason),
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
        let times = memory.count_question(asked).max(2);
        memory.repeated = Some((asked, times));
        if Self::is_put_too_often(turn, asked, times) {
            return self.give_up_asking(turn, memory).await;
        }
        let text = match memory.offered_person_with(asked) {
            true => format!("{text}\n\n{}", self.text(turn, Text::OfferMore, &[])?),
            false => text.to_owned(),
        };
        Ok(turn.say(kind::PROMPT, &text).await?)
    }

    /// Whether a question was put so often that only a person can help. One who waits for a person gets no other offer, and a summary has
    /// none.
    fn is_put_too_often(turn: &Turn, asked: Asked, times: u32) -> bool {
        let is_without_offer = asked == Asked::Confirm || turn.conversation.status == ConversationStatus::Waiting;
        times > if is_without_offer { PUT_AT_MOST - 1 } else { PUT_AT_MOST }
    }

    /// Calls a person. A later answer still counts, but a yes opens no case.
    async fn give_up_asking(&self, turn: &mut Turn, memory: &mut Memory) -> Result<(), DeskError> {
        memory.repeated = None;
        memory.asked = memory.asked.filter(|asked| asked.outlasts_replies());
        self.call_person(turn).await
    }
}
