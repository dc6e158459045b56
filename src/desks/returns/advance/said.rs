//! What a message of the customer makes of the state: it is understood by what stands open.

use super::super::items;
use super::super::rules::{Answer, Heard, written};
use super::super::say::CLARIFIES;
use super::super::state::{EmailStatus, Escalate, Intent, Question, State};
use crate::domain::commerce::order_number::Confidence;
use crate::domain::identity::Contact;
use crate::domain::returns::{Action, RmaNumber};

mod next_flow;

use next_flow::next_flow;

/// So many characters of the customer's words are kept as the reason.
const REASON_MAX_CHARS: usize = 1000;

/// The state after the message.
pub(super) fn said(state: State, heard: &Heard) -> State {
    let with_phone = with_phone(&state, heard);
    let heard = with_phone.as_ref().unwrap_or(heard);
    let is_over = state.conversation_complete || leaves_for_another_order(&state, heard);
    if misses_mail(&state, heard) {
        return State { conversation_complete: false, mail_missing: true, asked: None, ..state };
    }
    let mut state = if is_over { next_flow(state, heard) } else { state };
    let asked = state.asked.take();
    // The turn behind the customer's yes was cut off: what it was about to do is what a no means now.
    if asked.is_none() && heard.says_no && state.action_ticket.is_none() {
        state.user_confirmed_order = state.user_confirmed_order.filter(|confirmed| !confirmed);
        state.desired_action = None;
    }
    state.is_unclear = false;
    state.is_goodbye = heard.says_goodbye;
    state.is_held_back = heard.says_no && !heard.intent.is_some_and(Intent::is_return);
    state.error = None;
    state.damage_told |= heard.damage;
    if heard.wants_person || accepts_person(&state, heard, asked) {
        state.escalate = Some(Escalate::Person);
    }
    if heard.damage && is_about_last_return(&state, heard) {
        state.escalate = Some(Escalate::DamageLater);
    }
    if state.escalate.is_some() && state.escalation_ticket.is_none() {
        keep_reason(&mut state, heard);
        return state;
    }
    if !state.is_idle() && state.action_ticket.is_none() && calls_off(&state, heard, asked) {
        return called_off(state);
    }
    take_slots(&mut state, heard, asked);
    let is_about_other_lines = asked != Some(Question::OfferCancel) && take_lines(&mut state, heard);
    // Where another order or other items of it were named, the question is over with what it was about.
    match asked.filter(|_| state.order.is_some() && !is_about_other_lines) {
        Some(Question::Confirm) => confirmed(&mut state, heard),
        Some(Question::OnlyReturn) => chosen(&mut state, heard, Action::Return),
        Some(Question::OnlyRefund) => chosen(&mut state, heard, Action::Refund),
        Some(Question::OfferCancel) => chosen(&mut state, heard, Action::Cancel),
        Some(Question::ChooseAction) => match heard.intent.filter(|_| names_a_wish(heard)) {
            Some(Intent::Return) => state.desired_action = Some(Action::Return),
            Some(Intent::Refund) => state.desired_action = Some(Action::Refund),
            _ if heard.answer == Some(Answer::No) => return called_off(state),
            _ => {}
        },
        Some(Question::MailFailed | Question::MailMissing) => about_mail(&mut state, heard),
        _ => {}
    }
    take_intent(&mut state, heard);
    take_label(&mut state, heard);
    take_last_return(&mut state, heard);
    keep_reason(&mut state, heard);
    state
}

/// Whether a person was offered, and that is a yes.
fn accepts_person(state: &State, heard: &Heard, asked: Option<Question>) -> bool {
    let was_offered = asked == Some(Question::Matter) && state.clarifies > CLARIFIES;
    was_offered && heard.answer == Some(Answer::Yes) && heard.is_bare && heard.number.is_none()
}

/// Whether the customer does not want to go on.
fn calls_off(state: &State, heard: &Heard, asked: Option<Question>) -> bool {
    if wants_another_matter(state, heard) {
        return false;
    }
    let asks_for_slot = matches!(
        asked,
        Some(Question::OrderNumber | Question::OtherOrder | Question::Contact | Question::NotFound | Question::Locked)
    );
    let brings = heard.number.is_some() || heard.contact.is_some();
    let is_about_mail = matches!(asked, Some(Question::MailFailed | Question::MailMissing));
    if heard.says_goodbye && !is_about_mail && heard.answer != Some(Answer::Yes) {
        return true;
    }
    match heard.answer {
        Some(Answer::Cancel) => !((asks_for_slot && brings) || answers_with_cancel(state, heard, asked)),
        Some(Answer::No) => asks_for_slot && !brings,
        _ => asks_for_slot && !brings && heard.intent == Some(Intent::Other) && !heard.greets && !heard.says_no,
    }
}

/// Whether the flow is about something else from now on: "never mind, just tell me where it is".
fn wants_another_matter(state: &State, heard: &Heard) -> bool {
    heard.intent.is_some_and(|intent| intent != Intent::Other && state.intent.is_some_and(|now| now != intent))
}

/// Whether a wish is named, and neither asked about nor held back.
fn names_a_wish(heard: &Heard) -> bool {
    !heard.wants_both && !heard.asks && !heard.says_no
}

/// Whether the mail about the return that was just made is said not to have come.
pub fn misses_mail(state: &State, heard: &Heard) -> bool {
    let was_sent = matches!(state.email_status, Some(EmailStatus::Sent | EmailStatus::Queued));
    let has_return = state.action_ticket.as_ref().is_some_and(|ticket| ticket.id.parse::<RmaNumber>().is_ok());
    state.conversation_complete
        && was_sent
        && has_return
        && heard.misses_mail
        && heard.number.is_none()
        && !heard.wants_person
        && !heard.damage
}

/// The message with its number as a phone's, where a way to reach the customer was asked for and it can be one.
fn with_phone(state: &State, heard: &Heard) -> Option<Heard> {
    let is_asked = state.asked == Some(Question::Contact) && heard.contact.is_none();
    let phone = heard.number.as_ref().filter(|_| is_asked)?.phone()?;
    Some(Heard { contact: Some(Contact::Phone(phone)), number: None, ..heard.clone() })
}

/// The ticket is made and told of, and only its mail is still asked about: another order ends that, and the outbox goes on
/// trying the mail.
fn leaves_for_another_order(state: &State, heard: &Heard) -> bool {
    // Nothing is owed on a mail that went out: any other matter ends that question.
    let is_other_matter = heard.contact.is_none() && heard.intent.is_some_and(|intent| intent != Intent::Other);
    match state.asked {
        Some(Question::MailFailed) => names_another_order(state, heard),
        Some(Question::MailMissing) => names_another_order(state, heard) || is_other_matter,
        _ => false,
    }
}

fn names_another_order(state: &State, heard: &Heard) -> bool {
    heard.number.as_ref().is_some_and(|found| state.order_number.as_ref() != Some(&found.number))
}

/// Whether what is said belongs to the return that was made last: its ticket is still talked of, or nothing is.
fn is_about_last_return(state: &State, heard: &Heard) -> bool {
    let Some(rma) = &state.meta.last_rma else { return false };
    match &state.action_ticket {
        Some(ticket) => ticket.id == rma.as_str() && !names_another_order(state, heard),
        None => state.intent.is_none() && state.order.is_none() && heard.number.is_none(),
    }
}

/// "Cancel" is a yes where the offer is to cancel, or the order was to be called off from the beginning.
fn answers_with_cancel(state: &State, heard: &Heard, asked: Option<Question>) -> bool {
    match asked {
        Some(Question::OfferCancel | Question::MailFailed | Question::MailMissing) => true,
        Some(Question::Confirm) => state.wants_cancel && heard.to_cancelling == Some(Answer::Yes),
        _ => false,
    }
}

/// The customer does not want to go on.
fn called_off(mut state: State) -> State {
    state.forget_order();
    state.intent = Some(Intent::Other);
    state.user_confirmed_order = Some(false);
    state
}

/// An order number and a contact, wherever they are given. A number that is another one than before is another order.
fn take_slots(state: &mut State, heard: &Heard, asked: Option<Question>) {
    if state.action_ticket.is_some() {
        // The order has its ticket; what comes now is about the mail.
        return;
    }
    match &heard.number {
        Some(found) if names_another_order(state, heard) => {
            state.forget_order();
            if state.meta.tried.as_ref() == Some(&found.number) && !state.meta.contact_fits {
                // The number is right, so the contact was wrong.
                state.meta.contact = None;
            }
            state.meta.waiting.clone_from(&heard.more_numbers);
            state.order_number = Some(found.number.clone());
            state.order_match_confidence = Some(worth(found.confidence));
        }
        // "My mail is …" mends the contact of the number that was tried.
        None if matches!(asked, Some(Question::NotFound | Question::Locked)) && heard.contact.is_some() => {
            state.order_number = state.meta.tried.take();
            state.order_match_confidence = state.order_number.as_ref().map(|_| 1.0);
        }
        _ => state.may_name_order = heard.may_name_order && state.order_number.is_none(),
    }
    if let Some(contact) = &heard.contact
        && state.order.is_none()
    {
        let contact = Some(written(contact).to_owned());
        state.meta.contact_fits &= contact == state.meta.contact;
        state.meta.contact = contact;
        state.other_contact = heard.other_contact.as_ref().map(|other| written(other).to_owned());
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

/// Items of the order that are named. Gives whether they are other ones than were shown: whatever was answered about those
/// is no answer about these, so they are shown first.
fn take_lines(state: &mut State, heard: &Heard) -> bool {
    let Some(order) = state.order.as_ref().filter(|_| state.action_ticket.is_none()) else { return false };
    let all = || order.items.iter().map(|item| item.line).collect();
    let named = items::named(&order.items, &heard.text);
    if named.is_empty() || named == state.lines.clone().unwrap_or_else(all) {
        return false;
    }
    state.lines = (named.len() < order.items.len()).then_some(named);
    state.user_confirmed_order = None;
    state.eligibility = None;
    state.desired_action = None;
    true
}

/// Is it this order? A first no asks for another one, a second no ends it. Whoever wants something else with it, has not
/// answered yet.
fn confirmed(state: &mut State, heard: &Heard) {
    if wants_another_matter(state, heard) {
        return;
    }
    let agrees_to_cancel = state.wants_cancel && heard.says_cancel && heard.to_cancelling == Some(Answer::Yes);
    match heard.answer {
        _ if agrees_to_cancel && !heard.is_doubtful => {
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

/// One action was offered.
fn chosen(state: &mut State, heard: &Heard, action: Action) {
    let named = match heard.intent {
        Some(Intent::Return) if !heard.wants_cancel => Some(Action::Return),
        Some(Intent::Refund) => Some(Action::Refund),
        _ => None,
    };
    let is_other = action != Action::Cancel && named.is_some_and(|named| named != action);
    match if action == Action::Cancel { heard.to_cancelling } else { heard.answer } {
        Some(Answer::Yes) if !heard.is_doubtful && !is_other => state.desired_action = Some(action),
        Some(Answer::No | Answer::Cancel) => state.user_confirmed_order = Some(false),
        _ if named == Some(action) && names_a_wish(heard) => state.desired_action = Some(action),
        _ => {}
    }
}

/// The mail failed: another address, once more, or let it be.
fn about_mail(state: &mut State, heard: &Heard) {
    match (&heard.contact, heard.answer) {
        (Some(Contact::Email(email)), _) => {
            state.mail_to = Some(email.as_str().to_owned());
            state.mail_missing = false;
            state.email_status = None;
        }
        // What was sent goes to the same address once: another one is asked for again.
        (_, Some(Answer::Yes | Answer::Again)) if state.mail_missing => {}
        (_, Some(Answer::Yes | Answer::Again)) => state.email_status = None,
        (_, Some(Answer::No | Answer::Cancel)) => state.leaves_mail = true,
        (_, None) if heard.intent == Some(Intent::Other) => state.leaves_mail = true,
        (_, None) => {}
    }
}

/// What it is about. In the middle of a flow another matter begins another one, on the same order.
fn take_intent(state: &mut State, heard: &Heard) {
    let Some(intent) = heard.intent.filter(|intent| *intent != Intent::Other).or_else(|| implied(state, heard)) else {
        state.intent = state.intent.or(heard.intent);
        return;
    };
    let decided = state.desired_action.is_some() || state.action_ticket.is_some();
    match state.intent {
        None => {}
        Some(_) if decided || (heard.answer.is_some() && !wants_another_matter(state, heard)) => return,
        // "Cancel my order" in the middle of a return is a wish for something else than that return.
        Some(now) if now == intent => {
            state.wants_cancel |= heard.wants_cancel;
            return;
        }
        Some(_) => state.eligibility = None,
    }
    state.intent = Some(intent);
    state.wants_both = heard.wants_both;
    state.wants_cancel = heard.wants_cancel;
    state.clarifies = 0;
}

/// The label is wanted again: of the return that was made here, where no other order is named.
fn take_label(state: &mut State, heard: &Heard) {
    if !heard.asks_label || state.intent != Some(Intent::OrderStatus) {
        return;
    }
    state.wants_label = true;
    if state.order_number.is_none() {
        state.order_number.clone_from(&state.meta.last_returned);
        state.order_match_confidence = state.order_number.as_ref().map(|_| 1.0);
    }
}

/// "Where is my refund?" is about the return that was made here, where no other order is named.
fn take_last_return(state: &mut State, heard: &Heard) {
    let is_free = state.order_number.is_none() && state.intent == Some(Intent::OrderStatus);
    if heard.asks_return_status && is_free && state.meta.last_returned.is_some() {
        state.order_number.clone_from(&state.meta.last_returned);
        state.order_match_confidence = Some(1.0);
    }
}

/// What a message is about that names no wish: damaged goods come back, and a number that is all there is asks how its order
/// stands, which changes nothing.
fn implied(state: &State, heard: &Heard) -> Option<Intent> {
    if heard.damage && !state.intent.is_some_and(Intent::is_return) {
        return Some(Intent::Return);
    }
    let is_number = heard.is_bare && (heard.number.is_some() || heard.contact.is_some());
    (is_number && state.intent.is_none() && state.order_number.is_some()).then_some(Intent::OrderStatus)
}

/// The customer's words about why: what was said in this flow, up to a limit.
fn keep_reason(state: &mut State, heard: &Heard) {
    let left = REASON_MAX_CHARS.saturating_sub(state.reason.chars().count());
    if left == 0 || heard.why.is_empty() || state.action_ticket.is_some() {
        return;
    }
    if !state.reason.is_empty() {
        state.reason.push('\n');
    }
    state.reason.extend(heard.why.chars().take(left));
}

#[cfg(test)]
mod tests;
