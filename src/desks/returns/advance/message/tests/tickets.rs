//! Messages after the flow has its ticket.

use super::*;

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
    assert_eq!((route(&next), next.handoff.reason()), (Step::Run(Handler::Escalate), Some(HandoffReason::DamageLater)));

    let ticket = ActionTicket { id: sample::rma().to_string(), status: TicketStatus::Duplicate };
    let found = next_state(sample::found(Intent::Return), Event::AskedBefore(ticket.clone()));
    assert_eq!((found.handoff.reason(), found.meta.last_rma.as_ref()), (None, Some(&sample::rma())));
    let later = Utterance { intent: None, ..shattered() };
    let over = State { phase: Phase::Over, ..found };
    assert_eq!(next_state(over, Event::Said(later)).handoff.reason(), Some(HandoffReason::DamageLater));

    let report = Event::Said(Utterance { entities: order("77893"), ..shattered() });
    let at_once = State { stage: sample::found(Intent::Return).stage, ..next_state(State::default(), report) };
    let next = next_state(at_once, Event::AskedBefore(ticket));
    assert_eq!((route(&next), next.handoff.reason()), (Step::Run(Handler::Escalate), Some(HandoffReason::DamageLater)));
}

#[test]
fn another_order_ends_the_failed_mail_question() {
    let mail = mail_failed();
    let other = Utterance { entities: order("77894"), intent: Some(Intent::OrderStatus), ..says("where is 77894?") };
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
