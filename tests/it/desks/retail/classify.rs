//! Who decides what a message is about, and what becomes of the reason.

use serde_json::{Value, json};

use super::chat::open_shop;
use crate::support::app::TestApp;
use crate::support::dialogue::assert_dialogue;
use crate::support::ollama::{Play, ScriptedOllama};

/// Nothing that the rules could be sure of.
const UNCLEAR: &str = "cái này thế nào";

fn verdict(intent: &str, confidence: f64) -> Value {
    json!({"intent": intent, "confidence": confidence, "need_retrieval": intent == "shopping",
        "clarify_needed": intent == "unknown", "clarify_questions": [], "rationale": "Because of the conversation."})
}

#[tokio::test]
async fn unsure_rules_ask_the_model_with_schema() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama)).await;
    ollama.classify(&verdict("warranty", 0.9));
    let events = shop.chat().await.say(UNCLEAR).await;
    assert_dialogue!("retail_classified_by_the_model", events);
    let [asked] = ollama.chats().try_into().unwrap();
    assert_eq!((&asked["stream"], &asked["options"]["num_ctx"]), (&json!(false), &json!(8192)));
    assert_eq!((&asked["think"], &asked["options"]["temperature"]), (&json!("low"), &json!(0.0)));
    let required = ["intent", "confidence", "need_retrieval", "clarify_needed", "clarify_questions", "rationale"];
    assert_eq!(asked["format"]["required"], json!(required));
    assert_eq!(asked["format"]["properties"]["intent"]["enum"], json!(["shopping", "warranty", "unknown"]));
    let messages = asked["messages"].as_array().unwrap();
    assert!(messages[0]["content"].as_str().unwrap().starts_with("# Task: what does the customer want?"));
    let last = messages.last().unwrap();
    assert_eq!((&last["role"], &last["content"]), (&json!("user"), &json!(format!("Message: {UNCLEAR}"))));
}

#[tokio::test]
async fn sure_rules_never_ask_the_model() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama)).await;
    ollama.reply("Dạ 30.000đ ạ.");
    let events = shop.chat().await.say("phí giao hàng bao nhiêu").await;
    assert_eq!(events.first("intent")["source"], "rules");
    assert!(ollama.chats().iter().all(|chat| chat.get("format").is_none()), "the reply alone");
}

#[tokio::test]
async fn llm_first_asks_the_model_before_the_rules() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama).env("CLASSIFIER", "llm_first")).await;
    ollama.classify(&verdict("shopping", 0.9));
    ollama.reply("Dạ có ạ.");
    let mut chat = shop.chat().await;
    let events = chat.say("kiểm tra bảo hành NOT-0001").await;
    let intent = events.first("intent");
    assert_eq!((&intent["intent"], &intent["source"]), (&json!("shopping"), &json!("llm")));
    // A recorded serial number decides, whatever the model says, and changes the intent.
    ollama.classify(&verdict("shopping", 0.9));
    let events = chat.say("kiểm tra bảo hành FUT-2099").await;
    assert_eq!(events.first("intent")["intent"], "warranty");
    assert_eq!(events.kinds(), ["cute_greeting", "warranty_result", "follow_up"]);
    ollama.play_answer(Play::refuses(500, "out of memory"));
    let events = shop.chat().await.say("kiểm tra bảo hành FUT-2099").await;
    let intent = events.first("intent");
    assert_eq!((&intent["intent"], &intent["source"]), (&json!("warranty"), &json!("fallback")));
    assert_eq!(events.kinds(), ["cute_greeting", "warranty_result", "follow_up"]);
}

#[tokio::test]
async fn late_or_invalid_answer_falls_back_to_rules() {
    let ollama = ScriptedOllama::start().await;
    let builder = || TestApp::builder().ollama(&ollama).env("LLM_BREAKER_FAILURES", 100);
    let shop = open_shop(builder()).await;
    let late = open_shop(builder().env("INTENT_TIMEOUT_MS", 400)).await;
    let with = |field: &str, value: Value| {
        let mut answer = verdict("shopping", 0.9);
        answer[field] = value;
        Play::answer(&answer.to_string())
    };
    let mut without = verdict("shopping", 0.9);
    without.as_object_mut().unwrap().remove("clarify_questions");
    for (why, play) in [
        ("no JSON", Play::answer("The customer wants to buy something.")),
        ("half a JSON", Play::answer("{\"intent\": \"shopping\"")),
        ("no object", Play::answer("[1, 2]")),
        ("a field is missing", Play::answer(&without.to_string())),
        ("an intent that there is not", with("intent", json!("refund"))),
        ("a field of the wrong kind", with("confidence", json!("high"))),
        ("confidence above one", with("confidence", json!(1.01))),
        ("confidence below nought", with("confidence", json!(-0.1))),
        ("empty", Play::answer("")),
        ("an error", Play::refuses(500, "out of memory")),
        ("cut", Play::new().line("{\"message\":").hangs_up()),
        ("too late", Play::new().stalls()),
    ] {
        ollama.play_answer(play);
        let mut chat = if why == "too late" { late.chat().await } else { shop.chat().await };
        let events = chat.say(UNCLEAR).await;
        let intent = events.first("intent");
        assert_eq!((&intent["intent"], &intent["source"]), (&json!("unknown"), &json!("fallback")), "{why}");
        assert_eq!((events.status(), events.kinds()), ("completed", vec!["clarify".to_owned()]), "{why}");
        let history = chat.history().await;
        let receipt = &history.last().unwrap()["receipt"]["intent"];
        assert!(receipt["model_error"].is_string(), "{why}: {receipt}");
    }
}

#[tokio::test]
async fn desk_asks_below_the_threshold() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama).env("INTENT_CONFIDENCE_THRESHOLD", 0.8)).await;
    for (confidence, clarifies) in [(0.79, true), (0.8, false)] {
        ollama.classify(&verdict("warranty", confidence));
        let events = shop.chat().await.say(UNCLEAR).await;
        assert_eq!(events.first("intent")["clarify_needed"], clarifies, "{confidence}");
        let kinds = if clarifies { vec!["clarify"] } else { vec!["cute_greeting", "warranty_prompt"] };
        assert_eq!(events.kinds(), kinds, "{confidence}");
    }
}

#[tokio::test]
async fn only_the_shop_sees_the_reason() {
    let ollama = ScriptedOllama::start().await;
    let shop = open_shop(TestApp::builder().ollama(&ollama).env("X_API_KEYS", "key-of-the-shop-0")).await;
    ollama.classify(&verdict("warranty", 0.9));
    let mut browser = shop.chat_in_a_browser("key-of-the-shop-0", json!({})).await;
    let events = browser.say(UNCLEAR).await;
    assert!(!format!("{events:?}").contains("Because of"), "not in the stream");
    assert!(browser.history().await.iter().all(|message| message.get("receipt").is_none()), "not in the history");
    let path = format!("/conversations/{}/history", browser.id);
    let response = shop.app.get(&path).header("x-api-key", "key-of-the-shop-0").send().await.unwrap();
    let seen: Value = response.json().await.unwrap();
    let prompt = seen["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(prompt["metadata"]["type"], "warranty_prompt");
    let understood = &prompt["receipt"]["intent"];
    assert_eq!(understood["rationale"], "Because of the conversation.");
    assert_eq!(
        [&understood["intent"], &understood["confidence"], &understood["source"]],
        [&json!("warranty"), &json!(0.9), &json!("llm")]
    );
    assert!(prompt["receipt"]["timings_ms"]["classify"].is_u64());
}

#[tokio::test]
async fn receipts_show_warranty_row_and_passages() {
    let shop = open_shop(TestApp::builder()).await;
    let mut chat = shop.chat().await;
    chat.say("bảo hành FUT-2099, QQQ-000").await;
    let receipts = |history: Vec<Value>, kind: &str| -> Vec<Value> {
        history.into_iter().filter(|m| m["metadata"]["type"] == kind).map(|m| m["receipt"].clone()).collect()
    };
    let rows = receipts(chat.history().await, "warranty_result");
    assert_eq!(rows[0]["warranty_row"]["product_name"], "Bàn phím Keychron");
    assert_eq!(rows[1]["warranty_row"], Value::Null, "the row of another serial is no reason");
    chat.say("phí giao hàng bao nhiêu").await;
    let reply = receipts(chat.history().await, "reply").pop().unwrap();
    assert_eq!(reply["retrieval"]["passages"][0]["file"], "giao-hang.md");
    assert!(reply["retrieval"]["passages"][0]["score"].is_f64());
    assert_eq!(reply["retrieval"]["by"], "words");
}

#[tokio::test]
async fn model_confirms_that_a_serial_is_wanted() {
    let ollama = ScriptedOllama::start().await;
    let builder = TestApp::builder().ollama(&ollama).env("LLM_BREAKER_FAILURES", 100);
    let shop = open_shop(builder).await;
    let unsure = json!({"intent": "shopping", "confidence": 0.4, "need_retrieval": true, "clarify_needed": false,
        "clarify_questions": [], "rationale": "?"});
    for (play, source, asks_serial) in [
        (Play::answer(&verdict("shopping", 0.9).to_string()), "llm", false),
        (Play::answer(&verdict("warranty", 0.9).to_string()), "llm", true),
        (Play::answer(&verdict("unknown", 0.9).to_string()), "rules", true),
        (Play::answer(&unsure.to_string()), "rules", true),
        (Play::refuses(500, "out of memory"), "fallback", true),
    ] {
        ollama.play_answer(play);
        let events = shop.chat().await.say("kiểm tra bảo hành giúp em").await;
        assert_eq!(events.first("intent")["source"], source);
        assert_eq!(events.kinds().contains(&"warranty_prompt".to_owned()), asks_serial, "{events:?}");
    }
    let before = ollama.chats().len();
    let events = shop.chat().await.say("kiểm tra bảo hành FUT-2099 giúp em").await;
    assert_eq!(events.first("intent")["source"], "rules");
    assert_eq!(ollama.chats().len(), before, "a serial number needs no model");
}
