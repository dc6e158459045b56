//! Properties of the whole desk, over HTTP: each holds in at least 100 random cases, the same ones on every run.

mod policies;

use std::sync::{Arc, LazyLock, Mutex};

use chrono::Utc;
use frontdesk::cli::seed::commerce::shops;
use frontdesk::domain::TenantId;
use frontdesk::domain::commerce::policy::{Intent, Journey};
use frontdesk::store::samples::SampledTenants;
use frontdesk::store::shoppers::ShopperKey;
use futures_util::StreamExt;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use regex::Regex;
use serde_json::json;

use super::{customer, open_desk, open_desk_with, say_all};
use crate::desks::retail::chat::Shop;
use crate::support::app::TestApp;
use crate::support::ollama::{Play, ScriptedOllama};

const CASES: usize = 100;

/// What customers write, in three languages and at any moment.
const TEXTS: [&str; 30] = [
    "hi",
    "niaje buda",
    "I am looking for shoes",
    "canvas shoes size 40 black",
    "natafuta viatu vyeusi chini ya elfu mbili",
    "do you have sandals?",
    "1",
    "2",
    "size 41, black",
    "how much",
    "see all",
    "not these",
    "pay",
    "lipa",
    "no",
    "hapana asante",
    "any offers?",
    "use KARIBU10",
    "where is my order",
    "mzigo wangu uko wapi",
    "what about delivery to Kisumu?",
    "do you take returns",
    "stop sending me offers",
    "speak Kiswahili",
    "in English please",
    "thanks",
    "tell me a joke",
    "zzqx vrbl",
    "make it 2",
    "cancel my cart",
];

/// Questions about the shop's business.
const ASKS: [&str; 6] =
    ["show me shoes", "canvas shoes", "any offers?", "where is my order", "do you take returns", "I want a person"];

/// What only a person can do something about.
const CALLS: [&str; 4] =
    ["I want to talk to a person", "nipe mtu wa kuongea naye", "I was charged twice", "I want my money back"];

/// Values of a strategy, the same ones on every run.
struct Cases<S> {
    strategy: S,
    runner: TestRunner,
}

impl<S: Strategy> Cases<S> {
    fn new(strategy: S) -> Self {
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, b"any customer of a shop may write");
        Self { strategy, runner: TestRunner::new_with_rng(Config::default(), rng) }
    }

    fn next(&mut self) -> S::Value {
        self.strategy.new_tree(&mut self.runner).unwrap().current()
    }
}

fn texts(most: usize) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(&TEXTS[..]), 1..=most)
}

/// A number for each case.
fn phone(case: usize) -> String {
    format!("+2547{:08}", 10_000_000 + case)
}

/// Returns the replies to a new customer, without what differs between two customers.
async fn replies(desk: &Shop, case: usize, texts: &[&str]) -> Vec<String> {
    static PERSONAL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\+2547\d{8}|\b[A-Z][0-9A-Z]{5,7}\b").unwrap());
    let mut chat = customer(desk, &phone(case)).await;
    let mut said = Vec::new();
    for text in texts {
        said.push(PERSONAL.replace_all(&say_all(&mut chat, &[text]).await, "#").into_owned());
    }
    said
}

// Feature: tulia-ai-v2-langgraph-refactor, Property 1: LangGraph Orchestration Universality
#[tokio::test]
async fn every_message_goes_through_the_machine() {
    let desk = open_desk().await;
    let any = prop_oneof![
        prop::sample::select(&TEXTS[..]).prop_map(str::to_owned),
        "[a-zA-Z0-9 ,.?!'’-]{1,80}",
        "\\PC{1,60}",
    ];
    let any = any.prop_filter("not blank", |text| !frontdesk::domain::text::is_blank(text) && !text.contains('\0'));
    let mut cases = Cases::new(any);
    let tenant = TenantId::default();
    for case in 0..CASES {
        let text = cases.next();
        let mut chat = customer(&desk, &phone(case)).await;
        let events = chat.say(&text).await;
        assert_eq!(events.status(), "completed", "{text:?}");
        let intents: Vec<_> = events.data().into_iter().filter(|event| event["type"] == "intent").collect();
        let [intent] = intents.as_slice() else { panic!("{text:?}: {events:?}") };
        assert!(Intent::parse(intent["intent"].as_str().unwrap()).is_some(), "{text:?}: {intent}");
        if let Some(route) = intent["route"].as_str() {
            assert!(Journey::parse(route).is_some(), "{text:?}: {intent}");
        }
        let door = desk.app.inner.store.tenant(&tenant);
        let stored = door.find_conversation(chat.id.parse().unwrap()).await.unwrap().unwrap();
        assert!(stored.state["version"].is_u64() && stored.state["stage"]["name"].is_string(), "{text:?}");
    }
}

// Feature: tulia-ai-v2-langgraph-refactor, Property 2: No Data Hallucination
#[tokio::test]
async fn no_amount_comes_from_the_model() {
    let ollama = ScriptedOllama::start().await;
    let said = Arc::new(Mutex::new(String::new()));
    let says = said.clone();
    ollama.otherwise(move |chat| match chat.get("format") {
        Some(_) => Some(Play::answer(&json!({ "choice": "order_status", "confidence": 0.9 }).to_string())),
        None => Some(Play::answer(&says.lock().unwrap())),
    });
    let desk = open_desk_with(TestApp::builder().ollama(&ollama)).await;
    let amount = prop_oneof![
        (3_u32..99_999).prop_map(|amount| format!("KSh {amount}")),
        (3_u32..99_999).prop_map(|amount| format!("{amount} shillings")),
        (2_u32..90).prop_map(|share| format!("{share}%")),
        (13_u32..400).prop_map(|days| format!("{days} days")),
    ];
    let name = prop::sample::select(vec!["{list}", "{item} {choices}", "{offers}", "{orders}", "{minutes}", ""]);
    let mut cases = Cases::new((prop::sample::select(&ASKS[..]), amount, name, any::<bool>()));
    // No row and no document has these amounts: seven digits after the random ones.
    for case in 0..CASES {
        let (ask, amount, name, is_first) = cases.next();
        let amount = amount.replacen(|c: char| c.is_ascii_digit(), "7", 1).replace("KSh ", "KSh 771");
        *said.lock().unwrap() = match is_first {
            true => format!("It is {amount} for you. {name}"),
            false => format!("{name}\nThat makes {amount}."),
        };
        let mut chat = customer(&desk, &phone(case)).await;
        say_all(&mut chat, &["canvas shoes size 40 black"]).await;
        let reply = say_all(&mut chat, &[ask]).await;
        let is_made_up = reply.contains("for you.") || reply.contains("That makes");
        assert!(!is_made_up && !reply.is_empty(), "{ask} {:?}: {reply}", said.lock().unwrap());
    }
}

// Feature: tulia-ai-v2-langgraph-refactor, Property 12: Escalation Context Preservation
#[tokio::test]
async fn every_ticket_has_its_context() {
    let desk = open_desk().await;
    let mut cases = Cases::new((texts(3), prop::sample::select(&CALLS[..])));
    let tenant = TenantId::default();
    let door = desk.app.inner.store.tenant(&tenant);
    for case in 0..CASES {
        let (before, call) = cases.next();
        let mut chat = customer(&desk, &phone(case)).await;
        say_all(&mut chat, &before).await;
        say_all(&mut chat, &[call]).await;
        let tickets = door.list_tickets_in(chat.id.parse().unwrap()).await.unwrap();
        let [ticket, ..] = tickets.as_slice() else { panic!("{before:?} {call}: no ticket") };
        let key = ShopperKey::Phone(phone(case).parse().unwrap());
        let shopper = door.find_shopper(&key).await.unwrap().unwrap();
        let summary = &ticket.summary;
        for part in ["Reason: ", "Journey: ", ", step: ", "Cart: ", "Payment: ", "Next steps: "] {
            assert!(summary.contains(part), "{before:?} {call}: {part} is missing in {summary}");
        }
        assert!(summary.contains(&format!("Customer: {}", shopper.id)), "{before:?} {call}: {summary}");
        let journey = summary.split("Journey: ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
        assert!(Journey::parse(journey).is_some(), "{summary}");
    }
}

// Feature: tulia-ai-v2-langgraph-refactor, Property 13: Graceful Failure Handling
#[tokio::test(flavor = "multi_thread")]
async fn failing_model_changes_no_reply() {
    let ollama = ScriptedOllama::start().await;
    let broken = Arc::new(Mutex::new(0_usize));
    let plays = broken.clone();
    ollama.otherwise(move |_| {
        Some(match *plays.lock().unwrap() {
            0 => Play::refuses(500, "out of memory"),
            1 => Play::busy(),
            2 => Play::answer(""),
            3 => Play::answer("{\"choice\": 7}"),
            4 => Play::answer("<think>").hangs_up(),
            5 => Play::new().hangs_up(),
            _ => Play::no_such_model(),
        })
    });
    let builder = TestApp::builder().ollama(&ollama).env("LLM_BREAKER_FAILURES", "1000000");
    let (with, without) = tokio::join!(open_desk_with(builder), open_desk());
    let mut cases = Cases::new((texts(3), 0..7_usize));
    for case in 0..CASES {
        let (texts, kind) = cases.next();
        *broken.lock().unwrap() = kind;
        let (said, expected) = tokio::join!(replies(&with, case, &texts), replies(&without, case, &texts));
        assert_eq!(said, expected, "{texts:?}, failure {kind}");
    }
    assert!(!ollama.chats().is_empty());
}

// Feature: tulia-ai-v2-langgraph-refactor, Property 14: Behavioral Consistency
#[tokio::test(flavor = "multi_thread")]
async fn same_conversation_gets_the_same_replies() {
    let desk = open_desk().await;
    // There are goods for all customers at once. What is sold out stays sold out.
    let mut shops = shops(Utc::now()).unwrap();
    shops.iter_mut().flat_map(|shop| &mut shop.items).for_each(|item| item.stock *= 1000);
    let stocked = desk.app.inner.store.make_sample_tenants(&shops).await.unwrap();
    assert_eq!(stocked, SampledTenants::Done);
    let (mut cases, desk) = (Cases::new(texts(4)), &desk);
    let cases: Vec<_> = (0..CASES).map(|case| (case, cases.next())).collect();
    let check = |(case, texts): (usize, Vec<&'static str>)| async move {
        let first = replies(desk, 2 * case, &texts).await;
        let second = replies(desk, 2 * case + 1, &texts).await;
        assert_eq!(first, second, "{texts:?}");
    };
    futures_util::stream::iter(cases).for_each_concurrent(4, check).await;
}
