//! The support journey: an answer from the shop's documents, else a person.

use super::advance::{Next, hand_over};
use super::effect::{Effect, Heard, Line, Reason};
use super::said::Said;
use super::sales::reminder;
use super::state::{ConversationState, Stage};
use crate::domain::commerce::policy::Journey;
use crate::domain::returns::Priority;

/// Starts with a question about the shop.
pub(super) fn start(mut state: ConversationState, heard: &Heard) -> Next {
    state.journey = Journey::Support;
    (state, vec![ask(&heard.said)])
}

/// Looks into the documents for a message that nothing else understands.
pub(super) fn ask_documents(mut state: ConversationState, said: &Said) -> Next {
    state.journey = Journey::Unknown;
    (state, vec![ask(said)])
}

fn ask(said: &Said) -> Effect {
    Effect::Answer { text: said.text().to_owned(), subject: said.subject.clone() }
}

/// Continues after the documents were asked. A question about the shop without an answer is for a person, another message is asked
/// about.
pub(super) fn answered(mut state: ConversationState, is_answered: bool) -> Next {
    if is_answered {
        state.clarifications = 0;
        let reminder = reminder(&state).map(Effect::Say);
        return (state, reminder.into_iter().collect());
    }
    // Who waits for a person is asked nothing more.
    if state.journey == Journey::Support || state.is_waiting {
        return hand_over(state, Reason::NoAnswer, Priority::Low);
    }
    state.clarifications = state.clarifications.saturating_add(1);
    if state.clarifications >= state.rules.clarifications {
        return hand_over(state, Reason::Clarifications, Priority::Medium);
    }
    // A yes must mean the amount, and nothing else.
    let may_offer = state.clarifications > 1 && !matches!(state.stage, Stage::ConfirmAmount { .. });
    if may_offer {
        state.offers_person = true;
        return (state, vec![Effect::Say(Line::OfferPerson)]);
    }
    // What the desk asked is asked once more.
    let line = reminder(&state).unwrap_or(Line::Unclear);
    (state, vec![Effect::Say(line)])
}
