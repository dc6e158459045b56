//! The support journey: an answer from the shop's documents, else a person.

use super::advance::{Next, hand_over};
use super::effect::{Asking, Effect, Incoming, Line, Reason};
use super::rules::Says;
use super::said::Said;
use super::sales::reminder;
use super::state::{ConversationState, OFFERS, Question, Stage};
use super::texts::Text;
use crate::domain::commerce::policy::Journey;
use crate::domain::returns::Priority;

/// Starts with a question about the shop.
pub(super) fn start(mut state: ConversationState, incoming: &Incoming) -> Next {
    state.journey = Journey::Support;
    // A yes must mean the amount that waits, and nothing else.
    if incoming.said.says(Says::Restock) && !matches!(state.stage, Stage::ConfirmAmount { .. }) {
        return restock_unknown(state);
    }
    let said = &incoming.said;
    // A statement that only resembles a question is searched for in the documents, but calls no person.
    let asks = said.utterance.has_question() || !said.subjects.is_empty() || !said.clear_intents().is_empty();
    if !asks {
        return ask_documents(state, said);
    }
    let mut question = Question { text: said.text().to_owned(), subjects: said.subjects.clone() };
    // "Deliver it to Umoja. What will that cost?"
    if said.is_about("delivery") && said.says(Says::HowMuch) && !said.is_about("delivery_cost") {
        question.subjects.insert(0, "delivery_cost".to_owned());
    }
    state.asked.clone_from(&question.subjects);
    (state, vec![Effect::Answer { question, why: Asking::Question }])
}

/// Says that the time at which goods come back is unknown, and offers a person.
pub(super) fn restock_unknown(mut state: ConversationState) -> Next {
    state.offers_person = true;
    (state, vec![Effect::Say(Line::Plain(Text::RestockUnknown))])
}

/// Asks the documents about a subject of which a message only asks for more.
pub(super) fn ask_more(mut state: ConversationState, subject: &str) -> Next {
    (state.journey, state.asked) = (Journey::Support, vec![subject.to_owned()]);
    let question = Question { text: String::new(), subjects: state.asked.clone() };
    (state, vec![Effect::Answer { question, why: Asking::Question }])
}

/// Looks into the documents for a message that nothing else understands.
pub(super) fn ask_documents(mut state: ConversationState, said: &Said) -> Next {
    state.journey = Journey::Unknown;
    let question = Question { text: said.text().to_owned(), subjects: said.subjects.clone() };
    (state, vec![Effect::Answer { question, why: Asking::LastResort }])
}

/// Asks the documents what a message also asked, when everything else is answered.
pub(super) fn ask_aside(state: &mut ConversationState, effects: &mut Vec<Effect>) {
    let is_end = effects.iter().all(|effect| matches!(effect, Effect::Say(_)));
    if let Some(question) = state.question.take_if(|_| is_end) {
        if question.subjects == [OFFERS] {
            // A cart is shown with them.
            let is_shown = effects.iter().any(|effect| matches!(effect, Effect::Say(Line::Cart { .. })));
            state.journey = Journey::Offers;
            effects.extend((!is_shown).then_some(Effect::ListOffers));
            return;
        }
        state.asked.clone_from(&question.subjects);
        effects.push(Effect::Answer { question, why: Asking::Aside });
    }
}

/// Continues after a question next to something else was answered.
pub(super) fn answered_aside(state: ConversationState, is_answered: bool) -> Next {
    if is_answered { (state, Vec::new()) } else { not_known(state) }
}

/// Says that the documents have no answer, and offers a person. Who waits for a person is asked nothing more; and while an amount waits,
/// a yes must mean the amount.
fn not_known(mut state: ConversationState) -> Next {
    if state.is_waiting || matches!(state.stage, Stage::ConfirmAmount { .. }) {
        return hand_over(state, Reason::NoAnswer, Priority::Low);
    }
    (state.offers_person, state.clarifications) = (true, 0);
    (state, vec![Effect::Say(Line::Plain(Text::NotKnown))])
}

/// Continues after the documents were asked. A question about the shop without an answer is for a person, another message is asked
/// about.
pub(super) fn answered(mut state: ConversationState, is_answered: bool) -> Next {
    if is_answered {
        state.clarifications = 0;
        // Who decides later is asked nothing more.
        let reminder = reminder(&state).filter(|_| !state.postpones).map(Effect::Say);
        return (state, reminder.into_iter().collect());
    }
    if state.journey == Journey::Support || state.is_waiting {
        return not_known(state);
    }
    state.clarifications = state.clarifications.saturating_add(1);
    if state.clarifications >= state.rules.clarifications {
        return hand_over(state, Reason::Clarifications, Priority::Medium);
    }
    // A yes must mean the amount, and nothing else.
    let may_offer = state.clarifications > 1 && !matches!(state.stage, Stage::ConfirmAmount { .. });
    if may_offer {
        state.offers_person = true;
        return (state, vec![Effect::Say(Line::Plain(Text::OfferPerson))]);
    }
    // What the desk asked is asked once more.
    let line = reminder(&state).unwrap_or(Line::Plain(Text::Unclear));
    (state, vec![Effect::Say(line)])
}
