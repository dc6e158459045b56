//! Messages at unusual moments.

use super::*;
use crate::desks::returns::advance::{Event, next_state};
use crate::desks::returns::route::{Handler, Step, decide, route};
use crate::desks::returns::state::{Case, Ending, Meta, Subject};
use crate::desks::returns::tests::sample;
use crate::dialogue::Act;
use crate::dialogue::utterance::Entities;
use crate::domain::commerce::OrderNumber;
use crate::domain::returns::Cause;
use crate::nlu::entities::Confidence;
use crate::nlu::entities::Found;

pub(super) fn says(text: &str) -> Utterance {
    Utterance { text: text.to_owned(), ..Utterance::default() }
}

fn no() -> Utterance {
    Utterance { answer: Some(Answer::No), ..says("no wait") }.with(Act::Hesitate)
}

fn number(text: &str) -> Option<OrderNumber> {
    Some(text.parse().expect("a number"))
}

/// Entities with one order number.
pub(super) fn order(text: &str) -> Entities {
    let number = text.parse().expect("a number");
    Entities { orders: vec![Found { number, confidence: Confidence::Named }], ..Entities::default() }
}

/// Entities with one e-mail address.
fn contact(text: &str) -> Entities {
    Entities { contacts: vec![Contact::Email(text.parse().expect("an address"))], ..Entities::default() }
}

#[test]
fn no_after_cancelled_yes_takes_it_back() {
    let agreed = sample::agreed(Action::Return);
    let next = next_state(agreed.clone(), Event::Said(no()));
    assert_eq!(route(&next), Step::Ask(Question::Confirm));
    let asked = next_state(next, Event::Asked(Question::Confirm));
    assert_eq!(route(&next_state(asked, Event::Said(no()))), Step::Finish(Ending::Declined));
    let next = next_state(agreed, Event::Said(says("hello?")));
    assert_eq!(route(&next), Step::Run(Handler::ProcessReturn), "only a no interrupts");
}

#[test]
fn shipped_order_is_not_returned_instead_of_cancelled() {
    let cancel = || {
        let utterance = Utterance { intent: Some(Intent::Return), ..says("cancel my order") };
        utterance.with(Act::Request(Topic::Cancellation))
    };
    let delivered = |state: State, decision| State { stage: sample::decided(decision).stage, ..state };
    let at_first = next_state(State::default(), Event::Said(cancel()));
    let after_another_matter = next_state(sample::wants(Intent::OrderStatus), Event::Said(cancel()));
    let in_the_middle = next_state(sample::found(Intent::Return), Event::Said(cancel()));
    for state in [at_first, after_another_matter, in_the_middle] {
        assert!(state.case.wants_cancel, "{state:?}");
        let only_return = delivered(state, sample::approved());
        assert_eq!(decide(&only_return), (11, Step::Ask(Question::OnlyReturn)));
        let agreed = sample::after(Question::OnlyReturn, only_return);
        let reason = Event::Said(Utterance { intent: Some(Intent::Return), ..says("they are too small") });
        assert_eq!(route(&next_state(agreed.clone(), reason)), Step::Ask(Question::Confirm), "a reason is no yes");
        let yes = Event::Said(Utterance { answer: Some(Answer::Yes), ..says("yes") });
        assert_eq!(route(&next_state(agreed, yes)), Step::Run(Handler::ProcessReturn));
    }
}

#[test]
fn named_items_are_confirmed_before_a_partial_return() {
    let mut order = sample::order();
    order.items.push(sample::item(2, "Wool Socks"));
    let yes = |text: &str| Event::Said(Utterance { answer: Some(Answer::Yes), ..says(text) });
    let both = sample::with_subject(Intent::Return, Subject::new(order, 1.0));
    let asked = |state: State, lines: &[u32]| {
        let decided = next_state(state, Event::Decided(sample::approved(), lines.to_vec(), sample::refund()));
        next_state(next_state(decided, Event::ActionDecided), Event::Asked(Question::Confirm))
    };
    let all = asked(both, &[1, 2]);
    let only = next_state(all.clone(), yes("yes, only the socks"));
    assert_eq!((route(&only), only.lines()), (Step::Run(Handler::CheckPolicy), Some(&vec![2])));
    let sure = next_state(asked(only, &[2]), yes("yes, the socks"));
    assert_eq!((route(&sure), sure.lines()), (Step::Run(Handler::ProcessReturn), Some(&vec![2])));
    for text in ["yes", "yes, the boots and the socks"] {
        let whole = next_state(all.clone(), yes(text));
        assert_eq!((route(&whole), whole.lines()), (Step::Run(Handler::ProcessReturn), Some(&vec![1, 2])), "{text}");
    }
}

#[test]
fn second_order_needs_its_own_contact() {
    let meta = Meta { contact: Some("a@example.com".to_owned()), contact_fits: true, ..Meta::default() };
    let mut second = State { meta, ..sample::wants(Intent::Return) };
    second.case.contact.is_needed = true;
    second.name_order(number("77894"), 1.0);
    assert_eq!(route(&second), Step::Run(Handler::LookUpOrder));
    let next = next_state(second.clone(), Event::OtherContact);
    assert_eq!((route(&next), next.order_number()), (Step::Ask(Question::Contact), second.order_number()));
    let asked = next_state(next, Event::Asked(Question::Contact));
    let given =
        next_state(asked, Event::Said(Utterance { entities: contact("b@example.com"), ..says("b@example.com") }));
    assert_eq!((route(&given), given.case.contact.is_given), (Step::Run(Handler::LookUpOrder), true));

    // "No, it is 77893, b@example.com": the contact is the new order's.
    let open = sample::after(Question::Confirm, sample::found(Intent::Return));
    let entities = Entities { contacts: contact("b@example.com").contacts, ..order("77894") };
    let said = Utterance { entities, ..no() };
    let both = next_state(open, Event::Said(said));
    assert_eq!((both.meta.contact.as_deref(), both.case.contact.is_given), (Some("b@example.com"), true));
}

#[test]
fn damage_belongs_to_the_current_order() {
    let torn = || Event::Said(says("it arrived torn").with(Act::Report(Topic::Damage)));
    let shown = |last_returned: &str| State {
        phase: Phase::Over,
        meta: Meta { last_rma: Some(sample::rma()), last_returned: number(last_returned), ..Meta::default() },
        ..sample::shown()
    };
    let other = next_state(shown("77894"), torn());
    assert_eq!((route(&other), other.handoff.reason()), (Step::Run(Handler::CheckPolicy), None));
    assert_eq!(other.order_number(), Some(&sample::number()));
    assert_eq!(next_state(shown("77893"), torn()).handoff.reason(), Some(HandoffReason::DamageLater));
}

#[test]
fn wish_after_status_keeps_the_order_shown() {
    let shown = State { phase: Phase::Over, ..sample::shown() };
    let wish = |intent, points_back| {
        let mut utterance = Utterance { intent: Some(intent), ..says("my money back") };
        utterance.set(Act::PointBack, points_back);
        utterance
    };
    for (intent, points_back, expected) in [
        (Intent::Refund, false, Step::Run(Handler::CheckPolicy)),
        (Intent::Return, false, Step::Run(Handler::CheckPolicy)),
        (Intent::OrderStatus, true, Step::Run(Handler::ShowStatus)),
        (Intent::OrderStatus, false, Step::Run(Handler::ShowStatus)),
    ] {
        let next = next_state(shown.clone(), Event::Said(wish(intent, points_back)));
        assert_eq!(route(&next), expected, "{intent:?}");
    }
}

#[test]
fn no_or_goodbye_ends_the_number_question() {
    for question in [Question::OrderNumber, Question::OtherOrder, Question::Contact, Question::NotFound] {
        let asked = sample::after(question, sample::wants(Intent::Return));
        let bye = Utterance { intent: Some(Intent::Other), ..says("bye") };
        for said in [no(), bye.clone(), Utterance { answer: Some(Answer::Cancel), ..says("forget it") }] {
            let next = next_state(asked.clone(), Event::Said(said));
            assert_eq!(route(&next), Step::Finish(Ending::Declined), "{question:?}");
        }
        let hello = bye.with(Act::Greet);
        let entities = contact("huy@example.com");
        let brings = Utterance { answer: Some(Answer::Cancel), entities, ..says("huy@example.com, huy") };
        for said in [hello, brings, says("I don't have it")] {
            let next = next_state(asked.clone(), Event::Said(said.clone()));
            assert!(!next.is_declined(), "{question:?}: {said:?}");
        }
    }
}

#[test]
fn bare_number_as_contact_is_a_phone() {
    let mut asked = sample::after(Question::Contact, sample::named(Intent::OrderStatus));
    asked.case.contact.is_needed = true;
    let said = |text: &str, confidence: Confidence| {
        let orders = vec![Found { number: text.parse().expect("a number"), confidence }];
        let entities = Entities { orders, ..Entities::default() };
        next_state(asked.clone(), Event::Said(Utterance { entities, ..says(text) }))
    };
    let next = said("912345678", Confidence::Alone);
    assert_eq!((next.meta.contact.as_deref(), next.order_number()), (Some("912345678"), Some(&sample::number())));
    let next = said("912345678", Confidence::Named);
    assert_eq!(
        (next.meta.contact.as_ref(), next.order_number().unwrap().as_str()),
        (None, "912345678"),
        "it was called an order's"
    );
    let next = said("ABC-123456", Confidence::Alone);
    assert_eq!((next.meta.contact.as_ref(), next.order_number().unwrap().as_str()), (None, "ABC-123456"));
}

#[test]
fn some_pieces_are_confirmed_or_need_a_person() {
    let mut order = sample::order();
    order.items[0].quantity = 2;
    let decision = || Event::Decided(sample::approved(), vec![1], sample::refund());
    let asked = |state: State| {
        let decided = next_state(next_state(state, decision()), Event::ActionDecided);
        next_state(decided, Event::Asked(Question::Confirm))
    };
    let several = sample::with_subject(Intent::Return, Subject::new(order, 1.0));
    let one = || {
        let utterance = Utterance { answer: Some(Answer::Yes), ..says("yes, only one of them") };
        Event::Said(utterance.with(Act::Mention(Topic::SomePieces)))
    };
    let asked_again = next_state(asked(several), one());
    assert!(asked_again.wants_some_pieces());
    assert_eq!(route(&asked_again), Step::Run(Handler::CheckPolicy), "all pieces are named before a yes counts");
    let asked_again = asked(asked_again);
    let yes = Event::Said(Utterance { answer: Some(Answer::Yes), ..says("yes") });
    assert_eq!(route(&next_state(asked_again.clone(), yes)), Step::Run(Handler::ProcessReturn));
    assert_eq!(route(&next_state(asked_again, one())), Step::Run(Handler::Escalate));
    let single = next_state(asked(sample::found(Intent::Return)), one());
    assert_eq!(route(&single), Step::Run(Handler::ProcessReturn), "one piece is the whole item");
}

#[test]
fn cancel_after_a_status_means_the_order() {
    let shown = State { phase: Phase::Over, ..sample::shown() };
    let cancel = |answer_to_cancel| {
        let said = Utterance { answer: Some(Answer::Cancel), answer_to_cancel, ..says("cancel it") };
        Event::Said(said.with(Act::Mention(Topic::Cancellation)))
    };
    let next = next_state(shown.clone(), cancel(Some(Answer::Yes)));
    assert_eq!((route(&next), next.case.wants_cancel), (Step::Run(Handler::CheckPolicy), true));
    let kept = next_state(shown.clone(), cancel(Some(Answer::No)));
    assert_eq!(route(&kept), Step::Finish(Ending::Declined), "keep it");
    let never_mind = Event::Said(Utterance { answer: Some(Answer::Cancel), ..says("never mind") });
    assert_eq!(route(&next_state(shown, never_mind)), Step::Finish(Ending::Declined));
}

#[test]
fn argument_after_a_refusal_does_not_reopen_it() {
    let refused = State { phase: Phase::Over, ..sample::decided(sample::refused(Cause::WindowOver)) };
    let argues = || Event::Said(says("that is ridiculous"));
    let next = next_state(refused.clone(), argues());
    assert_eq!((route(&next), next.is_refused()), (Step::Run(Handler::ClassifyIntent), true));
    let asked = next_state(next_state(next, Event::Classified(None)), Event::Asked(Question::Matter));
    assert_eq!((asked.case.clarifies, asked.was_refused()), (1, true));
    let again = next_state(asked.clone(), argues());
    assert_eq!((again.case.clarifies, again.is_refused()), (1, true));
    let yes = Utterance { answer: Some(Answer::Yes), ..says("yes") }.with(Act::OnlyAnswer);
    assert_eq!(next_state(asked.clone(), Event::Said(yes)).handoff.reason(), Some(HandoffReason::Person));
    let wish = Utterance { intent: Some(Intent::Refund), ..says("I want my money") };
    assert_eq!(route(&next_state(asked, Event::Said(wish))), Step::Run(Handler::CheckPolicy));
}

#[test]
fn contact_after_misses_retries_the_tried_number() {
    let mut missed = next_state(sample::named(Intent::Return), Event::OrderNotFound);
    for question in [Question::NotFound, Question::OrderNumber] {
        missed = next_state(missed, Event::Asked(question));
        let said = Utterance { entities: contact("b@example.com"), ..says("b@example.com") };
        let next = next_state(missed.clone(), Event::Said(said));
        assert_eq!((route(&next), next.order_number()), (Step::Run(Handler::LookUpOrder), Some(&sample::number())));
    }
}

/// A request with its order, after the question whether to open a ticket.
#[test]
fn other_wish_or_items_restart_the_repetitions() {
    let repeated = || {
        let mut state = sample::after(Question::Confirm, sample::chosen(Action::Return));
        state.case.last_question = Some(Question::Confirm);
        state.case.repeats = 1;
        state
    };
    let refund = Utterance { intent: Some(Intent::Refund), ..says("rather a refund") };
    assert_eq!(next_state(repeated(), Event::Said(refund)).case.repetitions(Question::Confirm), 0);
    let mut two = repeated();
    two.subject_mut().expect("an order").order.items.push(sample::item(2, "Wool Socks"));
    assert_eq!(next_state(two, Event::Said(says("only the socks"))).case.repetitions(Question::Confirm), 0);
    assert_eq!(next_state(repeated(), Event::Said(says("hm"))).case.repetitions(Question::Confirm), 2);
}

#[test]
fn asides_do_not_count_as_repetitions() {
    let mut state = sample::wants(Intent::Return);
    for _ in 0..4 {
        state = next_state(next_state(state, Event::Asked(Question::OrderNumber)), Event::Said(Utterance::default()));
        assert_eq!((route(&state), state.case.repeats), (Step::Ask(Question::OrderNumber), 0));
    }
    state = next_state(next_state(state, Event::Asked(Question::OrderNumber)), Event::Said(says("hm")));
    assert_eq!(state.case.repetitions(Question::OrderNumber), 1);
}

#[test]
fn declined_order_stays_the_subject() {
    let asked = sample::after(Question::Confirm, sample::chosen(Action::Return));
    let keep = Utterance { answer: Some(Answer::Cancel), ..says("never mind") };
    let next = next_state(asked, Event::Said(keep));
    assert_eq!((route(&next), next.order_number()), (Step::Finish(Ending::Declined), Some(&sample::number())));
    let over = next_state(next, Event::Finished(Ending::Declined));
    let where_is = Utterance { intent: Some(Intent::OrderStatus), ..says("when will it arrive?") };
    assert_eq!(route(&next_state(over, Event::Said(where_is))), Step::Run(Handler::ShowStatus));
}

#[test]
fn part_of_an_order_is_not_cancelled() {
    let mut state = sample::decided(sample::refused(Cause::NotShipped));
    let subject = state.subject_mut().expect("an order");
    subject.order.items.push(sample::item(2, "Wool Socks"));
    subject.lines = Some(vec![1, 2]);
    let yes = |text: &str| Event::Said(Utterance { answer_to_cancel: Some(Answer::Yes), ..says(text) });
    let asked = sample::after(Question::OfferCancel, state);
    let part = next_state(asked.clone(), yes("yes, cancel the socks"));
    assert_eq!((route(&part), part.lines()), (Step::Run(Handler::CheckPolicy), Some(&vec![2])));
    let whole = next_state(asked, yes("yes, cancel it"));
    assert_eq!(route(&whole), Step::Run(Handler::ProcessCancel));
}

#[test]
fn ok_after_an_answer_ends_the_matter() {
    let ok = || Utterance { answer: Some(Answer::Yes), ..says("ok") }.with(Act::Acknowledge).with(Act::OnlyAnswer);
    let over = next_state(State { phase: Phase::Over, ..State::default() }, Event::Said(ok()));
    assert_eq!((route(&over), over.case.message.is_acknowledged), (Step::Finish(Ending::Other), true));
    let asked = State { phase: Phase::Asked(Question::OrderNumber), ..sample::wants(Intent::Return) };
    let before = next_state(asked.clone(), Event::Said(ok()));
    assert_eq!(route(&before), Step::Ask(Question::OrderNumber), "the question is open");
    let message = LastMessage { is_aside: true, ..asked.case.message.clone() };
    let answered = State { case: Case { message, ..asked.case.clone() }, ..asked };
    assert!(next_state(answered, Event::Said(ok())).case.message.is_acknowledged, "a question was answered before it");
}

#[test]
fn unanswered_question_leads_to_a_person() {
    let mut state = sample::wants(Intent::Return);
    for said in ["hm", "what now", "hello"] {
        assert_eq!(route(&state), Step::Ask(Question::OrderNumber), "{said}");
        state = next_state(next_state(state, Event::Asked(Question::OrderNumber)), Event::Said(says(said)));
    }
    assert_eq!((route(&state), state.handoff.reason()), (Step::Run(Handler::Escalate), Some(HandoffReason::GaveUp)));
}

fn request_asked(intent: Intent) -> State {
    sample::after(Question::Confirm, sample::found(intent))
}

#[test]
fn open_it_agrees_to_no_return() {
    let open_it = || Event::Said(Utterance { answer_to_ticket: Some(Answer::Yes), ..says("open it") });
    let next = next_state(request_asked(Intent::Exchange), open_it());
    assert_eq!((route(&next), next.handoff.reason()), (Step::Run(Handler::Escalate), Some(HandoffReason::Request)));
    let asked = sample::after(Question::Confirm, sample::chosen(Action::Return));
    assert_eq!(route(&next_state(asked, open_it())), Step::Ask(Question::Confirm));
}

#[test]
fn return_verb_switches_an_exchange_to_a_return() {
    let yes = |text: &str| Utterance {
        intent: Some(Intent::Return),
        answer: Some(Answer::Yes),
        answer_to_ticket: Some(Answer::Yes),
        ..says(text)
    };
    let reason = next_state(request_asked(Intent::Exchange), Event::Said(yes("yes, they are too small")));
    assert_eq!((route(&reason), reason.case.intent), (Step::Run(Handler::Escalate), Some(Intent::Exchange)));
    let verb = yes("yes, return it").with(Act::Mention(Topic::Return));
    let switched = next_state(request_asked(Intent::Exchange), Event::Said(verb.clone()));
    assert_eq!((route(&switched), switched.case.intent), (Step::Run(Handler::CheckPolicy), Some(Intent::Return)));
    let mistake = next_state(request_asked(Intent::WrongItem), Event::Said(verb));
    assert_eq!(mistake.handoff.reason(), Some(HandoffReason::Request), "the person decides about the money");
}

#[test]
fn changed_amount_is_asked_about_again() {
    let amount = sample::refund();
    let amount = crate::domain::commerce::Money::new(amount.minor + 100, amount.currency);
    let mut agreed = sample::agreed(Action::Return);
    agreed.case.last_question = Some(Question::Confirm);
    agreed.case.repeats = 1;
    let next = next_state(agreed, Event::OtherAmount(amount));
    assert_eq!((route(&next), next.is_agreed()), (Step::Ask(Question::Confirm), false));
    assert_eq!(next.subject().and_then(|subject| subject.refund), Some(amount));
    assert_eq!(next.case.repetitions(Question::Confirm), 0, "the new question describes what a yes does");
}
