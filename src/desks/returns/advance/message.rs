//! The next state after a message of the customer. The open question decides what the message means.

use super::super::items;
use super::super::route::{Step, route};
use super::super::rules::{Topic, Utterance};
use super::super::say::{CLARIFIES, OFFERS_PERSON};
use super::super::state::{HandoffReason, Help, Intent, LastMessage, Phase, Question, Stage, State};
use crate::dialogue::Answer;
use crate::dialogue::utterance::Entities;
use crate::domain::identity::Contact;
use crate::domain::returns::Action;

mod mail;
mod next;
mod requests;
mod slots;

pub use mail::misses_mail;
use mail::{answer_about_mail, miss_mail, redirects_label, redirects_mail, send_label_to, send_mail_to};
use next::{cancels, next_flow};
pub use requests::continue_with;
use slots::{
    keep_reason, keeps_part, names_fewer_pieces, take_intent, take_label, take_last_return, take_lines, take_pieces,
    take_slots,
};

/// Returns the state after the message.
pub(super) fn after_message(state: State, utterance: &Utterance) -> State {
    let with_phone = with_phone(&state, utterance);
    let utterance = with_phone.as_ref().unwrap_or(utterance);
    let in_context = requests::in_context(&state, utterance);
    let utterance = in_context.as_ref().unwrap_or(utterance);
    if misses_mail(&state, utterance) {
        return miss_mail(state);
    }
    if let Some(address) = redirects_mail(&state, utterance) {
        return send_mail_to(state, address);
    }
    if let Some(address) = redirects_label(&state, utterance) {
        return send_label_to(state, address);
    }
    let acknowledged = acknowledgement(&state, utterance);
    let is_acknowledged = acknowledged.is_some();
    let utterance = acknowledged.as_ref().unwrap_or(utterance);
    let is_over = state.phase == Phase::Over || state.was_refused() || leaves_for_another_order(&state, utterance);
    if is_over && calls_off(&state, utterance) {
        let mut next = state.next_flow();
        next.meta.waiting.clear();
        next.case.intent = Some(Intent::Other);
        next.case.message.called_off = true;
        return next;
    }
    let mut state = if is_over { next_flow(state, utterance) } else { state };
    let asked = state.open_question();
    state.phase = Phase::Working;
    // The turn after the customer's yes was interrupted: a no is now about what it was going to do.
    if let Some(subject) = state.subject_mut().filter(|_| asked.is_none() && utterance.hesitates()) {
        subject.progress.take_back();
    }
    state.case.message = LastMessage {
        asks: utterance.has_question(),
        is_unclear: false,
        is_greeting: utterance.greets(),
        is_acknowledged,
        is_goodbye: utterance.says_goodbye() || only_thanks(utterance),
        is_held_back: utterance.hesitates() && !utterance.intent.is_some_and(Intent::is_return),
        is_aside: is_aside(utterance),
        // Of details one after another, every second one counts as a message without an answer: they have to end.
        adds_detail: asked == Some(Question::Confirm)
            && !state.case.message.adds_detail
            && requests::adds_detail(&state.case, utterance),
        help: help_for(utterance),
        ..state.case.message
    };
    state.case.damage_reported |= utterance.reports(Topic::Damage);
    if utterance.wants_person() || accepts_person(&state, utterance, asked) {
        state.handoff.replace_reason(HandoffReason::Person);
    }
    if utterance.reports(Topic::Damage) && is_about_last_return(&state, utterance) {
        state.handoff.replace_reason(HandoffReason::DamageLater);
    }
    if state.handoff.is_due() {
        keep_reason(&mut state, utterance);
        return state;
    }
    if asked == Some(Question::Confirm) && requests::cancels_instead(&state, utterance) {
        return requests::cancel_order(state);
    }
    if !state.is_idle() && state.ticket().is_none() && ends_flow(&state, utterance, asked) {
        return declined(state);
    }
    take_slots(&mut state, utterance, asked);
    let is_reopened = reopens_decision(&mut state, utterance);
    let asked = asked.filter(|_| !is_reopened);
    let is_about_other_lines = is_about_items(&state, utterance, asked) && take_lines(&mut state, utterance);
    let is_about_other_lines = take_pieces(&mut state, utterance, asked) || is_about_other_lines;
    // A message that names another order or other items does not answer a question about the first ones.
    match asked.filter(|_| state.order().is_some() && !is_about_other_lines) {
        Some(Question::Confirm) => answer_go_ahead(&mut state, utterance),
        Some(Question::OnlyReturn) => choose_action(&mut state, utterance, Action::Return),
        Some(Question::OnlyRefund) => choose_action(&mut state, utterance, Action::Refund),
        Some(Question::OfferCancel) => choose_action(&mut state, utterance, Action::Cancel),
        Some(Question::ChooseAction) => match utterance.intent.filter(|_| names_one_wish(utterance)) {
            Some(Intent::Return) => choose(&mut state, Action::Return),
            Some(Intent::Refund) => choose(&mut state, Action::Refund),
            _ if utterance.answer == Some(Answer::No) => return declined(state),
            _ => {}
        },
        Some(Question::MailFailed | Question::MailMissing) => answer_about_mail(&mut state, utterance),
        _ => {}
    }
    if asked == Some(Question::Matter) && next::only_declines(utterance) {
        state.case.intent = Some(Intent::Other);
    }
    take_intent(&mut state, utterance, asked);
    take_label(&mut state, utterance);
    take_last_return(&mut state, utterance);
    keep_reason(&mut state, utterance);
    if is_stuck(&state, utterance, asked) {
        state.handoff.request(HandoffReason::GaveUp);
    }
    state
}

/// Forgets a decision that allowed the return if the message reports damage, so that the rules decide again. Returns whether it did.
fn reopens_decision(state: &mut State, utterance: &Utterance) -> bool {
    let may_return = state.decision().is_some_and(|decision| decision.eligible) && state.ticket().is_none();
    if !may_return || !utterance.reports(Topic::Damage) {
        return false;
    }
    if let Some(subject) = state.subject_mut() {
        subject.progress.undecide();
    }
    state.case.forget_question();
    true
}

/// Reads "ok" after an answer, when nothing is open, as the end of the matter. So does one after an answer that the request for an
/// order number followed.
fn acknowledgement(state: &State, utterance: &Utterance) -> Option<Utterance> {
    let was_answered = state.case.message.is_aside
        && state.open_question().is_some_and(Question::is_for_slot)
        && state.order_number().is_none();
    let is_open = !state.is_idle() || state.open_question().is_some() || !state.meta.waiting.is_empty();
    let is_open = is_open && !was_answered;
    // A yes although nothing was asked.
    let agrees = utterance.affirms() && utterance.only_answers() && state.order().is_some() && !state.was_refused();
    let is_ok = (utterance.acknowledges() || agrees) && !utterance.names_order_or_contact();
    (is_ok && utterance.intent.is_none() && !is_open).then(|| Utterance {
        intent: Some(Intent::Other),
        answer: None,
        ..utterance.clone()
    })
}

/// Whether the message calls off a request that has its ticket: "never mind the return". Only a person can close the ticket.
fn calls_off(state: &State, utterance: &Utterance) -> bool {
    (state.ticket().is_some() || state.handoff.ticket().is_some())
        && utterance.answer == Some(Answer::Cancel)
        && utterance.intent != Some(Intent::OrderStatus)
        && !utterance.names_order_or_contact()
        && !utterance.has_question()
        && !utterance.wants_person()
        && !utterance.requests(Topic::Cancellation)
        && !names_fewer_pieces(state, utterance)
}

/// Whether nothing is left of the message: it was an aside, which the desk answers before this.
fn is_aside(utterance: &Utterance) -> bool {
    *utterance == Utterance::default()
}

/// Whether the items that the message names matter. An order is cancelled as a whole: a yes to that which names some of its items
/// does not count.
fn is_about_items(state: &State, utterance: &Utterance, asked: Option<Question>) -> bool {
    let names_part = || state.order().is_some_and(|order| items::part_of(&order.items, &utterance.text).is_some());
    asked != Some(Question::OfferCancel) || (utterance.answer_to_cancel == Some(Answer::Yes) && names_part())
}

/// Returns what the message wants to know about the detail that the desk asked for.
fn help_for(utterance: &Utterance) -> Option<Help> {
    match utterance {
        _ if utterance.contact().is_some() => None,
        // "I only have the order number": the contact is missing.
        _ if utterance.reports(Topic::MissingContact) => Some(Help::Missing),
        _ if utterance.order().is_some() => None,
        _ if utterance.reports(Topic::MissingDetail) => Some(Help::Missing),
        _ => utterance.asks(Topic::Purpose).then_some(Help::Purpose),
    }
}

/// Whether the message accepts the offer of a person.
fn accepts_person(state: &State, utterance: &Utterance, asked: Option<Question>) -> bool {
    let was_offered = match asked {
        Some(Question::Matter) => state.case.clarifies > CLARIFIES,
        Some(question) => question.is_for_slot() && state.case.repeats >= OFFERS_PERSON,
        None => false,
    };
    was_offered
        && utterance.answer == Some(Answer::Yes)
        && utterance.only_answers()
        && !utterance.names_order_or_contact()
}

/// Whether the open question was asked so often that a person has to continue. Asides do not count.
fn is_stuck(state: &State, utterance: &Utterance, asked: Option<Question>) -> bool {
    let counts = asked.filter(|question| question.is_for_slot() || question.is_for_yes());
    counts.is_some_and(|question| route(state) == Step::Ask(question))
        && state.case.repeats >= OFFERS_PERSON
        && !is_aside(utterance)
        && !state.case.message.adds_detail
        && !utterance.wants(Intent::Other)
        && !utterance.names_order_or_contact()
}

/// Whether the message thanks and asks for nothing.
fn only_thanks(utterance: &Utterance) -> bool {
    let wants_nothing = matches!(utterance.intent, None | Some(Intent::Other)) && !utterance.names_order_or_contact();
    utterance.thanks() && utterance.answer.is_none() && wants_nothing && !utterance.has_question()
}

/// Whether the customer wants to stop.
fn ends_flow(state: &State, utterance: &Utterance, asked: Option<Question>) -> bool {
    // Damage is decided whatever the customer answers. "I'll keep one", or "the socks", is not the end.
    let is_damaged = utterance.reports(Topic::Damage) && state.decision().is_some_and(|decision| decision.eligible);
    let keeps_some = names_fewer_pieces(state, utterance) || keeps_part(state, utterance);
    if is_damaged || keeps_some || changes_intent(state, utterance) {
        return false;
    }
    let asks_for_slot = asked.is_some_and(|question| question.is_for_slot() || question == Question::Locked);
    let brings = utterance.names_order_or_contact();
    let is_about_mail = matches!(asked, Some(Question::MailFailed | Question::MailMissing));
    // Thanks instead of a yes: the customer is done.
    let thanks = utterance.thanks() && asked.is_some_and(Question::is_for_yes) && !utterance.hesitates();
    if (utterance.says_goodbye() || thanks) && !is_about_mail && !utterance.affirms() {
        return true;
    }
    match utterance.answer {
        Some(Answer::Cancel) => !((asks_for_slot && brings) || answers_with_cancel(state, utterance, asked)),
        // "I don't have it" is not the end.
        Some(Answer::No) => asks_for_slot && !brings && !utterance.reports(Topic::MissingDetail),
        _ => {
            asks_for_slot
                && !brings
                && utterance.intent == Some(Intent::Other)
                && !utterance.greets()
                && !utterance.hesitates()
                && next::is_short(utterance)
        }
    }
}

/// Whether the message changes the intent: "never mind, just tell me where it is".
fn changes_intent(state: &State, utterance: &Utterance) -> bool {
    let is_other =
        |now: Intent, intent: Intent| now != intent && intent != Intent::Other && !requests::covers(now, intent);
    utterance.intent.is_some_and(|intent| state.case.intent.is_some_and(|now| is_other(now, intent)))
}

/// Whether the message names one wish, without a question and without hesitation.
fn names_one_wish(utterance: &Utterance) -> bool {
    !utterance.leaves_open() && !utterance.has_question() && !utterance.hesitates()
}

/// Returns the message with its number read as a phone number, if the desk asked for a contact and it can be one.
fn with_phone(state: &State, utterance: &Utterance) -> Option<Utterance> {
    let is_asked = state.open_question() == Some(Question::Contact) && utterance.contact().is_none();
    let phone = utterance.order().filter(|_| is_asked)?.phone()?;
    let entities = Entities { contacts: vec![Contact::Phone(phone)], ..Entities::default() };
    Some(Utterance { entities, ..utterance.clone() })
}

/// Whether the message leaves an open question about a mail. Another order does, and the outbox keeps retrying the mail.
fn leaves_for_another_order(state: &State, utterance: &Utterance) -> bool {
    // A mail that went out needs no answer: any other request leaves the question.
    let is_other_matter =
        utterance.contact().is_none() && utterance.intent.is_some_and(|intent| intent != Intent::Other);
    match state.open_question() {
        Some(Question::MailFailed) => names_another_order(state, utterance),
        Some(Question::MailMissing) => names_another_order(state, utterance) || is_other_matter,
        _ => false,
    }
}

fn names_another_order(state: &State, utterance: &Utterance) -> bool {
    utterance.order().is_some_and(|found| state.order_number() != Some(&found.number))
}

/// Whether the message is about the last return: its ticket is this flow's, or the flow has no subject yet and the message names no
/// other item.
fn is_about_last_return(state: &State, utterance: &Utterance) -> bool {
    let Some(rma) = &state.meta.last_rma else { return false };
    match state.action_ticket() {
        Some(ticket) => ticket.id == rma.as_str() && !names_another_order(state, utterance),
        None => {
            let number = state.order_number();
            let is_its_order = number.is_none() || number == state.meta.last_returned.as_ref();
            let named = state.order().map(|order| items::named(&order.items, &utterance.text)).unwrap_or_default();
            let is_its_item = state.meta.is_last_returned(&named);
            state.case.intent.is_none() && is_its_order && is_its_item && utterance.order().is_none()
        }
    }
}

/// Whether "cancel" answers the question, instead of ending the flow.
fn answers_with_cancel(state: &State, utterance: &Utterance, asked: Option<Question>) -> bool {
    match asked {
        Some(Question::OfferCancel | Question::MailFailed | Question::MailMissing) => true,
        // The flow began with it.
        None => state.case.wants_cancel && cancels(utterance),
        Some(_) => false,
    }
}

/// Ends the flow because the customer does not want to continue.
fn declined(mut state: State) -> State {
    state.meta.declined = state.case.intent.filter(|intent| *intent != Intent::Other);
    state.case.intent = Some(Intent::Other);
    match state.subject_mut() {
        // The order stays the subject of the conversation.
        Some(subject) => subject.progress.decline(),
        None => {
            state.forget_order();
            state.stage = Stage::Declined;
        }
    }
    state
}

/// Takes the answer to the question whether to go ahead. Only a clear yes agrees. A message that changes the intent does not answer.
fn answer_go_ahead(state: &mut State, utterance: &Utterance) {
    // "Yes, they are too small" names a reason of a return. A refund is a return as well.
    let is_request = state.case.intent.is_some_and(Intent::is_request);
    // "Yes, return it" does not agree to an exchange.
    let asks_for_return = is_request && utterance.mentions(Topic::Return);
    let gives_reason = utterance.affirms() && utterance.wants(Intent::Return) && !asks_for_return;
    // "Register the return" is the yes to that question.
    let is_told = utterance.requests(Topic::Return) && !state.wants_some_pieces();
    let answer = match utterance.answer {
        _ if is_request => utterance.answer_to_ticket,
        None if is_told && state.action().is_some_and(|action| action != Action::Cancel) => Some(Answer::Yes),
        answer => answer,
    };
    let also = requests::further_wish(state, utterance).filter(|_| answer == Some(Answer::Yes));
    if changes_intent(state, utterance) && !gives_reason && also.is_none() {
        return;
    }
    state.case.also = also;
    match (answer, state.action()) {
        (Some(Answer::Yes), _) if utterance.equivocates() => {}
        (Some(Answer::Yes), _) if is_request => {
            state.handoff.request(HandoffReason::Request);
        }
        (Some(Answer::Yes), Some(action)) => agree(state, action),
        (Some(Answer::No), _) => decline(state),
        _ => {}
    }
}

/// Takes the answer to the offer of one action.
fn choose_action(state: &mut State, utterance: &Utterance, action: Action) {
    let named = match utterance.intent {
        Some(Intent::Return) if !utterance.requests(Topic::Cancellation) => Some(Action::Return),
        Some(Intent::Refund) => Some(Action::Refund),
        _ => None,
    };
    let is_other = action != Action::Cancel && named.is_some_and(|named| named != action);
    let told = utterance.answer.or(utterance.requests(Topic::Return).then_some(Answer::Yes));
    match if action == Action::Cancel { utterance.answer_to_cancel } else { told } {
        Some(Answer::Yes) if !utterance.equivocates() && !is_other => agree(state, action),
        Some(Answer::No | Answer::Cancel) => decline(state),
        // "They are too small" names a return and agrees to nothing: the desk asks for the yes.
        _ if named == Some(action) && names_one_wish(utterance) => choose(state, action),
        _ => {}
    }
}

fn choose(state: &mut State, action: Action) {
    if let Some(subject) = state.subject_mut() {
        subject.progress.choose(Some(action));
    }
}

fn agree(state: &mut State, action: Action) {
    if let Some(subject) = state.subject_mut() {
        subject.progress.agree(action);
    }
}

fn decline(state: &mut State) {
    if let Some(subject) = state.subject_mut() {
        subject.progress.decline();
    }
}

#[cfg(test)]
mod tests;
