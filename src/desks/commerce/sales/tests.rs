use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use chrono::DateTime;
use proptest::prelude::*;

use super::super::advance::advance;
use super::super::effect::{Asking, Began, Event, Reason};
use super::super::rules::CommerceRules;
use super::super::state::AskedOfList;
use super::*;
use crate::desks::commerce::classify::classify;
use crate::domain::PaymentId;
use crate::domain::commerce::Money;
use crate::domain::commerce::catalog::CATALOG_CURRENCY;
use crate::domain::commerce::policy::{Intent, route};
use crate::domain::commerce::sale::{CouponRefused, SaleLine, SaleStatus, Totals};
use crate::domain::commerce::tenant::{EscalationRules, PaymentMethod};
use crate::nlu::examples::Classifier;
use crate::persona::Prompts;

mod cases;
mod journey;

static RULES: LazyLock<Arc<CommerceRules>> =
    LazyLock::new(|| CommerceRules::read(&Prompts::shipped()).expect("the shipped rules"));

/// What a customer may write at any moment.
const TEXTS: [&str; 48] = [
    "yes",
    "yes please",
    "ndiyo",
    "sawa",
    "ok",
    "no",
    "hapana",
    "pay",
    "lipa",
    "1",
    "2",
    "3",
    "canvas shoes",
    "black 40",
    "make it 3",
    "yes but later",
    "yes?",
    "card",
    "paybill",
    "again",
    "cancel",
    "remove the shoes",
    "how much",
    "see all",
    "not these",
    "hello",
    "where is my order",
    "any offers?",
    "did it go through",
    "thanks",
    "yes 2500",
    "asdf",
    "ok show me other options",
    "ok how much in total",
    "ok do you have other colours",
    "ok i want another size",
    "yes with my other number",
    "sawa nionyeshe zingine",
    "haya nataka nyingine",
    "nataka ya bei nafuu",
    "actually make it 5 pairs",
    "too expensive",
    "0712345678",
    "red ones instead",
    "no code",
    "41",
    "use KARIBU10",
    "mpesa",
];

/// The only ones of these that say yes to an amount, whatever the rules think. "yes 2500" does if it is the amount.
const YESES: [&str; 5] = ["yes", "yes please", "ndiyo", "sawa", "ok"];

fn goods() -> Vec<CatalogItem> {
    let item = |id: &str, name: &str, price: i64, variants: &[(&str, &[&str])]| CatalogItem {
        id: id.parse().expect("an id"),
        name: name.to_owned(),
        category: "Shoes".to_owned(),
        description: String::new(),
        price: Money::new(price * 100, CATALOG_CURRENCY),
        stock: 90,
        attributes: BTreeMap::new(),
        variants: variants
            .iter()
            .map(|(name, choices)| ((*name).to_owned(), choices.iter().map(ToString::to_string).collect()))
            .collect(),
        url: None,
    };
    vec![
        item("A", "Canvas shoes", 1_250, &[("size", &["40", "41"]), ("colour", &["black"])]),
        item("B", "Socks", 150, &[]),
    ]
}

/// Makes an order of a cart, with prices that a rise changed.
fn sale(state: &ConversationState, rise: i64) -> Sale {
    let goods = goods();
    let line = |line: &crate::domain::commerce::CartLine| {
        let item = goods.iter().find(|item| item.id == line.item).expect("an item");
        let price = Money::new(item.price.minor + rise * 100, CATALOG_CURRENCY);
        SaleLine { line: line.clone(), name: item.name.clone(), price }
    };
    let lines: Vec<SaleLine> = state.cart.iter().map(line).collect();
    let minor = lines.iter().map(|line| line.price.minor * i64::from(line.line.quantity)).sum();
    let total = Money::new(minor, CATALOG_CURRENCY);
    Sale {
        id: "K48213".parse().expect("an order"),
        status: SaleStatus::Draft,
        lines,
        totals: Totals::new(total, Money::zero(CATALOG_CURRENCY)).expect("totals"),
        coupon: None,
        held_until: DateTime::UNIX_EPOCH,
        conversation: None,
        updated_at: DateTime::UNIX_EPOCH,
    }
}

/// A parsed message without its intent.
fn unrouted(said: Said) -> Incoming {
    Incoming {
        intent: Intent::Unknown,
        routing: Routing::Unknown,
        goods: Vec::new(),
        kind: None,
        later: Vec::new(),
        is_strange: false,
        question: None,
        coupon: None,
        rules: EscalationRules::default(),
        topic: None,
        switched_to: None,
        has_bought: false,
        knows_number: false,
        is_waiting: false,
        is_earlier: false,
        answers_person: false,
        said,
    }
}

/// A step of a sale, by its tool or its question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Order,
    Offers,
    Methods,
    Confirm,
    Pay,
}

/// Plays one message with simulated tools. Returns the new state, the lines of the reply, and the amounts that were requested.
fn play(state: ConversationState, text: &str, rise: i64) -> (ConversationState, Vec<Line>, Vec<Money>) {
    play_message(state, incoming(text), rise)
}

/// Parses a message as the desk does, with the words of these goods.
fn incoming(text: &str) -> Incoming {
    let examples = Classifier::default();
    let said = RULES.parse(text);
    let verdict = classify(&said, &examples, if said.describes_goods() { 1.0 } else { 0.0 });
    let names = ["canvas", "shoes", "shoe", "socks", "sock"];
    Incoming {
        intent: verdict.intent,
        routing: route(verdict.intent, verdict.confidence),
        goods: said.words.iter().filter(|word| names.contains(&word.as_str())).cloned().collect(),
        coupon: said.coupon(&["KARIBU10".to_owned()]),
        knows_number: true,
        ..unrouted(said)
    }
}

/// Plays a message.
fn play_message(state: ConversationState, incoming: Incoming, rise: i64) -> (ConversationState, Vec<Line>, Vec<Money>) {
    play_steps(state, incoming, rise, &mut Vec::new())
}

/// Plays a message, and notes the steps of the sale.
fn play_steps(
    mut state: ConversationState,
    incoming: Incoming,
    rise: i64,
    steps: &mut Vec<Step>,
) -> (ConversationState, Vec<Line>, Vec<Money>) {
    let text = incoming.said.text().to_owned();
    let mut event = Some(Event::Message(Box::new(incoming)));
    let (mut lines, mut paid) = (Vec::new(), Vec::new());
    for _ in 0..64 {
        let Some(input) = event.take() else { return (state, lines, paid) };
        let (next, effects) = advance(state, input);
        state = next;
        for effect in effects {
            steps.extend(match &effect {
                Effect::PlaceOrder => Some(Step::Order),
                Effect::ListOffers | Effect::ApplyCoupon(_) => Some(Step::Offers),
                Effect::ListMethods(_) => Some(Step::Methods),
                Effect::Say(Line::Confirm { .. }) => Some(Step::Confirm),
                Effect::Pay { .. } => Some(Step::Pay),
                _ => None,
            });
            event = match effect {
                Effect::Say(line) => {
                    lines.push(line);
                    continue;
                }
                Effect::Search(_) => Some(Event::Found { items: goods(), total: 2, confidence: 1.0, words: None }),
                Effect::GetItem(id) => Some(Event::Item(goods().into_iter().find(|item| item.id == id).map(Box::new))),
                Effect::FindEach(_) | Effect::Compare(_) => Some(Event::Compared(goods())),
                Effect::PlaceOrder => Some(Event::Ordered(Placing::Done(Box::new(sale(&state, rise))))),
                Effect::CancelOrder => Some(Event::Cancelled(true)),
                Effect::ListOffers => Some(Event::Offers(Vec::new())),
                Effect::CheckOffers(item) => Some(Event::OffersOn(item, Vec::new())),
                Effect::ApplyCoupon(_) => Some(Event::Coupon(Err(CouponRefused::Unknown))),
                Effect::ListMethods(wanted) => Some(Event::Methods(PaymentMethod::ALL.to_vec(), wanted)),
                Effect::Pay { amount, .. } => {
                    paid.push(amount);
                    Some(Event::Began(if rise % 2 == 0 { Began::Asked(PaymentId::now()) } else { Began::Changed }))
                }
                Effect::GetOrders(_) => Some(Event::Orders(Vec::new())),
                Effect::Answer { why: Asking::Aside, .. } => Some(Event::AnsweredAside(true)),
                Effect::Answer { .. } => Some(Event::Answered(false)),
                Effect::CallPerson { .. } => Some(Event::Ticket),
                Effect::ChangePreferences(_) => Some(Event::Preferences),
            };
        }
    }
    panic!("{text} does not stop in {:?}", state.stage);
}

fn new_state() -> ConversationState {
    ConversationState { phone: "+254700000001".parse().ok(), ..ConversationState::default() }
}

#[test]
fn sale_goes_through_its_stages() {
    let mut state = new_state();
    for (text, stage) in [
        ("hello", "idle"),
        ("I want canvas shoes", "options"),
        ("1", "disambiguate"),
        ("40", "draft"),
        ("pay", "method"),
        ("1", "confirm_amount"),
        ("how much", "confirm_amount"),
        ("yes", "paying"),
        ("yes", "paying"),
    ] {
        (state, _, _) = play(state, text, 0);
        assert_eq!(state.stage.as_str(), stage, "{text}");
    }
}

#[test]
fn higher_price_is_asked_again() {
    let mut state = new_state();
    for text in ["canvas shoes", "1", "40", "pay", "1"] {
        (state, _, _) = play(state, text, 0);
    }
    // The order is found to have changed.
    let (state, lines, _) = play(state, "yes", 101);
    assert_eq!(state.stage.as_str(), "draft");
    assert!(
        lines.contains(&Line::Plain(Text::PriceChanged)) && matches!(lines.last(), Some(Line::Cart { .. })),
        "{lines:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    // Feature: tulia-ai-v2-langgraph-refactor, Property 7: Secure Payment Processing
    #[test]
    fn only_the_asked_amount_is_paid(
        messages in prop::collection::vec((prop::sample::select(&TEXTS[..]), 0_i64..3), 1..24)
    ) {
        let mut state = new_state();
        let mut asked = None;
        for (text, rise) in messages {
            let (next, lines, paid) = play(state, text, rise);
            state = next;
            prop_assert!(paid.len() <= 1);
            if let Some(amount) = paid.first() {
                prop_assert_eq!(asked, Some(*amount), "{} paid what was not asked", text);
                let is_yes = YESES.contains(&text) || (text == "yes 2500" && amount.whole() == 2_500);
                prop_assert!(is_yes, "{} paid {}", text, amount);
            }
            asked = match lines.last() {
                Some(Line::Confirm { sale, .. }) => Some(sale.totals.total),
                _ => None,
            };
        }
    }

    // Feature: tulia-ai-v2-langgraph-refactor, Property 4: Explicit State Management
    #[test]
    fn every_state_is_stored_whole_or_not_read(messages in prop::collection::vec(prop::sample::select(&TEXTS[..]), 1..24)) {
        let state = messages.into_iter().fold(new_state(), |state, text| play(state, text, 0).0);
        let stored = serde_json::to_value(&state).expect("JSON");
        // What holds for one turn is not stored.
        let state = ConversationState {
            rules: EscalationRules::default(),
            is_waiting: false,
            asks_details: false,
            only_asks: false,
            asks_sum: false,
            asks_left: false,
            asked_of_list: AskedOfList::default(),
            postpones: false,
            ..state
        };
        prop_assert_eq!(ConversationState::read(&stored), (state, false));
        const ADDED_LATER: [&str; 9] =
            ["later", "is_later", "question", "earlier", "asked", "has_no_order", "topic", "was_sold_out", "pays_next"];
        const UNKNOWN_IF_MISSING: [&str; 7] = ["search", "last", "order", "paying", "method", "coupon", "phone"];
        for field in stored.as_object().expect("an object").keys().filter(|field| !ADDED_LATER.contains(&field.as_str())) {
            let mut incomplete = stored.clone();
            incomplete.as_object_mut().expect("an object").remove(field);
            let (read, was_unreadable) = ConversationState::read(&incomplete);
            if UNKNOWN_IF_MISSING.contains(&field.as_str()) {
                prop_assert!(serde_json::to_value(&read).expect("JSON")[field].is_null() && !was_unreadable, "{}", field);
            } else {
                prop_assert_eq!((read, was_unreadable), (ConversationState::default(), true), "{}", field);
            }
        }
    }
}
