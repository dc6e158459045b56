//! What an event makes of the state.

use super::route::{action_of, review_of};
use super::rules::{Answer, Heard};
use super::scenario::Scenario;
use super::state::{ActionTicket, EmailStatus, Ending, Escalate, Intent, Question, SeenOrder, State, Trouble};
use crate::domain::returns::order_number::Confidence;
use crate::domain::returns::{Action, Contact, Decision, Money, OrderNumber, RmaNumber};

/// What the customer said, or a step found.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Said(Heard),
    Classified(Option<Intent>),
    SlotFilled(Option<OrderNumber>),
    /// The order, and the lines that the customer named, if any.
    OrderFound(SeenOrder, Option<Vec<u32>>),
    OrderNotFound,
    OrderLocked,
    StatusShown,
    /// The decision, and the lines that it is about: they stay the same from now on, whatever happens to the order.
    Decided(Decision, Vec<u32>),
    /// When it came to the ticket, the rules refused what they had allowed.
    Refused(Decision),
    /// The same was asked for before.
    AskedBefore(ActionTicket),
    ActionDecided,
    Ticketed(Ticketed),
    Mailed(EmailStatus),
    Escalated(String),
    Asked(Question),
    Finished(Ending),
    /// A step could not be taken, by the shop's own fault.
    Failed,
    /// Something was said on the way: the variant of each text.
    Spoke(Vec<(Scenario, usize)>, Box<Event>),
}

/// A ticket that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticketed {
    pub ticket: ActionTicket,
    /// `None`: the ticket calls an order off.
    pub rma: Option<RmaNumber>,
    pub refund: Option<Money>,
    /// The key under which it is made once.
    pub key: String,
}

/// So many characters of the customer's words are kept as the reason.
const REASON_MAX_CHARS: usize = 1000;
/// The model's reading of a number is worth less than the rules'.
const MODEL_CONFIDENCE: f64 = 0.6;

/// `order_match_confidence`, 0 to 1.
fn worth(confidence: Confidence) -> f64 {
    match confidence {
        Confidence::Named => 1.0,
        Confidence::Alone => 0.9,
        Confidence::Bare => 0.7,
    }
}

/// The next state. An event that does not fit changes nothing.
pub fn advance(mut state: State, event: Event) -> State {
    match event {
        Event::Said(heard) => return said(state, &heard),
        Event::Spoke(said, event) => {
            state.meta.said.extend(said);
            return advance(state, *event);
        }
        Event::Classified(Some(intent)) => state.intent = Some(intent),
        Event::Classified(None) => state.is_unclear = true,
        Event::SlotFilled(number) => {
            state.may_name_order = false;
            state.order_match_confidence = number.as_ref().map(|_| MODEL_CONFIDENCE);
            state.order_number = number;
        }
        Event::OrderFound(order, lines) if state.order_number.as_ref() == Some(&order.number) => {
            state.lines = lines;
            state.order = Some(order);
            state.meta.contact_fits = state.meta.contact.is_some();
        }
        Event::OrderNotFound => {
            state.meta.tried = state.order_number.take();
            if !state.meta.contact_fits {
                state.meta.contact = None;
            }
            state.forget_order();
            state.error = Some(Trouble::OrderNotFound);
        }
        Event::OrderLocked => {
            state.forget_order();
            state.error = Some(Trouble::OrderLocked);
        }
        Event::StatusShown => state.status_shown = true,
        Event::Decided(decision, lines) => {
            state.escalate = state.escalate.or(review_of(&decision));
            state.lines = Some(lines);
            state.eligibility = Some(decision);
        }
        Event::Refused(decision) => {
            state.escalate = state.escalate.or(review_of(&decision));
            state.desired_action = None;
            state.eligibility = Some(decision);
        }
        Event::AskedBefore(ticket) => state.action_ticket = Some(ticket),
        Event::ActionDecided => state.desired_action = action_of(&state),
        Event::Ticketed(made) => {
            state.action_ticket = Some(made.ticket);
            state.refund = made.refund;
            state.meta.idempotency_key = Some(made.key);
            state.meta.last_rma = made.rma.or(state.meta.last_rma);
        }
        Event::Mailed(status) if state.action_ticket.is_some() => state.email_status = Some(status),
        Event::Escalated(ticket) => state.escalation_ticket = Some(ticket),
        Event::Asked(question) => {
            // The error has been told.
            state.error = None;
            state.asked = Some(question);
        }
        Event::Finished(_) => state.conversation_complete = true,
        Event::Failed => state.error = Some(Trouble::Internal),
        Event::OrderFound(..) | Event::Mailed(_) => {}
    }
    state
}

/// A message of the customer, understood by what stands open.
fn said(state: State, heard: &Heard) -> State {
    let mut state = if state.conversation_complete { state.next_flow() } else { state };
    let asked = state.asked.take();
    state.is_unclear = false;
    state.error = None;
    if heard.wants_person {
        state.escalate = Some(Escalate::Person);
    }
    if heard.damage && state.intent.is_none() && state.meta.last_rma.is_some() && heard.number.is_none() {
        state.escalate = Some(Escalate::DamageLater);
    }
    if state.escalate.is_some() && state.escalation_ticket.is_none() {
        keep_reason(&mut state, heard);
        return state;
    }
    if heard.answer == Some(Answer::Cancel) && !state.is_idle() && !answers_with_cancel(asked) {
        return called_off(state);
    }
    take_slots(&mut state, heard, asked);
    // Where another order was named instead of an answer, the question is over with the order that it was about.
    match asked.filter(|_| state.order.is_some()) {
        Some(Question::Confirm) => confirmed(&mut state, heard),
        Some(Question::OnlyReturn) => chosen(&mut state, heard, Action::Return),
        Some(Question::OnlyRefund) => chosen(&mut state, heard, Action::Refund),
        Some(Question::OfferCancel) => chosen(&mut state, heard, Action::Cancel),
        Some(Question::ChooseAction) => match heard.intent {
            Some(Intent::Return) if !heard.wants_both => state.desired_action = Some(Action::Return),
            Some(Intent::Refund) if !heard.wants_both => state.desired_action = Some(Action::Refund),
            _ if heard.answer == Some(Answer::No) => return called_off(state),
            _ => {}
        },
        Some(Question::MailFailed) => about_mail(&mut state, heard),
        _ => {}
    }
    take_intent(&mut state, heard);
    keep_reason(&mut state, heard);
    state
}

/// "Cancel" is a yes where the offer is to cancel.
fn answers_with_cancel(asked: Option<Question>) -> bool {
    matches!(asked, Some(Question::OfferCancel | Question::MailFailed))
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
    if let Some(contact) = &heard.contact
        && state.order.is_none()
    {
        let contact = Some(written(contact));
        state.meta.contact_fits &= contact == state.meta.contact;
        state.meta.contact = contact;
    }
    match &heard.number {
        Some(found) if state.order_number.as_ref() != Some(&found.number) => {
            state.forget_order();
            state.order_number = Some(found.number.clone());
            state.order_match_confidence = Some(worth(found.confidence));
        }
        // "My mail is …" mends the contact of the number that was tried.
        None if asked == Some(Question::NotFound) && heard.contact.is_some() => {
            state.order_number = state.meta.tried.take();
            state.order_match_confidence = state.order_number.as_ref().map(|_| 1.0);
        }
        _ => state.may_name_order = heard.may_name_order && state.order_number.is_none(),
    }
}

/// An address or a number as it can be read again.
fn written(contact: &Contact) -> String {
    match contact {
        Contact::Email(email) => email.as_str().to_owned(),
        Contact::Phone(phone) => phone.as_str().to_owned(),
    }
}

/// Is it this order? A first no asks for another one, a second no ends it.
fn confirmed(state: &mut State, heard: &Heard) {
    match heard.answer {
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
        Some(Intent::Return) => action == Action::Return,
        Some(Intent::Refund) => action == Action::Refund,
        _ => false,
    };
    match heard.answer {
        Some(Answer::Yes) if !heard.says_no => state.desired_action = Some(action),
        Some(Answer::Cancel) if action == Action::Cancel && heard.says_cancel && !heard.says_no => {
            state.desired_action = Some(action);
        }
        Some(Answer::No | Answer::Cancel) => state.user_confirmed_order = Some(false),
        _ if named => state.desired_action = Some(action),
        _ => {}
    }
}

/// The mail failed: another address, once more, or let it be.
fn about_mail(state: &mut State, heard: &Heard) {
    match (&heard.contact, heard.answer) {
        (Some(Contact::Email(email)), _) => {
            state.mail_to = Some(email.as_str().to_owned());
            state.email_status = None;
        }
        (_, Some(Answer::Yes | Answer::Again)) => state.email_status = None,
        (_, Some(Answer::No | Answer::Cancel)) => state.leaves_mail = true,
        (_, None) => {}
    }
}

/// What it is about. In the middle of a flow another matter begins another one, on the same order.
fn take_intent(state: &mut State, heard: &Heard) {
    let Some(intent) = heard.intent else { return };
    let decided = state.desired_action.is_some() || state.action_ticket.is_some();
    match state.intent {
        None => {
            state.wants_both = heard.wants_both;
            state.wants_cancel = heard.wants_cancel;
            state.intent = Some(intent);
        }
        Some(now) if decided || now == intent || intent == Intent::Other || heard.answer.is_some() => {}
        Some(_) => {
            state.intent = Some(intent);
            state.wants_both = heard.wants_both;
            state.eligibility = None;
        }
    }
}

/// The customer's words about why: what was said in this flow, up to a limit.
fn keep_reason(state: &mut State, heard: &Heard) {
    let left = REASON_MAX_CHARS.saturating_sub(state.reason.chars().count());
    if left == 0 || heard.text.is_empty() || state.action_ticket.is_some() {
        return;
    }
    if !state.reason.is_empty() {
        state.reason.push('\n');
    }
    state.reason.extend(heard.text.chars().take(left));
}

#[cfg(test)]
mod tests;
