//! What a message adds to the case: the order, the contact, items, the intent and the reason.

use super::super::super::items;
use super::super::super::rules::{Topic, Utterance};
use super::super::super::state::{HandoffReason, Intent, Progress, Question, State, Subject};
use super::{changes_intent, names_another_order, requests};
use crate::nlu::entities::Confidence;

/// How many characters of the customer's words are kept as the reason.
const REASON_MAX_CHARS: usize = 1000;

/// Takes the order number and the contact from the message. A different number is a different order.
pub(super) fn take_slots(state: &mut State, utterance: &Utterance, asked: Option<Question>) {
    if state.ticket().is_some() {
        // The order has its ticket: a contact is now about the mail.
        return;
    }
    match utterance.order() {
        Some(found) if asked == Some(Question::Confirm) && requests::is_number_of_request(state, utterance, found) => {}
        Some(found) if names_another_order(state, utterance) => {
            state.forget_order();
            if state.meta.tried.as_ref() == Some(&found.number) && !state.meta.contact_fits {
                // The number is right, so the contact was wrong.
                state.meta.contact = None;
            }
            state.meta.waiting = utterance.other_orders().cloned().collect();
            state.name_order(Some(found.number.clone()), worth(found.confidence));
        }
        None if utterance.mentions(Topic::OtherOrder) && state.order().is_some() => {
            state.forget_order();
            state.case.declines += 1;
            let next = (!state.meta.waiting.is_empty()).then(|| state.meta.waiting.remove(0));
            state.name_order(next, 1.0);
        }
        // "My mail is …" corrects the contact for the number that was tried.
        None if asks_again(state, asked) && utterance.contact().is_some() => {
            let tried = state.meta.tried.take();
            state.name_order(tried, 1.0);
        }
        _ => state.case.message.may_name_order = utterance.entities.has_unread_order && state.order_number().is_none(),
    }
    if let Some(contact) = utterance.contact()
        && state.order().is_none()
    {
        let contact = Some(contact.as_str().to_owned());
        state.meta.contact_fits &= contact == state.meta.contact;
        state.meta.contact = contact;
        state.case.contact.other = utterance.other_contact().map(|other| other.as_str().to_owned());
        state.case.contact.is_given = true;
    }
}

/// Whether the desk asks for a number or a contact after a look-up that found nothing.
fn asks_again(state: &State, asked: Option<Question>) -> bool {
    let is_asked = asked.is_some_and(|question| question.is_for_slot() || question == Question::Locked);
    is_asked && state.order_number().is_none() && state.meta.tried.is_some()
}

/// `order_match_confidence`, 0 to 1.
fn worth(confidence: Confidence) -> f64 {
    match confidence {
        Confidence::Named => 1.0,
        Confidence::Alone => 0.9,
        Confidence::Bare => 0.7,
    }
}

/// Takes the items that the message names. Returns whether they differ from the items shown before: then the customer has to
/// see them before an answer counts.
pub(super) fn take_lines(state: &mut State, utterance: &Utterance) -> bool {
    let has_ticket = state.ticket().is_some();
    // "I got everything except the socks" is about the socks.
    let is_mistake = [utterance.intent, state.case.intent].into_iter().flatten().any(Intent::is_mistake);
    let kept_goods = utterance.entities.kept_goods.as_ref().filter(|_| !is_mistake);
    let Some(Subject { order, lines, progress, .. }) = state.subject_mut().filter(|_| !has_ticket) else {
        return false;
    };
    let all = || order.items.iter().map(|item| item.line).collect();
    let shown = lines.clone().unwrap_or_else(all);
    let named = match kept_goods {
        Some(goods) => items::wanted(&order.items, &shown, goods),
        None => items::named(&order.items, &utterance.text),
    };
    if named.is_empty() || named == shown {
        return false;
    }
    *lines = (named.len() < order.items.len()).then_some(named);
    *progress = Progress::Undecided;
    state.case.forget_question();
    true
}

/// Whether the message keeps some of the items that the flow is about, and not all: "yes, but I'll keep the socks".
pub(super) fn keeps_part(state: &State, utterance: &Utterance) -> bool {
    let (Some(order), Some(goods)) = (state.order(), &utterance.entities.kept_goods) else { return false };
    let kept = items::named(&order.items, &goods.kept);
    let all = || order.items.iter().map(|item| item.line).collect();
    let shown = state.lines().cloned().unwrap_or_else(all);
    !kept.is_empty() && shown.iter().any(|line| !kept.contains(line))
}

/// Takes the wish to return only some pieces of an item. The desk shows what comes back and asks again; a customer who still
/// wants fewer gets a person. Returns whether the message says nothing else about the order.
pub(super) fn take_pieces(state: &mut State, utterance: &Utterance, asked: Option<Question>) -> bool {
    let named = utterance.entities.pieces.iter().min().copied();
    if (!utterance.mentions(Topic::SomePieces) && named.is_none()) || state.ticket().is_some() {
        return false;
    }
    let offers = [Question::Confirm, Question::OnlyReturn, Question::OnlyRefund, Question::OfferCancel];
    let was_told = state.wants_some_pieces() && asked.is_some_and(|question| offers.contains(&question));
    state.case.pieces = named;
    // "Then all 3" takes the wish for fewer back.
    let names_all =
        named.is_some_and(|named| state.subject().is_some_and(|subject| !subject.has_more_pieces_than(named)));
    state.case.some_pieces = utterance.mentions(Topic::SomePieces) || (state.case.some_pieces && !names_all);
    if !state.wants_some_pieces() {
        return false;
    }
    if was_told {
        state.handoff.request(HandoffReason::Person);
    }
    if let Some(subject) = state.subject_mut() {
        subject.progress = Progress::Undecided;
    }
    true
}

/// Whether the message wants only some of the pieces that the flow is about, or that its return covers.
pub(super) fn names_fewer_pieces(state: &State, utterance: &Utterance) -> bool {
    let Some(subject) = state.subject().filter(|subject| subject.has_more_pieces_than(1)) else { return false };
    let named = utterance.entities.pieces.iter().min();
    let is_about_return = state.case.intent.is_some_and(Intent::is_return);
    let names_fewer = named.is_some_and(|named| subject.has_more_pieces_than(*named));
    is_about_return && (names_fewer || utterance.mentions(Topic::SomePieces))
}

/// Takes the intent. A different intent in the middle of a flow continues with the same order.
pub(super) fn take_intent(state: &mut State, utterance: &Utterance, asked: Option<Question>) {
    // "My older order was headphones, too. Can it still go back?": the request was about the order before.
    let names_another = asked.is_some_and(Question::is_for_yes) && state.order().is_none();
    let wish = utterance.intent.filter(|intent| *intent != Intent::Other);
    let Some(intent) = wish.or_else(|| implied(state, utterance, names_another)) else {
        state.case.intent = state.case.intent.or(utterance.intent);
        return;
    };
    let decided = state.is_agreed() || state.ticket().is_some() || state.handoff.is_due();
    match state.case.intent {
        None => {}
        Some(now) if (!names_another && requests::covers(now, intent)) || state.case.also == Some(intent) => return,
        Some(_) if decided || (utterance.answer.is_some() && !changes_intent(state, utterance)) => return,
        // "Cancel my order" in the middle of a return asks for something else than that return.
        Some(now) if now == intent && (state.case.wants_cancel || !utterance.requests(Topic::Cancellation)) => return,
        Some(_) => {
            if let Some(subject) = state.subject_mut() {
                subject.progress.undecide();
            }
        }
    }
    state.case.intent = Some(intent);
    state.case.wants_both = utterance.leaves_open();
    // Who wants the money back asks for a refund, which offers to cancel what has not been shipped.
    state.case.wants_cancel = utterance.requests(Topic::Cancellation) && intent != Intent::Refund;
    state.case.clarifies = 0;
    state.case.forget_question();
}

/// Takes the request for a label: that of the last return, unless the message names another order.
pub(super) fn take_label(state: &mut State, utterance: &Utterance) {
    if !utterance.requests(Topic::Label) || state.case.intent != Some(Intent::OrderStatus) {
        return;
    }
    state.case.wants_label = true;
    if state.order_number().is_none() {
        state.name_order(state.meta.last_returned.clone(), 1.0);
    }
}

/// Takes the conversation's last return for "where is my refund?", unless the message names another order.
pub(super) fn take_last_return(state: &mut State, utterance: &Utterance) {
    let is_free = state.order_number().is_none() && state.case.intent == Some(Intent::OrderStatus);
    if utterance.asks(Topic::ReturnStatus) && is_free {
        state.name_order(state.meta.last_returned.clone(), 1.0);
    }
}

/// Returns the intent of a message that names none: damaged goods come back, and a number alone asks for the order's status.
fn implied(state: &State, utterance: &Utterance, names_another: bool) -> Option<Intent> {
    if utterance.reports(Topic::Damage) && !state.case.intent.is_some_and(Intent::is_return) {
        return Some(Intent::Return);
    }
    // "They still have not sent 77893?" asks about it as well.
    let is_number = utterance.names_order_or_contact() && (utterance.only_answers() || utterance.has_question());
    // "I have ABC-100021, too, what is that one?": the wish was about the order before.
    let is_new = state.case.intent.is_none() || (names_another && utterance.has_question());
    (is_number && is_new && state.order_number().is_some()).then_some(Intent::OrderStatus)
}

/// Adds the message to the reason, up to a limit.
pub(super) fn keep_reason(state: &mut State, utterance: &Utterance) {
    let left = REASON_MAX_CHARS.saturating_sub(state.case.reason.chars().count());
    if left == 0 || utterance.explanation.is_empty() || state.ticket().is_some() {
        return;
    }
    if !state.case.reason.is_empty() {
        state.case.reason.push('\n');
    }
    state.case.reason.extend(utterance.explanation.chars().take(left));
}
