//! Begins the next flow, with what stays from the last one.

use super::super::super::items;
use super::super::super::rules::{Topic, Utterance};
use super::super::super::state::{HandoffReason, HandoffStatus, Intent, Question, Stage, State, Subject};
use super::slots::names_fewer_pieces;
use crate::dialogue::Answer;
use crate::domain::commerce::{OrderNumber, OrderStatus};

/// How sure the order is that a message does not name.
const KEPT_CONFIDENCE: f64 = 0.6;
/// A no or thanks with more words say something else as well.
const FEW_WORDS: usize = 5;

/// Begins the next flow. The order stays its subject until the message names another one.
pub(super) fn next_flow(state: State, utterance: &Utterance) -> State {
    let (was_refused, may_argue) = (state.was_refused(), state.may_argue());
    let (intent, clarifies) = (state.case.intent, state.case.clarifies);
    let was_offered = state.open_question() == Some(Question::Matter);
    // The return covers all pieces: a person corrects it.
    let corrects = state.ticket().is_some()
        && names_fewer_pieces(&state, utterance)
        && !utterance.names_order_or_contact()
        && !utterance.asks(Topic::Policy);
    let subject = state.subject().cloned();
    let mut next = state.next_flow();
    if let Some(number) = waiting_order(&next.meta.waiting, utterance) {
        next.meta.waiting.retain(|other| *other != number);
        next.case.intent = utterance.intent.or(intent);
        next.name_order(Some(number), 1.0);
        return next;
    }
    next.meta.waiting.clear();
    let names_another = utterance.names_order_or_contact() || utterance.mentions(Topic::OtherOrder);
    let subject = subject.filter(|subject| !names_another && !means_last_return(&next, utterance, subject));
    let cancels_order = subject.is_some() && cancels(utterance);
    let declines = only_declines(utterance) && utterance.intent.is_none();
    let declined = next.meta.declined.take();
    let leaves = utterance.says_goodbye() && utterance.intent.is_none();
    if (declines || leaves) && !utterance.names_order_or_contact() && !cancels_order {
        next.case.intent = Some(Intent::Other);
    }
    let Some(subject) = subject else { return next };
    // If this conversation made a return of these items, their damage belongs to that return.
    let named = items::named(&subject.order.items, &utterance.text);
    let refused = subject.lines.as_deref().filter(|_| was_refused && named.is_empty());
    let has_return = next.meta.last_returned.as_ref() == Some(&subject.order.number)
        && next.meta.is_last_returned(refused.unwrap_or(&named));
    let is_damaged = utterance.reports(Topic::Damage) && !has_return;
    // "Yes, get me someone", and "pass it on", accept the offer of a person.
    let agrees = utterance.affirms() || utterance.answer_to_ticket == Some(Answer::Yes);
    let wants_else = utterance.intent.is_some_and(|intent| intent != Intent::Other) || utterance.has_question();
    let accepts = was_offered && agrees && !wants_else && !utterance.names_order_or_contact();
    let appeals = is_damaged || accepts || utterance.asks(Topic::Exception) || utterance.wants_person();
    let mut kept = Subject::new(subject.order.clone(), KEPT_CONFIDENCE);
    if was_refused && appeals {
        // What was refused, also after the customer has argued.
        next.case.intent = intent.or(Some(Intent::Return));
        kept.lines = subject.lines;
        next.handoff =
            HandoffStatus::Due(if is_damaged { HandoffReason::DamagedButRefused } else { HandoffReason::Person });
    } else if corrects {
        next.case.intent = intent;
        kept.lines = subject.lines;
        next.handoff = HandoffStatus::Due(HandoffReason::Person);
    } else if may_argue && utterance.intent.is_none() && !declines {
        // The customer argues: the refusal stands.
        next.case.clarifies = clarifies;
        kept = Subject { confidence: KEPT_CONFIDENCE, ..subject };
    } else if cancels_order {
        next.case.intent = Some(Intent::Return);
        next.case.wants_cancel = true;
    } else if utterance.intent.is_none() && utterance.requests(Topic::Return) {
        next.case.intent = Some(Intent::Return);
    } else if utterance.intent.is_none() && utterance.affirms() && !utterance.acknowledges() {
        // "Do it after all": the desk asks again.
        next.case.intent = declined;
    }
    next.stage = Stage::Found(Box::new(kept));
    next
}

/// Whether the message is a no and little else. "No, that was the other pair" says more.
pub(super) fn only_declines(utterance: &Utterance) -> bool {
    match utterance.answer {
        Some(Answer::Cancel) => true,
        Some(Answer::No) => utterance.only_answers() || is_short(utterance),
        _ => false,
    }
}

/// Whether the message has few words.
pub(super) fn is_short(utterance: &Utterance) -> bool {
    utterance.explanation.split_whitespace().count() <= FEW_WORDS
}

/// Whether "cancel it" asks for the cancellation of what the conversation is about.
pub(super) fn cancels(utterance: &Utterance) -> bool {
    utterance.intent.is_none()
        && utterance.mentions(Topic::Cancellation)
        && utterance.answer_to_cancel == Some(Answer::Yes)
        && !utterance.equivocates()
}

/// Whether the message is about the conversation's last return, and the subject is another order, without a return.
fn means_last_return(state: &State, utterance: &Utterance, subject: &Subject) -> bool {
    let has_return = matches!(subject.order.status, OrderStatus::ReturnInitiated | OrderStatus::Returned);
    let is_about_return = (utterance.asks(Topic::ReturnStatus) || utterance.requests(Topic::Label)) && !has_return;
    is_about_return && state.meta.last_returned.as_ref().is_some_and(|number| *number != subject.order.number)
}

/// Returns the order that was named before, if the message continues with it.
fn waiting_order(waiting: &[OrderNumber], utterance: &Utterance) -> Option<OrderNumber> {
    match utterance.order() {
        Some(found) => waiting.iter().find(|number| **number == found.number).cloned(),
        // "Shall I continue with that one?" was asked, and nothing is done without a further question.
        None if continues(utterance) || utterance.mentions(Topic::OtherOrder) => waiting.first().cloned(),
        None => None,
    }
}

/// Whether the message neither declines nor wants anything else.
fn continues(utterance: &Utterance) -> bool {
    let is_no = matches!(utterance.answer, Some(Answer::No | Answer::Cancel));
    let is_other = utterance.wants_person() || utterance.says_goodbye() || utterance.reports(Topic::Damage);
    utterance.intent.is_none() && !is_no && !is_other
}
