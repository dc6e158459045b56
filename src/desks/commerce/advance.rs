//! The next state and its effects, for each input. Pure: every decision of the desk is here and in the journeys.

use super::always::{answer_at_every_stage, say_and_remind};
use super::effect::{Began, Effect, Event, Incoming, Line, Reason};
use super::rules::Says;
use super::said::MOST_PIECES;
use super::state::{ConversationState, Stage};
use super::texts::Text;
use super::{offers, orders, prefs, sales, support};
use crate::dialogue::Social;
use crate::domain::commerce::policy::{Intent, Journey, Routing};
use crate::domain::returns::Priority;
use crate::nlu::pick::Pick;

pub(super) type Next = (ConversationState, Vec<Effect>);

/// Returns the next state and what to do.
///
/// While an amount waits for its yes, every reply ends with the question for it, so that a yes can mean nothing else.
pub(super) fn advance(state: ConversationState, event: Event) -> Next {
    let (mut state, mut effects) = decide(state, event);
    sales::show_first(&mut state, &mut effects);
    support::ask_aside(&mut state, &mut effects);
    let is_answered = effects.iter().all(|effect| matches!(effect, Effect::Say(_)));
    let is_asked = matches!(effects.last(), Some(Effect::Say(Line::Confirm { .. })));
    if matches!(state.stage, Stage::ConfirmAmount { .. }) && is_answered && !is_asked {
        effects.extend(sales::reminder(&state).map(Effect::Say));
    }
    (state, effects)
}

fn decide(mut state: ConversationState, event: Event) -> Next {
    match event {
        Event::Message(incoming) => on_message(state, &incoming),
        Event::Failed => tool_failed(state, vec![Effect::Say(Line::Plain(Text::TryLater))]),
        event => {
            // The list of ways to pay comes from the shop's rows: it says nothing about a provider that failed.
            if !matches!(event, Event::Methods(..) | Event::Began(Began::Unavailable(_))) {
                state.tool_errors = 0;
            }
            match event {
                Event::Found { items, total, confidence, words } => {
                    if let (Some(search), Some(words)) = (&mut state.search, words) {
                        search.words = words;
                    }
                    sales::found(state, items, total, confidence)
                }
                Event::Item(item) => sales::got_item(state, item),
                Event::Compared(items) => sales::compared(state, items),
                Event::Ordered(ordered) => sales::ordered(state, ordered),
                Event::Methods(methods, wanted) => sales::got_methods(state, methods, wanted),
                Event::Began(began) => sales::began(state, began),
                Event::Offers(list) => offers::listed(state, list),
                Event::OffersOn(item, offers) => sales::checked_offers(state, *item, offers),
                Event::Coupon(result) => offers::applied(state, result),
                Event::Orders(list) => orders::listed(state, list),
                Event::Answered(is_answered) => support::answered(state, is_answered),
                Event::AnsweredAside(is_answered) => support::answered_aside(state, is_answered),
                Event::Cancelled(is_cancelled) => {
                    let order = state.order.as_ref().map(|order| order.id.clone());
                    state.clear_sale();
                    let line = match order {
                        _ if !is_cancelled => Line::Plain(Text::Settled),
                        Some(order) => Line::Cancelled(order),
                        None => Line::Plain(Text::Dropped),
                    };
                    (state, vec![Effect::Say(line)])
                }
                Event::Said => (state, Vec::new()),
                Event::Ticket => (state, vec![Effect::Say(Line::HandedOver)]),
                Event::Preferences => (state, vec![Effect::Say(Line::PreferencesAre)]),
                Event::Message(_) | Event::Failed => (state, Vec::new()),
            }
        }
    }
}

/// Whether the rules do not understand a message here: the customer would be asked what they mean, or the documents as a last resort.
pub(super) fn is_unsure(state: &ConversationState, incoming: &Incoming) -> bool {
    if matches!(incoming.routing, Routing::Journey(_)) {
        return false;
    }
    // An earlier failed search for orders does not make this message clear.
    let state = ConversationState { has_no_order: false, ..state.clone() };
    let (_, effects) = on_message(state, incoming);
    matches!(
        effects.first(),
        Some(
            Effect::Say(Line::Plain(Text::Clarify | Text::Unclear | Text::Sorry))
                | Effect::Answer { .. }
                | Effect::CallPerson { reason: Reason::Clarifications, .. }
        )
    )
}

/// Decides about a message of business.
fn on_message(mut state: ConversationState, incoming: &Incoming) -> Next {
    let said = &incoming.said;
    state.details = said.details.clone();
    (state.rules, state.is_waiting) = (incoming.rules, incoming.is_waiting);
    // Goods that wait for an answer about the first ones are not forgotten.
    if !matches!(state.stage, Stage::Item { .. } | Stage::Disambiguate { .. } | Stage::Options) {
        state.later.clear();
    }
    // Other goods end a question about earlier ones.
    if incoming.names_goods() {
        state.later.retain(|earlier| !earlier.is_question && !earlier.words.is_empty());
    }
    state.later.extend(incoming.later.iter().cloned());
    (state.is_later, state.question) = (false, incoming.question.clone());
    state.note_message(incoming);
    let was_sold_out = std::mem::take(&mut state.was_sold_out);
    let may_call = std::mem::take(&mut state.offers_person);
    let asked = std::mem::take(&mut state.asked);
    // "How long till somebody talks to me?"
    if state.is_waiting && said.says(Says::Waits) && said.utterance.has_question() && !incoming.asks_else_of_shop() {
        return (state, vec![Effect::Say(Line::HandedOver)]);
    }
    let person = needs_person(&state, incoming, may_call);
    if said.asks_secret() && person != Some(Reason::Dispute) {
        return say_and_remind(state, Line::Plain(Text::NeverSend));
    }
    if let Some(reason) = person {
        let priority = match reason {
            Reason::Asked | Reason::Topic | Reason::Clarifications | Reason::OrderChange => Priority::Medium,
            _ => Priority::High,
        };
        return hand_over(state, reason, priority);
    }
    if said.says(Says::Frustrated) {
        state.unresolved = state.unresolved.saturating_add(1);
        if state.unresolved >= incoming.rules.unresolved_turns {
            return hand_over(state, Reason::Frustrated, Priority::High);
        }
    }
    if incoming.switched_to.is_some() {
        return say_and_remind(state, Line::Plain(Text::LanguageAck));
    }
    if may_call && said.refuses() && said.utterance.only_answers() {
        state.clarifications = 0;
        let line = sales::reminder(&state).unwrap_or(Line::Plain(Text::AskNeed));
        return (state, vec![Effect::Say(line)]);
    }
    let own_number = name_number(&mut state, incoming);
    // "At how much?", after when it is delivered.
    let asks_price = said.says(Says::HowMuch) && !said.describes_goods() && said.details.numbers.is_empty();
    if asks_price && !said.says(Says::ShowCart) && asked.iter().any(|subject| subject.starts_with("delivery")) {
        return support::ask_more(state, "delivery_cost");
    }
    let (state, mut effects) = match answer_at_every_stage(state, incoming, (was_sold_out, asked.as_slice())) {
        Ok(next) => resolved(next, incoming),
        Err(state) => answer(*state, incoming),
    };
    effects.splice(0..0, own_number.map(Effect::Say));
    (state, effects)
}

/// Decides about a message that no person is called for.
fn answer(mut state: ConversationState, incoming: &Incoming) -> Next {
    let Incoming { said, routing, .. } = incoming;
    let utterance = &said.utterance;
    // An M-PESA receipt says that something was paid: a person who is called already looks at it.
    if said.names_receipt() && incoming.coupon.is_none() {
        return match incoming.is_waiting {
            true => hand_over(state, Reason::Dispute, Priority::High),
            false => resolved(orders::start(state, incoming), incoming),
        };
    }
    if said.pin().is_some_and(is_no_price) {
        return say_and_remind(state, Line::Plain(Text::NoPayment));
    }
    let seeks_cheaper = said.wants_cheaper() && !said.names_own_price() && state.kind().is_some();
    // "I have 2,000 only. What shoes can I get?" names a limit.
    let seeks_cheaper = seeks_cheaper || (said.most.is_some() && state.seeks_other(incoming));
    if said.says(Says::Haggle) && incoming.coupon.is_none() && !seeks_cheaper {
        return resolved(haggle(state, incoming), incoming);
    }
    let waits = said.says(Says::Waits) && (state.is_waiting || !utterance.has_question());
    let waits = waits && !incoming.asks_else_of_shop();
    if waits && !matches!(state.stage, Stage::ConfirmAmount { .. } | Stage::Paying) {
        let line = match state.is_waiting {
            true => Line::Plain(Text::PersonWaiting),
            false if state.is_selling() => Line::Plain(Text::TakeTime),
            false => Line::Plain(Text::NobodyCalled),
        };
        state.offers_person = line == Line::Plain(Text::NobodyCalled);
        return (state, vec![Effect::Say(line)]);
    }
    // Who waits for a person, and neither asks nor wants anything else, adds to what they said before.
    let is_idle = matches!(state.stage, Stage::Idle | Stage::Narrow | Stage::Done);
    if state.is_waiting
        && is_idle
        && !incoming.is_sale()
        && !incoming.asks_else()
        && said.clear_intents().is_empty()
        && !utterance.has_question()
    {
        return (state, vec![Effect::Say(Line::Plain(Text::PersonWaiting))]);
    }
    // "It was 2 gum boots, paid already", after no order was found: the goods of that order.
    let is_lost = state.has_no_order && state.journey == Journey::Orders && !state.is_selling();
    if is_lost && incoming.describes_order() {
        return match state.is_waiting {
            true => (state, vec![Effect::Say(Line::Plain(Text::PersonWaiting))]),
            false => resolved((state, vec![Effect::GetOrders(None)]), incoming),
        };
    }
    if let Some(next) = offers::coupon(&state, incoming).or_else(|| sales::answer(&state, incoming)) {
        return resolved(next, incoming);
    }
    if said.order().is_some() {
        return resolved(orders::start(state, incoming), incoming);
    }
    match routing {
        Routing::Journey(journey) => {
            state.journey = *journey;
            let next = match journey {
                Journey::Sales => sales::start(state, incoming),
                Journey::Support => support::start(state, incoming),
                Journey::Orders => orders::start(state, incoming),
                Journey::Offers => offers::start(state, incoming),
                Journey::Prefs => prefs::start(state, incoming),
                Journey::Handoff | Journey::Governance | Journey::Unknown => {
                    return clarify(state, incoming, Line::Plain(Text::Unclear));
                }
            };
            resolved(next, incoming)
        }
        // "So tomorrow, right?"
        _ if utterance.has_question() && !said.subjects.is_empty() && !incoming.names_goods() => {
            support::ask_documents(state, said)
        }
        // "I have no number, I only used this phone", after no order was found.
        Routing::Unknown if state.has_no_order && state.journey == Journey::Orders && !incoming.names_goods() => {
            resolved((state, vec![Effect::GetOrders(None)]), incoming)
        }
        // In the middle of a sale, the name of another item means that item.
        _ if incoming.names_goods() && state.is_selling() => resolved(sales::start(state, incoming), incoming),
        // "Is there parking?", "can I pay half now?"
        Routing::Clarify if utterance.has_question() && incoming.is_about_shop() => {
            resolved(support::start(ConversationState { journey: Journey::Support, ..state }, incoming), incoming)
        }
        // "Do you have laces?", with other goods in the cart.
        Routing::Unknown | Routing::Clarify if incoming.wants_unknown_goods() && !state.cart.is_empty() => {
            resolved(sales::start(state, incoming), incoming)
        }
        Routing::Clarify => clarify(state, incoming, Line::Plain(Text::Clarify)),
        Routing::Unknown if utterance.greets() && utterance.stalls() => greet(state),
        Routing::Unknown if said.affirms() && utterance.only_answers() => match sales::reminder(&state) {
            Some(line) => (state, vec![Effect::Say(line)]),
            None if state.is_waiting => (state, vec![Effect::Say(Line::Plain(Text::PersonWaiting))]),
            None if state.stage == Stage::Narrow => (state, vec![Effect::Say(Line::Plain(Text::AskNeed))]),
            None if state.journey != Journey::Unknown => (state, vec![Effect::Say(Line::Plain(Text::Thanks))]),
            None => greet(state),
        },
        Routing::Unknown if said.only_hesitates() => (state, vec![Effect::Say(Line::Plain(Text::TakeTime))]),
        Routing::Unknown => support::ask_documents(state, said),
    }
}

impl ConversationState {
    /// Notes what the message is about, for this turn and for what the next ones point at.
    fn note_message(&mut self, incoming: &Incoming) {
        let said = &incoming.said;
        self.pays_next &= self.item().is_some();
        if incoming.names_goods() {
            self.topic.clone_from(&said.sought);
        }
        let is_question = said.utterance.has_question();
        let points_at = matches!(said.pick, Some(Pick::Nth(_) | Pick::Last)) && !said.words.is_empty();
        let asks_if_so = said.details.are_none() && said.says(Says::AsksIfSo);
        self.asks_details = said.says(Says::AsksChoices) || (is_question && (points_at || asks_if_so));
        let only_asks = said.says(Says::AsksStock) || !said.goes_on() && !said.affirms();
        self.only_asks = is_question && only_asks && !said.says(Says::Wants);
        self.asks_sum = said.says(Says::HowMuch);
        self.asks_left = said.says(Says::HowMany) && !said.says(Says::AsksChoices);
        self.postpones = said.says(Says::Postpones);
    }

    /// Whether a message names other goods than the item that is talked about.
    pub(super) fn seeks_other(&self, incoming: &Incoming) -> bool {
        let own = self.item().or(self.last.as_ref()).map(|wanted| wanted.item.names());
        incoming.names_goods() && own.is_none_or(|own| incoming.goods.iter().any(|word| !own.contains(word)))
    }
}

/// Whether four digits are a PIN: prices are round.
fn is_no_price(digits: &str) -> bool {
    digits.starts_with('0') || digits.parse::<u32>().is_ok_and(|number| number % 50 != 0)
}

/// Answers a customer who bargains. Goods that the message chooses as well are chosen.
fn haggle(state: ConversationState, incoming: &Incoming) -> Next {
    let mut chosen = incoming.clone();
    // A number in an offer is money, unless it can only be a few pieces or a size.
    let is_size = |number: u64| state.item().or(state.last.as_ref()).is_some_and(|of| of.item.is_like_a_size(number));
    let counts = incoming.said.says(Says::Counted);
    chosen.said.details.numbers.retain(|number| *number <= MOST_PIECES || is_size(*number) || counts);
    let has_choice = !chosen.said.details.are_none();
    let next = sales::answer(&state, &chosen).filter(|_| has_choice && !state.is_later);
    match next {
        Some((next, mut effects)) => {
            effects.insert(0, Effect::Say(Line::Plain(Text::PriceFixed)));
            (next, effects)
        }
        None => offers::haggle(state),
    }
}

/// Returns why a person must take over at once.
fn needs_person(state: &ConversationState, incoming: &Incoming, may_call: bool) -> Option<Reason> {
    let said = &incoming.said;
    let seems_to_ask = incoming.routing == Routing::Journey(Journey::Handoff) && !said.says(Says::Haggle);
    if said.utterance.wants_person() || seems_to_ask {
        return Some(Reason::Asked);
    }
    if incoming.topic.is_some() {
        return Some(Reason::Topic);
    }
    // "Ok, pay" is no answer to the offer of a person.
    if may_call && said.affirms() && said.utterance.only_answers() && !said.says(Says::Pay) {
        return Some(Reason::Clarifications);
    }
    // "Can I get a refund?" is a question about the rules; a claim after a purchase is none.
    let is_refund = said.says(Says::Refund) && !said.says(Says::AsksRules);
    let is_weak = said.says(Says::Dispute) && incoming.has_bought && state.item().is_none();
    if said.says(Says::Wronged) || is_refund || (is_weak && !said.utterance.has_question()) {
        return Some(Reason::Dispute);
    }
    let is_change = said.says(Says::ChangeOrder) && incoming.has_bought && state.order.is_none();
    (is_change && !said.says(Says::AsksRules)).then_some(Reason::OrderChange)
}

/// Takes the telephone number of a message, if the channel knows none. Returns what to say of another one than the channel's.
fn name_number(state: &mut ConversationState, incoming: &Incoming) -> Option<Line> {
    let named = incoming.said.phone.clone()?;
    let is_payment = state.order.is_some() || incoming.intent == Intent::PaymentHelp;
    if !incoming.knows_number {
        state.phone = Some(named);
        return None;
    }
    let own = state.phone.clone().filter(|own| *own != named && is_payment)?;
    Some(Line::OwnNumber(own))
}

/// Forgets what went wrong before, since the desk understood.
fn resolved((mut state, effects): Next, incoming: &Incoming) -> Next {
    state.clarifications = 0;
    if !incoming.said.says(Says::Frustrated) {
        state.unresolved = 0;
    }
    (state, effects)
}

/// Answers a greeting.
fn greet(mut state: ConversationState) -> Next {
    let reminder = sales::reminder(&state).filter(|_| state.has_introduced);
    state.has_introduced = true;
    let line = reminder.unwrap_or(Line::Welcome);
    (state, vec![Effect::Say(line)])
}

/// Asks what the customer means. When that did not help, a person is called.
pub(super) fn clarify(mut state: ConversationState, incoming: &Incoming, line: Line) -> Next {
    state.clarifications = state.clarifications.saturating_add(1);
    // Who waits for a person is asked nothing more.
    if state.clarifications >= incoming.rules.clarifications || state.is_waiting {
        return hand_over(state, Reason::Clarifications, Priority::Medium);
    }
    let line = if incoming.said.says(Says::Frustrated) { Line::Plain(Text::Sorry) } else { line };
    (state, vec![Effect::Say(line)])
}

/// Counts a tool that failed. After too many in a row, a person is called instead of the effects.
pub(super) fn tool_failed(mut state: ConversationState, effects: Vec<Effect>) -> Next {
    state.tool_errors = state.tool_errors.saturating_add(1);
    match state.tool_errors < state.rules.tool_errors {
        true => (state, effects),
        false => hand_over(state, Reason::ToolErrors, Priority::High),
    }
}

/// Calls a person. The sale is unchanged, so that the customer can continue.
pub(super) fn hand_over(mut state: ConversationState, reason: Reason, priority: Priority) -> Next {
    (state.clarifications, state.unresolved, state.tool_errors) = (0, 0, 0);
    (state, vec![Effect::CallPerson { reason, priority }])
}

/// What is said to small talk that the governor lets through.
pub(super) fn small_talk(topic: Social) -> Line {
    match topic {
        Social::Thanks | Social::Compliment => Line::Plain(Text::Thanks),
        Social::Goodbye => Line::Plain(Text::Goodbye),
        Social::HumanOrBot | Social::Name => Line::Assistant,
        Social::Complaint => Line::Plain(Text::Sorry),
        _ => Line::Plain(Text::SmallTalk),
    }
}
