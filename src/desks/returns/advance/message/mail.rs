//! The mail about a return that was made: it did not arrive, or goes to another address.

use super::super::super::rules::{Topic, Utterance};
use super::super::super::state::{EmailStatus, Intent, Mail, Phase, Stage, State, Subject};
use crate::dialogue::Answer;
use crate::domain::commerce::OrderStatus;
use crate::domain::identity::Contact;
use crate::domain::returns::RmaNumber;

/// Whether the customer says that the mail about the return just made did not arrive.
pub fn misses_mail(state: &State, utterance: &Utterance) -> bool {
    was_mailed(state)
        && utterance.reports(Topic::MissingMail)
        && utterance.order().is_none()
        && !utterance.wants_person()
        && !utterance.reports(Topic::Damage)
}

pub(super) fn miss_mail(mut state: State) -> State {
    state.phase = Phase::Working;
    if let Some(ticket) = state.ticket_mut()
        && let Mail::Settled(status) = ticket.mail
    {
        ticket.mail = Mail::Missing(status);
    }
    state
}

/// Whether the flow made a return, and its mail went out.
fn was_mailed(state: &State) -> bool {
    let was_sent = matches!(state.email_status(), Some(EmailStatus::Sent | EmailStatus::Queued));
    let has_return = state.action_ticket().is_some_and(|ticket| ticket.id.parse::<RmaNumber>().is_ok());
    state.phase == Phase::Over && was_sent && has_return
}

/// Returns the other address to which the customer wants the mail about the return just made.
pub(super) fn redirects_mail(state: &State, utterance: &Utterance) -> Option<String> {
    let intent = utterance.intent.filter(|intent| *intent != Intent::Other);
    other_address(state, utterance).filter(|_| was_mailed(state) && intent.is_none())
}

/// Returns the other address to which the customer wants the label that the desk has just given.
pub(super) fn redirects_label(state: &State, utterance: &Utterance) -> Option<String> {
    let has_return = state.order().is_some_and(|order| order.status == OrderStatus::ReturnInitiated);
    let was_given = state.phase == Phase::Over && state.case.wants_label && has_return;
    let is_about_label = matches!(utterance.intent, None | Some(Intent::Other | Intent::OrderStatus));
    other_address(state, utterance).filter(|_| was_given && is_about_label)
}

/// Returns the e-mail address of a message that names another one than before, and nothing else.
fn other_address(state: &State, utterance: &Utterance) -> Option<String> {
    let Contact::Email(email) = utterance.contact()? else { return None };
    let is_other = state.meta.contact.as_deref() != Some(email.as_str());
    let wants_else = utterance.order().is_some() || utterance.wants_person() || utterance.reports(Topic::Damage);
    (is_other && !wants_else).then(|| email.as_str().to_owned())
}

/// Gives the label again, and mails it to this address.
pub(super) fn send_label_to(state: State, address: String) -> State {
    let (order, rma_asked) = (state.order().cloned(), state.case.rma_asked.clone());
    let mut next = state.next_flow();
    next.case.intent = Some(Intent::OrderStatus);
    next.case.wants_label = true;
    next.case.rma_asked = rma_asked;
    next.case.label_to = Some(address);
    next.stage = order.map_or(Stage::NoOrder, |order| Stage::Found(Box::new(Subject::new(order, 1.0))));
    next
}

/// Sends the mail once more, to this address.
pub(super) fn send_mail_to(mut state: State, address: String) -> State {
    state.phase = Phase::Working;
    if let Some(ticket) = state.ticket_mut() {
        ticket.mail_to = Some(address);
        ticket.mail = Mail::Due;
    }
    state
}

/// Takes the answer to a question about the mail: another address, a retry, or no mail.
pub(super) fn answer_about_mail(state: &mut State, utterance: &Utterance) {
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

#[cfg(test)]
mod tests {
    use super::super::tests::{order, says};
    use super::*;
    use crate::desks::returns::advance::{Event, next_state};
    use crate::desks::returns::route::{Handler, Step, route};
    use crate::desks::returns::rules::Topic;
    use crate::desks::returns::state::{ActionTicket, Ending, HandoffReason, Meta, Question, TicketStatus};
    use crate::desks::returns::tests::sample;
    use crate::dialogue::Act;
    use crate::domain::returns::Action;

    fn ticketed() -> State {
        let state = sample::ticketed(TicketStatus::Created, Mail::Due);
        State { meta: Meta { last_rma: Some(sample::rma()), ..Meta::default() }, ..state }
    }

    /// The same after the mail failed, with the question about it.
    fn mail_failed() -> State {
        let failed = Mail::Settled(EmailStatus::Failed);
        let state = sample::ticketed(TicketStatus::Created, failed);
        sample::after(Question::MailFailed, State { meta: ticketed().meta, ..state })
    }

    #[test]
    fn never_mind_after_the_ticket_cancels_nothing() {
        let never_mind = || Event::Said(Utterance { answer: Some(Answer::Cancel), ..says("never mind") });
        let next = next_state(ticketed(), never_mind());
        assert_eq!(next.ticket(), ticketed().ticket());
        assert_eq!(route(&next), Step::Run(Handler::SendEmail));
        assert_eq!(route(&next_state(sample::agreed(Action::Return), never_mind())), Step::Finish(Ending::Declined));
    }

    #[test]
    fn damage_is_escalated_during_mail_questions_and_duplicates() {
        let shattered = || {
            let utterance = Utterance { intent: Some(Intent::Return), ..says("they arrived shattered") };
            utterance.with(Act::Report(Topic::Damage))
        };
        let mail = mail_failed();
        let next = next_state(mail.clone(), Event::Said(shattered()));
        assert_eq!(
            (route(&next), next.handoff.reason()),
            (Step::Run(Handler::Escalate), Some(HandoffReason::DamageLater))
        );

        let ticket = ActionTicket { id: sample::rma().to_string(), status: TicketStatus::Duplicate };
        let found = next_state(sample::found(Intent::Return), Event::AskedBefore(ticket.clone()));
        assert_eq!((found.handoff.reason(), found.meta.last_rma.as_ref()), (None, Some(&sample::rma())));
        let later = Utterance { intent: None, ..shattered() };
        let over = State { phase: Phase::Over, ..found };
        assert_eq!(next_state(over, Event::Said(later)).handoff.reason(), Some(HandoffReason::DamageLater));

        let report = Event::Said(Utterance { entities: order("77893"), ..shattered() });
        let at_once = State { stage: sample::found(Intent::Return).stage, ..next_state(State::default(), report) };
        let next = next_state(at_once, Event::AskedBefore(ticket));
        assert_eq!(
            (route(&next), next.handoff.reason()),
            (Step::Run(Handler::Escalate), Some(HandoffReason::DamageLater))
        );
    }

    #[test]
    fn another_order_ends_the_failed_mail_question() {
        let mail = mail_failed();
        let other =
            Utterance { entities: order("77894"), intent: Some(Intent::OrderStatus), ..says("where is 77894?") };
        let next = next_state(mail.clone(), Event::Said(other));
        assert_eq!((route(&next), next.meta.flow), (Step::Run(Handler::LookUpOrder), 1));
        assert_eq!(next.meta.last_rma, Some(sample::rma()));
        let same = Utterance { entities: order("77893"), answer: Some(Answer::Again), ..says("again, for 77893") };
        assert_eq!(route(&next_state(mail, Event::Said(same))), Step::Run(Handler::SendEmail));
    }

    #[test]
    fn calling_off_a_ticket_ends_the_flow() {
        let over = State { phase: Phase::Over, ..ticketed() };
        let said = Utterance { answer: Some(Answer::Cancel), intent: Some(Intent::Return), ..says("forget my return") };
        assert_eq!(route(&next_state(over.clone(), Event::Said(said.clone()))), Step::Finish(Ending::Other));
        let cancel = said.with(Act::Request(Topic::Cancellation));
        assert_eq!(route(&next_state(over, Event::Said(cancel))), Step::Run(Handler::CheckPolicy), "of the same order");
    }
}
