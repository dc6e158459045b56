//! The exact form of the events that clients receive: one of each type, and one message end of each kind.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::desks::commerce;
use crate::desks::retail::chat::open_shop;
use crate::desks::returns::agent::script::{driven, look, say};
use crate::desks::returns::shop::{self, Chat};
use crate::desks::telecom::open_plain_desk;
use crate::http::console::{answer, hand};
use crate::http::live::Live;
use crate::support::app::TestApp;
use crate::support::dialogue::{Dialogue, assert_dialogue};
use crate::support::eventually;
use crate::support::ollama::{Play, ScriptedOllama};
use crate::support::sse::Events;

const QUESTION: &str = "SSD Kingston giá bao nhiêu vậy em";

/// The first event of each type, and of each kind of `message.end` without and with a cut.
#[derive(Default)]
struct Samples(BTreeMap<String, Value>);

impl Samples {
    fn add(&mut self, events: &Events) {
        for event in events.data() {
            let mut name = event["type"].as_str().unwrap().to_owned();
            if name == "message.end" {
                name += &format!(" {}", event["kind"].as_str().unwrap());
                name += if event["metadata"].get("cut").is_some() { " cut" } else { "" };
            }
            self.0.entry(name).or_insert_with(|| event.clone());
        }
    }
}

impl Dialogue for Samples {
    /// Each sample on a line, with placeholders for ids, days, scores and durations.
    fn dialogue(&self) -> String {
        let mut text: String = self.0.values().map(|event| format!("{event}\n")).collect();
        for (pattern, with) in [
            (r#""message_id":"[0-9a-f-]{36}""#, r#""message_id":"ID""#),
            (r"RMA-\d+-[0-9A-Z]{4}", "RMA-…"),
            (r"TICKET-\d+-[0-9A-F]{8}", "TICKET-…"),
            (r#""payment_request_id":"[0-9a-f-]{36}""#, r#""payment_request_id":"ID""#),
            (r#""order_id":"[A-Z][0-9]{5}""#, r#""order_id":"ORDER""#),
            (r"[A-Z][a-z]{2} \d{1,2}, \d{4}", "DAY"),
            (r#""eta_date":"[0-9-]+""#, r#""eta_date":"DAY""#),
            (r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "TIME"),
            (r#""score":[0-9.]+"#, r#""score":SCORE"#),
            (r#""(ms|classify|first_token|generate|model_queue|retrieve|total|waited)":\d+"#, r#""$1":MS"#),
        ] {
            text = Regex::new(pattern).unwrap().replace_all(&text, with).into_owned();
        }
        text
    }
}

#[tokio::test]
async fn each_kind_of_event_has_accepted_form() {
    let mut samples = Samples::default();
    add_retail(&mut samples).await;
    add_returns(&mut samples).await;
    add_telecom(&mut samples).await;
    add_commerce(&mut samples).await;
    let described = serde_json::to_value(frontdesk::http::openapi()).unwrap();
    let list = |value: &Value| -> BTreeSet<String> {
        value.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let schemas = &described["components"]["schemas"];
    let mut kinds = list(&schemas["Kind"]["enum"]);
    kinds.remove("greeting");
    let types = schemas["Event"]["oneOf"].as_array().unwrap().iter();
    let mut types: BTreeSet<String> = types.flat_map(|event| list(&event["properties"]["type"]["enum"])).collect();
    types.remove("reset");
    let sampled = |prefix: &str| -> BTreeSet<String> {
        let names = samples.0.keys().filter_map(|name| name.strip_prefix(prefix));
        names.map(|name| name.split(' ').next().unwrap().to_owned()).collect()
    };
    assert_eq!(sampled(""), types, "a turn has neither a greeting nor a `reset`");
    assert_eq!(sampled("message.end "), kinds);
    assert_dialogue!("events", samples);
}

/// Plays a conversation on a shop with a model, with a full queue and with a broken reply.
async fn add_retail(samples: &mut Samples) {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama).env("LLM_MAX_CONCURRENT", 1)).await;
    let mut chat = shop.chat().await;
    ollama.reply("Dạ SSD Kingston NV3 1TB giá 1.490.000đ ạ.");
    ollama.play(Play::new().says("Dạ").fails("CUDA error: out of memory"));
    for text in [QUESTION, QUESTION, "em khỏe không", "please speak english"] {
        samples.add(&chat.say(text).await);
    }
    let without_model = open_shop(TestApp::builder()).await;
    let mut other = without_model.chat().await;
    for text in ["warranty", "?", "ABC123"] {
        samples.add(&other.say(text).await);
    }
    samples.add(&shop.chat().await.say("cái này thế nào").await);
    let (busy, mut waiting) = (shop.chat().await, shop.chat().await);
    ollama.play(Play::new().says("Dạ").stalls());
    ollama.reply("Dạ có ạ.");
    let asked = ollama.chats().len();
    let posted = busy.request(Method::POST, "/messages").json(&json!({ "text": QUESTION })).send().await.unwrap();
    assert_eq!(posted.status(), StatusCode::ACCEPTED);
    eventually("the model replies to the first", || ollama.chats().len() > asked).await;
    let leave = || async {
        assert_eq!(busy.request(Method::DELETE, "").send().await.unwrap().status(), StatusCode::NO_CONTENT);
    };
    let events = waiting.say_and_when_it_shows(QUESTION, "queued", leave).await;
    samples.add(&events);
    hand(&shop.app, &waiting.id, "take").await;
    let mut live = Live::follow(&shop.app, &waiting.id, events.ids().last().copied()).await;
    let turn = answer(&shop.app, &waiting.id, "Em là Lan ạ.").await;
    live.until_done(turn).await;
    samples.add(&live.so_far().await);
    // The turn reaches its deadline while it is classified, so it ends without a reply.
    let shop = open_shop(TestApp::builder().ollama(&ollama).env("TURN_DEADLINE_SECONDS", 0.5)).await;
    ollama.play_answer(Play::new().stalls());
    samples.add(&shop.chat().await.say("cái này thế nào").await);
}

/// Plays every kind of message of the returns desk, and a tool call.
async fn add_returns(samples: &mut Samples) {
    let app = shop::open(TestApp::builder()).await;
    for texts in [
        ["where is order 77893", "john.doe@example.com", "I want to return it", "yes"].as_slice(),
        &["return order 77894, buyer-77894@example.com"],
        &["return order 77897, buyer-77897@example.com"],
        &["cancel order ABC-100001", "an.nguyen@example.com"],
    ] {
        let mut chat = Chat::open(&app).await;
        for text in texts {
            samples.add(&chat.say(text).await);
        }
    }
    let shop = driven(TestApp::builder()).await;
    shop.then(vec![look("77899"), say("Your order 77899 is on its way.")]);
    samples.add(&Chat::open(&shop.app).await.say("Where's my order 77899? buyer-77899@example.com").await);
}

/// Plays every kind of message of the telecom desk.
async fn add_telecom(samples: &mut Samples) {
    let desk = open_plain_desk().await;
    let mut chat = desk.chat().await;
    for text in ["I was overcharged PLN 100 on invoice INV-12345", "It's u123", "yes", "How much is my plan?"] {
        samples.add(&chat.say(text).await);
    }
}

/// Buys something.
async fn add_commerce(samples: &mut Samples) {
    let desk = commerce::open_desk().await;
    let mut chat = commerce::customer(&desk, "+254700000001").await;
    for text in ["canvas shoes", "size 40, black", "pay", "1", "yes", "where is my order"] {
        samples.add(&chat.say(text).await);
    }
}
