use super::super::advance::{Event, next_state};
use super::super::rules::{Topic, Utterance};
use super::super::state::{ActionTicket, Case, LastMessage, Meta, OrderContact};
use super::super::tests::sample;
use super::*;
use crate::dialogue::utterance::Entities;
use crate::dialogue::{Act, Answer};
use crate::nlu::entities::{Confidence, Found};

/// A state on which the row decides, and the step that it gives.
fn rows() -> Vec<(u8, &'static str, State, Step)> {
    use sample::{agreed, chosen, decided, found, named, ticketed, wants};
    let mailed = |email: EmailStatus| ticketed(TicketStatus::Created, Mail::Settled(email));
    let trouble = |trouble: Trouble| State { phase: Phase::Failed(trouble), ..mailed(EmailStatus::Sent) };
    let with_handoff = |handoff: HandoffStatus| State { handoff, ..State::default() };
    let with_case = |case: Case, state: State| State { case: Case { intent: state.case.intent, ..case }, ..state };
    let with_message = |message: LastMessage, state: State| with_case(Case { message, ..Case::default() }, state);
    let declined = sample::with_progress(Intent::Refund, Progress::Declined(None));
    let with_contact = |contact: Option<&str>| {
        let meta = Meta { contact: contact.map(str::to_owned), ..Meta::default() };
        with_case(
            Case { contact: OrderContact { is_needed: true, ..OrderContact::default() }, ..Case::default() },
            State { meta, ..named(Intent::Return) },
        )
    };
    let unclear = with_message(LastMessage { is_unclear: true, ..LastMessage::default() }, State::default());
    let unread = with_message(LastMessage { may_name_order: true, ..LastMessage::default() }, wants(Intent::Return));
    let after_no = with_case(Case { declines: 1, ..Case::default() }, wants(Intent::Return));
    let both = with_case(Case { wants_both: true, ..Case::default() }, decided(sample::approved()));
    let only_return = Progress::Decided { decision: sample::open(true, false), action: None };
    let refund = Progress::Agreed { decision: sample::approved(), action: Action::Refund };
    let cancel = with_case(Case { wants_cancel: true, ..Case::default() }, decided(sample::approved()));
    let decided_now = Event::Decided(sample::refused(Cause::FraudFlag), vec![1], sample::refund());
    let reviewed = next_state(found(Intent::Return), decided_now);
    let before = ActionTicket { id: sample::rma().to_string(), status: TicketStatus::Duplicate };
    let asked_before = next_state(found(Intent::Return), Event::AskedBefore(before));
    let opened = with_handoff(HandoffStatus::Opened(HandoffReason::Person, "TICKET-1-AAAA".to_owned()));
    vec![
        (1, "a failure is reported first", trouble(Trouble::OrderNotFound), Step::Ask(Question::NotFound)),
        (1, "too many guesses", trouble(Trouble::OrderLocked), Step::Ask(Question::Locked)),
        (1, "the shop's own fault", trouble(Trouble::Internal), Step::Ask(Question::Trouble)),
        (1, "handoff due", with_handoff(HandoffStatus::Due(HandoffReason::Person)), Step::Run(Handler::Escalate)),
        (1, "a decision that a person reviews", reviewed, Step::Run(Handler::Escalate)),
        (1, "handoff made", opened, Step::Finish(Ending::Escalated)),
        (2, "flow is over", State { phase: Phase::Over, ..found(Intent::Return) }, Step::Wait),
        (3, "status wanted", found(Intent::OrderStatus), Step::Run(Handler::ShowStatus)),
        (3, "status shown", sample::shown(), Step::Finish(Ending::StatusShown)),
        (4, "question open", sample::after(Question::Confirm, found(Intent::Return)), Step::Wait),
        (5, "no intent", State::default(), Step::Run(Handler::ClassifyIntent)),
        (5, "unclear message", unclear, Step::Ask(Question::Matter)),
        (6, "refund without a number", wants(Intent::Refund), Step::Ask(Question::OrderNumber)),
        (6, "status without a number", wants(Intent::OrderStatus), Step::Ask(Question::OrderNumber)),
        (6, "a number that the rules do not read", unread, Step::Run(Handler::FillSlot)),
        (6, "after a no", after_no, Step::Ask(Question::OtherOrder)),
        (6, "contact unknown", with_contact(None), Step::Ask(Question::Contact)),
        (7, "order not loaded", named(Intent::Return), Step::Run(Handler::LookUpOrder)),
        (7, "contact known", with_contact(Some("a@example.com")), Step::Run(Handler::LookUpOrder)),
        (8, "not decided", found(Intent::Return), Step::Run(Handler::CheckPolicy)),
        (9, "declined", declined, Step::Finish(Ending::Declined)),
        (9, "declined without an order", State { stage: Stage::Declined, ..wants(Intent::Other) }, {
            Step::Finish(Ending::Declined)
        }),
        (10, "neither window is open", decided(sample::refused(Cause::WindowOver)), Step::Finish(Ending::NotEligible)),
        (10, "in a return already", decided(sample::refused(Cause::AlreadyInRma)), Step::Run(Handler::ShowStatus)),
        (10, "nothing was shipped", decided(sample::refused(Cause::NotShipped)), Step::Ask(Question::OfferCancel)),
        (11, "the requested action is open", decided(sample::approved()), Step::Run(Handler::DecideAction)),
        (11, "both were requested", both, Step::Ask(Question::ChooseAction)),
        (11, "too late to cancel", cancel, Step::Ask(Question::OnlyReturn)),
        (
            11,
            "a refund was requested and only a return is open",
            sample::with_progress(Intent::Refund, only_return),
            Step::Ask(Question::OnlyReturn),
        ),
        (11, "only a refund is open", decided(sample::open(false, true)), Step::Ask(Question::OnlyRefund)),
        (12, "no yes yet", chosen(Action::Return), Step::Ask(Question::Confirm)),
        (13, "return", agreed(Action::Return), Step::Run(Handler::ProcessReturn)),
        (13, "cancellation", agreed(Action::Cancel), Step::Run(Handler::ProcessCancel)),
        (14, "refund", sample::with_progress(Intent::Refund, refund), Step::Run(Handler::ProcessRefund)),
        (15, "mail due", ticketed(TicketStatus::Created, Mail::Due), Step::Run(Handler::SendEmail)),
        (15, "mail of an earlier request due", asked_before, Step::Run(Handler::SendEmail)),
        (15, "mail failed", mailed(EmailStatus::Failed), Step::Ask(Question::MailFailed)),
        (
            15,
            "mail left",
            ticketed(TicketStatus::Created, Mail::Left(EmailStatus::Failed)),
            Step::Finish(Ending::MailLeft),
        ),
        (16, "mail sent", mailed(EmailStatus::Sent), Step::Finish(Ending::Done)),
        (16, "mail queued", mailed(EmailStatus::Queued), Step::Finish(Ending::Done)),
        (16, "no mail", mailed(EmailStatus::None), Step::Finish(Ending::Done)),
        (
            16,
            "ticket of an earlier request",
            ticketed(TicketStatus::Duplicate, Mail::Settled(EmailStatus::None)),
            Step::Finish(Ending::Duplicate),
        ),
        (16, "nothing for this desk", wants(Intent::Other), Step::Finish(Ending::Other)),
    ]
}

#[test]
fn every_routing_row_decides_as_documented() {
    for (row, case, state, step) in rows() {
        assert_eq!(decide(&state), (row, step), "row {row}: {case}");
    }
    let seen: std::collections::BTreeSet<u8> = rows().iter().map(|(row, ..)| *row).collect();
    // Row 17 is the fallback. The random walk shows that no reachable state gets there.
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), (1..=16).collect::<Vec<_>>());
}

#[test]
fn routing_rows_apply_in_table_order() {
    let numbers: Vec<u8> = TABLE.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=17).collect::<Vec<_>>());
    for (row, case, state, _) in rows() {
        let earlier = TABLE.iter().take(usize::from(row) - 1).filter(|(_, applies)| applies(&state).is_some());
        assert_eq!(earlier.count(), 0, "{case}: a row above {row} applies");
    }
}

#[test]
fn no_ends_flow_unless_another_order_is_meant() {
    let confirm = sample::after(Question::Confirm, sample::chosen(Action::Return));
    let no = || Utterance { answer: Some(Answer::No), ..Utterance::default() }.with(Act::Hesitate);
    let cancel = Utterance { answer: Some(Answer::Cancel), ..Utterance::default() };
    for said in [no(), cancel] {
        assert_eq!(route(&next_state(confirm.clone(), Event::Said(said))), Step::Finish(Ending::Declined));
    }
    let other = || Event::Said(no().with(Act::Mention(Topic::OtherOrder)));
    let next = next_state(confirm.clone(), other());
    assert_eq!((next.order().is_none(), route(&next)), (true, Step::Ask(Question::OtherOrder)));
    let mut two = confirm;
    two.meta.waiting.push("77894".parse().expect("a number"));
    let next = next_state(two, other());
    assert_eq!(next.order_number().map(|number| number.as_str()), Some("77894"), "the other one was named");
}

#[test]
fn new_flow_keeps_identity_and_order() {
    let meta = Meta {
        idempotency_key: Some("k".to_owned()),
        contact: Some("a@example.com".to_owned()),
        contact_fits: true,
        last_rma: Some(sample::rma()),
        ..Meta::default()
    };
    let mut over = sample::ticketed(TicketStatus::Created, Mail::Settled(EmailStatus::Sent));
    over.phase = Phase::Over;
    over.case.reason = "too small".to_owned();
    over.meta = meta.clone();
    let said = Utterance { intent: Some(Intent::OrderStatus), ..Utterance::default() };
    let next = next_state(over, Event::Said(said));
    let meta = Meta { idempotency_key: None, flow: 1, ..meta };
    assert_eq!((next.meta.clone(), next.case.clone()), (meta, sample::wants(Intent::OrderStatus).case));
    assert_eq!((next.order_number(), next.ticket()), (Some(&sample::number()), None), "the order stays the subject");
}

#[test]
fn shipped_or_doubtful_orders_are_not_cancelled() {
    let offered = sample::after(Question::OfferCancel, sample::decided(sample::refused(Cause::NotShipped)));
    let says = |answer_to_cancel| Utterance { answer_to_cancel, ..Utterance::default() };
    for (said, action) in [
        (says(Some(Answer::Yes)), Some(Action::Cancel)),
        // A bare "dung" is "đúng" and "đừng".
        (says(Some(Answer::Yes)).with(Act::Equivocate), None),
        (says(Some(Answer::Cancel)), None),
        (says(Some(Answer::No)), None),
        (says(None), None),
        // A yes to something else, and the wish for a return.
        (Utterance { answer: Some(Answer::Yes), ..says(None) }, None),
        (Utterance { intent: Some(Intent::Return), ..says(None) }, None),
    ] {
        assert_eq!(next_state(offered.clone(), Event::Said(said.clone())).action(), action, "{said:?}");
    }
}

#[test]
fn yes_naming_another_order_is_no_confirmation() {
    let number = Found { number: "77894".parse().expect("a number"), confidence: Confidence::Named };
    for (asked, state) in [
        (Question::Confirm, sample::chosen(Action::Return)),
        (Question::OnlyReturn, sample::decided(sample::approved())),
        (Question::OfferCancel, sample::decided(sample::approved())),
    ] {
        let said = Utterance {
            answer: Some(Answer::Yes),
            entities: Entities { orders: vec![number.clone()], ..Entities::default() },
            ..Utterance::default()
        };
        let next = next_state(sample::after(asked, state), Event::Said(said));
        assert_eq!((next.is_agreed(), next.action()), (false, None), "{asked:?}");
        assert_eq!(route(&next), Step::Run(Handler::LookUpOrder), "{asked:?}");
    }
}
