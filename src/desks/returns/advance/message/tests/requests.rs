//! Requests for a person, and questions that are asked again.

use super::*;

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
