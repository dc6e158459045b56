//! The next state after a message of the customer. The open question decides what the message means.

use super::super::items;
use super::super::rules::{Topic, Utterance, written};
use super::super::say::CLARIFIES;
use super::super::state::{EmailStatus, FlowTicket, Handoff, HandoffReason, Intent, Mail, Question, Stage, State};
use crate::dialogue::Answer;
use crate::dialogue::utterance::Entities;
use crate::domain::commerce::OrderNumber;
use crate::domain::commerce::order_number::Confidence;
use crate::domain::identity::Contact;
use crate::domain::returns::{Action, RmaNumber};

/// How many characters of the customer's words are kept as the reason.
const REASON_MAX_CHARS: usize = 1000;

/// Returns the state after the message.
pub(super) fn after_message(state: State, utterance: &Utterance) -> State {
    let with_phone = with_phone(&state, utterance);
    let utterance = with_phone.as_ref().unwrap_or(utterance);
    if misses_mail(&state, utterance) {
        return miss_mail(state);
    }
    let is_over = state.stage == Stage::Over || leaves_for_another_order(&state, utterance);
    let mut state = if is_over { next_flow(state, utterance) } else { state };
    let asked = state.open_question();
    state.stage = Stage::Working;
    // The turn after the customer's yes was interrupted: a no is now about what it was going to do.
    if asked.is_none() && utterance.hesitates() && state.ticket.is_none() {
        state.user_confirmed_order = state.user_confirmed_order.filter(|confirmed| !confirmed);
        state.desired_action = None;
    }
    state.is_unclear = false;
    state.is_greeting = utterance.greets();
    state.is_goodbye = utterance.says_goodbye();
    state.is_held_back = utterance.hesitates() && !utterance.intent.is_some_and(Intent::is_return);
    state.damage_told |= utterance.reports(Topic::Damage);
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
    if !state.is_idle() && state.ticket.is_none() && ends_flow(&state, utterance, asked) {
        return declined(state);
    }
    take_slots(&mut state, utterance, asked);
    let is_about_other_lines = asked != Some(Question::OfferCancel) && take_lines(&mut state, utterance);
    // A message that names another order or other items does not answer a question about the first ones.
    match asked.filter(|_| state.order.is_some() && !is_about_other_lines) {
        Some(Question::Confirm) => confirm_order(&mut state, utterance),
        Some(Question::OnlyReturn) => choose_action(&mut state, utterance, Action::Return),
        Some(Question::OnlyRefund) => choose_action(&mut state, utterance, Action::Refund),
        Some(Question::OfferCancel) => choose_action(&mut state, utterance, Action::Cancel),
        Some(Question::ChooseAction) => match utterance.intent.filter(|_| names_one_wish(utterance)) {
            Some(Intent::Return) => state.desired_action = Some(Action::Return),
            Some(Intent::Refund) => state.desired_action = Some(Action::Refund),
            _ if utterance.answer == Some(Answer::No) => return declined(state),
            _ => {}
        },
        Some(Question::MailFailed | Question::MailMissing) => answer_about_mail(&mut state, utterance),
        _ => {}
    }
    take_intent(&mut state, utterance);
    take_label(&mut state, utterance);
    take_last_return(&mut state, utterance);
    keep_reason(&mut state, utterance);
    state
}

/// Whether the message accepts the offer of a person.
fn accepts_person(state: &State, utterance: &Utterance, asked: Option<Question>) -> bool {
    let was_offered = asked == Some(Question::Matter) && state.clarifies > CLARIFIES;
    was_offered && utterance.answer == Some(Answer::Yes) && utterance.only_answers() && utterance.order().is_none()
}

/// Whether the customer wants to stop.
fn ends_flow(state: &State, utterance: &Utterance, asked: Option<Question>) -> bool {
    if changes_intent(state, utterance) {
        return false;
    }
    let asks_for_slot = matches!(
        asked,
        Some(Question::OrderNumber | Question::OtherOrder | Question::Contact | Question::NotFound | Question::Locked)
    );
    let brings = utterance.names_order_or_contact();
    let is_about_mail = matches!(asked, Some(Question::MailFailed | Question::MailMissing));
    if utterance.says_goodbye() && !is_about_mail && !utterance.affirms() {
        return true;
    }
    match utterance.answer {
        Some(Answer::Cancel) => !((asks_for_slot && brings) || answers_with_cancel(state, utterance, asked)),
        Some(Answer::No) => asks_for_slot && !brings,
        _ => {
            asks_for_slot
                && !brings
                && utterance.intent == Some(Intent::Other)
                && !utterance.greets()
                && !utterance.hesitates()
        }
    }
}

/// Whether the message changes the intent: "never mind, just tell me where it is".
fn changes_intent(state: &State, utterance: &Utterance) -> bool {
    utterance.intent.is_some_and(|intent| intent != Intent::Other && state.intent.is_some_and(|now| now != intent))
}

/// Whether the message names one wish, without a question and without hesitation.
fn names_one_wish(utterance: &Utterance) -> bool {
    !utterance.leaves_open() && !utterance.has_question() && !utterance.hesitates()
}

/// Whether the customer says that the mail about the return just made did not arrive.
pub fn misses_mail(state: &State, utterance: &Utterance) -> bool {
    let was_sent = matches!(state.email_status(), Some(EmailStatus::Sent | EmailStatus::Queued));
    let has_return = state.action_ticket().is_some_and(|ticket| ticket.id.parse::<RmaNumber>().is_ok());
    state.stage == Stage::Over
        && was_sent
        && has_return
        && utterance.reports(Topic::MissingMail)
        && utterance.order().is_none()
        && !utterance.wants_person()
        && !utterance.reports(Topic::Damage)
}

fn miss_mail(mut state: State) -> State {
    state.stage = Stage::Working;
    if let Some(FlowTicket { mail, .. }) = &mut state.ticket
        && let Mail::Settled(status) = *mail
    {
        *mail = Mail::Missing(status);
    }
    state
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
    utterance.order().is_some_and(|found| state.order_number.as_ref() != Some(&found.number))
}

/// Whether the message is about the last return: its ticket is this flow's, or the flow has no subject yet.
fn is_about_last_return(state: &State, utterance: &Utterance) -> bool {
    let Some(rma) = &state.meta.last_rma else { return false };
    match state.action_ticket() {
        Some(ticket) => ticket.id == rma.as_str() && !names_another_order(state, utterance),
        None => state.intent.is_none() && state.order.is_none() && utterance.order().is_none(),
    }
}

/// Whether "cancel" answers the question: the desk offers to cancel, or the customer asked for it before.
fn answers_with_cancel(state: &State, utterance: &Utterance, asked: Option<Question>) -> bool {
    match asked {
        Some(Question::OfferCancel | Question::MailFailed | Question::MailMissing) => true,
        Some(Question::Confirm) => state.wants_cancel && utterance.answer_to_cancel == Some(Answer::Yes),
        _ => false,
    }
}

/// Ends the flow because the customer does not want to continue.
fn declined(mut state: State) -> State {
    state.forget_order();
    state.intent = Some(Intent::Other);
    state.user_confirmed_order = Some(false);
    state
}

/// Takes the order number and the contact from the message. A different number is a different order.
fn take_slots(state: &mut State, utterance: &Utterance, asked: Option<Question>) {
    if state.ticket.is_some() {
        // The order has its ticket: a contact is now about the mail.
        return;
    }
    match utterance.order() {
        Some(found) if names_another_order(state, utterance) => {
            state.forget_order();
            if state.meta.tried.as_ref() == Some(&found.number) && !state.meta.contact_fits {
                // The number is right, so the contact was wrong.
                state.meta.contact = None;
            }
            state.meta.waiting = utterance.other_orders().cloned().collect();
            state.order_number = Some(found.number.clone());
            state.order_match_confidence = Some(worth(found.confidence));
        }
        // "My mail is …" corrects the contact for the number that was tried.
        None if matches!(asked, Some(Question::NotFound | Question::Locked)) && utterance.contact().is_some() => {
            state.order_number = state.meta.tried.take();
            state.order_match_confidence = state.order_number.as_ref().map(|_| 1.0);
        }
        _ => state.may_name_order = utterance.entities.has_unread_order && state.order_number.is_none(),
    }
    if let Some(contact) = utterance.contact()
        && state.order.is_none()
    {
        let contact = Some(written(contact).to_owned());
        state.meta.contact_fits &= contact == state.meta.contact;
        state.meta.contact = contact;
        state.other_contact = utterance.other_contact().map(|other| written(other).to_owned());
        state.contact_given = true;
    }
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
fn take_lines(state: &mut State, utterance: &Utterance) -> bool {
    let Some(order) = state.order.as_ref().filter(|_| state.ticket.is_none()) else { return false };
    let all = || order.items.iter().map(|item| item.line).collect();
    let named = items::named(&order.items, &utterance.text);
    if named.is_empty() || named == state.lines.clone().unwrap_or_else(all) {
        return false;
    }
    state.lines = (named.len() < order.items.len()).then_some(named);
    state.user_confirmed_order = None;
    state.eligibility = None;
    state.desired_action = None;
    true
}

/// Takes the answer to "is it this order?". A first no asks for another order, a second no ends the flow. A message that changes
/// the intent does not answer.
fn confirm_order(state: &mut State, utterance: &Utterance) {
    if changes_intent(state, utterance) {
        return;
    }
    let agrees_to_cancel = state.wants_cancel
        && utterance.mentions(Topic::Cancellation)
        && utterance.answer_to_cancel == Some(Answer::Yes);
    match utterance.answer {
        _ if agrees_to_cancel && !utterance.equivocates() => {
            state.user_confirmed_order = Some(true);
            state.agreed_to_cancel = true;
        }
        Some(Answer::Yes) => state.user_confirmed_order = Some(true),
        Some(Answer::No) if state.declines > 0 => state.user_confirmed_order = Some(false),
        Some(Answer::No) => {
            state.declines += 1;
            state.forget_order();
        }
        Some(Answer::Again | Answer::Cancel) | None => {}
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
    match if action == Action::Cancel { utterance.answer_to_cancel } else { utterance.answer } {
        Some(Answer::Yes) if !utterance.equivocates() && !is_other => state.desired_action = Some(action),
        Some(Answer::No | Answer::Cancel) => state.user_confirmed_order = Some(false),
        _ if named == Some(action) && names_one_wish(utterance) => state.desired_action = Some(action),
        _ => {}
    }
}

/// Takes the answer to a question about the mail: another address, a retry, or no mail.
fn answer_about_mail(state: &mut State, utterance: &Utterance) {
    let Some(FlowTicket { mail, mail_to, .. }) = &mut state.ticket else { return };
    let left = match *mail {
        Mail::Settled(status) | Mail::Missing(status) | Mail::Left(status) => Mail::Left(status),
        Mail::Due => Mail::Due,
    };
    match (utterance.contact(), utterance.answer) {
        (Some(Contact::Email(email)), _) => {
            *mail_to = Some(email.as_str().to_owned());
            *mail = Mail::Due;
        }
        // A mail that was sent is not sent again to the same address: the desk repeats its question.
        (_, Some(Answer::Yes | Answer::Again)) if matches!(mail, Mail::Missing(_)) => {}
        (_, Some(Answer::Yes | Answer::Again)) => *mail = Mail::Due,
        (_, Some(Answer::No | Answer::Cancel)) => *mail = left,
        (_, None) if utterance.wants(Intent::Other) => *mail = left,
        (_, None) => {}
    }
}

/// Takes the intent. A different intent in the middle of a flow continues with the same order.
fn take_intent(state: &mut State, utterance: &Utterance) {
    let Some(intent) = utterance.intent.filter(|intent| *intent != Intent::Other).or_else(|| implied(state, utterance))
    else {
        state.intent = state.intent.or(utterance.intent);
        return;
    };
    let decided = state.desired_action.is_some() || state.ticket.is_some();
    match state.intent {
        None => {}
        Some(_) if decided || (utterance.answer.is_some() && !changes_intent(state, utterance)) => return,
        // "Cancel my order" in the middle of a return asks for something else than that return.
        Some(now) if now == intent => {
            state.wants_cancel |= utterance.requests(Topic::Cancellation);
            return;
        }
        Some(_) => state.eligibility = None,
    }
    state.intent = Some(intent);
    state.wants_both = utterance.leaves_open();
    state.wants_cancel = utterance.requests(Topic::Cancellation);
    state.clarifies = 0;
}

/// Takes the request for a label: that of the last return, unless the message names another order.
fn take_label(state: &mut State, utterance: &Utterance) {
    if !utterance.requests(Topic::Label) || state.intent != Some(Intent::OrderStatus) {
        return;
    }
    state.wants_label = true;
    if state.order_number.is_none() {
        state.order_number.clone_from(&state.meta.last_returned);
        state.order_match_confidence = state.order_number.as_ref().map(|_| 1.0);
    }
}

/// Takes the conversation's last return for "where is my refund?", unless the message names another order.
fn take_last_return(state: &mut State, utterance: &Utterance) {
    let is_free = state.order_number.is_none() && state.intent == Some(Intent::OrderStatus);
    if utterance.asks(Topic::ReturnStatus) && is_free && state.meta.last_returned.is_some() {
        state.order_number.clone_from(&state.meta.last_returned);
        state.order_match_confidence = Some(1.0);
    }
}

/// Returns the intent of a message that names none: damaged goods come back, and a number alone asks for the order's status.
fn implied(state: &State, utterance: &Utterance) -> Option<Intent> {
    if utterance.reports(Topic::Damage) && !state.intent.is_some_and(Intent::is_return) {
        return Some(Intent::Return);
    }
    let is_number = utterance.only_answers() && utterance.names_order_or_contact();
    (is_number && state.intent.is_none() && state.order_number.is_some()).then_some(Intent::OrderStatus)
}

/// Adds the message to the reason, up to a limit.
fn keep_reason(state: &mut State, utterance: &Utterance) {
    let left = REASON_MAX_CHARS.saturating_sub(state.reason.chars().count());
    if left == 0 || utterance.explanation.is_empty() || state.ticket.is_some() {
        return;
    }
    if !state.reason.is_empty() {
        state.reason.push('\n');
    }
    state.reason.extend(utterance.explanation.chars().take(left));
}

/// Begins the next flow. A message without an order may be about the order of the flow before.
fn next_flow(state: State, utterance: &Utterance) -> State {
    let (was_refused, status_shown) = (state.was_refused(), state.status_shown);
    let (order, intent, lines) = (state.order.clone(), state.intent, state.lines.clone());
    let waiting = state.meta.waiting.clone();
    let mut next = state.next_flow();
    if let Some(number) = waiting_order(&waiting, utterance) {
        next.meta.waiting.retain(|other| *other != number);
        next.intent = utterance.intent.or(intent);
        next.order_match_confidence = Some(1.0);
        next.order_number = Some(number);
        return next;
    }
    next.meta.waiting.clear();
    let names_nothing = !utterance.names_order_or_contact();
    if names_nothing && matches!(utterance.answer, Some(Answer::No | Answer::Cancel)) && utterance.intent.is_none() {
        next.intent = Some(Intent::Other);
        return next;
    }
    // If this conversation made a return of that order, its damage belongs to that return.
    let has_return = order.as_ref().is_some_and(|order| next.meta.last_returned.as_ref() == Some(&order.number));
    let stays = match utterance.intent {
        _ if utterance.reports(Topic::Damage) => (was_refused || status_shown) && !has_return,
        // The desk will ask whether it is this order.
        Some(Intent::Return | Intent::Refund) => status_shown,
        Some(Intent::OrderStatus) => order.is_some() && utterance.points_back(),
        _ => was_refused && (utterance.asks(Topic::Exception) || utterance.wants_person()),
    };
    if !stays || !names_nothing {
        return next;
    }
    next.order_number = order.as_ref().map(|order| order.number.clone());
    next.order_match_confidence = Some(1.0);
    next.order = order;
    if was_refused {
        next.intent = intent;
        next.lines = lines;
        let is_damaged = utterance.reports(Topic::Damage);
        next.handoff = Handoff::Due(if is_damaged { HandoffReason::DamageTold } else { HandoffReason::Person });
    }
    next
}

/// Returns the order that was named before, if the message continues with it.
fn waiting_order(waiting: &[OrderNumber], utterance: &Utterance) -> Option<OrderNumber> {
    match utterance.order() {
        Some(found) => waiting.iter().find(|number| **number == found.number).cloned(),
        None if utterance.answer == Some(Answer::Yes) && utterance.intent.is_none() => waiting.first().cloned(),
        None => None,
    }
}

#[cfg(test)]
mod tests;
