use super::super::advance::{Event, advance};
use super::super::rules::Utterance;
use super::super::state::{ActionTicket, FlowTicket, Meta};
use super::super::tests::sample;
use super::*;
use crate::dialogue::utterance::Entities;
use crate::dialogue::{Act, Answer};
use crate::domain::commerce::order_number::{Confidence, Found};

/// A state on which the row decides, and the step that it gives.
fn rows() -> Vec<(u8, &'static str, State, ReturnsStep)> {
    let order = || Some(sample::order());
    let number = || Some(sample::number());
    let asked = |intent: Intent| State { intent: Some(intent), ..State::default() };
    let found = |intent: Intent| State { order_number: number(), order: order(), ..asked(intent) };
    let confirmed = |intent: Intent| State { user_confirmed_order: Some(true), ..found(intent) };
    let decided = |decision: Decision| State { eligibility: Some(decision), ..confirmed(Intent::Return) };
    let wants = |action: Action| State { desired_action: Some(action), ..decided(sample::approved()) };
    let ticketed = |status: TicketStatus| State {
        ticket: Some(FlowTicket::new(ActionTicket { id: "RMA-1-AAAA".to_owned(), status })),
        ..wants(Action::Return)
    };
    let with_mail = |status: TicketStatus, mail: Mail| {
        let ticket = ticketed(status).ticket.map(|of_flow| FlowTicket { mail, ..of_flow });
        State { ticket, ..ticketed(status) }
    };
    let mailed = |email: EmailStatus| with_mail(TicketStatus::Created, Mail::Settled(email));
    let trouble = |trouble: Trouble| State { stage: Stage::Failed(trouble), ..mailed(EmailStatus::Sent) };
    let escalated = State { handoff: Handoff::Due(HandoffReason::Person), ..State::default() };
    vec![
        (1, "an error is reported first", trouble(Trouble::OrderNotFound), Step::Ask(Question::NotFound)),
        (1, "too many guesses", trouble(Trouble::OrderLocked), Step::Ask(Question::Locked)),
        (1, "the shop's own fault", trouble(Trouble::Internal), Step::Ask(Question::Trouble)),
        (1, "a handoff comes before every flow", escalated, Step::Run(Worker::Escalate)),
        (
            1,
            "and ends it",
            State { handoff: Handoff::Opened(HandoffReason::Person, "TICKET-1-AAAA".to_owned()), ..State::default() },
            Step::Finish(Ending::Escalated),
        ),
        (2, "a flow that is over waits", State { stage: Stage::Over, ..found(Intent::Return) }, Step::Wait),
        (3, "the status is shown without a question", found(Intent::OrderStatus), Step::Run(Worker::ShowStatus)),
        (3, "once", State { status_shown: true, ..found(Intent::OrderStatus) }, Step::Finish(Ending::StatusShown)),
        (
            4,
            "a question waits for its answer",
            State { stage: Stage::Asked(Question::Confirm), ..found(Intent::Return) },
            Step::Wait,
        ),
        (5, "the intent comes first", State::default(), Step::Run(Worker::ClassifyIntent)),
        (5, "and is asked for", State { is_unclear: true, ..State::default() }, Step::Ask(Question::Matter)),
        (6, "a number is asked for", asked(Intent::Refund), Step::Ask(Question::OrderNumber)),
        (6, "for the status as well", asked(Intent::OrderStatus), Step::Ask(Question::OrderNumber)),
        (
            6,
            "a number that the rules do not read",
            State { may_name_order: true, ..asked(Intent::Return) },
            Step::Run(Worker::FillSlot),
        ),
        (6, "after a no", State { declines: 1, ..asked(Intent::Return) }, Step::Ask(Question::OtherOrder)),
        (
            6,
            "whose order it is",
            State { order_number: number(), needs_contact: true, ..asked(Intent::Return) },
            Step::Ask(Question::Contact),
        ),
        (
            7,
            "the order is looked up",
            State { order_number: number(), ..asked(Intent::Return) },
            Step::Run(Worker::LookUpOrder),
        ),
        (
            7,
            "with the contact that was shown",
            State {
                order_number: number(),
                needs_contact: true,
                meta: Meta { contact: Some("a@example.com".to_owned()), ..Meta::default() },
                ..asked(Intent::OrderStatus)
            },
            Step::Run(Worker::LookUpOrder),
        ),
        (8, "is it this order?", found(Intent::Return), Step::Ask(Question::Confirm)),
        (9, "no", State { user_confirmed_order: Some(false), ..found(Intent::Refund) }, Step::Finish(Ending::Declined)),
        (10, "the policy is checked", confirmed(Intent::Return), Step::Run(Worker::CheckPolicy)),
        (11, "neither window is open", decided(sample::refused(Cause::WindowOver)), Step::Finish(Ending::NotEligible)),
        (11, "nothing was shipped", decided(sample::refused(Cause::NotShipped)), Step::Ask(Question::OfferCancel)),
        (12, "what was asked for is open", decided(sample::approved()), Step::Run(Worker::DecideAction)),
        (
            12,
            "both were asked for",
            State { wants_both: true, ..decided(sample::approved()) },
            Step::Ask(Question::ChooseAction),
        ),
        (
            12,
            "a refund was asked for and only a return is open",
            State { intent: Some(Intent::Refund), ..decided(sample::open(true, false)) },
            Step::Ask(Question::OnlyReturn),
        ),
        (12, "and the other way round", decided(sample::open(false, true)), Step::Ask(Question::OnlyRefund)),
        (13, "a return is made", wants(Action::Return), Step::Run(Worker::ProcessReturn)),
        (13, "an order is called off", wants(Action::Cancel), Step::Run(Worker::ProcessCancel)),
        (14, "a refund is made", wants(Action::Refund), Step::Run(Worker::ProcessRefund)),
        (15, "the mail is sent", ticketed(TicketStatus::Created), Step::Run(Worker::SendEmail)),
        (15, "a failed mail is reported", mailed(EmailStatus::Failed), Step::Ask(Question::MailFailed)),
        (
            15,
            "and may be left",
            with_mail(TicketStatus::Created, Mail::Left(EmailStatus::Failed)),
            Step::Finish(Ending::MailLeft),
        ),
        (16, "a mail that is sent is the end", mailed(EmailStatus::Sent), Step::Finish(Ending::Done)),
        (16, "one in the outbox as well", mailed(EmailStatus::Queued), Step::Finish(Ending::Done)),
        (16, "no mail", mailed(EmailStatus::None), Step::Finish(Ending::Done)),
        (
            16,
            "a ticket that was there before",
            with_mail(TicketStatus::Duplicate, Mail::Settled(EmailStatus::None)),
            Step::Finish(Ending::Duplicate),
        ),
        (16, "nothing for this desk", asked(Intent::Other), Step::Finish(Ending::Other)),
    ]
}

#[test]
fn every_routing_row_decides_as_documented() {
    for (row, case, state, step) in rows() {
        assert_eq!(decide(&state), (row, step), "row {row}: {case}");
    }
    let seen: std::collections::BTreeSet<u8> = rows().iter().map(|(row, ..)| *row).collect();
    // Row 17 is the fallback: no state that can be reached gets there, which the random walk shows.
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), (1..=16).collect::<Vec<_>>());
    let unreachable = State { order: Some(sample::order()), user_confirmed_order: Some(true), ..State::default() };
    let unreachable = State { intent: Some(Intent::Other), ..unreachable };
    assert_eq!(decide(&State { eligibility: Some(sample::approved()), ..unreachable }).0, 12);
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
fn second_no_to_orders_ends_the_flow() {
    let confirm = State {
        intent: Some(Intent::Return),
        order_number: Some(sample::number()),
        order: Some(sample::order()),
        stage: Stage::Asked(Question::Confirm),
        ..State::default()
    };
    let no = || Event::Said(Utterance { answer: Some(Answer::No), ..Utterance::default() }.with(Act::Hesitate));
    let first = advance(confirm.clone(), no());
    assert_eq!((first.order.is_none(), route(&first)), (true, Step::Ask(Question::OtherOrder)));
    let again = State { declines: 1, ..confirm.clone() };
    assert_eq!(route(&advance(again, no())), Step::Finish(Ending::Declined));
    let cancel = Event::Said(Utterance { answer: Some(Answer::Cancel), ..Utterance::default() });
    assert_eq!(route(&advance(confirm, cancel)), Step::Finish(Ending::Declined));
}

#[test]
fn new_flow_keeps_only_the_customers_identity() {
    let meta = Meta {
        idempotency_key: Some("k".to_owned()),
        contact: Some("a@example.com".to_owned()),
        contact_fits: true,
        last_rma: Some("RMA-1700000000-AB12".parse().expect("a number")),
        ..Meta::default()
    };
    let over = State {
        stage: Stage::Over,
        order_match_confidence: Some(1.0),
        reason: "too small".to_owned(),
        meta: meta.clone(),
        ..rows().swap_remove(33).2
    };
    let said = Utterance { intent: Some(Intent::OrderStatus), ..Utterance::default() };
    let next = advance(over, Event::Said(said));
    let kept = Meta { idempotency_key: None, flow: 1, ..meta };
    assert_eq!(next, State { intent: Some(Intent::OrderStatus), meta: kept, ..State::default() });
}

#[test]
fn shipped_or_doubtful_orders_are_not_cancelled() {
    let offered = State {
        eligibility: Some(sample::refused(Cause::NotShipped)),
        user_confirmed_order: Some(true),
        intent: Some(Intent::Return),
        order_number: Some(sample::number()),
        order: Some(sample::order()),
        stage: Stage::Asked(Question::OfferCancel),
        ..State::default()
    };
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
        assert_eq!(advance(offered.clone(), Event::Said(said.clone())).desired_action, action, "{said:?}");
    }
}

#[test]
fn yes_naming_another_order_is_no_confirmation() {
    let number = Found { number: "77894".parse().expect("a number"), confidence: Confidence::Named };
    for asked in [Question::Confirm, Question::OnlyReturn, Question::OfferCancel] {
        let state = State {
            intent: Some(Intent::Return),
            order_number: Some(sample::number()),
            order: Some(sample::order()),
            user_confirmed_order: Some(true).filter(|_| asked != Question::Confirm),
            eligibility: Some(sample::approved()).filter(|_| asked != Question::Confirm),
            stage: Stage::Asked(asked),
            ..State::default()
        };
        let said = Utterance {
            answer: Some(Answer::Yes),
            entities: Entities { orders: vec![number.clone()], ..Entities::default() },
            ..Utterance::default()
        };
        let next = advance(state, Event::Said(said));
        assert_eq!((next.user_confirmed_order, next.desired_action), (None, None), "{asked:?}");
        assert_eq!(route(&next), Step::Run(Worker::LookUpOrder), "{asked:?}");
    }
}
