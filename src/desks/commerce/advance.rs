//! The next state and its effects, for each input. Pure: every decision of the desk is here and in the journeys.

use super::effect::{Effect, Event, Heard, Line, Reason};
use super::rules::Says;
use super::state::{ConversationState, Stage};
use super::{offers, orders, prefs, sales, support};
use crate::dialogue::Social;
use crate::domain::commerce::policy::{Journey, Routing};
use crate::domain::returns::Priority;

pub(super) type Next = (ConversationState, Vec<Effect>);

/// Returns the next state and what to do.
///
/// While an amount waits for its yes, every reply ends with the question for it, so that a yes can mean nothing else.
pub(super) fn advance(state: ConversationState, event: Event) -> Next {
    let (state, mut effects) = decide(state, event);
    let is_answered = effects.iter().all(|effect| matches!(effect, Effect::Say(_)));
    let is_asked = matches!(effects.last(), Some(Effect::Say(Line::Confirm { .. })));
    if matches!(state.stage, Stage::ConfirmAmount { .. }) && is_answered && !is_asked {
        effects.extend(sales::reminder(&state).map(Effect::Say));
    }
    (state, effects)
}

fn decide(mut state: ConversationState, event: Event) -> Next {
    match event {
        Event::Heard(heard) => hear(state, &heard),
        Event::Failed => {
            state.tool_errors = state.tool_errors.saturating_add(1);
            match state.tool_errors {
                // Two in a row; the shop's own limit is checked where the tools are called.
                0 | 1 => (state, vec![Effect::Say(Line::TryLater)]),
                _ => hand_over(state, Reason::ToolErrors, Priority::High),
            }
        }
        event => {
            state.tool_errors = 0;
            match event {
                Event::Found { items, total, confidence } => sales::found(state, items, total, confidence),
                Event::Item(item) => sales::got_item(state, item),
                Event::Ordered(ordered) => sales::ordered(state, ordered),
                Event::Methods(methods, wanted) => sales::got_methods(state, methods, wanted),
                Event::Began(began) => sales::began(state, began),
                Event::Offers(list) => offers::listed(state, list),
                Event::Coupon(result) => offers::applied(state, result),
                Event::Orders(list) => orders::listed(state, list),
                Event::Answered(is_answered) => support::answered(state, is_answered),
                Event::Cancelled => {
                    state.clear_sale();
                    (state, vec![Effect::Say(Line::Dropped)])
                }
                Event::Said => (state, Vec::new()),
                Event::Ticket => (state, vec![Effect::Say(Line::HandedOver)]),
                Event::Preferences => (state, vec![Effect::Say(Line::PreferencesAre)]),
                Event::Heard(_) | Event::Failed => (state, Vec::new()),
            }
        }
    }
}

/// Decides about a message of business.
fn hear(mut state: ConversationState, heard: &Heard) -> Next {
    let Heard { said, routing, rules, topic, .. } = heard;
    state.details = said.details.clone();
    let utterance = &said.utterance;
    if utterance.wants_person() || *routing == Routing::Journey(Journey::Handoff) {
        return hand_over(state, Reason::Asked, Priority::Medium);
    }
    if topic.is_some() {
        return hand_over(state, Reason::Topic, Priority::Medium);
    }
    if std::mem::take(&mut state.offers_person) && said.affirms() && utterance.only_answers() {
        return hand_over(state, Reason::Clarifications, Priority::Medium);
    }
    if said.says(Says::Frustrated) {
        state.unresolved = state.unresolved.saturating_add(1);
        if state.unresolved >= rules.unresolved_turns {
            return hand_over(state, Reason::Frustrated, Priority::High);
        }
    }
    if let Some(language) = heard.switched_to {
        state.language = Some(language);
        let mut effects = vec![Effect::Say(Line::LanguageAck)];
        effects.extend(sales::reminder(&state).map(Effect::Say));
        return (state, effects);
    }
    if said.says(Says::Dispute) && is_about_purchase(&state, *routing) {
        return hand_over(state, Reason::Dispute, Priority::High);
    }
    // "Use KARIBU10": a word with a digit is a code here.
    let code = said.codes().into_iter().find(|code| code.contains(|c: char| c.is_ascii_digit()));
    let may_be_code = !matches!(routing, Routing::Journey(Journey::Sales | Journey::Support | Journey::Orders));
    if let Some(code) = code.filter(|_| state.order.is_some() && may_be_code) {
        return resolved((state, vec![Effect::ApplyCoupon(code)]));
    }
    if let Some(next) = sales::answer(&state, heard) {
        return resolved(next);
    }
    match routing {
        Routing::Journey(journey) => {
            state.journey = *journey;
            resolved(match journey {
                Journey::Sales => sales::start(state, heard),
                Journey::Support => support::start(state, heard),
                Journey::Orders => orders::start(state, heard),
                Journey::Offers => offers::start(state, heard),
                Journey::Prefs => prefs::start(state, heard),
                Journey::Handoff | Journey::Governance | Journey::Unknown => {
                    return clarify(state, heard, Line::Unclear);
                }
            })
        }
        Routing::Clarify => clarify(state, heard, Line::Clarify),
        Routing::Unknown if utterance.greets() && utterance.stalls() => greet(state),
        Routing::Unknown if said.affirms() && utterance.only_answers() => match sales::reminder(&state) {
            Some(line) => (state, vec![Effect::Say(line)]),
            None => greet(state),
        },
        Routing::Unknown if said.only_hesitates() => (state, vec![Effect::Say(Line::TakeTime)]),
        Routing::Unknown => support::ask_documents(state, said),
    }
}

/// Whether a claim belongs to something that was bought, and is not a question about the rules ("can I get a refund?").
fn is_about_purchase(state: &ConversationState, routing: Routing) -> bool {
    let is_rules = routing == Routing::Journey(Journey::Support);
    !is_rules && !matches!(state.stage, Stage::Options | Stage::Item { .. } | Stage::Disambiguate { .. })
}

/// Forgets what went wrong before, since the desk understood.
fn resolved((mut state, effects): Next) -> Next {
    state.clarifications = 0;
    (state, effects)
}

/// Answers a greeting.
fn greet(mut state: ConversationState) -> Next {
    let reminder = sales::reminder(&state).filter(|_| state.has_introduced);
    state.has_introduced = true;
    let line = reminder.unwrap_or(Line::Welcome);
    (state, vec![Effect::Say(line)])
}

/// Asks what the customer means. When that did not help, a person is offered, then called.
pub(super) fn clarify(mut state: ConversationState, heard: &Heard, line: Line) -> Next {
    state.clarifications = state.clarifications.saturating_add(1);
    if state.clarifications >= heard.rules.clarifications {
        return hand_over(state, Reason::Clarifications, Priority::Medium);
    }
    let line = if heard.said.says(Says::Frustrated) { Line::Sorry } else { line };
    (state, vec![Effect::Say(line)])
}

/// Calls a person. The sale is unchanged, so that the customer can continue.
pub(super) fn hand_over(mut state: ConversationState, reason: Reason, priority: Priority) -> Next {
    (state.clarifications, state.unresolved, state.tool_errors) = (0, 0, 0);
    (state, vec![Effect::CallPerson { reason, priority }])
}

/// What is said to small talk that the governor lets through.
pub(super) fn small_talk(topic: Social) -> Line {
    match topic {
        Social::Thanks | Social::Compliment => Line::Thanks,
        Social::Goodbye => Line::Goodbye,
        Social::HumanOrBot | Social::Name => Line::Assistant,
        Social::Complaint => Line::Sorry,
        _ => Line::SmallTalk,
    }
}
