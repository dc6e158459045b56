//! What a message means where it comes at an odd moment.

use super::*;
use crate::desks::machine::Step;
use crate::desks::returns::advance::{Event, advance};
use crate::desks::returns::route::{Worker, decide, route};
use crate::desks::returns::state::{ActionTicket, EmailStatus, Ending, ItemSnapshot, Meta, TicketStatus};
use crate::desks::returns::tests::sample;
use crate::dialogue::Act;
use crate::dialogue::utterance::Entities;
use crate::domain::commerce::OrderNumber;
use crate::domain::commerce::order_number::Found;
use crate::domain::returns::RmaNumber;

fn says(text: &str) -> Utterance {
    Utterance { text: text.to_owned(), ..Utterance::default() }
}

fn no() -> Utterance {
    Utterance { answer: Some(Answer::No), ..says("no wait") }.with(Act::Hesitate)
}

fn number(text: &str) -> Option<OrderNumber> {
    Some(text.parse().expect("a number"))
}

/// Entities with one order number.
fn order(text: &str) -> Entities {
    let number = text.parse().expect("a number");
    Entities { orders: vec![Found { number, confidence: Confidence::Named }], ..Entities::default() }
}

/// Entities with one e-mail address.
fn contact(text: &str) -> Entities {
    Entities { contacts: vec![Contact::Email(text.parse().expect("an address"))], ..Entities::default() }
}

/// A return of the sample order to which the customer has said yes.
fn confirmed() -> State {
    State {
        intent: Some(Intent::Return),
        order_number: Some(sample::number()),
        order: Some(sample::order()),
        user_confirmed_order: Some(true),
        ..State::default()
    }
}

fn rma() -> RmaNumber {
    "RMA-1700000000-AB12".parse().expect("a number")
}

/// The same with its RMA.
fn ticketed() -> State {
    State {
        eligibility: Some(sample::approved()),
        desired_action: Some(Action::Return),
        ticket: Some(FlowTicket::new(ActionTicket { id: rma().to_string(), status: TicketStatus::Created })),
        meta: Meta { last_rma: Some(rma()), ..Meta::default() },
        ..confirmed()
    }
}

/// The same after the mail failed, with the question about it.
fn mail_failed() -> State {
    let ticket = ticketed().ticket.map(|of_flow| FlowTicket { mail: Mail::Settled(EmailStatus::Failed), ..of_flow });
    State { ticket, stage: Stage::Asked(Question::MailFailed), ..ticketed() }
}

#[test]
fn no_after_cancelled_yes_takes_it_back() {
    let decided = State { eligibility: Some(sample::approved()), ..confirmed() };
    let acting = State { desired_action: Some(Action::Return), ..decided.clone() };
    for state in [confirmed(), decided, acting] {
        let next = advance(state.clone(), Event::Said(no()));
        assert_eq!(route(&next), Step::Ask(Question::Confirm), "{state:?}");
        let asked = advance(next, Event::Asked(Question::Confirm));
        let other = advance(asked, Event::Said(no()));
        assert_eq!(route(&other), Step::Ask(Question::OtherOrder), "{state:?}");
    }
    let next = advance(confirmed(), Event::Said(says("hello?")));
    assert_eq!(route(&next), Step::Run(Worker::CheckPolicy), "only a no interrupts");
}

#[test]
fn never_mind_after_the_ticket_cancels_nothing() {
    let never_mind = || Event::Said(Utterance { answer: Some(Answer::Cancel), ..says("never mind") });
    let next = advance(ticketed(), never_mind());
    assert_eq!(next.ticket, ticketed().ticket);
    assert_eq!(route(&next), Step::Run(Worker::SendEmail));
    assert_eq!(route(&advance(confirmed(), never_mind())), Step::Finish(Ending::Declined));
}

#[test]
fn shipped_order_is_not_returned_instead_of_cancelled() {
    let cancel = || {
        let utterance = Utterance { intent: Some(Intent::Return), ..says("cancel my order") };
        utterance.with(Act::Request(Topic::Cancellation))
    };
    let delivered = |state: State| State {
        order_number: Some(sample::number()),
        order: Some(sample::order()),
        user_confirmed_order: Some(true),
        eligibility: Some(sample::approved()),
        ..state
    };
    let at_first = advance(State::default(), Event::Said(cancel()));
    let shown = State { intent: Some(Intent::OrderStatus), ..State::default() };
    let after_another_matter = advance(shown, Event::Said(cancel()));
    let in_the_middle = advance(State { user_confirmed_order: None, ..confirmed() }, Event::Said(cancel()));
    for state in [at_first, after_another_matter, in_the_middle] {
        assert!(state.wants_cancel, "{state:?}");
        assert_eq!(decide(&delivered(state.clone())), (12, Step::Ask(Question::ChooseAction)));
        let only_return = State { eligibility: Some(sample::open(true, false)), ..delivered(state) };
        assert_eq!(decide(&only_return), (12, Step::Ask(Question::OnlyReturn)));
        let agreed = State { stage: Stage::Asked(Question::OnlyReturn), ..only_return };
        let yes = Event::Said(Utterance { answer: Some(Answer::Yes), ..says("yes") });
        assert_eq!(route(&advance(agreed, yes)), Step::Run(Worker::ProcessReturn));
    }
}

#[test]
fn named_items_are_confirmed_before_a_partial_return() {
    let socks = ItemSnapshot { line: 2, name: "Wool Socks".to_owned(), quantity: 1 };
    let mut order = sample::order();
    order.items.push(socks);
    let yes = |text: &str| Event::Said(Utterance { answer: Some(Answer::Yes), ..says(text) });
    let both = State { order: Some(order), user_confirmed_order: None, ..confirmed() };
    let asked = |state: State| advance(state, Event::Asked(Question::Confirm));
    let only = advance(asked(both.clone()), yes("yes, only the socks"));
    assert_eq!((route(&only), &only.lines), (Step::Ask(Question::Confirm), &Some(vec![2])));
    let sure = advance(asked(only), yes("yes, the socks"));
    assert_eq!((route(&sure), &sure.lines), (Step::Run(Worker::CheckPolicy), &Some(vec![2])));
    for text in ["yes", "yes, the boots and the socks"] {
        let whole = advance(asked(both.clone()), yes(text));
        assert_eq!((route(&whole), &whole.lines), (Step::Run(Worker::CheckPolicy), &None), "{text}");
    }
}

#[test]
fn damage_is_escalated_during_mail_questions_and_duplicates() {
    let shattered = || {
        let utterance = Utterance { intent: Some(Intent::Return), ..says("they arrived shattered") };
        utterance.with(Act::Report(Topic::Damage))
    };
    let mail = mail_failed();
    let next = advance(mail.clone(), Event::Said(shattered()));
    assert_eq!((route(&next), next.handoff.reason()), (Step::Run(Worker::Escalate), Some(HandoffReason::DamageLater)));

    let ticket = ActionTicket { id: rma().to_string(), status: TicketStatus::Duplicate };
    let found = advance(confirmed(), Event::AskedBefore(ticket.clone()));
    assert_eq!((found.handoff.reason(), found.meta.last_rma.as_ref()), (None, Some(&rma())));
    let later = Utterance { intent: None, ..shattered() };
    let over = State { stage: Stage::Over, ..found };
    assert_eq!(advance(over, Event::Said(later)).handoff.reason(), Some(HandoffReason::DamageLater));

    let told = Event::Said(Utterance { entities: order("77893"), ..shattered() });
    let at_once =
        State { user_confirmed_order: Some(true), order: Some(sample::order()), ..advance(State::default(), told) };
    let next = advance(at_once, Event::AskedBefore(ticket));
    assert_eq!((route(&next), next.handoff.reason()), (Step::Run(Worker::Escalate), Some(HandoffReason::DamageLater)));
}

#[test]
fn another_order_ends_the_failed_mail_question() {
    let mail = mail_failed();
    let other = Utterance { entities: order("77894"), intent: Some(Intent::OrderStatus), ..says("where is 77894?") };
    let next = advance(mail.clone(), Event::Said(other));
    assert_eq!((route(&next), next.meta.flow), (Step::Run(Worker::LookUpOrder), 1));
    assert_eq!(next.meta.last_rma, Some(rma()));
    let same = Utterance { entities: order("77893"), answer: Some(Answer::Again), ..says("again, for 77893") };
    assert_eq!(route(&advance(mail, Event::Said(same))), Step::Run(Worker::SendEmail));
}

#[test]
fn second_order_needs_its_own_contact() {
    let meta = Meta { contact: Some("a@example.com".to_owned()), contact_fits: true, ..Meta::default() };
    let second = State {
        intent: Some(Intent::Return),
        order_number: number("77894"),
        needs_contact: true,
        meta,
        ..State::default()
    };
    assert_eq!(route(&second), Step::Run(Worker::LookUpOrder));
    let next = advance(second.clone(), Event::OtherContact);
    assert_eq!((route(&next), &next.order_number), (Step::Ask(Question::Contact), &second.order_number));
    let asked = advance(next, Event::Asked(Question::Contact));
    let given = advance(asked, Event::Said(Utterance { entities: contact("b@example.com"), ..says("b@example.com") }));
    assert_eq!((route(&given), given.contact_given), (Step::Run(Worker::LookUpOrder), true));

    // "No, it is 77893, b@example.com": the contact is the new order's.
    let open = State { stage: Stage::Asked(Question::Confirm), user_confirmed_order: None, ..confirmed() };
    let entities = Entities { contacts: contact("b@example.com").contacts, ..order("77894") };
    let said = Utterance { entities, ..no() };
    let both = advance(open, Event::Said(said));
    assert_eq!((both.meta.contact.as_deref(), both.contact_given), (Some("b@example.com"), true));
}

#[test]
fn damage_belongs_to_the_current_order() {
    let torn = || Event::Said(says("it arrived torn").with(Act::Report(Topic::Damage)));
    let shown = |last_returned: &str| State {
        intent: Some(Intent::OrderStatus),
        order_number: Some(sample::number()),
        order: Some(sample::order()),
        status_shown: true,
        stage: Stage::Over,
        meta: Meta { last_rma: Some(rma()), last_returned: number(last_returned), ..Meta::default() },
        ..State::default()
    };
    let other = advance(shown("77894"), torn());
    assert_eq!((route(&other), other.handoff.reason()), (Step::Ask(Question::Confirm), None));
    assert_eq!(other.order_number, Some(sample::number()));
    assert_eq!(advance(shown("77893"), torn()).handoff.reason(), Some(HandoffReason::DamageLater));
}

#[test]
fn wish_after_status_keeps_the_order_shown() {
    let shown = State {
        intent: Some(Intent::OrderStatus),
        order_number: Some(sample::number()),
        order: Some(sample::order()),
        status_shown: true,
        stage: Stage::Over,
        ..State::default()
    };
    let wish = |intent, points_back| {
        let mut utterance = Utterance { intent: Some(intent), ..says("my money back") };
        utterance.set(Act::PointBack, points_back);
        utterance
    };
    for (intent, points_back, expected) in [
        (Intent::Refund, false, Step::Ask(Question::Confirm)),
        (Intent::Return, false, Step::Ask(Question::Confirm)),
        (Intent::OrderStatus, true, Step::Run(Worker::ShowStatus)),
        (Intent::OrderStatus, false, Step::Ask(Question::OrderNumber)),
    ] {
        let next = advance(shown.clone(), Event::Said(wish(intent, points_back)));
        assert_eq!(route(&next), expected, "{intent:?}");
    }
}

#[test]
fn no_or_goodbye_ends_the_number_question() {
    for question in [Question::OrderNumber, Question::OtherOrder, Question::Contact, Question::NotFound] {
        let asked = State { intent: Some(Intent::Return), stage: Stage::Asked(question), ..State::default() };
        let bye = Utterance { intent: Some(Intent::Other), ..says("bye") };
        for said in [no(), bye.clone(), Utterance { answer: Some(Answer::Cancel), ..says("forget it") }] {
            let next = advance(asked.clone(), Event::Said(said));
            assert_eq!(route(&next), Step::Finish(Ending::Declined), "{question:?}");
        }
        let hello = bye.with(Act::Greet);
        let entities = contact("huy@example.com");
        let brings = Utterance { answer: Some(Answer::Cancel), entities, ..says("huy@example.com, huy") };
        for said in [hello, brings, says("I don't have it")] {
            let next = advance(asked.clone(), Event::Said(said.clone()));
            assert_ne!(next.user_confirmed_order, Some(false), "{question:?}: {said:?}");
        }
    }
}

#[test]
fn bare_number_as_contact_is_a_phone() {
    let asked = State {
        intent: Some(Intent::OrderStatus),
        order_number: Some(sample::number()),
        needs_contact: true,
        stage: Stage::Asked(Question::Contact),
        ..State::default()
    };
    let said = |text: &str, confidence: Confidence| {
        let orders = vec![Found { number: text.parse().expect("a number"), confidence }];
        let entities = Entities { orders, ..Entities::default() };
        advance(asked.clone(), Event::Said(Utterance { entities, ..says(text) }))
    };
    let next = said("912345678", Confidence::Alone);
    assert_eq!((next.meta.contact.as_deref(), next.order_number), (Some("912345678"), Some(sample::number())));
    let next = said("912345678", Confidence::Named);
    assert_eq!(
        (next.meta.contact, next.order_number.unwrap().as_str()),
        (None, "912345678"),
        "it was called an order's"
    );
    let next = said("ABC-123456", Confidence::Alone);
    assert_eq!((next.meta.contact, next.order_number.unwrap().as_str()), (None, "ABC-123456"));
}
