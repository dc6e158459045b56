//! The next state after a message of the customer. The open question decides what the message means.

use super::super::items;
use super::super::rules::{Topic, Utterance};
use super::super::say::CLARIFIES;
use super::super::state::{
    Case, EmailStatus, Handoff, HandoffReason, Intent, Mail, Phase, Progress, Question, Stage, State, Subject,
};
use crate::dialogue::Answer;
use crate::dialogue::utterance::Entities;
use crate::domain::commerce::OrderNumber;
use crate::domain::identity::Contact;
use crate::domain::returns::{Action, RmaNumber};
use crate::nlu::entities::Confidence;

/// How many characters of the customer's words are kept as the reason.
const REASON_MAX_CHARS: usize = 1000;

/// Returns the state after the message.
pub(super) fn after_message(state: State, utterance: &Utterance) -> State {
    let with_phone = with_phone(&state, utterance);
    let utterance = with_phone.as_ref().unwrap_or(utterance);
    if misses_mail(&state, utterance) {
        return miss_mail(state);
    }
    let is_over = state.phase == Phase::Over || leaves_for_another_order(&state, utterance);
    if is_over && calls_off(&state, utterance) {
        let mut next = state.next_flow();
        next.case.intent = Some(Intent::Other);
        return next;
    }
    let mut state = if is_over { next_flow(state, utterance) } else { state };
    let asked = state.open_question();
    state.phase = Phase::Working;
    // The turn after the customer's yes was interrupted: a no is now about what it was going to do.
    if let Some(subject) = state.subject_mut().filter(|_| asked.is_none() && utterance.hesitates()) {
        subject.progress.unconfirm();
    }
    state.case = Case {
        is_unclear: false,
        is_greeting: utterance.greets(),
        is_goodbye: utterance.says_goodbye(),
        is_held_back: utterance.hesitates() && !utterance.intent.is_some_and(Intent::is_return),
        damage_told: state.case.damage_told || utterance.reports(Topic::Damage),
        ..state.case
    };
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
    if !state.is_idle() && state.ticket().is_none() && ends_flow(&state, utterance, asked) {
        return declined(state);
    }
    take_slots(&mut state, utterance, asked);
    let is_about_other_lines = asked != Some(Question::OfferCancel) && take_lines(&mut state, utterance);
    let is_about_other_lines = take_pieces(&mut state, utterance, asked) || is_about_other_lines;
    // A message that names another order or other items does not answer a question about the first ones.
    match asked.filter(|_| state.order().is_some() && !is_about_other_lines) {
        Some(Question::Confirm) => confirm_order(&mut state, utterance),
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
    take_intent(&mut state, utterance);
    take_label(&mut state, utterance);
    take_last_return(&mut state, utterance);
    keep_reason(&mut state, utterance);
    state
}

/// Whether the message calls off a request that has its ticket: "never mind the return". A person deals with the ticket.
fn calls_off(state: &State, utterance: &Utterance) -> bool {
    (state.ticket().is_some() || state.handoff.ticket().is_some())
        && utterance.answer == Some(Answer::Cancel)
        && utterance.intent != Some(Intent::OrderStatus)
        && !utterance.names_order_or_contact()
        && !utterance.has_question()
        && !utterance.wants_person()
        && !utterance.requests(Topic::Cancellation)
}

/// Whether the message accepts the offer of a person.
fn accepts_person(state: &State, utterance: &Utterance, asked: Option<Question>) -> bool {
    let was_offered = asked == Some(Question::Matter) && state.case.clarifies > CLARIFIES;
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
    utterance.intent.is_some_and(|intent| intent != Intent::Other && state.case.intent.is_some_and(|now| now != intent))
}

/// Whether the message names one wish, without a question and without hesitation.
fn names_one_wish(utterance: &Utterance) -> bool {
    !utterance.leaves_open() && !utterance.has_question() && !utterance.hesitates()
}

/// Whether the customer says that the mail about the return just made did not arrive.
pub fn misses_mail(state: &State, utterance: &Utterance) -> bool {
    let was_sent = matches!(state.email_status(), Some(EmailStatus::Sent | EmailStatus::Queued));
    let has_return = state.action_ticket().is_some_and(|ticket| ticket.id.parse::<RmaNumber>().is_ok());
    state.phase == Phase::Over
        && was_sent
        && has_return
        && utterance.reports(Topic::MissingMail)
        && utterance.order().is_none()
        && !utterance.wants_person()
        && !utterance.reports(Topic::Damage)
}

fn miss_mail(mut state: State) -> State {
    state.phase = Phase::Working;
    if let Some(ticket) = state.ticket_mut()
        && let Mail::Settled(status) = ticket.mail
    {
        ticket.mail = Mail::Missing(status);
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
    utterance.order().is_some_and(|found| state.order_number() != Some(&found.number))
}

/// Whether the message is about the last return: its ticket is this flow's, or the flow has no subject yet.
fn is_about_last_return(state: &State, utterance: &Utterance) -> bool {
    let Some(rma) = &state.meta.last_rma else { return false };
    match state.action_ticket() {
        Some(ticket) => ticket.id == rma.as_str() && !names_another_order(state, utterance),
        None => state.case.intent.is_none() && state.order().is_none() && utterance.order().is_none(),
    }
}

/// Whether "cancel" answers the question: the desk offers to cancel, or the customer asked for it before.
fn answers_with_cancel(state: &State, utterance: &Utterance, asked: Option<Question>) -> bool {
    match asked {
        Some(Question::OfferCancel | Question::MailFailed | Question::MailMissing) => true,
        Some(Question::Confirm) => state.case.wants_cancel && utterance.answer_to_cancel == Some(Answer::Yes),
        _ => false,
    }
}

/// Ends the flow because the customer does not want to continue.
fn declined(mut state: State) -> State {
    state.forget_order();
    state.case.intent = Some(Intent::Other);
    state.stage = Stage::Declined;
    state
}

/// Takes the order number and the contact from the message. A different number is a different order.
fn take_slots(state: &mut State, utterance: &Utterance, asked: Option<Question>) {
    if state.ticket().is_some() {
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
            state.name_order(Some(found.number.clone()), worth(found.confidence));
        }
        // "My mail is …" corrects the contact for the number that was tried.
        None if matches!(asked, Some(Question::NotFound | Question::Locked)) && utterance.contact().is_some() => {
            let tried = state.meta.tried.take();
            state.name_order(tried, 1.0);
        }
        _ => state.case.may_name_order = utterance.entities.has_unread_order && state.order_number().is_none(),
    }
    if let Some(contact) = utterance.contact()
        && state.order().is_none()
    {
        let contact = Some(contact.as_str().to_owned());
        state.meta.contact_fits &= contact == state.meta.contact;
        state.meta.contact = contact;
        state.case.other_contact = utterance.other_contact().map(|other| other.as_str().to_owned());
        state.case.contact_given = true;
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
    let has_ticket = state.ticket().is_some();
    let Some(Subject { order, lines, progress, .. }) = state.subject_mut().filter(|_| !has_ticket) else {
        return false;
    };
    let all = || order.items.iter().map(|item| item.line).collect();
    let named = items::named(&order.items, &utterance.text);
    if named.is_empty() || named == lines.clone().unwrap_or_else(all) {
        return false;
    }
    *lines = (named.len() < order.items.len()).then_some(named);
    *progress = Progress::Unconfirmed(None);
    true
}

/// Takes the wish to return only some pieces of an item. The desk shows what comes back and asks again; a customer who still
/// wants fewer gets a person. Returns whether the message says nothing else about the order.
fn take_pieces(state: &mut State, utterance: &Utterance, asked: Option<Question>) -> bool {
    if !utterance.mentions(Topic::SomePieces) || state.ticket().is_some() {
        return false;
    }
    let was_told = state.wants_some_pieces() && asked == Some(Question::Confirm);
    state.case.some_pieces = true;
    if !state.wants_some_pieces() {
        return false;
    }
    if was_told {
        state.handoff.request(HandoffReason::Person);
    }
    if let Some(subject) = state.subject_mut() {
        subject.progress = Progress::Unconfirmed(None);
    }
    true
}

/// Takes the answer to "is it this order?". A first no asks for another order, a second no ends the flow. A message that changes
/// the intent does not answer.
fn confirm_order(state: &mut State, utterance: &Utterance) {
    if changes_intent(state, utterance) {
        return;
    }
    let agrees_to_cancel = state.case.wants_cancel
        && utterance.mentions(Topic::Cancellation)
        && utterance.answer_to_cancel == Some(Answer::Yes);
    let declines = state.case.declines;
    let Some(subject) = state.subject_mut() else { return };
    match utterance.answer {
        _ if agrees_to_cancel && !utterance.equivocates() => subject.progress.confirm(true),
        Some(Answer::Yes) => subject.progress.confirm(false),
        Some(Answer::No) if declines > 0 => subject.progress.decline(),
        Some(Answer::No) => {
            state.case.declines += 1;
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
        Some(Answer::Yes) if !utterance.equivocates() && !is_other => choose(state, action),
        Some(Answer::No | Answer::Cancel) => {
            if let Some(subject) = state.subject_mut() {
                subject.progress.decline();
            }
        }
        _ if named == Some(action) && names_one_wish(utterance) => choose(state, action),
        _ => {}
    }
}

fn choose(state: &mut State, action: Action) {
    if let Some(subject) = state.subject_mut() {
        subject.progress.choose(Some(action));
    }
}

/// Takes the answer to a question about the mail: another address, a retry, or no mail.
fn answer_about_mail(state: &mut State, utterance: &Utterance) {
    let Some(ticket) = state.ticket_mut() else { return };
    let left = match ticket.mail {
        Mail::Settled(status) | Mail::Missing(status) | Mail::Left(status) => Mail::Left(status),
        Mail::Due => Mail::Due,
    };
    match (utterance.contact(), utterance.answer) {
        (Some(Contact::Email(email)), _) => {
            ticket.mail_to = Some(email.as_str().to_owned());
            ticket.mail = Mail::Due;
        }
        // A mail that was sent is not sent again to the same address: the desk repeats its question.
        (_, Some(Answer::Yes | Answer::Again)) if matches!(ticket.mail, Mail::Missing(_)) => {}
        (_, Some(Answer::Yes | Answer::Again)) => ticket.mail = Mail::Due,
        (_, Some(Answer::No | Answer::Cancel)) => ticket.mail = left,
        (_, None) if utterance.wants(Intent::Other) => ticket.mail = left,
        (_, None) => {}
    }
}

/// Takes the intent. A different intent in the middle of a flow continues with the same order.
fn take_intent(state: &mut State, utterance: &Utterance) {
    let Some(intent) = utterance.intent.filter(|intent| *intent != Intent::Other).or_else(|| implied(state, utterance))
    else {
        state.case.intent = state.case.intent.or(utterance.intent);
        return;
    };
    let decided = state.action().is_some() || state.ticket().is_some();
    match state.case.intent {
        None => {}
        Some(_) if decided || (utterance.answer.is_some() && !changes_intent(state, utterance)) => return,
        // "Cancel my order" in the middle of a return asks for something else than that return.
        Some(now) if now == intent => {
            state.case.wants_cancel |= utterance.requests(Topic::Cancellation);
            return;
        }
        Some(_) => {
            if let Some(subject) = state.subject_mut() {
                subject.progress.undecide();
            }
        }
    }
    state.case.intent = Some(intent);
    state.case.wants_both = utterance.leaves_open();
    state.case.wants_cancel = utterance.requests(Topic::Cancellation);
    state.case.clarifies = 0;
}

/// Takes the request for a label: that of the last return, unless the message names another order.
fn take_label(state: &mut State, utterance: &Utterance) {
    if !utterance.requests(Topic::Label) || state.case.intent != Some(Intent::OrderStatus) {
        return;
    }
    state.case.wants_label = true;
    if state.order_number().is_none() {
        state.name_order(state.meta.last_returned.clone(), 1.0);
    }
}

/// Takes the conversation's last return for "where is my refund?", unless the message names another order.
fn take_last_return(state: &mut State, utterance: &Utterance) {
    let is_free = state.order_number().is_none() && state.case.intent == Some(Intent::OrderStatus);
    if utterance.asks(Topic::ReturnStatus) && is_free {
        state.name_order(state.meta.last_returned.clone(), 1.0);
    }
}

/// Returns the intent of a message that names none: damaged goods come back, and a number alone asks for the order's status.
fn implied(state: &State, utterance: &Utterance) -> Option<Intent> {
    if utterance.reports(Topic::Damage) && !state.case.intent.is_some_and(Intent::is_return) {
        return Some(Intent::Return);
    }
    let is_number = utterance.only_answers() && utterance.names_order_or_contact();
    (is_number && state.case.intent.is_none() && state.order_number().is_some()).then_some(Intent::OrderStatus)
}

/// Adds the message to the reason, up to a limit.
fn keep_reason(state: &mut State, utterance: &Utterance) {
    let left = REASON_MAX_CHARS.saturating_sub(state.case.reason.chars().count());
    if left == 0 || utterance.explanation.is_empty() || state.ticket().is_some() {
        return;
    }
    if !state.case.reason.is_empty() {
        state.case.reason.push('\n');
    }
    state.case.reason.extend(utterance.explanation.chars().take(left));
}

/// Begins the next flow. A message without an order may be about the order of the flow before.
fn next_flow(state: State, utterance: &Utterance) -> State {
    let (was_refused, status_shown, intent) = (state.was_refused(), state.showed_status(), state.case.intent);
    let subject = state.subject().cloned();
    let mut next = state.next_flow();
    if let Some(number) = waiting_order(&next.meta.waiting, utterance) {
        next.meta.waiting.retain(|other| *other != number);
        next.case.intent = utterance.intent.or(intent);
        next.name_order(Some(number), 1.0);
        return next;
    }
    next.meta.waiting.clear();
    let names_nothing = !utterance.names_order_or_contact();
    if names_nothing && matches!(utterance.answer, Some(Answer::No | Answer::Cancel)) && utterance.intent.is_none() {
        next.case.intent = Some(Intent::Other);
        return next;
    }
    let Some(subject) = subject.filter(|_| names_nothing) else { return next };
    // If this conversation made a return of that order, its damage belongs to that return.
    let has_return = next.meta.last_returned.as_ref() == Some(&subject.order.number);
    let stays = match utterance.intent {
        _ if utterance.reports(Topic::Damage) => (was_refused || status_shown) && !has_return,
        // The desk will ask whether it is this order.
        Some(Intent::Return | Intent::Refund) => status_shown,
        Some(Intent::OrderStatus) => utterance.points_back(),
        _ => was_refused && (utterance.asks(Topic::Exception) || utterance.wants_person()),
    };
    if !stays {
        return next;
    }
    let mut kept = Subject::new(subject.order, 1.0);
    if was_refused {
        next.case.intent = intent;
        kept.lines = subject.lines;
        let is_damaged = utterance.reports(Topic::Damage);
        next.handoff = Handoff::Due(if is_damaged { HandoffReason::DamageTold } else { HandoffReason::Person });
    }
    next.stage = Stage::Found(Box::new(kept));
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
